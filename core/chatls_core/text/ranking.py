"""The one ranker: facts, episodes, sessions, knowledge and graph search all use :class:`PassageIndex`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from . import bm25, tokenizer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Embed = Callable[[Sequence[str]], Sequence[Sequence[float]]]
"""Turns texts into vectors of one length."""

STRONG_COVERAGE = 0.5
"""Share of the question's information a passage must hold to count as a strong match."""


@dataclass(frozen=True, slots=True)
class Passage:
    """What can be found: a fact, an episode, a dialogue turn, a page.

    ``time`` is when it was said or holds; ``tags`` are words that describe it; ``weight`` multiplies its score.
    """

    id: str
    text: str
    time: datetime | None = None
    tags: tuple[str, ...] = ()
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Hit:
    """A found passage.

    ``score`` orders hits. ``coverage`` (0 to 1) is the share of the question's information the passage itself holds,
    ``why`` says in words what matched.
    """

    id: str
    score: float
    why: str
    coverage: float = 0.0


def strong_match(hit: Hit) -> bool:
    """Whether a hit may be shown unasked (auto-recall): its own words, not its neighbours', answer the question."""
    return hit.coverage >= STRONG_COVERAGE


class PassageIndex:
    """A searchable set of passages. Changes are cheap: the next search rebuilds what they touched. Not thread-safe."""

    def __init__(self, passages: Iterable[Passage] = (), *, embed: Embed | None = None) -> None:
        """``embed`` is optional; where given its ranking is fused with the words' at half weight."""
        self._passages: dict[str, Passage] = {}
        self._terms: dict[str, list[str]] = {}
        self._engine: bm25.Engine | None = None
        self._order: list[Passage] = []
        self._embed = embed
        for passage in passages:
            self.add(passage)

    def __len__(self) -> int:
        return len(self._passages)

    def __contains__(self, passage_id: object) -> bool:
        return passage_id in self._passages

    def add(self, passage: Passage) -> None:
        """Add a passage; one with the same id is replaced in its place."""
        self._passages[passage.id] = passage
        self._terms[passage.id] = tokenizer.terms(" ".join((passage.text, *passage.tags)))
        self._engine = None

    def remove(self, passage_id: str) -> bool:
        """Remove a passage; says whether it was there."""
        self._terms.pop(passage_id, None)
        self._engine = None
        return self._passages.pop(passage_id, None) is not None

    def replace(self, passages: Iterable[Passage]) -> None:
        """Make the index hold exactly ``passages``; unchanged ones are not read again."""
        wanted = {p.id: p for p in passages}
        known, terms = self._passages, self._terms
        self._passages, self._terms, self._engine = {}, {}, None
        for passage in wanted.values():
            if known.get(passage.id) == passage:
                self._passages[passage.id], self._terms[passage.id] = passage, terms[passage.id]
            else:
                self.add(passage)

    def search(self, query: str, k: int, *, now: datetime | None = None) -> list[Hit]:
        """The best ``k`` passages for ``query``, best first; nothing when the question has no topic or nothing matches."""
        if not self._passages or k <= 0:
            return []
        if self._engine is None:
            self._order = list(self._passages.values())
            self._engine = bm25.engine(list(self._terms.values()))
        import numpy as np

        engine = self._engine
        language = tokenizer.detect_language(query) or "en"
        wanted = {tokenizer.stem(w.folded, language): w.written for w in tokenizer.topic_words(query)}
        total: NDArray[np.float64] = np.zeros(len(self._order))
        covered: NDArray[np.float64] = np.zeros(len(self._order))
        information = sum(engine.idf(t) for t in wanted)
        for term in wanted:
            if engine.holds(term):
                scores = engine.scores(term)
                total += scores
                covered += (scores > 0) * engine.idf(term)
        total *= np.array([p.weight for p in self._order])
        best = [int(i) for i in np.argsort(-total, kind="stable")[:k] if total[i] > 0]
        hits = []
        for i in best:
            matched = [written for term, written in wanted.items() if engine.scores(term)[i] > 0]
            hits.append(
                Hit(self._order[i].id, float(total[i]), "words: " + ", ".join(matched), float(covered[i] / information))
            )
        return hits
