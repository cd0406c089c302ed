"""The one ranker: facts, episodes, sessions, knowledge and graph search all use :class:`PassageIndex`.

BM25 over stemmed words decides; around it stand small, general helpers, each measured in docs/ranking.md: related
words, dates, the speaker a question names, and, in dialogue only, the neighbours and the conversation of a passage.
"""

from __future__ import annotations

import heapq
import threading
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from . import bm25, conversation, dates, expansion, query, scoring, tokenizer, vectors
from .passages import Passage, Table
from .vectors import Embed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Scores = NDArray[np.float64]

__all__ = ["STRONG_COVERAGE", "STRONG_TELLING", "Embed", "Hit", "Passage", "PassageIndex", "TimeWindow", "strong_match"]

STRONG_COVERAGE = 0.5
"""Share of the question's information a passage must hold to count as a strong match, …"""
STRONG_TELLING = 2.5
"""… or so many telling words of it."""

_FEW_SLOTS = 64
_MOST_WORDS = 32
_FIRST_PERSON_LABELS = frozenset({"user", "human", "me", "usuario"})
_SECOND_PERSON_LABELS = frozenset({"assistant", "ai", "bot", "model", "assistente"})


class TimeWindow(Protocol):
    """A time that a question asks for: from ``start`` up to but not including ``end``; ``span`` is where it stands."""

    @property
    def start(self) -> datetime: ...
    @property
    def end(self) -> datetime: ...
    @property
    def span(self) -> tuple[int, int]: ...


@dataclass(frozen=True, slots=True)
class Hit:
    """A found passage.

    ``score`` orders hits and compares across questions: about 1 for a passage that holds everything asked for, more
    where its conversation does too.
    ``coverage`` (0 to 1) is the share of the question's information that the passage's *own* words hold.
    ``telling`` is the same as a number of words: 2.0 for as much as two words that no other passage has.
    ``why`` says in words what matched.
    """

    id: str
    score: float
    why: str
    coverage: float = 0.0
    telling: float = 0.0


def strong_match(hit: Hit) -> bool:
    """Whether a hit may be shown unasked (auto-recall): its own words, not its neighbours', meet the question.

    They hold half of a short question, or some three telling words of a long one.
    """
    return hit.coverage >= STRONG_COVERAGE or hit.telling >= STRONG_TELLING


class PassageIndex:
    """A searchable set of passages, in the order they were added. Changes are cheap, and seen by the next search.

    Safe to use from several threads.
    """

    def __init__(self, passages: Iterable[Passage] = (), *, embed: Embed | None = None) -> None:
        """``embed`` is optional; where given, its ranking is fused with the words' at half weight."""
        self._lock = threading.RLock()
        self._table = Table()
        self._corpus: scoring.Corpus | None = None
        self._vectors = vectors.VectorStore(embed) if embed else None
        for passage in passages:
            self.add(passage)

    def __len__(self) -> int:
        return len(self._table)

    def __contains__(self, passage_id: object) -> bool:
        return isinstance(passage_id, str) and self._table.slot(passage_id) is not None

    def add(self, passage: Passage) -> None:
        """Add a passage at the end; one with the same id is replaced where it stands."""
        with self._lock:
            slot = self._table.slot(passage.id)
            if slot is not None and self._table.passages[slot] == passage:
                return
            self._table.put(passage)
            self._changed(passage.id)

    def remove(self, passage_id: str) -> bool:
        """Remove a passage; says whether it was there."""
        with self._lock:
            if not self._table.remove(passage_id):
                return False
            self._changed(passage_id)
            slots = self._table.postings.slots
            if slots > _FEW_SLOTS and len(self._table) < slots / 2:
                self._renew(self._table)
            return True

    def replace(self, passages: Iterable[Passage]) -> None:
        """Make the index hold exactly ``passages``, in their order; those that stay the same are not read again.

        When passages that stay change their order, or new ones come between them, everything is read again.
        """
        with self._lock:
            wanted = {passage.id: passage for passage in passages}
            for passage_id in [p.id for p in self._table if p.id not in wanted]:
                self.remove(passage_id)
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
            count,
            postings.average_length,
            lambda: conversation.takes_turns(table.label_numbers()[live], group),
            lambda: conversation.cohesion(postings, live, group),
        )
        by_conversation = None
        if shape.context:
            of_slot = np.zeros(postings.slots, dtype=np.int64)
            of_slot[live] = group
            by_conversation = bm25.GroupScorer(postings, of_slot, count, b=shape.b)
        return scoring.Corpus(
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

    def search(self, query_text: str, k: int, *, now: datetime | None = None) -> list[Hit]:
        """The best ``k`` passages, best first; nothing when the question has no topic or nothing is related to it.

        ``now`` is when the question is asked; with it, times in the question ("last week") count.
        """
        with self._lock:
            if not len(self._table) or k <= 0:
                return []
            corpus = self._corpus = self._corpus or self._read()
            wish, times = self._wish(corpus, query_text, now)
            if not wish.words and wish.inside is None:
                return []
            result = scoring.score(corpus, wish)
            hits = self._hits(scoring.best(result.total, k), wish, times, result)
            return self._fused(query_text, hits, k) if self._vectors else hits

    def _wish(self, corpus: scoring.Corpus, text: str, now: datetime | None) -> tuple[scoring.Wish, str]:
        """What is looked for in this corpus, and the asked time in words (empty when none is asked)."""
        windows = _windows(text, now) if now else ()
        inside, times = self._inside(corpus, windows) if windows else (None, "")
        relative = False
        for start, end in (window.span for window in windows):
            # "last week" is understood and no topic any more; "March 2026" may also stand in a passage's text.
            if not dates.dates_in(text[start:end]):
                relative, text = True, text[:start] + " " * (end - start) + text[end:]
        question = query.read(text)
        names = {word.folded for label in corpus.shape.speakers for word in tokenizer.words(label)}
        speakers = [w.folded for w in question.topic if w.folded in names]
        if len(speakers) == len(question.topic):
            # A question that is only a name asks for what is said about it as well.
            names = set()
        if question.first_person and not speakers:
            speakers = sorted(names & _FIRST_PERSON_LABELS)
        if question.second_person:
            speakers = sorted(names & _SECOND_PERSON_LABELS) or speakers
        portuguese = question.language == "pt"
        translated = self._table.portuguese < len(self._table) if portuguese else self._table.portuguese > 0
        words = [
            expansion.resolve(w, corpus.postings, translated=translated, labels=not names)
            for w in question.topic
            if w.folded not in names
        ]
        if len(words) > _MOST_WORDS:
            # A pasted log must not flood the question: what tells most stays.
            words = heapq.nlargest(
                _MOST_WORDS, words, key=lambda w: (corpus.postings.holds(w.terms[0][0]), w.information)
            )
        return scoring.Wish(words, inside, relative, speakers, question.wants_time, question.wants_number), times

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
        return result, " or ".join(f"{w.start:%Y-%m-%d} to {w.end:%Y-%m-%d}" for w in windows)

    def _hits(self, slots: list[int], wish: scoring.Wish, times: str, result: scoring.Result) -> list[Hit]:
        """The passages in ``slots`` with their scores and reasons."""
        named = [self._naming(word) for word in wish.words]
        presence = (result.presence[:, slots].T > 0).tolist()
        totals = (result.total[slots] / result.possible).round(6).tolist()
        coverage = result.coverage[slots].clip(max=1.0).round(4).tolist()
        telling = result.telling[slots].round(4).tolist()
        within = [False] * len(slots) if wish.inside is None else (wish.inside[slots] > 0).tolist()
        spoken = (result.spoken[slots] > 0).tolist()
        whys: dict[tuple[object, ...], str] = {}
        hits = []
        for place, slot in enumerate(slots):
            passage = self._table.passages[slot]
            assert passage is not None
            parts = tuple(
                # Most words have one term that anything holds.
                names[0][0] if len(names) == 1 else next(name for name, holders in names if slot in holders)
                for names, present in zip(named, presence[place], strict=True)
                if present
            )
            speaker = self._table.label(slot) if spoken[place] else ""
            key = (parts, within[place], speaker)
            if (why := whys.get(key)) is None:
                why = whys[key] = _reason(parts, times if within[place] else "", speaker)
            hits.append(Hit(passage.id, totals[place], why, coverage[place], telling[place]))
        return hits

    def _naming(self, word: expansion.Wanted) -> list[tuple[str, Container[int]]]:
        """How each term of a wanted word is called in a reason, with the slots that hold it; the closest first."""
        names = []
        for term, _ in sorted(word.terms, key=lambda pair: -pair[1]):
            itself = term == word.terms[0][0] or term.startswith("@")
            name = word.folded if itself else f"{self._table.postings.written(term)} (for {word.folded})"
            names.append((name, self._table.postings.holders(term)))
        return names

    def _fused(self, text: str, hits: list[Hit], k: int) -> list[Hit]:
        """``hits`` by words joined with the nearest passages by meaning; scores are then those of the fusion."""
        assert self._vectors is not None
        texts = {passage.id: passage.text for passage in self._table}
        near = self._vectors.nearest(text, texts, 4 * k)
        if not near:
            return hits
        by_id = {hit.id: hit for hit in hits}
        fused = vectors.fuse(by_id, near)
        nearby = set(near)
        found = []
        for passage_id, score in list(fused.items())[:k]:
            hit = by_id.get(passage_id, Hit(passage_id, 0.0, "", 0.0))
            reasons = [hit.why] if hit.why else []
            if passage_id in nearby:
                reasons.append("close in meaning")
            found.append(replace(hit, score=round(score, 6), why="; ".join(reasons)))
        return found


def _reason(parts: Sequence[str], times: str, speaker: str) -> str:
    """Why a passage was found: the words it has, the asked time it is from, the asked person who said it."""
    reasons = ["has " + ", ".join(parts)] if parts else []
    if times:
        reasons.append(f"from {times}")
    if not reasons:
        reasons.append("stands beside a passage that matches")
    if speaker:
        reasons.append(f"said by {speaker}")
    return "; ".join(reasons)


def _windows(text: str, now: datetime) -> Sequence[TimeWindow]:
    """The times that ``text`` asks for."""
    from chatls_core.text.time_expressions import find

    return find(text, now)
