"""Who else can serve us? MCP servers: their processes and connections, their tools, what they answer."""

from __future__ import annotations

from chatls_core.mcp.manager import McpServers
from chatls_core.mcp.model import McpError, NamedTool, RemoteTool, ServerStatus, State, ToolReply

__all__ = ["McpError", "McpServers", "NamedTool", "RemoteTool", "ServerStatus", "State", "ToolReply"]
