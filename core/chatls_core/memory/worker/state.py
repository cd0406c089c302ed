"""What the worker must know after a restart (``memory_learning.json``; docs/memory-learning.md)."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field, TypeAdapter

from chatls_core.llm.events import Usage
from chatls_core.memory import merges
from chatls_core.memory.records import EPOCH, LenientRecord, Time
from chatls_core.memory.stores import Stores
from chatls_core.store import JsonStore

MAX_SESSIONS = 3000
"""Conversations whose mark is kept; older ones would have to be continued after thousands of others."""


class Mark(LenientRecord):
    """The last message of a conversation that was handed to the queue, and when."""

    message: str = ""
    time: Time = EPOCH


class DigestMark(LenientRecord):
    """What a digest was made from. ``by_model`` is False for the deterministic fallback, ``tries`` counts attempts."""

    fingerprint: str = ""
    by_model: bool = False
    tries: int = 0


class Spent(LenientRecord):
    """What all learning brought and cost so far. ``unpriced`` counts runs with a model of unknown price."""

    items: int = 0
    runs: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0
    unpriced: int = 0


class LearningState(LenientRecord):
    """``sessions``: how far each conversation was queued. ``housekept``: last run of each duty.

    ``compacted`` tells which facts a model has tidied already: it is not asked about the same ones again.
    """

    schema_version: int = 1
    sessions: dict[str, Mark] = Field(default_factory=dict)
    housekept: dict[str, Time] = Field(default_factory=dict)
    digests: dict[str, DigestMark] = Field(default_factory=dict)
    compacted: str = ""
    spent: Spent = Spent()


def _newer(a: Mark, b: Mark) -> Mark:
    return a if (a.time, a.message) >= (b.time, b.message) else b


def _more(a: DigestMark, b: DigestMark) -> DigestMark:
    return a if (a.tries, a.by_model, a.fingerprint) >= (b.tries, b.by_model, b.fingerprint) else b


def _merge(a: LearningState, b: LearningState) -> LearningState:
    return a.model_copy(
        update={
            "sessions": merges.union(a.sessions, b.sessions, _newer),
            "housekept": merges.times(a.housekept, b.housekept),
            "digests": merges.union(a.digests, b.digests, _more),
            "compacted": max(a.compacted, b.compacted),
            "spent": a.spent if (a.spent.runs, a.spent.items) >= (b.spent.runs, b.spent.items) else b.spent,
        }
    )


def with_run(state: LearningState, items: int, usage: Usage) -> LearningState:
    """The state after a run that asked a model or brought ``items``."""
    s = state.spent
    new = s.model_copy(
        update={
            "items": s.items + items,
            "runs": s.runs + 1,
            "prompt_tokens": s.prompt_tokens + usage.prompt_tokens,
            "cached_tokens": s.cached_tokens + usage.cache_read_tokens,
            "output_tokens": s.output_tokens + usage.output_tokens,
            "cost_usd": s.cost_usd + (usage.cost_usd or 0.0),
            "unpriced": s.unpriced + (usage.cost_usd is None),
        }
    )
    return state.model_copy(update={"spent": new})


def open_state(stores: Stores) -> JsonStore[LearningState]:
    """The store beside the others of ``stores``."""
    return JsonStore(
        stores.folder / "memory_learning.json",
        TypeAdapter(LearningState),
        empty=LearningState,
        merge=_merge,
        fs=stores.fs,
        codec=stores.codec,
    )


def marked(state: LearningState, session: str, message: str, now: datetime) -> LearningState:
    """The state after a conversation was read up to ``message``."""
    sessions = {**state.sessions, session: Mark(message=message, time=now)}
    if len(sessions) > MAX_SESSIONS:
        newest = sorted(sessions.items(), key=lambda s: (s[0] == session, s[1].time))[-MAX_SESSIONS:]
        sessions = dict(newest)
    return state.model_copy(update={"sessions": sessions})
