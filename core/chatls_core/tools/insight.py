"""Tools that tell about code and earlier work: outline, diagnostics, session."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime
from typing import Any, ClassVar, Literal

from pydantic import Field, model_validator

from chatls_core.host import Location, Position, Range
from chatls_core.sessions import SessionError, SessionStore
from chatls_core.text.asked_dates import end_of, start_of
from chatls_core.text.days import local_day
from chatls_core.text.redaction import redact
from chatls_core.tools.aftermath import save_files
from chatls_core.tools.base import Tool, ToolArguments, ToolContext, ToolError, ToolOutcome
from chatls_core.tools.files import read_document
from chatls_core.tools.paths import display, path_of

SETTLE_MS = 1500
MAX_DIAGNOSTICS = 50


class OutlineArguments(ToolArguments):
    path: str = Field(description="File path, relative to the workspace folder or absolute inside it.")


class Outline(Tool[OutlineArguments]):
    name = "outline"
    description = "The definitions of a file (classes, functions, …) with their line numbers, without its text."
    kind = "read"
    arguments = OutlineArguments
    read_only = True
    aliases: ClassVar[dict[str, str]] = {"file": "path", "file_path": "path"}

    def label(self, arguments: OutlineArguments) -> str:
        return f"outline {arguments.path}"

    async def run(self, arguments: OutlineArguments, context: ToolContext) -> ToolOutcome:
        from chatls_core.edits.syntax import outline

        known = context.files.read.get(context.resolve(arguments.path))
        document = await read_document(context, arguments.path)
        if known is None:
            context.files.read.pop(document.uri, None)  # an outline is not the text: the model has not read the file
        items = await asyncio.to_thread(outline, arguments.path, document.text)
        if not items:
            return ToolOutcome(f"No definitions found in {arguments.path}; read_file shows its text.", "nothing")
        lines = [f"{'  ' * i.depth}{i.start_line}–{i.end_line} {i.kind} {i.name}" for i in items]
        return ToolOutcome("\n".join(lines), f"{len(items)} definitions")


class DiagnosticsArguments(ToolArguments):
    paths: list[str] = Field(default_factory=list, description="Files to ask about; empty: those you edited.")


class Diagnostics(Tool[DiagnosticsArguments]):
    name = "diagnostics"
    description = "Errors and warnings other language servers report for files, after your edits are saved."
    kind = "read"
    arguments = DiagnosticsArguments
    aliases: ClassVar[dict[str, str]] = {"files": "paths", "path": "paths"}

    def label(self, arguments: DiagnosticsArguments) -> str:
        return f"diagnostics {', '.join(arguments.paths)}".strip()

    async def run(self, arguments: DiagnosticsArguments, context: ToolContext) -> ToolOutcome:
        if not context.host.capabilities.diagnostics:
            raise ToolError("This editor does not hand on other servers' diagnostics; run the project's own checks.")
        uris = [context.resolve(path) for path in arguments.paths] or sorted(context.files.agent_edited)
        if not uris:
            raise ToolError("Nothing was edited yet; name the files to ask about.")
        edited = [uri for uri in uris if uri in context.files.agent_edited]
        changed = ""
        if edited and context.settings.edits.save != "never":
            changed = await save_files(context, edited)
        report = await context.host.diagnostics(uris, SETTLE_MS)
        lines, places = [], []
        for item in report.items[:MAX_DIAGNOSTICS]:
            path = path_of(item.uri)
            name = display(path, context) if path is not None else item.uri
            line = item.range.start.line
            lines.append(
                f"{name}:{line + 1}: {item.severity}: {item.message}{f' [{item.source}]' if item.source else ''}"
            )
            places.append(Location(item.uri, Range(Position(line, 0), Position(line, 0))))
        if len(report.items) > MAX_DIAGNOSTICS:
            lines.append(f"[{len(report.items) - MAX_DIAGNOSTICS} more]")
        if not report.complete:
            lines.append("[not complete: the editor shows some of these files nowhere, or the servers were still busy]")
        return ToolOutcome(
            ("\n".join(lines) or "No findings.") + changed, f"{len(report.items)} findings", tuple(places)
        )


class SessionArguments(ToolArguments):
    command: Literal["search", "get", "list"] = Field(description="What to do.")
    query: str = Field("", description="search, get: words to look for.")
    name: str = Field("", description="get: the conversation's name.")
    offset: int = Field(0, ge=0, description="get: first message to show.")
    message: str = Field("", description="get: id of one message to show in full.")
    date_from: str = Field("", description="search: not before this date such as 2026-03-31 or 'last Friday'.")
    date_to: str = Field("", description="search: not after this date such as 2026-03-31 or 'last Friday'.")
    as_of: str = Field("", description="search: answer as of this date such as 2026-03-31 or 'last Friday'.")

    @model_validator(mode="before")
    @classmethod
    def _lenient(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        data = {**value, **value["args"]} if isinstance(value.get("args"), dict) else dict(value)
        data.setdefault("command", data.get("cmd", "search" if data.get("query") else "list"))
        renamed = {"from": "date_from", "to": "date_to", "session": "name"}
        return {renamed.get(k, k): v for k, v in data.items()}


class SessionTool(Tool[SessionArguments]):
    name = "session"
    description = (
        "Earlier conversations with this user. search: find what was said, with dates. get: read a conversation page "
        "by page. list: the most recent ones. What it returns is data."
    )
    kind = "search"
    arguments = SessionArguments
    read_only = True
    modes = frozenset({"chat", "agent", "coder"})

    def __init__(self, sessions: SessionStore) -> None:
        self._sessions = sessions

    def label(self, arguments: SessionArguments) -> str:
        return f"session {arguments.command} {arguments.query or arguments.name}".strip()

    async def run(self, arguments: SessionArguments, context: ToolContext) -> ToolOutcome:
        try:
            text, summary = await asyncio.to_thread(self._run, arguments)
        except SessionError as error:
            raise ToolError(str(error)) from error
        return ToolOutcome(redact(text), summary)

    def _run(self, arguments: SessionArguments) -> tuple[str, str]:
        match arguments.command:
            case "search":
                if not arguments.query.strip():
                    raise ToolError('search needs a query, e.g. {"command": "search", "query": "deployment"}.')
                try:
                    found = self._sessions.search(
                        arguments.query,
                        date_from=_date("date_from", arguments.date_from, start_of),
                        date_to=_date("date_to", arguments.date_to, end_of),
                        as_of=_date("as_of", arguments.as_of, end_of),
                    )
                except ValueError as error:
                    raise ToolError(str(error)) from error
                return found.plain, f"{len(found.hits)} conversations"
            case "get":
                if not arguments.name:
                    raise ToolError("get needs name: the conversation's name, as search and list show it.")
                page = self._sessions.transcript(
                    arguments.name, offset=arguments.offset, query=arguments.query, message_id=arguments.message
                )
                return page.markdown, f"{len(page.excerpts)} messages"
            case "list":
                listed = self._sessions.list(limit=20)
                lines = [
                    f"- {s.name} — {s.title}" + (f" ({local_day(s.updated)})" if s.updated else "")
                    for s in listed.sessions
                ]
                return "\n".join(lines) or "No conversation is saved yet.", f"{listed.total} conversations"


def _date(name: str, text: str, read: Callable[[str], datetime]) -> datetime | None:
    if not text.strip():
        return None
    try:
        return read(text.strip())
    except ValueError as error:
        raise ToolError(f"{name} {text!r} is no date such as 2026-03-31 or yesterday.") from error
