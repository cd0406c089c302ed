"""A tool: its name and schema for the model, and what running it gives back.

Arguments are pydantic models, so a wrong call is answered with what was wrong and what the tool takes: an error that
teaches the next correct call.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, ClassVar, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from chatls_core.config import Settings
from chatls_core.events import TurnEvent
from chatls_core.host import Host, HostError, Location, ToolKind
from chatls_core.llm.messages import ToolDefinition

Mode = Literal["chat", "agent", "coder"]


class ToolArguments(BaseModel):
    """Arguments of one tool; unknown ones are ignored, since models invent them."""

    model_config = ConfigDict(extra="ignore", frozen=True)


A = TypeVar("A", bound=ToolArguments)


class ToolError(Exception):
    """The call could not be done; ``str()`` tells the model what to do instead."""

    def __init__(self, message: str, *, denied: bool = False, external: bool = False) -> None:
        super().__init__(message)
        self.denied = denied
        self.external = external
        """Whether the message holds text from outside the workspace; see :class:`ToolOutcome`."""


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """What a call gave: ``text`` goes to the model, ``summary`` is the user's one line."""

    text: str
    summary: str = ""
    locations: tuple[Location, ...] = ()
    external: bool = False
    """Whether the text came from outside the workspace (web, MCP): the conversation is marked (DESIGN.md, "Trust")."""
    max_chars: int | None = None
    """How much of the text the model is shown at most, the rest staying reachable; ``None``: as the setting says."""


@dataclass(slots=True)
class EditRecord:
    """The outcome of an edit to one file, for the turn's result."""

    uri: str
    applied: bool
    reason: str = ""


@dataclass(slots=True)
class TurnFiles:
    """What a turn (and the conversation before it) knows of files: the text last shown to the model, by URI."""

    read: dict[str, str] = field(default_factory=dict)
    touched: list[Path] = field(default_factory=list)
    edits: list[EditRecord] = field(default_factory=list)
    changes: list[tuple[str, str, str | None, str | None, str | None]] = field(default_factory=list)
    """This turn's applied changes: call id, URI, text before, text after, new URI."""
    agent_edited: set[str] = field(default_factory=set)
    """Files the agent edited in this conversation: saved before a command reads the disk."""
    findings: dict[str, Counter[str]] = field(default_factory=dict)
    """What other language servers said of edited files when the model was last told, by URI."""
    unchecked: set[str] = field(default_factory=set)
    """Edited since they were last asked."""
    no_findings: bool = False
    """Whether the editor, asked for their findings, kept silent."""

    def touch(self, path: Path | None) -> None:
        """Remember that the turn read or changed ``path`` (path rules and nested instructions follow it)."""
        if path is not None and path not in self.touched:
            self.touched.append(path)


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a tool may use while it runs."""

    host: Host
    settings: Settings
    mode: Mode
    call_id: str
    files: TurnFiles
    emit: Callable[[TurnEvent], None]
    session_id: str = ""
    turn_id: str = ""

    def root(self) -> Path | None:
        """The first workspace folder, if any."""
        return self.host.roots[0] if self.host.roots else None

    def resolve(self, path: str) -> str:
        """The URI of a model's path; a path outside the workspace is a :class:`ToolError`."""
        try:
            return self.host.resolve(path)
        except HostError as error:
            raise ToolError(str(error)) from error


class Tool(Generic[A]):
    """One tool. Subclasses set the class variables and implement :meth:`run`."""

    name: str
    description: str
    kind: ToolKind
    arguments: type[A]
    read_only: ClassVar[bool] = False
    """Whether calls of one message may run side by side."""
    modes: ClassVar[frozenset[Mode]] = frozenset({"agent", "coder"})
    aliases: ClassVar[Mapping[str, str]] = {}
    """Other argument names models use, mapped to ours."""

    def definition(self) -> ToolDefinition:
        """The tool as the model sees it; the same bytes every time."""
        return _definition(self.name, self.description, self.arguments)

    def label(self, arguments: A) -> str:
        """What the call does, in a few words for the user."""
        return self.name.replace("_", " ")

    def subject(self, arguments: A) -> str:
        """What the call acts on, as policy rules name it: a path or a command line."""
        return str(getattr(arguments, "command", "") or getattr(arguments, "path", ""))

    def preview(self, arguments: A) -> str:
        """What the user sees of the call before they allow it."""
        return self.subject(arguments)

    @property
    def asks(self) -> bool:
        """Whether the user is asked where no rule speaks."""
        return self.kind == "execute"

    @property
    def other_names(self) -> Sequence[str]:
        """Names under which rules may forbid the tool as well."""
        return ()

    def locations(self, arguments: A, context: ToolContext) -> tuple[Location, ...]:
        """The places the call is about."""
        return ()

    async def run(self, arguments: A, context: ToolContext) -> ToolOutcome:
        """Do it. Raises :class:`ToolError` with a message for the model."""
        raise ToolError(f"{self.name} cannot be run here.")

    def parse(self, raw: Mapping[str, object]) -> A:
        """Validate a model's arguments; a :class:`ToolError` says which argument is wrong and shows the schema."""
        renamed = {self.aliases.get(key, key) if self.aliases.get(key) not in raw else key: v for key, v in raw.items()}
        try:
            return self.arguments.model_validate(renamed)
        except ValidationError as error:
            problems = "; ".join(
                f"{'.'.join(str(p) for p in e['loc']) or 'arguments'}: {e['msg'].lower()}" for e in error.errors()[:5]
            )
            takes = ", ".join(f"{n}{'' if f.is_required() else '?'}" for n, f in self.arguments.model_fields.items())
            given = json.dumps(sorted(raw), ensure_ascii=False)
            raise ToolError(f"{self.name}: {problems}. It takes: {takes}. You gave: {given}.") from error


@lru_cache(maxsize=256)
def _definition(name: str, description: str, arguments: type[ToolArguments]) -> ToolDefinition:
    return ToolDefinition(name, description, tool_schema(arguments))


@cache
def tool_schema(arguments: type[ToolArguments]) -> dict[str, Any]:
    """The JSON schema of a tool's arguments without pydantic's titles, keys in a stable order."""
    return _without_titles(arguments.model_json_schema())  # type: ignore[no-any-return]  # JSON in, JSON out


def _without_titles(node: Any, inside_properties: bool = False) -> Any:
    if isinstance(node, dict):
        return {
            key: _without_titles(value, key == "properties")
            for key, value in node.items()
            if inside_properties or key != "title" or not isinstance(value, str)
        }
    if isinstance(node, list):
        return [_without_titles(value) for value in node]
    return node


class ToolSet:
    """The tools of one mode, by name; definitions sorted by name so that their bytes never move."""

    def __init__(self, tools: Sequence[Tool[Any]]) -> None:
        self._tools = {tool.name: tool for tool in sorted(tools, key=lambda t: t.name)}
        self._definitions: tuple[ToolDefinition, ...] | None = None

    def definitions(self) -> tuple[ToolDefinition, ...]:
        """Definitions for the model."""
        if self._definitions is None:
            self._definitions = tuple(tool.definition() for tool in self._tools.values())
        return self._definitions

    def get(self, name: str) -> Tool[Any] | None:
        """The tool called ``name``; spelling variants of case, dashes and a leading ``@`` are understood."""
        plain = name.strip().lstrip("@").replace("-", "_").lower()
        return self._tools.get(name) or self._tools.get(plain)

    def names(self) -> tuple[str, ...]:
        """Tool names in order."""
        return tuple(self._tools)
