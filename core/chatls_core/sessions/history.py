"""Two writers, one history: how what another program wrote meanwhile and what we hold become one conversation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from chatls_core.llm.messages import Message
from chatls_core.sessions.message_codec import FOREIGN_ID, fingerprint


def unique(messages: Sequence[Message], make_id: Callable[[], str]) -> list[Message]:
    """The messages with ids of their own each (a hand-edited file may repeat one)."""
    seen: set[str] = set()
    result = []
    for message in messages:
        if not message.id or message.id in seen:
            message = replace(message, id=make_id())
        seen.add(message.id)
        result.append(message)
    return result


def aligned(disk: Sequence[Message], ours: Sequence[Message]) -> list[Message]:
    """The disk's messages as ours where another program dropped our keys but kept what was said."""
    ids = {m.id for m in disk}
    waiting: dict[str, list[Message]] = {}
    for message in ours:
        if message.id not in ids:
            waiting.setdefault(fingerprint(message), []).append(message)
    result = []
    for message in disk:
        same = waiting.get(fingerprint(message)) if message.id.startswith(FOREIGN_ID) else None
        result.append(same.pop(0) if same else message)
    return result


def unite(ours: Sequence[Message], disk: Sequence[Message], held: frozenset[str]) -> list[Message]:
    """Both histories in one: what either side added stays, what either side took away goes.

    ``held`` are the ids we had when we last read or wrote the file. What the other side added stands behind the message
    it followed there.
    """
    on_disk = {m.id for m in disk}
    mine = {m.id for m in ours}
    kept = [m for m in ours if m.id in on_disk or m.id not in held]
    place = {m.id: index for index, m in enumerate(kept)}
    inserts: dict[int, list[Message]] = {}
    at = -1
    for message in disk:
        if message.id in place:
            at = place[message.id]
        elif message.id not in mine and message.id not in held:
            inserts.setdefault(at, []).append(message)
    result = list(inserts.get(-1, ()))
    for index, message in enumerate(kept):
        result.append(message)
        result.extend(inserts.get(index, ()))
    return result
