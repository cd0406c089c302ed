"""Okapi BM25, term by term, over passages that come and go (spec/memory.md §7.2, §8.3).

Two scorers, one formula: ``idf · tf·(k1+1) / (tf + k1·(1 − b + b·length/average))`` with the never-negative
``idf = ln(1 + (N − n + ½)/(n + ½))``. rank-bm25 scores small corpora; it walks over every passage for every term, so
beyond a few hundred passages posting lists of our own give the same numbers at the cost of the passages that match.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]
    Scores = NDArray[np.float64]

K1 = 1.2
"""How fast the repetition of a term saturates."""

SMALL_CORPUS = 400
"""Up to this many passages rank-bm25 does the scoring."""


def inverse_frequency(documents: int, containing: int) -> float:
    """How telling a term is that ``containing`` of ``documents`` hold; never negative."""
    return math.log(1 + (documents - containing + 0.5) / (containing + 0.5))


class Vocabulary(Protocol):
    """What is known of all passages of a corpus, whether or not they are at hand: which terms they hold."""

    @property
    def live(self) -> int:
        """How many passages there are."""

    @property
    def average_length(self) -> float:
        """Mean number of terms of a passage; 1 when there are none."""

    def frequency(self, term: str) -> int:
        """How many passages hold ``term``."""

    def beginning_with(self, prefix: str) -> Iterable[str]:
        """All terms that start with ``prefix``, which has at least two letters."""

    def written(self, term: str) -> str:
        """A word that ``term`` stands for, as the corpus spells it; the term itself when unknown."""


def idf(vocabulary: Vocabulary, term: str) -> float:
    """How telling ``term`` is; highest for a term that no passage has."""
    return inverse_frequency(vocabulary.live, vocabulary.frequency(term))


class Postings:
    """Which slots hold which terms how often. A slot is a passage's place in the order; removed ones stay empty.

    Adding and removing cost as much as the passage has terms; arrays for scoring are made per term on first use and
    thrown away only for terms that changed.
    """

    def __init__(self) -> None:
        self._slots: dict[str, dict[int, int]] = {}
        self._terms: list[tuple[str, ...] | None] = []
        self._lengths: list[int] = []
        self._written: dict[str, str] = {}
        self._buckets: defaultdict[str, set[str]] = defaultdict(set)
        self._arrays: dict[str, tuple[Numbers, Scores]] = {}
        self._total_length = 0
        self.live = 0
        """How many slots are filled."""

    @property
    def slots(self) -> int:
        """How many slots there are, empty ones included."""
        return len(self._terms)

    @property
    def has_terms(self) -> bool:
        """Whether any passage has a term."""
        return bool(self._slots)

    @property
    def average_length(self) -> float:
        """Mean number of terms of a filled slot; 1 when there are none."""
        return self._total_length / self.live if self._total_length else 1.0

    def lengths(self) -> Scores:
        """Number of terms by slot."""
        import numpy as np

        return np.array(self._lengths, dtype=np.float64)

    def documents(self) -> list[tuple[str, ...]]:
        """The terms of the filled slots, in order."""
        return [terms for terms in self._terms if terms is not None]

    def holders(self, term: str) -> Container[int]:
        """The slots that hold ``term``."""
        return self._slots.get(term, ())

    def filled(self) -> Numbers:
        """The filled slots in order."""
        import numpy as np

        if self.live == self.slots:
            return np.arange(self.slots)
        return np.array([slot for slot, terms in enumerate(self._terms) if terms is not None], dtype=np.int64)

    def append(self) -> int:
        """A new empty slot at the end."""
        self._terms.append(None)
        self._lengths.append(0)
        return len(self._terms) - 1

    def fill(self, slot: int, pairs: Iterable[tuple[str, str]], length: int | None = None) -> None:
        """Put (term, written word) pairs into an empty slot; ``length`` counts terms that are left out as well."""
        terms = []
        by_term, arrays = self._slots, self._arrays
        for term, written in pairs:
            terms.append(term)
            holders = by_term.get(term)
            if holders is None:
                holders = by_term[term] = {}
                self._written[term] = written
                self._buckets[term[:2]].add(term)
            holders[slot] = holders.get(slot, 0) + 1
            if arrays:
                arrays.pop(term, None)
        self._terms[slot] = tuple(terms)
        self._lengths[slot] = len(terms) if length is None else length
        self._total_length += self._lengths[slot]
        self.live += 1

    def clear(self, slot: int) -> None:
        """Empty a slot; an empty one stays empty."""
        terms = self._terms[slot]
        if terms is None:
            return
        for term in set(terms):
            holders = self._slots[term]
            del holders[slot]
            self._arrays.pop(term, None)
            if not holders:
                del self._slots[term], self._written[term]
                self._buckets[term[:2]].discard(term)
        self._terms[slot] = None
        self._total_length -= self._lengths[slot]
        self._lengths[slot] = 0
        self.live -= 1

    def frequency(self, term: str) -> int:
        """How many passages have ``term``."""
        return len(self._slots.get(term, ()))

    def written(self, term: str) -> str:
        """A word that ``term`` stands for, as the corpus spells it; the term itself when unknown."""
        return self._written.get(term, term)

    def overlap(self, slot: int, other: int) -> float:
        """The share of the smaller passage's information that both hold, 0 to 1; terms that begin with @ left out."""
        a, b = ({t for t in self._terms[s] or () if t[0] != "@"} for s in (slot, other))
        information = {term: idf(self, term) for term in a | b}
        smaller = min(sum(information[t] for t in a), sum(information[t] for t in b))
        return sum(information[t] for t in a & b) / smaller if smaller else 0.0

    def beginning_with(self, prefix: str) -> Iterable[str]:
        """All terms that start with ``prefix``, which has at least two letters."""
        bucket = self._buckets.get(prefix[:2], ())
        return bucket if len(prefix) == 2 else [term for term in bucket if term.startswith(prefix)]

    def arrays(self, term: str) -> tuple[Numbers, Scores]:
        """The slots that hold ``term``, and how often each does."""
        found = self._arrays.get(term)
        if found is None:
            import numpy as np

            holders = self._slots.get(term, {})
            found = self._arrays[term] = (
                np.fromiter(holders.keys(), dtype=np.int64, count=len(holders)),
                np.fromiter(holders.values(), dtype=np.float64, count=len(holders)),
            )
        return found


class Scorer(Protocol):
    """BM25 of one term."""

    def scores(self, term: str) -> tuple[Numbers, Scores]:
        """The slots that hold ``term`` with the term's score in each; empty arrays when none does."""


class RankBm25Scorer:
    """The library rank-bm25, with idf values that are never negative. Valid until the postings change."""

    def __init__(self, postings: Postings, *, b: float, k1: float = K1) -> None:
        """``postings`` must hold at least one term."""
        from rank_bm25 import BM25Okapi

        self._filled = postings.filled()
        self._bm25 = BM25Okapi([list(terms) for terms in postings.documents()], k1=k1, b=b)
        # The library's own idf is negative for a term that most passages have: finding it would count against them.
        self._bm25.idf = {term: idf(postings, term) for term in self._bm25.idf}
        self._known: dict[str, tuple[Numbers, Scores]] = {}

    def scores(self, term: str) -> tuple[Numbers, Scores]:
        """See :class:`Scorer`."""
        found = self._known.get(term)
        if found is None:
            every: Scores = self._bm25.get_scores([term])
            matching = every.nonzero()[0]
            found = self._known[term] = (self._filled[matching], every[matching])
        return found


class PostingsScorer:
    """The same formula on posting lists. Valid until the postings change."""

    def __init__(self, postings: Postings, *, b: float, k1: float = K1, vocabulary: Vocabulary | None = None) -> None:
        """``vocabulary`` knows the whole corpus where ``postings`` are a part of it."""
        self._postings = postings
        self._vocabulary = vocabulary or postings
        self._k1 = k1
        self._norm = k1 * (1 - b + b * postings.lengths() / self._vocabulary.average_length)

    def scores(self, term: str) -> tuple[Numbers, Scores]:
        """See :class:`Scorer`."""
        slots, counts = self._postings.arrays(term)
        return slots, idf(self._vocabulary, term) * counts * (self._k1 + 1) / (counts + self._norm[slots])


@dataclass(frozen=True, slots=True)
class Grouping:
    """Which group (conversation) each slot belongs to, and what is known of all groups.

    ``of_slot`` numbers the groups from 0, ``lengths`` are theirs in terms. ``count`` and ``mean_length`` are of all
    groups, also of those without a slot; ``holding`` tells how many of them hold a term, where slots cannot tell.
    """

    of_slot: Numbers
    lengths: Scores
    count: int
    mean_length: float
    holding: Callable[[str], int] | None = None


def grouping(postings: Postings, of_slot: Numbers, count: int) -> Grouping:
    """The groups of postings that are complete."""
    import numpy as np

    lengths: Scores = np.bincount(of_slot, postings.lengths(), minlength=count).astype(np.float64)
    return Grouping(of_slot, lengths, count, float(lengths.mean()))


class GroupScorer:
    """BM25 over groups of passages (conversations), from the passages' postings. Valid until either changes."""

    def __init__(self, postings: Postings, groups: Grouping, *, b: float, k1: float = K1) -> None:
        self._postings, self._groups, self._k1 = postings, groups, k1
        self._norm = k1 * (1 - b + b * groups.lengths / max(groups.mean_length, 1.0))
        self._known: dict[str, tuple[Scores, float]] = {}

    def scores(self, term: str) -> tuple[Scores, float]:
        """The score of ``term`` for every group, and its idf among groups."""
        found = self._known.get(term)
        if found is None:
            import numpy as np

            groups = self._groups
            slots, counts = self._postings.arrays(term)
            frequency = np.bincount(groups.of_slot[slots], counts, minlength=len(groups.lengths))
            holding = int(np.count_nonzero(frequency)) if groups.holding is None else groups.holding(term)
            idf = inverse_frequency(groups.count, min(holding, groups.count))
            found = self._known[term] = (idf * frequency * (self._k1 + 1) / (frequency + self._norm), idf)
        return found


def scorer(postings: Postings, *, b: float) -> Scorer:
    """The scorer that suits the number of passages."""
    # The library divides by the number of distinct terms.
    if postings.live <= SMALL_CORPUS and postings.has_terms:
        return RankBm25Scorer(postings, b=b)
    return PostingsScorer(postings, b=b)


def documents_of(texts: Sequence[Sequence[str]]) -> Postings:
    """Postings of ready-made lists of terms, one slot each."""
    postings = Postings()
    for terms in texts:
        postings.fill(postings.append(), ((term, term) for term in terms))
    return postings
