"""Where a history may be cut: never between a call and its result, never between a context and its question."""

from __future__ import annotations

import json
from collections.abc import Sequence

from chatls_core.llm.messages import ImagePart, Message, ReasoningPart, TextPart, ToolCallPart, ToolResultPart


def total_chars(messages: Sequence[Message]) -> int:
    """The weight of messages in characters."""
    return sum(m.chars for m in messages)


def call_spans(messages: Sequence[Message]) -> list[tuple[int, int]]:
    """``(index of a call's message, index of its result's)`` for every answered call; ids may repeat over time."""
    opened: dict[str, int] = {}
    spans: list[tuple[int, int]] = []
    for index, message in enumerate(messages):
        for part in message.parts:
            if isinstance(part, ToolCallPart):
                opened[part.id] = index
            elif isinstance(part, ToolResultPart) and part.call_id in opened:
                spans.append((opened.pop(part.call_id), index))
    return spans


def whole_at(messages: Sequence[Message], cut: int) -> int:
    """The last place at or before ``cut`` where a history may be parted."""
    inside: set[int] = set()
    for first, last in call_spans(messages):
        inside.update(range(first + 1, last + 1))
    while 0 < cut < len(messages) and (cut in inside or _belongs_to_previous(messages, cut)):
        cut -= 1
    return cut


def recent_start(messages: Sequence[Message], keep: int, budget_chars: int) -> int:
    """Index of the first of the recent messages: the last ``keep`` of them, fewer when they outweigh ``budget_chars``;
    the last one always stays."""
    start = max(0, len(messages) - keep)
    weight = total_chars(messages[start:])
    while weight > budget_chars and start < len(messages) - 1:
        weight -= messages[start].chars
        start += 1
    return whole_at(messages, start)


def is_opening(message: Message, turn_id: str) -> bool:
    """Whether ``message`` is what the running turn is about: the user's own words and the context they came with."""
    return bool(turn_id) and message.turn_id == turn_id and message.role == "user" and message.kind == "text"


def openings(messages: Sequence[Message], turn_id: str) -> frozenset[int]:
    """Indices of the running turn's opening messages; they are never summarised away."""
    found: set[int] = set()
    for index, message in enumerate(messages):
        if is_opening(message, turn_id):
            found.add(index)
            if index and messages[index - 1].kind == "turn_context" and messages[index - 1].turn_id == turn_id:
                found.add(index - 1)
    return frozenset(found)


def transcript(messages: Sequence[Message], head: int = 0, tail: int = 0) -> str:
    """Messages as text, in full; with ``head`` and ``tail`` the long ones are cut to so many characters.

    Summaries are never cut: they stand for far more than their length.
    """
    return "\n\n".join(_entry(number, message, head, tail) for number, message in enumerate(messages, 1))


def _entry(number: int, message: Message, head: int, tail: int) -> str:
    body = "\n".join(filter(None, map(_words, message.parts)))
    if head and message.kind != "summary" and len(body) > head + tail:
        body = f"{body[:head]}\n[… {len(body) - head - tail} characters …]\n{body[len(body) - tail :]}"
    kind = "" if message.kind == "text" else f", {message.kind.replace('_', ' ')}"
    return f"### {number} ({message.role}{kind})\n{body}"


def _words(part: object) -> str:
    match part:
        case TextPart(text):
            return text
        case ReasoningPart(text):
            return f"(thought) {text}" if text else ""
        case ToolCallPart():
            arguments = part.raw or json.dumps(part.arguments, ensure_ascii=False, default=str)
            return f"(called {part.name} with {arguments})"
        case ToolResultPart():
            failed = ", failed" if part.is_error else ""
            images = f"\n({len(part.images)} images)" if part.images else ""
            return f"(result of {part.name}{failed})\n{part.text}{images}"
        case ImagePart():
            return f"(image, {part.media_type})"
    return ""


def _belongs_to_previous(messages: Sequence[Message], index: int) -> bool:
    return (
        messages[index].kind == "text"
        and messages[index].role == "user"
        and (messages[index - 1].kind == "turn_context")
    )
