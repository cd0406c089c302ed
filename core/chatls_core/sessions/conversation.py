"""The live conversation and what a list of saved ones shows."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from chatls_core.llm.messages import Message, TextPart

TITLE_LENGTH = 60
"""Most characters of a title made from the first question (spec/memory.md §15.1)."""


@dataclass(slots=True)
class Conversation:
    """One conversation; the turn owns and changes it, :class:`~chatls_core.sessions.store.SessionStore` keeps it.

    ``id`` never changes, ``name`` is the file's stem and may. ``messages`` is one history for all modes. ``system`` is
    the frozen system text (DESIGN.md, "The prompt's shape" 1; empty: not built yet), ``system_key`` what it was built
    for. ``carried`` maps what the conversation already told the model (instruction items, facts) to its digest.
    ``state`` holds whatever else the prompt freezes with the session; its values must be JSON.
    ``created`` and ``updated`` are aware UTC times of the conversation, never of its file; ``dated`` is False where
    another program's file gives no date and they only say when it was first opened here.
    ``named`` tells whether a person chose the name: such a conversation never expires. ``loaded`` are the ids of the
    messages the file had when this conversation was read from it; it is the store's.
    """

    id: str
    name: str
    title: str
    created: datetime
    updated: datetime
    messages: list[Message] = field(default_factory=list)
    system: tuple[str, ...] = ()
    system_key: str = ""
    carried: dict[str, str] = field(default_factory=dict)
    state: dict[str, object] = field(default_factory=dict)
    named: bool = False
    dated: bool = True
    loaded: frozenset[str] = frozenset()

    def forget_prefix(self) -> None:
        """Let the next request build the system text afresh (a natural rebuild, DESIGN.md)."""
        self.system = ()
        self.system_key = ""


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """One saved conversation in a list. ``created`` and ``updated`` are ``None`` where no date is known."""

    id: str
    name: str
    title: str
    created: datetime | None
    updated: datetime | None
    messages: int
    named: bool


@dataclass(frozen=True, slots=True)
class SessionPage:
    """A part of the list of saved conversations; ``total`` counts all of them."""

    sessions: tuple[SessionSummary, ...]
    total: int


class SessionError(Exception):
    """A session command could not be done; ``str()`` says why and what to do."""


def title_of(messages: list[Message]) -> str:
    """A title from the first thing the user said, on one line; empty while there is none."""
    for message in messages:
        if message.role == "user" and message.kind == "text":
            words = " ".join(" ".join(p.text for p in message.parts if isinstance(p, TextPart)).split())
            if words:
                return words if len(words) <= TITLE_LENGTH else words[: TITLE_LENGTH - 1].rstrip() + "…"
    return ""
