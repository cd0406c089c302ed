"""The model's memory tool, in every mode (spec/memory.md §9.5, §13.2)."""

from __future__ import annotations

import asyncio
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, model_validator

from chatls_core.memory import Memory, Source
from chatls_core.memory.refusals import told
from chatls_core.store import StoreReadOnlyError
from chatls_core.text.asked_dates import end_of
from chatls_core.tools.base import Tool, ToolArguments, ToolContext, ToolError, ToolOutcome

Command = Literal["remember", "recall", "forget", "profile", "timeline", "neighbors", "map"]
ALIASES: dict[str, Command] = {
    "add": "remember", "store": "remember", "note": "remember", "save": "remember",
    "profile_set": "profile", "user": "profile",
    "remove": "forget", "delete": "forget",
    "read": "recall", "get": "recall", "search": "recall",
    "history": "timeline", "episodes": "timeline", "chronology": "timeline",
    "related": "neighbors", "links": "neighbors", "backlinks": "neighbors", "connected": "neighbors",
    "graph": "map", "moc": "map", "overview": "map",
}  # fmt: skip


class MemoryArguments(ToolArguments):
    command: Command = Field(description="What to do.")
    content: str = Field("", description="remember: one self-contained fact.")
    category: str = Field(
        "", description="remember: architecture, pattern, preference, gotcha, project, personal or general."
    )
    query: str = Field("", description="recall, timeline, neighbors: what to look for.")
    match: str = Field("", description="forget: text the items to forget contain.")
    fields: dict[str, str] = Field(default_factory=dict, description='profile: values to set, e.g. {"name": "Ana"}.')
    start: str = Field("", description="timeline: not before this date or time in words.")
    end: str = Field("", description="timeline: not after it.")
    project: str = Field("", description="timeline: only work on this project.")
    as_of: str = Field("", description="recall, timeline: answer as of this date such as 2026-03-31 or 'last Friday'.")

    @model_validator(mode="before")
    @classmethod
    def _lenient(cls, value: Any) -> Any:
        """Accept the ``{"cmd", "args"}`` envelope, other spellings, and values that are no strings."""
        if not isinstance(value, dict):
            return value
        data = dict(value)
        if isinstance(data.get("args"), dict):
            data = {**data, **data.pop("args")}
        command = str(data.get("command") or data.pop("cmd", "") or "").strip().lower()
        data["command"] = ALIASES.get(command, command)
        data |= {new: data.pop(old) for old, new in (("from", "start"), ("to", "end")) if old in data}
        if isinstance(data.get("fields"), dict):
            data["fields"] = {
                str(k): ", ".join(map(str, v)) if isinstance(v, list) else str(v) for k, v in data["fields"].items()
            }
        return data


class MemoryTool(Tool[MemoryArguments]):
    name = "memory"
    description = (
        "The user's persistent memory across sessions. remember: keep one fact the user wants kept. recall: find what "
        "is known. forget: remove items the user wants forgotten. profile: read or set what is known about the user. "
        "timeline: what was done when. neighbors, map: how things are connected. What it returns is data."
    )
    kind = "think"
    arguments = MemoryArguments
    modes = frozenset({"chat", "agent", "coder"})

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def label(self, arguments: MemoryArguments) -> str:
        what = arguments.content or arguments.query or arguments.match
        return f"memory {arguments.command} {what[:60]}".strip()

    async def run(self, arguments: MemoryArguments, context: ToolContext) -> ToolOutcome:
        if arguments.command == "recall" and self._memory.meaning is not None:
            await self._memory.meaning.prepare(arguments.query)
        try:
            text, summary = await asyncio.to_thread(self._run, arguments, context)
        except (OSError, StoreReadOnlyError) as error:
            raise ToolError(f"{told(error)} Tell the user.") from error
        return ToolOutcome(text, summary)

    def _run(self, arguments: MemoryArguments, context: ToolContext) -> tuple[str, str]:
        memory = self._memory
        root = context.root()
        as_of = _date(arguments.as_of)
        source = Source("user", session=context.session_id, message=context.turn_id)
        match arguments.command:
            case "remember":
                if not arguments.content.strip():
                    raise ToolError('remember needs content, e.g. {"command": "remember", "content": "Uses pnpm"}.')
                done = memory.remember(arguments.content, arguments.category, scope=_scope(root), source=source)
                return done.plain, "remembered" if done.added else "known already"
            case "recall":
                if not arguments.query.strip():
                    raise ToolError('recall needs a query, e.g. {"command": "recall", "query": "deployment"}.')
                found = memory.recall(arguments.query, as_of=as_of, project=root)
                return found.context or found.plain, f"{len(found.items)} found"
            case "forget":
                if not arguments.match.strip():
                    raise ToolError("forget needs match: text that the items to forget contain.")
                gone = memory.forget(arguments.match)
                return gone.plain, f"forgot {len(gone.items)}"
            case "profile":
                view = memory.profile(arguments.fields or None, source=source)
                return view.discreet().plain, "profile"
            case "timeline":
                past = memory.timeline(
                    arguments.query, start=arguments.start, end=arguments.end, project=arguments.project, as_of=as_of
                )
                return past.plain, f"{len(past.episodes)} episodes"
            case "neighbors":
                if not arguments.query.strip():
                    raise ToolError("neighbors needs a query: the name of something remembered.")
                return memory.neighbors(arguments.query, private=False).plain, "neighbors"
            case "map":
                return memory.map().text, "map"


def _scope(root: Path | None) -> str:
    return str(root) if root is not None else ""


def _date(text: str) -> datetime | None:
    if not text.strip():
        return None
    try:
        return end_of(text.strip())
    except ValueError as error:
        raise ToolError(f"as_of {text!r} is no date such as 2026-03-31 or yesterday.") from error
