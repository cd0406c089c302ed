"""May a found item ride in a turn unasked? Precision first: one irrelevant fact is a fault (spec/memory.md §8.7)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, lru_cache
from itertools import pairwise

from chatls_core.memory.wordlists import word_set
from chatls_core.text import tokenizer
from chatls_core.text.ranking import STRONG_TELLING, Hit, strong_match
from chatls_core.text.stopwords import REQUESTS

_SAME_SHARE = 0.5
"""Of the words of a statement, to be the one that another makes about another thing."""

_NEARLY_ALL = 0.7
"""Of what is asked, to take what is told in another language for an answer."""

_SUBJECTS = word_set("i we eu")
FIRST_PERSON = word_set("i me my mine we us our ours myself eu me mim meu minha meus minhas nos nosso nossa moro vivo")
_TASK = re.compile(
    r"\b(?:how|what|why) (?:do|can|could|would|should|must) (?:i|we)\b|\b(?:can|could|may|shall) (?:i|we)\b"
    r"|\bi (?:want|need|get|have|would|am|was|see|tried|did|do not|added|changed|ran)\b|\bi(?:'m|'d|'ve|-)"
    r"|\beu (?:quero|preciso|tenho|estou)\b",
    re.IGNORECASE,
)
"""The user speaks of the work at hand, not of himself: "how do I undo this?"."""
_ASKS = re.compile(
    r"\W*(?:what|which|who|whose|where|when|how|why|is|are|do|does|did|can|should|am|quem|qua(?:l|is)|onde|quando|como"
    r"|por ?que|o que|quant[oa]s?)\b",
    re.IGNORECASE,
)
_DETERMINERS = word_set("a an the this that these my our o os as um uma este esta esse essa isso it")
"""Words behind the verb of a request: "sign the commit" has nothing to do with what is signed elsewhere."""
_DEFINITION = re.compile(
    r"^\W*(?:what(?:'s| is| are)|o que (?:é|e|são|sao)) (?:an?|uma?) (?!good\b|bo[am]\b)", re.IGNORECASE
)
"""Asks what such a thing is in general."""
_USER = re.compile(r"\b(?:users?|usu[aá]ri[oa])\b", re.IGNORECASE)


class Question:
    """A user's message, read once for all items it is compared with."""

    def __init__(self, text: str) -> None:
        self._words = tokenizer.topic_words(text)
        self._sequence = [w.folded for w in tokenizer.words(text) if not w.part]
        spoken = frozenset(self._sequence) & FIRST_PERSON
        self._own = bool(spoken - _SUBJECTS if _TASK.search(text) else spoken)
        self._asks = "?" in text or _ASKS.match(text) is not None
        told = not self._asks and len(self._sequence) > 1 and self._sequence[1] in _DETERMINERS
        self._order = self._sequence[0] if told else ""
        self._general = _DEFINITION.match(text) is not None
        self._language = tokenizer.detect_language(text)
        self._stems: dict[tokenizer.Language, frozenset[str]] = {}

    @property
    def has_topic(self) -> bool:
        """Whether anything is asked about."""
        return bool(self._words)

    @property
    def own(self) -> bool:
        """Whether the user asks about himself."""
        return self._own

    def answered_by(self, text: str, hit: Hit) -> bool:
        """Whether an item with this text clearly bears on the question."""
        if self._general:
            return False
        language, stems, sequence = _read(text)
        asked = self._topic(language) - _generic(language)
        specific = (asked & stems) - {tokenizer.stem(self._order, language)}
        own = self._own and about_user(text)
        if not specific:
            # In the other language nothing is met word by word.
            translated = None not in (self._language, language) and self._language != language and hit.words > 1
            return strong_match(hit) and (own or (translated and hit.coverage >= _NEARLY_ALL))
        if self._shares_phrase(language, sequence, specific):
            return True
        # Of a request more must be met than of a question: "write a report" wants none of the reports that are known.
        share = len(specific) / len(asked)
        most = share > 0.5 or (self._asks and share == 0.5) or hit.telling >= STRONG_TELLING
        return own or (strong_match(hit) and most)

    def words_in(self, text: str) -> frozenset[str]:
        """The question's topic words that stand in a text, as their stems there."""
        language, stems, _ = _read(text)
        return self._topic(language) & stems

    def _topic(self, language: tokenizer.Language) -> frozenset[str]:
        if language not in self._stems:
            self._stems[language] = frozenset(tokenizer.stem(w.folded, language) for w in self._words)
        return self._stems[language]

    def _shares_phrase(self, language: tokenizer.Language, sequence: tuple[str, ...], specific: frozenset[str]) -> bool:
        """Whether two neighbouring words of the question are neighbours in the text as well, both of them telling."""

        def pairs(stems: Iterable[str]) -> set[tuple[str, str]]:
            return {p for p in pairwise(stems) if p[0] in specific and p[1] in specific}

        return bool(pairs(tokenizer.stem(w, language) for w in self._sequence) & pairs(sequence))


def about_user(text: str) -> bool:
    """Whether a statement is about the user."""
    return bool(_USER.search(text))


def same_statement(one: str, other: str) -> bool:
    """Whether two texts say nearly the same, be it about different things: most words of the shorter are shared."""
    first, second = set(_read(one)[2]), set(_read(other)[2])
    return len(first & second) >= _SAME_SHARE * min(len(first), len(second))


@lru_cache(maxsize=8192)
def _read(text: str) -> tuple[tokenizer.Language, frozenset[str], tuple[str, ...]]:
    """Language of a text, its stems, and the stems of its whole words in order."""
    language = tokenizer.detect_language(text) or "en"
    sequence = tuple(tokenizer.stem(w.folded, language) for w in tokenizer.words(text) if not w.part)
    return language, frozenset(tokenizer.terms(text, language)), sequence


@cache
def _generic(language: tokenizer.Language) -> frozenset[str]:
    return frozenset(tokenizer.stem(w, language) for w in REQUESTS)
