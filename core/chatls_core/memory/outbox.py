"""What still has to reach an external memory service: on disk from the moment it was said (spec/memory.md §14).

ChatCLI counts an index into the history per process, so a restart or a shortened history sends everything again. Here
a conversation is marked by the id of its last message that was taken in, and what waits is a file.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from pydantic import Field, TypeAdapter

from chatls_core.llm.messages import Message
from chatls_core.memory.records import EPOCH, LenientRecord, Time
from chatls_core.memory.stores import Stores
from chatls_core.memory.worker.segment import Segment, said_since
from chatls_core.store import JsonStore

MAX_BATCH = 40
MAX_SESSIONS = 3000
MAX_AGE = timedelta(days=30)

MAX_UNSURE = 3
"""How often messages are sent whose arrival nobody can tell (a time-out, a lost connection), each time by one name."""

MAX_REFUSED = 5


class Waiting(LenientRecord):
    """One message that was not acknowledged yet. ``batch`` names what it was sent in, once that was tried."""

    id: str = ""
    batch: str = ""
    session: str = ""
    role: str = ""
    content: str = ""
    time: Time = EPOCH


class SessionMark(LenientRecord):
    """The last message of a conversation that was taken in."""

    message: str = ""
    time: Time = EPOCH


class OutboxState(LenientRecord):
    """``tries`` counts per batch: attempts with an unknown end, and refusals."""

    schema_version: int = 1
    sessions: dict[str, SessionMark] = Field(default_factory=dict)
    waiting: tuple[Waiting, ...] = ()
    unsure: dict[str, int] = Field(default_factory=dict)
    refused: dict[str, int] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class OutboxBatch:
    """Messages of one conversation to be sent together; ``name`` is the same whenever they are sent again."""

    session: str
    messages: tuple[Waiting, ...]

    def takes(self, message: Waiting) -> bool:
        """Whether a message goes along: not with what was sent before, which must stay what it was."""
        same = (message.session, message.batch) == (self.session, self.messages[-1].batch)
        return same and (bool(message.batch) or len(self.messages) < MAX_BATCH)

    @property
    def name(self) -> str:
        """Made of the messages' ids."""
        if self.messages[0].batch:
            return self.messages[0].batch
        ids = "\n".join((self.session, *(m.id for m in self.messages)))
        return hashlib.sha256(ids.encode()).hexdigest()[:24]


class Outbox:
    """The file of one service. Thread-safe, and safe between processes. Use it in a thread."""

    def __init__(self, folder: Path, service: str, stores: Stores) -> None:
        name = hashlib.sha256(service.encode()).hexdigest()[:12]
        self.lock_file = folder / f"{name}.run.lock"
        self._store = JsonStore(
            folder / f"{name}.json",
            TypeAdapter(OutboxState),
            empty=OutboxState,
            merge=_merge,
            fs=stores.fs,
            codec=stores.codec,
        )

    def take_in(self, session: str, messages: Sequence[Message], *, turn_id: str, origin: str, now: datetime) -> int:
        """Queue what was said since the last time; returns how many messages. On return they are on the disk.

        ``origin`` is the conversation this one was forked from. A conversation without a mark, or whose marked message
        is gone, is taken in from ``turn_id`` on. Raises :class:`OSError`.
        """
        if not messages:
            return 0

        def change(state: OutboxState) -> tuple[OutboxState, int]:
            marks = [m.message for name in (session, origin) if name and (m := state.sessions.get(name)) is not None]
            fresh = said_since(messages, marks, turn_id)
            if not fresh:
                return state, 0
            lines = Segment.of(fresh, session=session, now=now).lines
            known = {m.id for m in state.waiting if m.session == session}
            added = [
                Waiting(id=line.id, session=session, role=line.role, content=line.text, time=line.time)
                for line in lines
                if line.id not in known
            ]
            sessions = {**state.sessions, session: SessionMark(message=messages[-1].id, time=now)}
            if len(sessions) > MAX_SESSIONS:
                sessions = dict(sorted(sessions.items(), key=lambda s: (s[0] == session, s[1].time))[-MAX_SESSIONS:])
            update = {"sessions": sessions, "waiting": (*state.waiting, *added)}
            return state.model_copy(update=update), len(added)

        return self._store.update(change)

    def pass_over(self, session: str, last: str, now: datetime) -> None:
        """Mark a conversation as read without sending it."""

        def change(state: OutboxState) -> tuple[OutboxState, None]:
            sessions = {**state.sessions, session: SessionMark(message=last, time=now)}
            return state.model_copy(update={"sessions": sessions}), None

        self._store.update(change)

    def count(self) -> int:
        """How many messages were not acknowledged yet."""
        return len(self._store.read().waiting)

    def batches(self, now: datetime) -> tuple[OutboxBatch, ...]:
        """What is to be sent, the oldest first; what waited a month is given up."""
        if any(now - m.time > MAX_AGE for m in self._store.read().waiting):
            self._store.update(lambda s: (_without(s, {m.id for m in s.waiting if now - m.time > MAX_AGE}), None))
        found: list[OutboxBatch] = []
        for message in self._store.read().waiting:
            last = found[-1] if found else None
            if last is not None and last.takes(message):
                found[-1] = OutboxBatch(last.session, (*last.messages, message))
            else:
                found.append(OutboxBatch(message.session, (message,)))
        return tuple(found)

    def begin(self, batch: OutboxBatch) -> None:
        """Write down that ``batch`` is about to be sent: sent again, it is the same messages under the same name."""
        ids = {m.id for m in batch.messages}

        def change(state: OutboxState) -> tuple[OutboxState, None]:
            waiting = tuple(
                m.model_copy(update={"batch": batch.name}) if m.id in ids and m.session == batch.session else m
                for m in state.waiting
            )
            return (state if waiting == state.waiting else state.model_copy(update={"waiting": waiting})), None

        self._store.update(change)

    def sent(self, batch: OutboxBatch) -> None:
        """The service has these messages."""
        self._store.update(lambda s: (_without(s, {m.id for m in batch.messages}, batch), None))

    def failed(self, batch: OutboxBatch, *, unsure: bool) -> bool:
        """Count a failure; True when the batch is given up. ``unsure``: it may have arrived all the same."""

        def change(state: OutboxState) -> tuple[OutboxState, bool]:
            which, most = ("unsure", MAX_UNSURE) if unsure else ("refused", MAX_REFUSED)
            counts: dict[str, int] = {**getattr(state, which)}
            counts[batch.name] = counts.get(batch.name, 0) + 1
            if counts[batch.name] >= most:
                return _without(state, {m.id for m in batch.messages}, batch), True
            return state.model_copy(update={which: counts}), False

        return self._store.update(change)


def _without(state: OutboxState, ids: set[str], batch: OutboxBatch | None = None) -> OutboxState:
    name = batch.name if batch is not None else ""
    session = batch.session if batch is not None else None
    return state.model_copy(
        update={
            "waiting": tuple(m for m in state.waiting if m.id not in ids or session not in (None, m.session)),
            "unsure": {k: v for k, v in state.unsure.items() if k != name},
            "refused": {k: v for k, v in state.refused.items() if k != name},
        }
    )


def _merge(a: OutboxState, b: OutboxState) -> OutboxState:
    """Only a program that ignores the lock makes two states: what either still has to send is sent."""
    sessions = dict(a.sessions)
    for name, mark in b.sessions.items():
        known = sessions.get(name)
        sessions[name] = mark if known is None or (mark.time, mark.message) > (known.time, known.message) else known
    waiting = {(m.session, m.id): m for m in (*a.waiting, *b.waiting)}
    return OutboxState(
        sessions=sessions,
        waiting=tuple(sorted(waiting.values(), key=lambda m: (m.time, m.session, m.id))),
        unsure={k: max(a.unsure.get(k, 0), b.unsure.get(k, 0)) for k in {*a.unsure, *b.unsure}},
        refused={k: max(a.refused.get(k, 0), b.refused.get(k, 0)) for k in {*a.refused, *b.refused}},
    )
