"""The one ranker: facts, episodes, sessions, knowledge and graph search all use :class:`PassageIndex`.

BM25 over stemmed words decides; around it stand small, general helpers, each measured in docs/ranking.md: related
words, dates, the speaker a question names, and, in dialogue only, the neighbours and the conversation of a passage.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from . import bm25, conversation, hits, scoring, vectors, wishes
from .days import days_of
from .hits import STRONG_COVERAGE, STRONG_TELLING, Hit, strong_match
from .passages import Passage, Table
from .vectors import Embed
from .wishes import TimeWindow

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Scores = NDArray[np.float64]

__all__ = ["STRONG_COVERAGE", "STRONG_TELLING", "Embed", "Hit", "Passage", "PassageIndex", "TimeWindow", "strong_match"]

_FEW_SLOTS = 64


class PassageIndex:
    """A searchable set of passages, in the order they were added. Changes are cheap, and seen by the next search.

    Safe to use from several threads.
    """

    def __init__(
        self, passages: Iterable[Passage] = (), *, embed: Embed | None = None, standalone: bool = False
    ) -> None:
        """``standalone`` passages are no talk, however much neighbours share: each is scored by itself.

        ``embed`` is optional; where given, its ranking is fused with the words', the less the more they say."""
        self._lock = threading.RLock()
        self._standalone = standalone
        self._table = Table()
        self._corpus: scoring.Corpus | None = None
        self._vectors = vectors.VectorStore(embed) if embed else None
        self.add(passages)

    def __len__(self) -> int:
        return len(self._table)

    def __contains__(self, passage_id: object) -> bool:
        return isinstance(passage_id, str) and self._table.slot(passage_id) is not None

    def add(self, passages: Passage | Iterable[Passage]) -> None:
        """Add one passage or several at the end; one with the same id is replaced where it stands."""
        with self._lock:
            for passage in [passages] if isinstance(passages, Passage) else passages:
                slot = self._table.slot(passage.id)
                if slot is not None and self._table.passages[slot] == passage:
                    continue
                self._table.put(passage)
                self._changed(passage.id)

    def remove(self, passage_ids: str | Iterable[str]) -> bool:
        """Remove one passage or several; says whether any was there."""
        with self._lock:
            wanted = [passage_ids] if isinstance(passage_ids, str) else passage_ids
            return sum(self._remove(passage_id) for passage_id in wanted) > 0

    def _remove(self, passage_id: str) -> bool:
        if not self._table.remove(passage_id):
            return False
        self._changed(passage_id)
        slots = self._table.postings.slots
        if slots > _FEW_SLOTS and len(self._table) < slots / 2:
            self._renew(self._table)
        return True

    def replace(self, passages: Passage | Iterable[Passage]) -> None:
        """Make the index hold exactly ``passages``, in their order; those that stay the same are not read again.

        When passages that stay change their order, or new ones come between them, everything is read again. A single
        passage takes the place of the one with its id, and nothing else changes.
        """
        with self._lock:
            if isinstance(passages, Passage):
                self.add(passages)
                return
            wanted = {passage.id: passage for passage in passages}
            for passage_id in [p.id for p in self._table if p.id not in wanted]:
                self._remove(passage_id)
            present = [passage.id for passage in self._table]
            if present != list(wanted)[: len(present)]:
                self._renew(())
            for passage in wanted.values():
                self.add(passage)

    def _changed(self, passage_id: str) -> None:
        self._corpus = None
        if self._vectors:
            self._vectors.forget(passage_id)

    def _renew(self, passages: Iterable[Passage]) -> None:
        """Start again with ``passages``, without the gaps that removed ones left."""
        table = Table()
        for passage in passages:
            table.put(passage)
        self._table, self._corpus = table, None

    def _read(self) -> scoring.Corpus:
        """What searches need, made once after each change."""
        import numpy as np

        table, postings = self._table, self._table.postings
        live, wall = postings.filled(), table.column("wall")
        group = conversation.sessions(wall[live], table.stems()[live])
        count = int(group[-1]) + 1
        shape = conversation.shape(
            table.labels,
            len(table),
            len(table) if self._standalone else count,
            postings.average_length,
            lambda: conversation.takes_turns(table.label_numbers()[live], group),
            lambda: conversation.cohesion(postings, live, group),
        )
        by_conversation = None
        if shape.context:
            of_slot = np.zeros(postings.slots, dtype=np.int64)
            of_slot[live] = group
            by_conversation = bm25.GroupScorer(postings, bm25.grouping(postings, of_slot, count), b=shape.b)
        return scoring.Corpus(
            postings,
            postings,
            shape,
            bm25.scorer(postings, b=shape.b),
            live,
            group,
            by_conversation,
            table.column("weight"),
            table.column("asks"),
            table.column("dated"),
            table.column("counted"),
            wall,
            table.column("offset"),
        )

    def search(self, query_text: str, k: int, *, now: datetime | None = None, verbatim: bool = False) -> list[Hit]:
        """The best ``k`` passages, best first; nothing when the question has no topic or nothing is related to it.

        ``now`` is when the question is asked; with it, times in the question ("last week") count. ``verbatim`` asks for
        common words too where there are no others.
        """
        with self._lock:
            if not len(self._table) or k <= 0:
                return []
            corpus = self._corpus = self._corpus or self._read()
            windows = _windows(query_text, now) if now else ()
            inside, times = self._inside(corpus, windows) if windows else (None, "")
            asked = wishes.wish(
                query_text,
                self._table.postings,
                windows=windows,
                speakers=corpus.shape.speakers,
                portuguese=self._table.portuguese,
                verbatim=verbatim,
            )
            asked = replace(asked, inside=inside)
            if not asked.words and inside is None:
                return []
            result = scoring.score(corpus, asked)
            slots = (
                scoring.best(result.total, k)  # in talk, what was said first
                if corpus.groups is not None
                else scoring.best_and_newest(result.total, k, corpus.wall, lambda slot: self._table.named(slot)[0])
            )
            found = hits.hits_of(self._table.postings, self._table.named, slots, asked, result, times)
            return self._fused(query_text, found, k) if self._vectors else found

    def _inside(self, corpus: scoring.Corpus, windows: Sequence[TimeWindow]) -> tuple[Scores | None, str]:
        """1 for the passages whose time lies in one of ``windows``; nothing when none does."""
        import numpy as np

        result: Scores = np.zeros(corpus.size)
        for window in windows:
            after = conversation.at_or_after(corpus.wall, corpus.offset, window.start)
            before_end = ~conversation.at_or_after(corpus.wall, corpus.offset, window.end)
            result[after & before_end & ~np.isnan(corpus.wall)] = 1.0
        if not result.any():
            return None, ""
        return result, " or ".join(days_of((w.start, w.end)) for w in windows)

    def _fused(self, text: str, by_words: list[Hit], k: int) -> list[Hit]:
        """The hits by words joined with the nearest passages by meaning; scores are then those of the fusion."""
        assert self._vectors is not None
        texts = {passage.id: passage.text for passage in self._table}
        near = self._vectors.nearest(text, texts, 4 * k)
        if not near:
            return by_words
        by_id = {hit.id: hit for hit in by_words}
        fused = vectors.fuse(by_id, near, coverage=vectors.best_coverage(by_words))
        nearby = set(near)
        found = []
        for passage_id, score in list(fused.items())[:k]:
            hit = by_id.get(passage_id, Hit(passage_id, 0.0, "", 0.0))
            reasons = [hit.why] if hit.why else []
            if passage_id in nearby:
                reasons.append("close in meaning")
            found.append(replace(hit, score=round(score, 6), why="; ".join(reasons)))
        return found


def _windows(text: str, now: datetime) -> Sequence[TimeWindow]:
    """The times that ``text`` asks for."""
    from chatls_core.text.time_expressions import find

    return find(text, now)
