"""What of a conversation can be found: its messages in pieces of about a paragraph (spec/memory.md §15.2)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Literal

from chatls_core.llm.messages import Message, TextPart, ToolResultPart
from chatls_core.text.stored import StoredPassage, fingerprint

PASSAGE_CHARS = 1200
"""Most characters of one passage."""

_PER_MESSAGE = 25
"""Most passages of one message: a pasted log must not fill the index."""

_TOOL_CHARS = 600
"""Characters of a tool's output that can be found; output floods every ranking otherwise."""

Source = Literal["user", "assistant", "tool", "summary"]


_WEIGHTS: dict[Source, float] = {"user": 1.0, "assistant": 1.0, "summary": 0.8, "tool": 0.6}


def passages_of(messages: Sequence[Message], fallback: datetime | None) -> list[StoredPassage]:
    """The passages of a conversation in order. ``fallback`` dates messages that have no time of their own.

    What we put into the prompt ourselves (turn contexts, notices) is left out: it was not said by anybody.
    """
    found: list[StoredPassage] = []
    for message in messages:
        for number, (source, text) in enumerate(_texts(message)):
            key = f"{message.id}:{number}:{fingerprint(text)}"
            found.append(StoredPassage(key, text, message.time or fallback, source, _WEIGHTS[source]))
    return found


def message_of(passage: StoredPassage) -> str:
    """The id of the message that a passage is a piece of."""
    return passage.key.rsplit(":", 2)[0]


def _texts(message: Message) -> Iterator[tuple[Source, str]]:
    if message.kind in ("turn_context", "notice"):
        return
    source: Source = "summary" if message.kind == "summary" else message.role
    said = "\n".join(p.text for p in message.parts if isinstance(p, TextPart)) if message.kind != "tool_result" else ""
    for piece in _pieces(said)[:_PER_MESSAGE]:
        yield source, piece
    for part in message.parts:
        if isinstance(part, ToolResultPart) and (output := part.text.strip()):
            yield "tool", f"{part.name}: {output[:_TOOL_CHARS]}" if part.name else output[:_TOOL_CHARS]


def _pieces(text: str) -> list[str]:
    """The text cut at paragraphs, lines or words into pieces of at most :data:`PASSAGE_CHARS` characters."""
    pieces: list[str] = []
    rest = text.strip()
    while len(rest) > PASSAGE_CHARS:
        at = max(rest.rfind(mark, PASSAGE_CHARS // 2, PASSAGE_CHARS) for mark in ("\n\n", "\n", ". "))
        if at < 0:
            at = rest.rfind(" ", PASSAGE_CHARS // 2, PASSAGE_CHARS)
        if at < 0:
            at = PASSAGE_CHARS - 1
        pieces.append(rest[: at + 1].strip())
        rest = rest[at + 1 :].strip()
    if rest:
        pieces.append(rest)
    return [p for p in pieces if p]
