"""Fingerprints of a request in cache order, and where two requests part (spec/agent.md §1.7)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from chatls_core.llm.messages import (
    ImagePart,
    Message,
    ModelRequest,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)

MAX_ENTRIES = 4096


@dataclass(frozen=True, slots=True)
class Difference:
    """The first place where a request parts from the one before. ``section`` names it for people."""

    cause: str
    section: str


def prints(request: ModelRequest, sections: Sequence[str] = ()) -> tuple[str, ...]:
    """One entry for the tools, one per part of the system text (named by ``sections``), one per message:
    ``kind digest``."""
    entries = [f"tools {_digest(_tools(request))}"]
    for number, text in enumerate(request.system):
        name = sections[number] if number < len(sections) else f"part {number + 1}"
        entries.append(f"system:{number + 1}:{name} {_digest([text])}")
    entries += [f"message:{_kind(m)} {_digest(_message(m))}" for m in request.messages]
    return tuple(entries[:MAX_ENTRIES])


def difference(before: Sequence[str], now: Sequence[str]) -> Difference | None:
    """Where ``now`` parts from ``before``; ``None`` when it only grew."""
    for old, new in zip(before, now, strict=False):
        if old != new:
            return _named(new.rpartition(" ")[0], old.rpartition(" ")[0])
    if len(now) < len(before):
        gone = len(before) - len(now)
        return Difference(f"shrunk:{gone}", f"{gone} messages at the end, which are gone")
    return None


def _named(place: str, before: str) -> Difference:
    kind, _, rest = place.partition(":")
    if kind == "tools":
        return Difference("tools", "the tools")
    if kind == "system":
        number, _, name = rest.partition(":")
        old = before.split(":", 2)[-1] if before.startswith("system:") else name
        return Difference(f"system:{number}", f"section “{name}” of the system text" + _instead(old, name))
    if before.startswith("system:"):
        number, _, name = before.partition(":")[2].partition(":")
        return Difference(f"system:{number}", f"section “{name}” of the system text, which is gone")
    return Difference(f"message:{rest}", f"a message of the history ({rest.replace('_', ' ')})")


def _instead(old: str, name: str) -> str:
    return f", where “{old}” stood" if old != name else ""


def _kind(message: Message) -> str:
    return message.role if message.kind == "text" else message.kind


def _tools(request: ModelRequest) -> Iterable[str]:
    for tool in request.tools:
        yield f"{tool.name}\0{tool.description}\0{json.dumps(tool.input_schema, sort_keys=True)}"


def _message(message: Message) -> Iterable[str]:
    yield message.role
    for part in message.parts:
        yield from _part(part)


def _part(part: Part) -> Iterable[str]:
    match part:
        case TextPart(text) | ReasoningPart(text):
            yield text
        case ImagePart(data, media_type):
            yield f"{media_type}\0{data}"
        case ToolCallPart():
            yield f"{part.id}\0{part.name}\0{part.raw or json.dumps(part.arguments, sort_keys=True, default=str)}"
        case ToolResultPart():
            yield f"{part.call_id}\0{part.text}"
            for image in part.images:
                yield image.data


def _digest(texts: Iterable[str]) -> str:
    digest = hashlib.blake2b(digest_size=8)
    for text in texts:
        digest.update(text.encode("utf-8", "surrogatepass"))
        digest.update(b"\0")
    return digest.hexdigest()
