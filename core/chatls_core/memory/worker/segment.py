"""What the worker reads: a piece of one conversation with its own times (spec/memory.md §10.2, §10.6)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from chatls_core.llm.messages import Message
from chatls_core.memory.records import LenientRecord, Time
from chatls_core.memory.withheld import scrub
from chatls_core.text.cut import by_bytes

MAX_LINE_BYTES = 20_000
"""Most of one message that is queued; a longer one is a paste, and its end adds nothing to learn from."""


@dataclass(frozen=True, slots=True)
class Line:
    """One message: ``id`` within its conversation, ``time`` when it was said (aware)."""

    role: str
    text: str
    id: str
    time: datetime


@dataclass(frozen=True, slots=True)
class Segment:
    """Consecutive messages of one conversation, secrets hidden.

    ``workspace`` is the project's path, empty without one. ``external`` says that the conversation has swallowed
    content from the web or an MCP server: what it says about the user is not learned without asking.
    """

    session: str
    lines: tuple[Line, ...]
    workspace: str = ""
    external: bool = False

    @classmethod
    def of(
        cls,
        messages: Iterable[Message],
        *,
        session: str,
        workspace: str = "",
        external: bool = False,
        now: datetime,
    ) -> Segment:
        """What user and model said; injected blocks, tool results, summaries, notices and reasoning are left out.

        ``now`` stands in for a message without a time.
        """
        lines = tuple(line for m in messages if (line := _line(m, now)) is not None)
        return cls(session, lines, workspace, external)


def said_since(messages: Sequence[Message], marks: Iterable[str], turn_id: str) -> Sequence[Message]:
    """The messages behind the first of ``marks`` (ids of messages taken in before) that still stands among them.

    Where none does, as in a conversation nobody has marked yet, they are those from ``turn_id`` on.
    """
    for mark in marks:
        for index in range(len(messages) - 1, -1, -1):
            if messages[index].id == mark:
                return messages[index + 1 :]
    for index, message in enumerate(messages):
        if turn_id and message.turn_id == turn_id:
            return messages[index:]
    return ()


def _line(message: Message, now: datetime) -> Line | None:
    text = message.text.strip()
    if message.kind != "text" or not text:
        return None
    time = message.time or now
    return Line(message.role, scrub(by_bytes(text, MAX_LINE_BYTES)), message.id or name_of(message.role, text), time)


def name_of(role: str, text: str) -> str:
    """An id for a message that has none."""
    return hashlib.sha256(f"{role}\0{text}".encode("utf-8", "surrogatepass")).hexdigest()[:16]


class QueuedMessage(LenientRecord):
    """One message of a queue file; ``id`` and ``time`` are ours, ChatCLI writes role and content only."""

    role: str = ""
    content: str = ""
    id: str = ""
    time: Time | None = None


class QueuedSegment(LenientRecord):
    """One ``seg-*.json`` (spec/memory.md §10.6); ``session``, ``external``, ``follows`` and
    ``unreadable`` are ours.

    ``follows`` is the last message of the conversation that was queued before this file.
    ``unreadable`` counts answers that did not parse. ``attempts`` is ChatCLI's; it is kept and not counted up, since
    ChatCLI drops a file for it.
    """

    created_at: Time
    messages: tuple[QueuedMessage, ...] = ()
    attempts: int = 0
    workspace: str = ""
    session: str = ""
    external: bool = False
    follows: str = ""
    unreadable: int = 0

    @classmethod
    def of(cls, segment: Segment, created_at: datetime, *, follows: str = "") -> QueuedSegment:
        """The file of a segment."""
        return cls(
            created_at=created_at,
            messages=tuple(QueuedMessage(role=x.role, content=x.text, id=x.id, time=x.time) for x in segment.lines),
            workspace=segment.workspace,
            session=segment.session,
            external=segment.external,
            follows=follows,
        )

    @property
    def segment(self) -> Segment:
        """The segment; a message without a time was said when the file was made."""
        # Our own files were redacted when they were written; another program's may not be.
        clean: Callable[[str], str] = str if self.session else scrub
        return Segment(
            self.session,
            tuple(
                Line(
                    m.role.lower(),
                    clean(m.content.strip()),
                    m.id or name_of(m.role, m.content),
                    m.time or self.created_at,
                )
                for m in self.messages
                if m.role.lower() in ("user", "assistant") and m.content.strip()
            ),
            self.workspace,
            self.external,
        )
