"""What happens in a turn, as told to the outside: one stream of small facts (PROTOCOL.md "Chat").

Front ends translate; none has logic of its own. :func:`payload` gives the JSON form that goes over the wire and into
the journal. Line numbers are zero-based; hunks cover whole lines, so they need no position encoding.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from chatls_core.host import Hunk, Location, NoticeLevel, Range, ToolKind
from chatls_core.llm.events import Usage


@dataclass(frozen=True, slots=True)
class Queued:
    """The request waits behind others; ``position`` counts from 1."""

    position: int


@dataclass(frozen=True, slots=True)
class Started:
    """The turn runs; ``text`` is what was asked, ``provider`` and ``model`` who will answer."""

    text: str
    mode: str
    provider: str = ""
    model: str = ""


@dataclass(frozen=True, slots=True)
class ContextItem:
    """One thing that rode along with the question."""

    id: str
    title: str
    uri: str = ""


@dataclass(frozen=True, slots=True)
class ContextAdded:
    """What rode along: rules, files, facts, skills."""

    rules: tuple[ContextItem, ...] = ()
    files: tuple[ContextItem, ...] = ()
    facts: tuple[ContextItem, ...] = ()
    skills: tuple[ContextItem, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.rules or self.files or self.facts or self.skills)


@dataclass(frozen=True, slots=True)
class Text:
    """More of the answer."""

    delta: str


@dataclass(frozen=True, slots=True)
class Reasoning:
    """More of what the model thinks."""

    delta: str


@dataclass(frozen=True, slots=True)
class ToolStart:
    """A tool call begins."""

    call_id: str
    name: str
    label: str
    tool_kind: ToolKind
    input: Mapping[str, object]
    locations: tuple[Location, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolEnd:
    """A tool call ended."""

    call_id: str
    status: Literal["completed", "failed", "denied"]
    output: str = ""
    locations: tuple[Location, ...] = ()


EditStatus = Literal["proposed", "applied", "rejected", "failed"]


@dataclass(frozen=True, slots=True)
class SyntaxProblem:
    """A syntax error an edit brought in; zero-based ``line``."""

    line: int
    message: str


@dataclass(frozen=True, slots=True)
class Edit:
    """An edit to one file, at one stage of its life."""

    call_id: str
    uri: str
    status: EditStatus
    hunks: tuple[Hunk, ...] = ()
    syntax_errors: tuple[SyntaxProblem, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True)
class PlanEntry:
    """One step of a plan."""

    text: str
    status: Literal["pending", "in_progress", "completed"]


@dataclass(frozen=True, slots=True)
class Plan:
    """The model's plan, whole, each time it changes; once more at the end of a turn that left a step in progress."""

    entries: tuple[PlanEntry, ...]


@dataclass(frozen=True, slots=True)
class Notice:
    """One sentence for the user."""

    level: NoticeLevel
    text: str


@dataclass(frozen=True, slots=True)
class UsageSoFar:
    """Tokens of the turn so far."""

    usage: Usage


StopReason = Literal["end", "max_turns", "max_tokens", "refused", "stalled"]


@dataclass(frozen=True, slots=True)
class Ended:
    """The turn is over; ``status`` "failed" carries the error's kind, "cancelled" the user's stop."""

    status: Literal["completed", "failed", "cancelled"]
    stop_reason: StopReason | Literal[""] = ""
    error: Mapping[str, object] | None = None


TurnEvent = (
    Queued | Started | ContextAdded | Text | Reasoning | ToolStart | ToolEnd | Edit | Plan | Notice | UsageSoFar | Ended
)


def usage_payload(usage: Usage) -> dict[str, object]:
    """The wire form of usage (PROTOCOL.md "Chat")."""
    return {
        "inputTokens": usage.input_tokens,
        "outputTokens": usage.output_tokens,
        "reasoningTokens": usage.reasoning_tokens,
        "cacheReadTokens": usage.cache_read_tokens,
        "cacheWriteTokens": usage.cache_write_tokens,
        "costUsd": usage.cost_usd,
        "model": usage.model,
        "provider": usage.provider,
    }


def range_payload(value: Range) -> dict[str, Any]:
    """The wire form of a range."""
    return {
        "start": {"line": value.start.line, "character": value.start.character},
        "end": {"line": value.end.line, "character": value.end.character},
    }


def hunk_payload(hunk: Hunk) -> dict[str, Any]:
    """The wire form of a hunk."""
    return {"id": hunk.id, "range": range_payload(hunk.range), "oldText": hunk.old_text, "newText": hunk.new_text}


def _locations(locations: Sequence[Location]) -> list[dict[str, Any]]:
    return [
        {"uri": place.uri, "range": range_payload(place.range)} if place.range else {"uri": place.uri}
        for place in locations
    ]


def _items(items: Sequence[ContextItem]) -> list[dict[str, str]]:
    return [
        {"id": item.id, "title": item.title, "uri": item.uri} if item.uri else {"id": item.id, "title": item.title}
        for item in items
    ]


def payload(event: TurnEvent) -> dict[str, Any]:
    """The JSON form of an event, with its ``kind`` (PROTOCOL.md "Chat")."""
    match event:
        case Queued(position):
            return {"kind": "queued", "position": position}
        case Started(text, mode, provider, model):
            return {"kind": "started", "text": text, "mode": mode, "provider": provider, "model": model}
        case ContextAdded(rules, files, facts, skills):
            return {
                "kind": "context",
                "rules": _items(rules),
                "files": _items(files),
                "facts": _items(facts),
                "skills": _items(skills),
            }
        case Text(delta):
            return {"kind": "text", "delta": delta}
        case Reasoning(delta):
            return {"kind": "reasoning", "delta": delta}
        case ToolStart():
            return {
                "kind": "tool_start",
                "callId": event.call_id,
                "name": event.name,
                "label": event.label,
                "toolKind": event.tool_kind,
                "input": dict(event.input),
                "locations": _locations(event.locations),
            }
        case ToolEnd():
            return {
                "kind": "tool_end",
                "callId": event.call_id,
                "status": event.status,
                "output": event.output,
                "locations": _locations(event.locations),
            }
        case Edit():
            body: dict[str, Any] = {
                "kind": "edit",
                "callId": event.call_id,
                "uri": event.uri,
                "hunks": [hunk_payload(h) for h in event.hunks],
                "status": event.status,
            }
            if event.syntax_errors:
                body["syntaxErrors"] = [{"line": s.line, "message": s.message} for s in event.syntax_errors]
            if event.reason:
                body["reason"] = event.reason
            return body
        case Plan(entries):
            return {"kind": "plan", "entries": [{"text": e.text, "status": e.status} for e in entries]}
        case Notice(level, text):
            return {"kind": "notice", "level": level, "text": text}
        case UsageSoFar(usage):
            return {"kind": "usage", "usage": usage_payload(usage), **usage_payload(usage)}
        case Ended(status, stop_reason, error):
            return {
                "kind": "ended",
                "status": status,
                "stopReason": stop_reason,
                **({"error": dict(error)} if error else {}),
            }
