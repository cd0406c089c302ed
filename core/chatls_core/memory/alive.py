"""The facts that hold now, kept in step with the files: after a write only what changed is looked at."""

from __future__ import annotations

import threading
from bisect import insort
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from itertools import compress
from operator import attrgetter
from types import MappingProxyType

from chatls_core.memory import scoring
from chatls_core.memory.records import Details, Fact
from chatls_core.memory.stores import Stores
from chatls_core.store.changes import changed_span
from chatls_core.text.personal_numbers import is_personal

_FEW = 200
"""Changes that are put in their places one by one; for more all are sorted."""


@dataclass(frozen=True)
class Alive:
    """The facts that hold now, with what the side files say about them. Orders and counts are kept."""

    listed: tuple[Fact, ...]
    """In the order of the file."""
    facts: Mapping[str, Fact]
    """By id."""
    details: Mapping[str, Details]
    tombstones: Mapping[str, datetime]
    _order: _Ranking = field(repr=False)

    def valid_from(self, fact: Fact) -> datetime:
        """When it became true by the conversation's time."""
        details = self.details.get(fact.id)
        return (details.valid_from if details else None) or fact.created_at

    def is_sensitive(self, fact: Fact) -> bool:
        """Whether a fact, or one that was, is for the user alone: it is marked so, or holds a number of a person or
        account and was not unmarked (spec/memory.md §5.7)."""
        details = self.details.get(fact.id)
        if details is not None and (details.sensitive or details.sensitive_at is not None):
            return details.sensitive
        return is_personal(fact.content)

    @cached_property
    def ranked(self) -> tuple[Fact, ...]:
        """All facts by score, best first: the order is the same at any time, since all decay alike."""
        return self._order.of(self.listed)

    @cached_property
    def pinned(self) -> tuple[Fact, ...]:
        """Pinned facts, best first."""
        marked = compress(self.details, map(attrgetter("pinned"), self.details.values()))
        return tuple(sorted((self.facts[i] for i in marked if i in self.facts), key=_place))

    @cached_property
    def counts(self) -> Mapping[str, int]:
        """How many facts each category has, most first."""
        found = Counter(map(attrgetter("category"), self.listed))
        return MappingProxyType(dict(sorted(found.items(), key=lambda c: (-c[1], c[0]))))


class _Ranking:
    """Facts, best first, as they were last asked for. Thread-safe."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._listed: tuple[Fact, ...] = ()
        self._ranked: tuple[Fact, ...] = ()

    def of(self, listed: tuple[Fact, ...]) -> tuple[Fact, ...]:
        """``listed``, best first."""
        with self._guard:
            start, old_end, new_end = changed_span(self._listed, listed)
            before = {id(f): f for f in self._listed[start:old_end]}
            fresh = [f for f in listed[start:new_end] if before.pop(id(f), None) is None]
            if len(before) + len(fresh) > _FEW:
                self._ranked = tuple(sorted(listed, key=_place))
            elif before or fresh:
                gone = {f.id for f in before.values()}
                ranked = [f for f in self._ranked if f.id not in gone]
                for fact in fresh:
                    insort(ranked, fact, key=_place)
                self._ranked = tuple(ranked)
            self._listed = listed
            return self._ranked


def _place(fact: Fact) -> tuple[float, str]:
    return -scoring.standing(fact), fact.id


class Present:
    """Reads :class:`Alive` from the files. Not thread-safe: the fact book guards it."""

    def __init__(self, stores: Stores) -> None:
        self._stores = stores
        self._seen: tuple[object, object, object] = (None, None, None)
        self._order = _Ranking()
        self._alive = Alive((), {}, {}, {}, self._order)

    def of(self, facts: tuple[Fact, ...]) -> Alive:
        """The state with ``facts`` in the index file; the same object while no file changed."""
        tombstones, side = self._stores.tombstones.read(), self._stores.side.read()
        seen = (facts, tombstones, side)
        if any(a is not b for a, b in zip(self._seen, seen, strict=True)):
            listed = without_dead(facts, tombstones)
            self._alive = Alive(listed, self._by_id(listed), side.items, tombstones, self._order)
            self._seen = seen
        return self._alive

    def _by_id(self, listed: tuple[Fact, ...]) -> Mapping[str, Fact]:
        before = self._alive
        start, old_end, new_end = changed_span(before.listed, listed)
        if start == old_end == new_end:
            return before.facts
        by_id = dict(before.facts)
        for fact in before.listed[start:old_end]:
            del by_id[fact.id]
        by_id.update((fact.id, fact) for fact in listed[start:new_end])
        return by_id


def without_dead(facts: tuple[Fact, ...], tombstones: Mapping[str, datetime]) -> tuple[Fact, ...]:
    """Facts that were not removed after they were created (spec/memory.md §3.3)."""
    buried = compress(facts, map(tombstones.__contains__, map(attrgetter("id"), facts))) if tombstones else ()
    dead = {fact.id for fact in buried if fact.created_at < tombstones[fact.id]}
    return tuple(f for f in facts if f.id not in dead) if dead else facts
