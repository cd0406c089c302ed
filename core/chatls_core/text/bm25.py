"""Okapi BM25, term by term, over a corpus that changes (spec/memory.md §7.2, §8.3).

Two engines, one formula: ``idf · tf·(k1+1) / (tf + k1·(1 − b + b·length/average))`` with the never-negative
``idf = ln(1 + (N − n + ½)/(n + ½))``. rank-bm25 scores small corpora; beyond a few hundred passages its walk over every
passage for every term costs more than an answer may take, and an inverted index of our own with the same numbers takes over.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Scores = NDArray[np.float64]

K1 = 1.2
"""How fast repetition of a term saturates."""
B = 0.75
"""How much long passages are marked down."""

SMALL_CORPUS = 400
"""Up to this many passages rank-bm25 does the scoring."""


def inverse_frequency(documents: int, containing: int) -> float:
    """How telling a term is that ``containing`` of ``documents`` hold; never negative."""
    return math.log(1 + (documents - containing + 0.5) / (containing + 0.5))


class Engine(Protocol):
    """Scores of single terms over a fixed list of passages."""

    def idf(self, term: str) -> float:
        """How telling ``term`` is; the highest value for a term that no passage has."""

    def scores(self, term: str) -> Scores:
        """The BM25 score of ``term`` for every passage, in the passages' order; zero where it is absent."""

    def holds(self, term: str) -> bool:
        """Whether any passage has ``term``."""


class RankBm25Engine:
    """The library rank-bm25, with idf values that are never negative."""

    def __init__(self, documents: Sequence[Sequence[str]], *, k1: float = K1, b: float = B) -> None:
        from rank_bm25 import BM25Okapi

        self._size = len(documents)
        self._bm25 = BM25Okapi([list(d) for d in documents], k1=k1, b=b)
        counts: Counter[str] = Counter(term for d in documents for term in set(d))
        # The library's own idf is negative for a term that most passages have: finding it would count against a passage.
        self._bm25.idf = {term: inverse_frequency(self._size, n) for term, n in counts.items()}
        self._cache: dict[str, Scores] = {}

    def idf(self, term: str) -> float:
        """See :class:`Engine`."""
        value: float = self._bm25.idf.get(term, inverse_frequency(self._size, 0))
        return value

    def holds(self, term: str) -> bool:
        """See :class:`Engine`."""
        return term in self._bm25.idf

    def scores(self, term: str) -> Scores:
        """See :class:`Engine`."""
        if term not in self._cache:
            self._cache[term] = self._bm25.get_scores([term])
        return self._cache[term]


class InvertedEngine:
    """Posting lists in numpy arrays: a term costs as much as the passages that have it."""

    def __init__(self, documents: Sequence[Sequence[str]], *, k1: float = K1, b: float = B) -> None:
        import numpy as np

        self._np = np
        self._size = len(documents)
        postings: dict[str, tuple[list[int], list[int]]] = {}
        lengths = np.zeros(self._size)
        for number, document in enumerate(documents):
            lengths[number] = len(document)
            for term, count in Counter(document).items():
                numbers, counts = postings.setdefault(term, ([], []))
                numbers.append(number)
                counts.append(count)
        self._postings = postings
        average = lengths.mean() if self._size and lengths.any() else 1.0
        self._k1 = k1
        self._norm = k1 * (1 - b + b * lengths / average)

    def idf(self, term: str) -> float:
        """See :class:`Engine`."""
        found = self._postings.get(term)
        return inverse_frequency(self._size, len(found[0]) if found else 0)

    def holds(self, term: str) -> bool:
        """See :class:`Engine`."""
        return term in self._postings

    def scores(self, term: str) -> Scores:
        """See :class:`Engine`."""
        np = self._np
        result: Scores = np.zeros(self._size)
        found = self._postings.get(term)
        if found:
            numbers, counts = np.asarray(found[0]), np.asarray(found[1], dtype=np.float64)
            result[numbers] = self.idf(term) * counts * (self._k1 + 1) / (counts + self._norm[numbers])
        return result


def engine(documents: Sequence[Sequence[str]], *, k1: float = K1, b: float = B) -> Engine:
    """The engine that suits the number of ``documents`` (lists of terms)."""
    if len(documents) <= SMALL_CORPUS:
        return RankBm25Engine(documents, k1=k1, b=b) if any(documents) else InvertedEngine(documents, k1=k1, b=b)
    return InvertedEngine(documents, k1=k1, b=b)
