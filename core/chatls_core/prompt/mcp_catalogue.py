"""Which remote tools a conversation has, frozen with its system text (DESIGN.md, "The prompt's shape" 1).

What a conversation was told stays byte for byte the same until a natural rebuild, over restarts of ours and of the
servers. A server that is away for a while takes nothing out; one that was added, removed or changed is a rebuild.
"""

from __future__ import annotations

from collections.abc import Sequence

from chatls_core.mcp import McpServers, NamedTool, RemoteTool
from chatls_core.mcp.naming import named
from chatls_core.prompt.system import Section
from chatls_core.sessions.conversation import Conversation

TOOLS_KEY = "mcp_tools"
MCP_PULL_KEY = "mcp_pull"
"""In ``Conversation.state``: the frozen tools; whether ``context_pull`` is offered for them."""

MAX_LISTED = 200
MAX_LISTED_DESCRIPTION = 200


def frozen(conversation: Conversation) -> tuple[NamedTool, ...]:
    """The tools as the conversation was last told of them."""
    stored = conversation.state.get(TOOLS_KEY)
    rows = stored if isinstance(stored, list) else []
    return tuple(
        NamedTool(str(r["name"]), RemoteTool(str(r["server"]), str(r["tool"]), str(r["description"]), r["schema"]))
        for r in rows
    )


def offered(conversation: Conversation, servers: McpServers) -> tuple[NamedTool, ...]:
    """The tools a rebuild would freeze now: of servers that are up, and those last known of servers that are away."""
    away = servers.expected()
    remembered = [t.remote for t in frozen(conversation) if t.remote.server in away]
    return named([*servers.tools(), *remembered]) if remembered else servers.catalogue()


def is_current(conversation: Conversation, servers: McpServers) -> bool:
    """Whether the conversation was told of the tools a rebuild would freeze."""
    now = offered(conversation, servers)
    if frozen(conversation) != now:
        return False
    freeze(conversation, now)
    return True


def freeze(conversation: Conversation, tools: Sequence[NamedTool]) -> None:
    """Remember what the conversation is told."""
    rows: list[object] = [
        {
            "name": t.exposed,
            "server": t.remote.server,
            "tool": t.remote.name,
            "description": t.remote.description,
            "schema": t.remote.schema,  # the same object, so that telling whether it changed takes no time
        }
        for t in tools
    ]
    if rows:
        conversation.state[TOOLS_KEY] = rows
    else:
        conversation.state.pop(TOOLS_KEY, None)


def catalogue(tools: Sequence[NamedTool], *, recoverable: bool) -> Section | None:
    """The tools in chat, where they cannot be called: by name where a call tells what they do, else described."""
    if not tools:
        return None
    lines = [f"MCP tools of connected servers: {len(tools)}. They run in agent and coder mode only."]
    if recoverable:
        lines.append('What any of them does: context_pull {"kind": "mcp_tools", "name": "words to filter by"}')
        servers = sorted({t.remote.server for t in tools})
        shown = {t.exposed for t in tools[:MAX_LISTED]}
        for server in servers:
            names = [t.exposed for t in tools if t.remote.server == server and t.exposed in shown]
            lines += [f"- {server}: {', '.join(names)}"] if names else []
        if len(tools) > MAX_LISTED:
            lines.append(f"- and {len(tools) - MAX_LISTED} more")
    else:
        lines += [_row(t)[:MAX_LISTED_DESCRIPTION] for t in tools]
    return Section("MCP tools", "\n".join(lines), recovery="context_pull mcp_tools" if recoverable else "")


def described(tools: Sequence[NamedTool], words: str) -> tuple[str, ...]:
    """Rows ``name: description`` of the tools whose name or description holds ``words``, in any case."""
    wanted = words.casefold()
    return tuple(_row(t) for t in tools if wanted in f"{t.exposed}\n{t.remote.description}".casefold())


def _row(tool: NamedTool) -> str:
    return f"- {tool.exposed}: {' '.join(tool.remote.description.split())}".rstrip(": ")
