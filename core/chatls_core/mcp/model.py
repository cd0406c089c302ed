"""What MCP servers are to us: how one is started, what it offers, how it stands (spec/agent.md §9.6)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from chatls_core.text.redaction import MASK, is_secret_name

Transport = Literal["stdio", "http", "sse"]
State = Literal["starting", "ready", "failed", "stopped", "disabled"]

MIN_SECRET = 6
REQUEST_SECONDS = 60.0
START_SECONDS = 10.0


class McpError(Exception):
    """A server could not be asked; ``str()`` is a sentence. ``code`` says how it failed."""

    def __init__(
        self, message: str, code: Literal["unavailable", "timeout", "lost", "refused"] = "unavailable"
    ) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True)
class ServerConfig:
    """One server as configured. ``env`` and ``headers`` may hold secrets and are not printed. Times are seconds.

    ``origin`` is the file that names it; ``problem`` says why it cannot be started, empty when it can.
    ``approved`` are tools the user allowed beforehand.
    """

    name: str
    transport: Transport = "stdio"
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    cwd: Path | None = None
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    enabled: bool = True
    description: str = ""
    request_seconds: float = REQUEST_SECONDS
    start_seconds: float = START_SECONDS
    approved: frozenset[str] = frozenset()
    only_tools: frozenset[str] = frozenset()
    hidden_tools: frozenset[str] = frozenset()
    origin: Path = Path()
    problem: str = ""

    def without_secrets(self, text: str) -> str:
        """``text`` without what the user entrusted to the server, should the server repeat it."""
        named = [*self.env.items(), *self.headers.items()]
        values = {v.removeprefix("Bearer ") for n, v in named if is_secret_name(n) and len(v) >= MIN_SECRET}
        for value in sorted(values, key=len, reverse=True):
            text = text.replace(value, MASK)
        return text

    def offers(self, tool: str) -> bool:
        """Whether the user lets this tool through (``enabledTools``, ``disabledTools``)."""
        return tool not in self.hidden_tools and (not self.only_tools or tool in self.only_tools)


@dataclass(frozen=True, slots=True)
class RemoteTool:
    """A tool of a server: its own ``name`` there, and ``schema`` of its arguments (JSON schema)."""

    server: str
    name: str
    description: str
    schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class NamedTool:
    """A tool under the name the model calls it by (``mcp_…``)."""

    exposed: str
    remote: RemoteTool


@dataclass(frozen=True, slots=True)
class ToolReply:
    """What a call gave back, as text. ``is_error`` says that the tool itself failed."""

    text: str
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """How a server stands, for people. ``error`` is one sentence, empty when all is well."""

    name: str
    state: State
    transport: Transport
    tools: tuple[str, ...] = ()
    error: str = ""
    description: str = ""
    where: str = ""
    origin: str = ""
