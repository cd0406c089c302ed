"""Which terms of a corpus may stand for a word of the question: the word, its relatives, its derivations, a misspelling."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .bm25 import Postings
from .query import TopicWord

_DERIVED = 0.6
_MISSPELT = 0.7


@dataclass(frozen=True, slots=True)
class Wanted:
    """A topic word with the terms of this corpus that may stand for it, the word's own term first.

    ``idf`` is how telling it is here, ``information`` what finding it is worth.
    """

    folded: str
    weight: float
    idf: float
    terms: tuple[tuple[str, float], ...]

    @property
    def information(self) -> float:
        """``idf`` times ``weight``."""
        return self.idf * self.weight


def resolve(word: TopicWord, postings: Postings, *, translated: bool, labels: bool) -> Wanted:
    """Look a topic word up. ``translated`` also tries the other language's stem, ``labels`` the ``Name:`` of passages."""
    terms = {word.term: 1.0}
    if translated and word.translated:
        terms[word.translated] = 1.0
    if labels:
        terms[f"@l{word.folded}"] = 1.0
    for variant in word.variants:
        terms.setdefault(variant.term, variant.weight)
    for term in _derived(word.term, postings):
        terms.setdefault(term, _DERIVED)
    held = {term: worth for term, worth in terms.items() if postings.holds(term)}
    if not held:
        held = {term: _MISSPELT for term in _misspelt(word.term, postings)}
    same = [postings.idf(t) for t, worth in held.items() if worth == 1.0]
    idf = min(same) if same else max((postings.idf(t) for t in held), default=postings.idf(word.term))
    held.setdefault(word.term, 1.0)
    ordered = ((word.term, 1.0), *((t, w) for t, w in held.items() if t != word.term))
    return Wanted(word.folded, word.weight, idf, ordered)


def _derived(term: str, postings: Postings) -> Iterator[str]:
    """Terms of one family that the stemmer keeps apart: adopt and adoption, research and researcher."""
    if len(term) < 4 or not term.isalpha():
        return
    for other in postings.beginning_with(term[:2]):
        if other == term or not other.startswith(term[:4]) or not other.isalpha():
            continue
        shared = _common_prefix(term, other)
        if len(term) - shared <= 2 and len(other) - shared <= 4 and shared >= 0.66 * max(len(term), len(other)):
            yield other


def _misspelt(term: str, postings: Postings) -> Iterator[str]:
    """Terms one slip of the keyboard away."""
    if len(term) < 5 or not term.isalpha():
        return
    for other in postings.beginning_with(term[:2]):
        if abs(len(other) - len(term)) <= 1 and other.isalpha() and _one_slip(term, other):
            yield other


def _common_prefix(a: str, b: str) -> int:
    shared = 0
    for x, y in zip(a, b, strict=False):
        if x != y:
            break
        shared += 1
    return shared


def _one_slip(a: str, b: str) -> bool:
    """Whether one letter was dropped, added, changed or swapped with its neighbour."""
    i = _common_prefix(a, b)
    if len(a) == len(b):
        return a[i + 1 :] == b[i + 1 :] or (a[i : i + 2] == b[i : i + 2][::-1] and a[i + 2 :] == b[i + 2 :])
    return a[i + 1 :] == b[i:] if len(a) > len(b) else a[i:] == b[i + 1 :]
