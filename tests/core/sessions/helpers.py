"""What the tests of this room share: a clock that only moves when told, stores, messages."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from chatls_core.config import Sessions
from chatls_core.llm.messages import Message, TextPart
from chatls_core.sessions import Conversation, SessionStore
from chatls_core.store import REAL, FileSystem

START = datetime(2026, 3, 14, 9, 26, tzinfo=UTC)


class Clock:
    """Tells ``now``; one second passes at each look."""

    def __init__(self, now: datetime = START) -> None:
        self.now = now

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


def open_store(folder: Path, clock: Clock, *, fs: FileSystem = REAL, **settings: object) -> SessionStore:
    return SessionStore(folder / "sessions", clock=clock, settings=Sessions.model_validate(settings), fs=fs)


def user(text: str, time: datetime | None = None) -> Message:
    return Message("user", (TextPart(text),), time=time)


def assistant(text: str, time: datetime | None = None) -> Message:
    return Message("assistant", (TextPart(text),), time=time)


def texts(messages: list[Message]) -> list[str]:
    return [m.text for m in messages]


def saved(store: SessionStore, *said: Message, session_id: str | None = None, name: str = "") -> Conversation:
    """A saved conversation of these messages."""
    conversation = store.create(session_id, name=name)
    conversation.messages += said
    store.save(conversation)
    return conversation
