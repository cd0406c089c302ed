"""May a found item ride in a turn unasked? Precision first: one irrelevant fact is a fault (spec/memory.md §8.7)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, lru_cache
from itertools import pairwise

from chatls_core.memory.wordlists import word_set
from chatls_core.text import tokenizer
from chatls_core.text.ranking import Hit, strong_match

_GENERIC = word_set(
    """
    run running test code file function class method list text use using user add fix bug error issue make write create
    change update rename explain show find help work live go need want build line name number data value type start
    stop new project app check look see read get set put call open close move remove delete return print implement
    refactor improve review question answer thing way example please sure problem
    rodar teste codigo arquivo funcao classe metodo lista texto usar usuario adicionar corrigir erro fazer escrever
    criar mudar explicar mostrar achar ajudar trabalhar viver morar precisar querer nome numero dado valor tipo
    novo projeto ler abrir fechar mover remover melhorar revisar pergunta resposta coisa exemplo favor problema
    """
)
"""Words of nearly every request to a coding assistant: alone they match anything."""

_SAME_SHARE = 0.5
"""Of the words of a statement, to be the one that another makes about another thing."""

FIRST_PERSON = word_set("i me my mine we us our ours myself eu me mim meu minha meus minhas nos nosso nossa moro vivo")
_USER = re.compile(r"\b(?:users?|usu[aá]ri[oa])\b", re.IGNORECASE)


class Question:
    """A user's message, read once for all items it is compared with."""

    def __init__(self, text: str) -> None:
        self._words = tokenizer.topic_words(text)
        self._sequence = [w.folded for w in tokenizer.words(text) if not w.part]
        self._own = any(w in FIRST_PERSON for w in self._sequence)
        self._stems: dict[tokenizer.Language, frozenset[str]] = {}

    @property
    def has_topic(self) -> bool:
        """Whether anything is asked about."""
        return bool(self._words)

    def answered_by(self, text: str, hit: Hit) -> bool:
        """Whether an item with this text clearly bears on the question."""
        language, stems, sequence = _read(text)
        specific = (self._topic(language) & stems) - _generic(language)
        about_user = bool(_USER.search(text))
        if not specific:
            return strong_match(hit) and self._own and about_user
        if strong_match(hit) or self._shares_phrase(language, sequence, specific):
            return True
        return about_user and (self._own or len(self._words) <= 3)

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
    return frozenset(tokenizer.stem(w, language) for w in _GENERIC)
