"""The one way into memory for everything above it (DESIGN.md, "The rooms")."""

from __future__ import annotations

import logging
import secrets
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from chatls_core import config
from chatls_core.memory import profile as profiles
from chatls_core.memory import scoring
from chatls_core.memory.cards import digest, frozen_card
from chatls_core.memory.evidence import used
from chatls_core.memory.facts import FactBook
from chatls_core.memory.profile import ProfileBook
from chatls_core.memory.records import Fact, HistoryEntry
from chatls_core.memory.removal import Removal
from chatls_core.memory.retrieval import Retriever, Snapshot
from chatls_core.memory.stores import Stores
from chatls_core.memory.views import (
    AutoRecall,
    FactPage,
    FactView,
    Forgotten,
    MemoryChange,
    ProfileView,
    Recall,
    Remembered,
    Source,
    SourceView,
    Undone,
)
from chatls_core.store import REAL, Clock, FileSystem

logger = logging.getLogger(__name__)


class Memory:
    """What is remembered across sessions, in one folder that other processes may write at the same time.

    Synchronous and thread-safe: call it from a thread. What a call acknowledged is on the disk. Writes raise
    :class:`~chatls_core.store.StoreReadOnlyError` for a file that cannot be opened and :class:`OSError` for a disk that
    refuses; nothing is lost then.
    """

    def __init__(
        self,
        folder: Path,
        *,
        settings: config.Memory,
        clock: Clock,
        environment: Mapping[str, str] | None = None,
        fs: FileSystem = REAL,
        tokens: Callable[[], str] = lambda: secrets.token_hex(8),
    ) -> None:
        """``folder`` is the data folder's ``memory``; ``environment`` may hold the encryption key."""
        self.folder = folder
        self.settings = settings
        self.clock = clock
        self.stores = Stores(folder, fs=fs)
        self._profile = ProfileBook(self.stores, clock)
        self._facts = FactBook(self.stores, clock, cap=settings.max_facts, names=self._user_names)
        self._retriever = Retriever()
        self._removal = Removal(self.stores, self._facts, self._profile, clock, tokens)
        self._guard = threading.RLock()
        self._subscribers: list[Callable[[MemoryChange], None]] = []

    # What it knows

    def remember(self, content: str, category: str = "", *, scope: str = "", source: Source) -> Remembered:
        """Remember one statement; ``scope`` is the project's path it belongs to, empty: everywhere.

        Raises :class:`ValueError` for blank content or an unknown category.
        """
        result = self._facts.remember(content, category, project=scope, source=source)
        self._tell(
            MemoryChange(
                added=(result.id,) if result.added else (),
                changed=() if result.added or result.reason else (result.id,),
                removed=tuple(p.id for p in result.superseded),
                undo_token=result.undo_token,
                background=source.kind == "extraction",
            )
        )
        return result

    def recall(
        self, query: str, *, as_of: datetime | None = None, limit: int = 10, project: Path | None = None
    ) -> Recall:
        """What is known about a question, with reasons. Time words in it are counted from ``as_of`` (default: now)."""
        return self._retriever.recall(
            self.snapshot(), query, as_of=as_of, limit=limit, project=str(project or ""), moment=self.clock()
        )

    def auto_recall(
        self,
        query: str,
        *,
        carried: Collection[str] = (),
        project: Path | None = None,
        now: datetime | None = None,
    ) -> AutoRecall:
        """What rides in a turn unasked: text to be frozen into history, empty for most questions.

        ``query`` is the user's own text; ``carried`` are ids the conversation holds already.
        """
        return self._retriever.auto_recall(
            self.snapshot(), query, carried=carried, project=str(project or ""), moment=now or self.clock()
        )

    def evidence(self, shown_ids: Sequence[str], reply: str) -> None:
        """Strengthen shown facts that the reply made use of (spec/memory.md §8.8)."""
        facts = self._facts.alive().facts
        self._facts.touch(i for i in shown_ids if i in facts and used(facts[i].content, reply))

    def forget(self, match: str = "", ids: Sequence[str] = (), *, dry_run: bool = False) -> Forgotten:
        """Forget what contains ``match`` (whole words, any kind of item) or has one of ``ids``; can be undone."""
        result = self._removal.forget(match, ids, dry_run=dry_run)
        if not dry_run:
            self._tell(MemoryChange(removed=tuple(i.id for i in result.items), undo_token=result.undo_token))
        return result

    def undo(self, token: str) -> Undone:
        """Take back what an earlier call with this token did; an unknown or used token does nothing."""
        result = self._removal.undo(token)
        self._tell(MemoryChange(added=result.restored, removed=result.removed))
        return result

    def profile(self, set: Mapping[str, str] | None = None, *, source: Source | None = None) -> ProfileView:
        """The user's profile; ``set`` changes it first (keys and list operations: spec/memory.md §5)."""
        if not set:
            return profiles.view(self._profile.read(), self.clock())
        source = source or Source("user")
        profile, changed, refused = self._profile.update(set, source)
        if changed:
            keys = tuple(f"profile:{key}" for key in changed)
            self._tell(MemoryChange(changed=keys, background=source.kind == "extraction"))
        return profiles.view(profile, self.clock(), changed, refused)

    def facts(self, category: str = "", *, limit: int = 50, offset: int = 0) -> FactPage:
        """Facts, pinned ones first, then by score."""
        now, alive = self.clock(), self._facts.alive()
        chosen = [f for f in alive.facts.values() if not category or f.category == category.strip().lower()]

        def order(fact: Fact) -> tuple[bool, float, str]:
            details = alive.details.get(fact.id)
            return (not (details and details.pinned), -scoring.score(fact, now), fact.id)

        chosen.sort(key=order)
        page = tuple(self.fact_view(f, now) for f in chosen[offset : offset + limit])
        return FactPage(page, len(chosen), category, offset)

    # What rides in the prompt

    def index_digest(self) -> str:
        """The ``# Memory Index`` block (spec/memory.md §9.2); the same bytes while nothing changed."""
        return digest(self.snapshot())

    def card(self) -> str:
        """The persistent-memory card (spec/memory.md §9.3) without sessions; empty when nothing is remembered."""
        return frozen_card(self.snapshot())

    # Who wants to know

    def subscribe(self, callback: Callable[[MemoryChange], None]) -> Callable[[], None]:
        """Call ``callback`` after each write of this process; returns the way to stop it."""
        with self._guard:
            self._subscribers.append(callback)

        def stop() -> None:
            with self._guard:
                if callback in self._subscribers:
                    self._subscribers.remove(callback)

        return stop

    def _tell(self, change: MemoryChange) -> None:
        if not change:
            return
        with self._guard:
            subscribers = list(self._subscribers)
        for subscriber in subscribers:
            try:
                subscriber(change)
            except Exception:  # noqa: BLE001  # a listener's fault must not fail a write that happened
                logger.exception("A listener of memory changes failed")

    # Inside

    def snapshot(self) -> Snapshot:
        """Everything remembered at this moment."""
        return Snapshot(
            self._facts.alive(),
            self.stores.history.read().entries,
            {e.id: e for e in self.stores.episodes.read()},
            self.stores.topics.read(),
            self.stores.projects.read(),
            self._profile.read(),
        )

    def _user_names(self) -> frozenset[str]:
        from chatls_core.text import tokenizer

        name = self._profile.read().name
        return frozenset(tokenizer.stem(w.folded, "en") for w in tokenizer.words(name))

    def fact_view(self, fact: Fact, now: datetime) -> FactView:
        """A fact as a person sees it."""
        alive = self._facts.alive()
        details = alive.details.get(fact.id)
        sources = tuple(SourceView(o.kind, o.session, o.message, o.time) for o in details.sources) if details else ()
        return FactView(
            id=fact.id,
            content=fact.content,
            category=fact.category,
            tags=fact.tags or (),
            score=round(scoring.score(fact, now), 4),
            confidence=scoring.confidence_of(fact),
            provenance=fact.provenance,
            project=fact.source_project,
            created_at=fact.created_at,
            last_accessed=fact.last_accessed,
            access_count=fact.access_count,
            valid_from=alive.valid_from(fact),
            pinned=bool(details and details.pinned),
            sensitive=bool(details and details.sensitive),
            sources=sources,
            age_days=max(0, (now - fact.created_at).days),
        )

    def past_view(self, entry: HistoryEntry, now: datetime) -> FactView:
        """A past value as a person sees it."""
        from dataclasses import replace

        sources = tuple(SourceView(o.kind, o.session, o.message, o.time) for o in entry.sources)
        return replace(
            self.fact_view(entry.fact, now),
            valid_from=entry.valid_from,
            valid_to=entry.valid_to,
            superseded_by=entry.superseded_by,
            sources=sources,
            pinned=False,
        )


_ = Any
