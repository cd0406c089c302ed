"""A remote tool as one of ours: asked for like any other, its answer fenced as data (spec/agent.md §9.6)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence

from pydantic import ConfigDict

from chatls_core.llm.messages import ToolDefinition
from chatls_core.mcp import McpError, McpServers, NamedTool
from chatls_core.mcp.naming import plain_name
from chatls_core.text import cut
from chatls_core.text.fence import fence
from chatls_core.text.redaction import redact
from chatls_core.tools.base import Tool, ToolArguments, ToolContext, ToolError, ToolOutcome

PREVIEW_CHARS = 4000
UNSURE = " It may have been done all the same; look before you repeat it."


class McpArguments(ToolArguments):
    """Whatever the remote tool takes; its server checks it."""

    model_config = ConfigDict(extra="allow", frozen=True)


class McpTool(Tool[McpArguments]):
    """One tool of one server. It asks by default: what it does out there is not ours to know."""

    kind = "other"
    arguments = McpArguments

    def __init__(self, tool: NamedTool, servers: McpServers) -> None:
        self._remote = tool.remote
        self._servers = servers
        self.name = tool.exposed
        self.description = f"{tool.remote.description}\n(MCP server {tool.remote.server})".strip()
        self._definition = ToolDefinition(self.name, self.description, tool.remote.schema)

    def definition(self) -> ToolDefinition:
        return self._definition

    def parse(self, raw: Mapping[str, object]) -> McpArguments:
        """Only what is missing is told here, with the schema; the rest is the server's to judge."""
        required = self._remote.schema.get("required")
        missing = [n for n in required if n not in raw] if isinstance(required, list) else []
        if missing:
            schema = cut.by_chars(json.dumps(self._remote.schema, ensure_ascii=False), PREVIEW_CHARS)
            raise ToolError(f"{self.name} needs {', '.join(map(str, missing))}. Its arguments: {schema}")
        return McpArguments.model_validate(dict(raw))

    def label(self, arguments: McpArguments) -> str:
        given = json.dumps(_given(arguments), ensure_ascii=False) if _given(arguments) else ""
        return f"{self._remote.server}: {self._remote.name} {cut.by_chars(given, 60)}".strip()

    def subject(self, arguments: McpArguments) -> str:
        """The server: what is allowed for one server's tool is not allowed for another's of the same name."""
        return self._remote.server

    def preview(self, arguments: McpArguments) -> str:
        given = json.dumps(_given(arguments), ensure_ascii=False, indent=2)
        return cut.by_chars(f"{self._remote.server}: {self._remote.name}\n{given}", PREVIEW_CHARS)

    @property
    def asks(self) -> bool:
        return not self._servers.approved(self._remote.server, self._remote.name)

    @property
    def other_names(self) -> Sequence[str]:
        return (plain_name(self._remote), f"mcp_{self._remote.server}_{self._remote.name}")

    async def run(self, arguments: McpArguments, context: ToolContext) -> ToolOutcome:
        remote = self._remote
        try:
            reply = await self._servers.call(remote.server, remote.name, _given(arguments))
        except McpError as error:
            unsure = error.code in ("timeout", "lost")
            raise ToolError(f"{error}{UNSURE if unsure else ''}", external=error.code == "refused") from error
        # Redacted before the fence's mark is made from it, so that the mark stays the text's own.
        text = await asyncio.to_thread(redact, reply.text or "(empty)")
        fenced = fence(f"MCP server {remote.server}, tool {remote.name}", text)
        if reply.is_error:
            raise ToolError(f"{self.name} failed:\n{fenced}", external=True)
        return ToolOutcome(fenced, external=True)


def _given(arguments: McpArguments) -> dict[str, object]:
    return dict(arguments.model_extra or {})
