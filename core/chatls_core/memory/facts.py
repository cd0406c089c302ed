"""Facts: remembered, reinforced, superseded with their history, forgotten (spec/memory.md §4).

Writes go in an order that is safe to cut anywhere: first what must not be lost (history, provenance), then the index
that makes it visible, then the tombstones that keep other programs from bringing the old value back.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from types import MappingProxyType

from chatls_core.memory import merges, provenance, scoring
from chatls_core.memory.alive import Alive, Present
from chatls_core.memory.clauses import left_of, relate
from chatls_core.memory.identity import CATEGORIES, classify, fact_id, split_category, tags_of
from chatls_core.memory.records import Details, Fact, HistoryEntry, Origin
from chatls_core.memory.rivals import Rivals
from chatls_core.memory.slots import Relation, compare
from chatls_core.memory.stores import Stores
from chatls_core.memory.views import PastValue, Remembered, Source
from chatls_core.memory.withheld import scrub
from chatls_core.store import Clock
from chatls_core.text.cut import by_bytes, encodable
from chatls_core.text.days import local_day

MAX_CONTENT_BYTES = 2000
"""Longest fact (spec/memory.md §4.6)."""

TOMBSTONE_DAYS = 30
_TICK = timedelta(microseconds=1)


def clean_content(text: str) -> str:
    """One line, secrets hidden, cut at a character (spec/memory.md §4.6)."""
    return by_bytes(scrub(" ".join(text.split())), MAX_CONTENT_BYTES)


def tombstoned(created_at: datetime, item_id: str, tombstones: Mapping[str, datetime]) -> bool:
    """Whether a copy is older than its removal (spec/memory.md §3.3)."""
    gone = tombstones.get(item_id)
    return gone is not None and created_at < gone


def _risen(fact: Fact, tombstones: Mapping[str, datetime], now: datetime) -> Fact:
    """A fact stamped after its tombstone, if it has one, so that no process buries it again."""
    if not tombstoned(fact.created_at, fact.id, tombstones):
        return fact
    return fact.model_copy(update={"created_at": max(now, tombstones[fact.id] + _TICK)})


@dataclass(frozen=True, slots=True)
class _Outcome:
    """``left`` are clauses of the statement that hold although the rest does not."""

    remembered: Remembered
    gone: Mapping[str, datetime]
    left: tuple[str, ...] = ()


class FactBook:
    """All facts of one memory folder. Thread-safe."""

    def __init__(
        self, stores: Stores, clock: Clock, *, cap: int, names: Callable[[], frozenset[str]] = frozenset
    ) -> None:
        """``names`` are folded words that mean the user."""
        self._stores = stores
        self._clock = clock
        self._cap = cap
        self._names = names
        self._guard = threading.RLock()
        self._rivals = Rivals()
        self._present = Present(stores)

    def alive(self) -> Alive:
        """The present state, read again only when a file changed."""
        with self._guard:
            return self._present.of(self._stores.facts.read())

    def read_ahead(self) -> None:
        """Read all facts for the comparison with the next one."""
        with self._guard:
            self._rivals.follow(self.alive().listed)

    def remember(self, content: str, category: str, *, project: str, source: Source) -> Remembered:
        """Take in one statement (spec/memory.md §4.6 with §18.1 rows 1-6 mended).

        Raises :class:`ValueError` for blank content or an unknown category.
        """
        tagged, content = split_category(content)
        content, project = clean_content(content), encodable(project)
        if not content:
            raise ValueError("There is nothing to remember: the content is empty.")
        category = category.strip().lower() or tagged
        if category and category not in CATEGORIES:
            raise ValueError(f"Unknown category {category!r}; known are {', '.join(CATEGORIES)}.")
        with self._guard:
            outcome = self._stores.facts.update(lambda disk: self._take_in(disk, content, category, project, source))
            self._bury(outcome.gone)
        for part in outcome.left:
            self.remember(part, category, project=project, source=source)
        return outcome.remembered

    def _take_in(
        self, disk: tuple[Fact, ...], content: str, category: str, project: str, source: Source
    ) -> tuple[tuple[Fact, ...], _Outcome]:
        alive = self._present.of(disk)
        now = self._clock()
        said = source.time or now
        origin = Origin(kind=source.kind, session=source.session, message=source.message, time=said)
        new_id = fact_id(content)
        same, beaten, refined = self._relate(alive, content, new_id)
        by_user = scoring.said_by_user(source.kind)
        if same is None and not by_user and (kept := _stated(refined, alive)):
            same, refined = kept[0], []  # what the user said stands in the user's words
        if not by_user and (kept := _stated(beaten, alive)):
            return disk, self._contested(kept[0], content, category, project, source, origin, now)
        if same is None and not by_user and (ended := self._ended_since(new_id, said, alive, now)) is not None:
            reason = f"It was said before {local_day(ended)}, when it was forgotten or ceased to hold."
            return disk, _Outcome(Remembered(new_id, False, content, category, reason=reason), {})
        # A time to come was left by a clock set back since, and tells nothing.
        if newer := [f for f in beaten if said < alive.valid_from(f) <= now]:
            if same is None:
                return disk, self._outdated(newer, alive, content, category, project, source, origin)
            beaten = [f for f in beaten if f not in newer]
        facts = dict(alive.facts)
        if same is not None:
            fact = _reinforced(same, source, project, now)
            added = False
        else:
            replaced = [*beaten, *refined]
            category = category or (replaced[0].category if replaced else classify(content))
            fact = self._new_fact(content, category, project, source, now, alive, replaced)
            added = True
        gone = [f for f in (*beaten, *refined) if f.id != fact.id]
        parted = self._keep_what_holds(beaten, content, facts, alive, now)
        self._keep_history(gone, alive, said, fact.id, parted=parted)
        self._note_origin(fact.id, origin, said if added else None)
        for old in gone:
            del facts[old.id]
        facts[fact.id] = fact
        pruned = self._prune(facts, keep=fact.id, now=now, details=alive.details)
        remembered = Remembered(
            id=fact.id,
            added=added,
            content=fact.content,
            category=fact.category,
            superseded=tuple(PastValue(f.id, f.content, alive.valid_from(f), said) for f in gone),
            undo_token=f"add-{fact.id}" if added or gone else "",
        )
        leaving = [*gone, *pruned]
        parts = [facts[part] for made in parted.values() for part in made if part in facts]
        return merges.placed(alive.listed, [fact, *parts], leaving), _Outcome(remembered, _times(leaving, now))

    def _keep_what_holds(
        self, beaten: Sequence[Fact], content: str, facts: dict[str, Fact], alive: Alive, now: datetime
    ) -> dict[str, tuple[str, ...]]:
        """Make facts of the clauses that ``content`` does not end; returns the new ids by the fact they are left of."""
        parted: dict[str, tuple[str, ...]] = {}
        for old in beaten:
            left = left_of(old.content, content, names=self._names())
            parts = {fact_id(part): part for part in left if not self._is_known(part, old)}
            fresh = [part_id for part_id in parts if part_id not in facts]
            for part_id in fresh:
                content_left = parts[part_id]
                told = {"id": part_id, "content": content_left, "tags": tags_of(content_left)}
                facts[part_id] = _risen(old.model_copy(update=told), alive.tombstones, now)
            if fresh:
                self.change_details(fresh, partial(merges.details, alive.details.get(old.id) or Details()))
                parted[old.id] = tuple(fresh)
        return parted

    def _is_known(self, part: str, besides: Fact) -> bool:
        """Whether another fact says the same as a part of one."""
        rivals = (rival for rival in self._rivals.find(part) if rival.id != besides.id)
        return any(compare(rival.content, part, names=self._names()) is Relation.SAME for rival in rivals)

    def _ended_since(self, item_id: str, said: datetime, alive: Alive, now: datetime) -> datetime | None:
        """When the fact was forgotten or ceased to hold, if it was said before that and is learned only now.

        What merely faded into the archive may come back. A time to come, left by a clock set back since, tells nothing.
        """
        buried = alive.tombstones.get(item_id)
        if buried is None or not said < buried <= now or any(f.id == item_id for f in self._stores.archive.read()):
            return None
        # Another value buries it when that is learned, and ends it when that was said.
        ends = [e.valid_to for e in self._stores.history.read().entries if e.fact.id == item_id and _held(e)]
        ended = max(ends, default=buried)
        return ended if said < ended <= now else None

    def _relate(self, alive: Alive, content: str, new_id: str) -> tuple[Fact | None, list[Fact], list[Fact]]:
        """``(the fact this repeats, facts it updates, facts it says more exactly)``."""
        self._rivals.follow(alive.listed)
        names = self._names()
        same = alive.facts.get(new_id)
        beaten: list[Fact] = []
        refined: list[Fact] = []
        for rival in self._rivals.find(content):
            if rival.id == new_id:
                continue
            relation = relate(rival.content, content, names=names)
            if relation is Relation.SAME and same is None:
                same = rival
            elif relation is Relation.UPDATES:
                beaten.append(rival)
            elif relation is Relation.REFINES:
                refined.append(rival)
        return same, beaten, refined

    def _new_fact(
        self,
        content: str,
        category: str,
        project: str,
        source: Source,
        now: datetime,
        alive: Alive,
        replaced: Sequence[Fact],
    ) -> Fact:
        new_id = fact_id(content)
        created = now
        if (gone := alive.tombstones.get(new_id)) is not None:
            created = max(now, gone + _TICK)  # a clock set back must not bury what is said now
        provenance: str = source.kind
        if replaced:
            provenance += f" (supersedes {replaced[0].id})"
        fact = Fact(
            id=new_id,
            content=content,
            category=category,
            tags=tags_of(content),
            created_at=created,
            last_accessed=now,
            access_count=1,
            source=source.session,
            source_project=project,
            confidence=scoring.CONFIDENCE.get(source.kind, scoring.EXTRACTED_CONFIDENCE),
            provenance=provenance,
        )
        return fact.model_copy(update={"score": round(scoring.score(fact, now), 4)})

    def _contested(
        self, kept: Fact, content: str, category: str, project: str, source: Source, origin: Origin, now: datetime
    ) -> _Outcome:
        """An extraction against the user's word: kept as history, not believed."""
        entry = HistoryEntry(
            fact=_bare(content, category or kept.category, project, source, now),
            valid_from=origin.time,
            valid_to=origin.time,
            superseded_by=kept.id,
            reason="contested",
            sources=(origin,),
        )
        self._add_history([entry])
        reason = f"It contradicts what the user said: {kept.content}"
        left = left_of(content, kept.content, names=self._names())
        return _Outcome(Remembered(kept.id, False, kept.content, kept.category, reason=reason), {}, left)

    def _outdated(
        self,
        newer: Sequence[Fact],
        alive: Alive,
        content: str,
        category: str,
        project: str,
        source: Source,
        origin: Origin,
    ) -> _Outcome:
        """Something said before what is known now: it was true until then."""
        current = min(newer, key=alive.valid_from)
        entry = HistoryEntry(
            fact=_bare(content, category or current.category, project, source, origin.time),
            valid_from=origin.time,
            valid_to=alive.valid_from(current),
            superseded_by=current.id,
            sources=(origin,),
        )
        self._add_history([entry])
        reason = f"It was said before what holds now and is kept as history: {current.content}"
        left = left_of(content, current.content, names=self._names())
        return _Outcome(Remembered(current.id, False, current.content, current.category, reason=reason), {}, left)

    def _keep_history(
        self,
        gone: Sequence[Fact],
        alive: Alive,
        until: datetime,
        by: str,
        reason: str = "superseded",
        *,
        parted: Mapping[str, tuple[str, ...]] = MappingProxyType({}),
    ) -> None:
        entries = []
        for fact in gone:
            details = alive.details.get(fact.id)
            entries.append(
                HistoryEntry(
                    fact=fact,
                    valid_from=min(alive.valid_from(fact), until),
                    valid_to=until,
                    superseded_by=by,
                    reason=reason,
                    sources=details.sources if details else (),
                    kept_as=parted.get(fact.id, ()),
                )
            )
        self._add_history(entries)

    def _add_history(self, entries: Sequence[HistoryEntry]) -> None:
        if entries:
            self._stores.history.update(
                lambda file: (file.model_copy(update={"entries": merges.history(file.entries, tuple(entries))}), None)
            )

    def _note_origin(self, item_id: str, origin: Origin, valid_from: datetime | None) -> None:
        def change(old: Details) -> Details:
            sources = provenance.capped(merges.origins(old.sources, (origin,)))
            return old.model_copy(update={"sources": sources, "valid_from": valid_from or old.valid_from})

        self.change_details([item_id], change)

    def change_details(self, ids: Iterable[str], change: Callable[[Details], Details]) -> None:
        """Change what the side file says about items."""
        wanted = list(ids)
        self._stores.side.update(
            lambda file: (
                file.model_copy(
                    update={"items": {**file.items, **{i: change(file.items.get(i) or Details()) for i in wanted}}}
                ),
                None,
            )
        )

    def _prune(self, facts: dict[str, Fact], *, keep: str, now: datetime, details: Mapping[str, Details]) -> list[Fact]:
        """Move the least useful facts beyond the cap to the archive; pinned ones stay."""
        surplus = len(facts) - self._cap
        if surplus <= 0:
            return []
        surplus += self._cap // 1000  # among 100,000 to look for the weakest takes a while: not each time
        loose = [f for f in facts.values() if f.id != keep and not (f.id in details and details[f.id].pinned)]
        pruned = sorted(loose, key=lambda f: (scoring.score(f, now), f.id))[:surplus]
        self.to_archive(pruned)
        for fact in pruned:
            del facts[fact.id]
        return pruned

    def to_archive(self, facts: Sequence[Fact]) -> None:
        """Append facts to ``memory_archive.json``."""
        if facts:
            self._stores.archive.update(lambda old: (merges.facts(old, tuple(facts)), None))

    def _bury(self, gone: Mapping[str, datetime]) -> None:
        """Write tombstones, and drop those that are over (spec/memory.md §4.8)."""
        if not gone:
            return
        limit = self._clock() - timedelta(days=TOMBSTONE_DAYS)

        def change(old: Mapping[str, datetime]) -> tuple[Mapping[str, datetime], None]:
            return merges.times({k: t for k, t in old.items() if t >= limit}, gone), None

        self._stores.tombstones.update(change)

    def remove(self, ids: Iterable[str]) -> list[Fact]:
        """Remove facts for good, with tombstones and without history; returns what was there."""
        wanted = set(ids)
        with self._guard:

            def change(disk: tuple[Fact, ...]) -> tuple[tuple[Fact, ...], list[Fact]]:
                removed = [f for f in self._present.of(disk).facts.values() if f.id in wanted]
                return (tuple(f for f in disk if f.id not in wanted), removed) if removed else (disk, removed)

            removed = self._stores.facts.update(change)
            self._bury(_times(removed, self._clock()))
        return removed

    def restore(self, facts: Sequence[Fact]) -> list[str]:
        """Give removed facts back, stamped after their tombstones so that no process buries them again."""
        with self._guard:

            def change(disk: tuple[Fact, ...]) -> tuple[tuple[Fact, ...], list[str]]:
                alive = self._present.of(disk)
                now = self._clock()
                back: dict[str, Fact] = {}
                for fact in facts:
                    if fact.id in alive.facts or fact.id in back:
                        continue
                    back[fact.id] = _risen(fact, alive.tombstones, now)
                return (merges.placed(alive.listed, [*back.values()]) if back else disk), [*back]

            return self._stores.facts.update(change)

    def adopt(self, incoming: Sequence[tuple[Fact, Details | None]]) -> int:
        """Take in facts of an export with their own dates; returns how many were new. Forgotten ones stay forgotten."""
        with self._guard:

            def change(disk: tuple[Fact, ...]) -> tuple[tuple[Fact, ...], tuple[int, list[Fact]]]:
                alive = self._present.of(disk)
                facts = dict(alive.facts)
                details: dict[str, Details] = {}
                for fact, known in incoming:
                    if tombstoned(fact.created_at, fact.id, alive.tombstones):
                        continue
                    facts[fact.id] = merges.fact(facts[fact.id], fact) if fact.id in facts else fact
                    if known is not None:
                        details[fact.id] = known
                added = len(facts) - len(alive.facts)
                if details:
                    self._stores.side.update(
                        lambda s: (s.model_copy(update={"items": merges.all_details(s.items, details)}), None)
                    )
                pruned = self._prune(facts, keep="", now=self._clock(), details=alive.details)
                return merges.sort_facts(facts.values()), (added, pruned)

            added, pruned = self._stores.facts.update(change)
            self._bury(_times(pruned, self._clock()))
        return added

    def edit(self, item_id: str, content: str, category: str, *, source: Source) -> Remembered:
        """Correct a fact's text or category by hand; the old wording becomes history.

        Raises :class:`KeyError` for an unknown id, :class:`ValueError` for an unknown category.
        """
        content = clean_content(content)
        if category and category not in CATEGORIES:
            raise ValueError(f"Unknown category {category!r}; known are {', '.join(CATEGORIES)}.")
        with self._guard:

            def change(disk: tuple[Fact, ...]) -> tuple[tuple[Fact, ...], _Outcome]:
                alive = self._present.of(disk)
                old = alive.facts[item_id]
                now = self._clock()
                said = source.time or now
                if not content or fact_id(content) == old.id:
                    new = old.model_copy(
                        update={"content": content or old.content, "category": category or old.category}
                    )
                    result = Remembered(new.id, False, new.content, new.category)
                    return merges.placed(alive.listed, [new]), _Outcome(result, {})
                edited = Source("correction", source.session, source.message, source.time)
                new = self._new_fact(
                    content, category or old.category, old.source_project, edited, now, alive, [old]
                ).model_copy(update={"access_count": old.access_count})
                self._keep_history([old], alive, said, new.id, "edited")
                kept = alive.details.get(old.id) or Details()
                origin = Origin(kind="correction", session=source.session, message=source.message, time=said)
                self.change_details(
                    [new.id],
                    lambda _: kept.model_copy(
                        update={"valid_from": said, "sources": merges.origins(kept.sources, (origin,))}
                    ),
                )
                past = PastValue(old.id, old.content, alive.valid_from(old), said)
                result = Remembered(new.id, True, new.content, new.category, (past,), undo_token=f"add-{new.id}")
                return merges.placed(alive.listed, [new], [old]), _Outcome(result, _times([old], now))

            outcome = self._stores.facts.update(change)
            self._bury(outcome.gone)
        return outcome.remembered

    def touch(self, ids: Iterable[str]) -> None:
        """Count a use of facts that proved useful (spec/memory.md §8.8)."""
        wanted = set(ids)
        if not wanted:
            return
        now = self._clock()

        def change(disk: tuple[Fact, ...]) -> tuple[tuple[Fact, ...], None]:
            def used(fact: Fact) -> Fact:
                new = fact.model_copy(
                    update={
                        "access_count": fact.access_count + 1,
                        "last_accessed": max(now, fact.last_accessed),
                    }
                )
                return new.model_copy(update={"score": round(scoring.score(new, now), 4)})

            return merges.placed(disk, [used(f) for f in disk if f.id in wanted]), None

        self._stores.facts.update(change)


def _held(entry: HistoryEntry) -> bool:
    """Whether a past value was ever believed."""
    return entry.reason != "contested"


def _stated(facts: Sequence[Fact], alive: Alive) -> list[Fact]:
    """Those the user said."""
    return [f for f in facts if scoring.said_by_user(f.provenance)]


def _times(facts: Sequence[Fact], now: datetime) -> dict[str, datetime]:
    """Tombstone times: later than the copy they bury, even when the clock was set back."""
    return {f.id: max(now, f.created_at + _TICK) for f in facts}


def _bare(content: str, category: str, project: str, source: Source, created: datetime) -> Fact:
    return Fact(
        id=fact_id(content),
        content=content,
        category=category,
        tags=tags_of(content),
        created_at=created,
        last_accessed=created,
        source_project=project,
        confidence=scoring.CONFIDENCE.get(source.kind, scoring.EXTRACTED_CONFIDENCE),
        provenance=source.kind,
    )


def _reinforced(old: Fact, source: Source, project: str, now: datetime) -> Fact:
    """A repeated fact: stronger, never stronger than the user's word through extraction alone (§18.1 row 4)."""
    by_user = scoring.said_by_user(source.kind)
    stated = scoring.CONFIDENCE.get(source.kind, scoring.EXTRACTED_CONFIDENCE)
    confidence = min(1.0, max(scoring.confidence_of(old), stated) + scoring.REINFORCEMENT)
    if not by_user and not scoring.said_by_user(old.provenance):
        confidence = min(confidence, scoring.USER_CONFIDENCE - scoring.REINFORCEMENT)
    new = old.model_copy(
        update={
            "confidence": round(confidence, 4),
            "access_count": old.access_count + 1,
            "last_accessed": max(now, old.last_accessed),
            "source_project": old.source_project or project,
            "provenance": source.kind
            if by_user and not scoring.said_by_user(old.provenance)
            else old.provenance or source.kind,
        }
    )
    return new.model_copy(update={"score": round(scoring.score(new, now), 4)})
