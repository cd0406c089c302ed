"""Commands about MCP servers: how they stand, start, stop, restart (PROTOCOL.md "Commands")."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chatls_core.mcp import McpServers
from chatls_server.lsp.errors import INVALID_PARAMS, RpcError
from chatls_server.lsp.protocol import commands as args
from chatls_server.lsp.protocol.base import Nothing
from chatls_server.lsp.protocol.commands import CommandResult
from chatls_server.lsp.registry import command
from chatls_server.lsp.results import to_json

if TYPE_CHECKING:
    from chatls_server.lsp.server import ChatServer

MARKS = {"ready": "✓", "starting": "…", "failed": "✗", "stopped": "■", "disabled": "–"}


async def _servers(server: ChatServer) -> McpServers:
    return (await server.agent()).services.mcp


@command("chatls.mcp.list", Nothing)
async def mcp_list(server: ChatServer, _: Nothing) -> CommandResult:
    """The configured servers: state, tools, what is wrong."""
    servers = await _servers(server)
    await servers.refresh()
    return _standing(server, servers)


@command("chatls.mcp.restart", args.McpServerArgs)
async def mcp_restart(server: ChatServer, a: args.McpServerArgs) -> CommandResult:
    """End a server, or all, and start it again as the file says now."""
    return await _restarted(server, a.name or "")


@command("chatls.mcp.start", args.McpServerArgs)
async def mcp_start(server: ChatServer, a: args.McpServerArgs) -> CommandResult:
    """Start a server that was stopped, or all of them."""
    return await _restarted(server, a.name or "")


@command("chatls.mcp.stop", args.McpServerNameArgs)
async def mcp_stop(server: ChatServer, a: args.McpServerNameArgs) -> CommandResult:
    """End a server until it is started again."""
    servers = await _servers(server)
    try:
        await servers.stop(a.name)
    except KeyError as error:
        raise _unknown(a.name, servers) from error
    return _standing(server, servers)


async def _restarted(server: ChatServer, name: str) -> CommandResult:
    servers = await _servers(server)
    try:
        await servers.restart(name)
    except KeyError as error:
        raise _unknown(name, servers) from error
    return _standing(server, servers)


def _unknown(name: str | None, servers: McpServers) -> RpcError:
    names = ", ".join(s.name for s in servers.status()) or "none"
    return RpcError(INVALID_PARAMS, f"name: there is no server {name!r}; configured: {names}")


def _standing(server: ChatServer, servers: McpServers) -> CommandResult:
    found = servers.status()
    lines = []
    if not server.settings.mcp.enabled:
        lines.append("MCP servers are off. Switch them on with the setting `chatls.mcp.enabled`.\n")
    elif not server.trusted:
        lines.append("No server runs before the workspace is trusted.\n")
    for s in found:
        tools = f", {len(s.tools)} tools: {', '.join(s.tools)}" if s.tools else ""
        lines.append(
            f"- {MARKS[s.state]} **{s.name}** {s.state} ({s.transport}){tools}{f' — {s.error}' if s.error else ''}"
        )
        said = servers.complaints(s.name)
        if s.state == "failed" and said:
            lines += ["", "  ```text", *(f"  {line}" for line in said[-5:]), "  ```", ""]
    lines += [f"- {problem}" for problem in servers.problems]
    if not found and not servers.problems:
        lines.append(f"No server is configured. Name them in `{server.home / 'mcp_servers.json'}`.")
    data = {"enabled": servers.enabled, "servers": to_json(found), "problems": list(servers.problems)}
    return CommandResult(markdown="\n".join(lines), data=data)
