"""May a found item ride in a turn unasked? Precision first: one irrelevant fact is a fault (spec/memory.md §8.7).

What speaks for an item is weighed: the words it shares with the message by how special they are, and what kind of
message it is. The weights were fitted to the messages of twelve invented people and are measured on those of others
(docs/ranking.md); no message of a user was seen.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import inf, log

from chatls_core.memory.question import Part, Question
from chatls_core.text import tokenizer
from chatls_core.text.ordinary_words import SOFTWARE
from chatls_core.text.ranking import Hit

_SAME_SHARE = 0.5
"""Of the words of a statement, to be the one that another makes about another thing."""
_AS_GOOD = 0.9
"""Share of an item's evidence that another needs to tie with it."""
_HEAD_WORDS = 3
"""So many first words of a statement say what it is about."""
_NEARLY_ALL = 0.8
"""Of what is spoken of."""

_PERSON = re.compile(
    r"\b[A-ZÀ-Ý][a-zà-ÿ]+ (?:[a-z]{2,3} )?[A-ZÀ-Ý][a-zà-ÿ]+|\b[A-ZÀ-Ý][a-zà-ÿ]+ (?:is|leads|runs|owns|cuida|valida|é)\b"
    r"|\b(?:pela|pelo|by) [A-ZÀ-Ý]"
)
"""Names somebody."""
_DIGIT = re.compile(r"\d")
_USER = re.compile(
    r"\b(?:users?|usu[aá]ri[oa]|utilizador[a]?)\b|^(?:she|he|her|his|they|their|ela|ele|seu|sua)\b", re.IGNORECASE
)
"""Tells of the user; a statement that begins with "she" or "his" has nobody else to speak of."""


@dataclass(frozen=True, slots=True)
class Signs:
    """What speaks for an item and what against it, each times its weight; flags are 0 or 1."""

    evidence: float
    """The shared words, each by how special it is in the language and in this memory."""
    alone: bool
    """One word is shared, or only everyday ones; where the user asks about himself, that may be enough."""
    head: bool
    """One of them is among the first words of the item."""
    ties: float
    """Logarithm of how many items have as much evidence: where many fit, none is meant."""
    parts: float
    """Logarithm of the number of sentences, each of which may share a word by chance."""
    general: bool
    """The message asks what everybody can know, and the item does not hold all of it."""
    strangers: int
    """Names in the question, at most two, that the item lacks."""
    amount: bool
    """A number is asked for, and the item holds one."""
    person: bool
    """A person is asked for, and the item names one."""
    own: bool
    """The user asks about himself, and the item tells of him."""
    ours: bool
    """The user asks about what he and others have."""

    def odds(self) -> float:
        """Logarithm of the odds that the item bears on the message."""
        return _PRIOR + sum(weight * float(getattr(self, sign)) for sign, weight in WEIGHTS.items())


WEIGHTS: Mapping[str, float] = {
    "evidence": 1.8,
    "alone": -1.7,
    "head": 0.5,
    "ties": -0.7,
    "parts": -1.8,
    "general": -3.8,
    "strangers": -2.0,
    "amount": 1.1,
    "person": 1.6,
    "own": 1.5,
    "ours": 1.0,
}
"""What each sign is worth, as logarithms of odds."""
_PRIOR = -0.9
LEAST_ODDS = 0.0
"""From here on an item rides."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """An item that was found, its text, and whether it tells of the user."""

    hit: Hit
    text: str
    about_user: bool


@dataclass(frozen=True, slots=True)
class _Shared:
    """What a part of a message and an item have in common.

    ``met`` are the words, with how well the item meets them and what they tell; ``evidence`` is what they say together;
    ``own`` tells that the user asks about himself, and the item tells of him.
    """

    item: Candidate
    met: tuple[tuple[str, float, float], ...]
    evidence: float
    own: bool


def weigh(part: Part, found: Sequence[Candidate], *, parts: int) -> list[float]:
    """The odds (:meth:`Signs.odds`) of each item found for this part of a message of ``parts``, in order."""
    shared = [_shared(part, item) for item in found]
    odds = []
    for one in shared:
        # Of the user himself, only what else is about him can be meant as well.
        ties = sum(other.evidence >= _AS_GOOD * one.evidence for other in shared if other.own or not one.own)
        odds.append(_signs(part, one, log(ties), log(parts)).odds() if one.evidence else -inf)
    return odds


def _shared(part: Part, item: Candidate) -> _Shared:
    met = tuple(known for known in item.hit.met if known[0] in part.words)
    own = item.about_user and (part.speaks or any(word in part.owned for word, _, _ in met))
    return _Shared(item, met, sum(part.words[word] * telling for word, _, telling in met), own)


def _signs(part: Part, one: _Shared, ties: float, parts: float) -> Signs:
    text, met, (language, head) = one.item.text, one.met, _head(one.item.text)
    shared = sum(part.words[word] * share for word, share, _ in met)
    whole = len(met) > 1 and shared >= _NEARLY_ALL * sum(part.words.values())
    return Signs(
        evidence=one.evidence,
        alone=not one.own and (len(met) <= 1 or all(part.words[word] < SOFTWARE for word, _, _ in met)),
        head=any(tokenizer.stem(word, language) in head for word, _, _ in met),
        ties=ties,
        parts=parts,
        general=part.general and not (part.definite and whole),
        strangers=min(2, len(part.names.difference(word for word, _, _ in met))),
        amount=part.amount and _DIGIT.search(text) is not None,
        person=part.who and _PERSON.search(text) is not None,
        own=one.own,
        ours=part.ours,
    )


def about_user(text: str, name: str = "") -> bool:
    """Whether a statement is about the user, who may be called ``name``."""
    return bool(_USER.search(text)) or (bool(name) and name in {w.folded for w in tokenizer.words(text)})


def about_another(question: Question, text: str, better: str) -> bool:
    """Whether ``text`` makes the statement of ``better`` about something else than the question names: the queue's host
    where the database's was asked for."""
    return _words_in(question, text) < _words_in(question, better) and _same_statement(text, better)


def _words_in(question: Question, text: str) -> frozenset[str]:
    """The question's topic words that stand in a text, as their stems there."""
    language = _language(text)
    return frozenset(tokenizer.stem(w.folded, language) for w in question.words) & frozenset(_stems(text))


def _same_statement(one: str, other: str) -> bool:
    """Whether two texts say nearly the same, be it about different things: most words of the shorter are shared."""
    first, second = set(_stems(one)), set(_stems(other))
    return len(first & second) >= _SAME_SHARE * min(len(first), len(second))


def _language(text: str) -> tokenizer.Language:
    return tokenizer.detect_language(text) or "en"


@lru_cache(maxsize=8192)
def _stems(text: str) -> tuple[str, ...]:
    """The stems of a text's whole words in order."""
    language = _language(text)
    return tuple(tokenizer.stem(w.folded, language) for w in tokenizer.words(text) if not w.part)


@lru_cache(maxsize=8192)
def _head(text: str) -> tuple[tokenizer.Language, frozenset[str]]:
    """The language of a text, and the stems of its first topic words: what it is about."""
    language = _language(text)
    stems = dict.fromkeys(tokenizer.stem(w.folded, language) for w in tokenizer.topic_words(text))
    return language, frozenset(list(stems)[:_HEAD_WORDS])
