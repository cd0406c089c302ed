"""Which terms of a corpus may stand for a word of the question: itself, relatives, derivations, a misspelling."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from .bm25 import Vocabulary, inverse_frequency
from .passages import LABEL
from .query import TopicWord

_DERIVED = 0.6
_MISSPELT = 0.7
_BACKGROUND = 50
"""Imagined passages without the word: in a memory of three facts that all name Postgres, Postgres still tells a lot."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A topic word with the terms of this corpus that may stand for it, the word's own term first.

    ``idf`` is how telling it is here, ``information`` what finding it is worth as evidence.
    """

    folded: str
    weight: float
    idf: float
    information: float
    terms: tuple[tuple[str, float], ...]


def resolve(word: TopicWord, vocabulary: Vocabulary, *, translated: bool, translations: bool, labels: bool) -> Wanted:
    """Look a topic word up; ``translated`` also by the other language's stem, ``translations`` by the words there that
    mean the same, ``labels`` also in a ``Name:``."""
    terms = {word.term: 1.0}
    if translated and word.translated:
        terms[word.translated] = 1.0
    if labels:
        terms[LABEL + word.folded] = 1.0
    for variant in word.variants:
        if translations or not variant.translation:
            terms.setdefault(variant.term, variant.weight)
    for term in _derived(word.term, vocabulary):
        terms.setdefault(term, _DERIVED)
    held = {term: worth for term, worth in terms.items() if vocabulary.frequency(term)}
    if not held:
        held = dict.fromkeys(_misspelt(word.folded, vocabulary), _MISSPELT)
    same = [vocabulary.frequency(t) for t, worth in held.items() if worth == 1.0]
    frequency = max(same) if same else min((vocabulary.frequency(t) for t in held), default=0)
    idf = inverse_frequency(vocabulary.live, frequency)
    held.setdefault(word.term, 1.0)
    ordered = ((word.term, 1.0), *((t, w) for t, w in held.items() if t != word.term))
    return Wanted(word.folded, word.weight, idf, word.weight * information(vocabulary, frequency), ordered)


def information(vocabulary: Vocabulary, frequency: int) -> float:
    """What meeting a word that ``frequency`` passages hold is worth as evidence."""
    return inverse_frequency(vocabulary.live + _BACKGROUND, frequency)


def _derived(term: str, vocabulary: Vocabulary) -> Iterator[str]:
    """Terms of one family that the stemmer keeps apart: write and writer, allergic and allergy."""
    root = _root(term)
    if not root:
        return
    for other in vocabulary.beginning_with(root):
        if other != term and _root(other) == root:
            yield other


@lru_cache(maxsize=65536)
def _root(term: str) -> str:
    """What is left of a stem without its derivational ending; empty when that is too little to tell a family by."""
    if len(term) < 4 or not term.isalpha():
        return ""
    bare = _ENDING.sub("", term).rstrip("aeiouy")
    if len(bare) > 1 and bare[-1] == bare[-2]:
        bare = bare[:-1]
    return bare if len(bare) >= 4 else ""


_ENDING = re.compile(
    r"(?<=...)(?:ations?|ition|ator|ment|ness|ship|hood|less|ful|ism|ist|ity|ive|ion|ian|er|or|al|ic|ant|ent|"
    r"mento|dor|dora|oso|osa|idade|agem)$"
)


def _misspelt(folded: str, vocabulary: Vocabulary) -> Iterator[str]:
    """Terms whose word is one slip of the keyboard away."""
    if len(folded) < 6 or not folded.isalpha():
        return
    for term in vocabulary.beginning_with(folded[:2]):
        written = vocabulary.written(term)
        if len(written) >= 6 and written.isalpha() and _one_slip(folded, written):
            yield term


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
