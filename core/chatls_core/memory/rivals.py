"""Which known facts might a new statement repeat or update? A small inverted index kept in step with the facts."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from functools import cache

from chatls_core.memory.records import Fact
from chatls_core.memory.slot_words import SPELLINGS
from chatls_core.memory.slots import related_words
from chatls_core.memory.statement_words import FIRST_PERSON, translations
from chatls_core.store.changes import changed_span
from chatls_core.text import tokenizer

_OF_THE_USER = {"moro": "mora", "vivo": "vive", "trabalho": "trabalha"}
_MOST = 60
"""Facts compared in full per statement."""


class Rivals:
    """Facts by their word stems. Not thread-safe: the fact book guards it."""

    def __init__(self) -> None:
        self._seen: Sequence[Fact] = ()
        self._facts: dict[str, Fact] = {}
        self._by_stem: defaultdict[str, set[str]] = defaultdict(set)

    def follow(self, facts: Sequence[Fact]) -> None:
        """Take over the present facts, of an id each; only what changed is read."""
        start, old_end, new_end = changed_span(self._seen, facts)
        fresh = {fact.id: fact for fact in facts[start:new_end]}
        for fact in self._seen[start:old_end]:
            if fact.id not in fresh:
                self._drop(fact.id)
        for key, fact in fresh.items():
            known = self._facts.get(key)
            if known is None or known.content != fact.content:
                self._drop(key)
                for stem in _stems(fact.content):
                    self._by_stem[stem].add(key)
            self._facts[key] = fact
        self._seen = facts

    def find(self, content: str) -> list[Fact]:
        """Facts that share words with ``content`` or fill the same slots, most shared words first, rare ones above all.

        By number alone a hundred facts about the user would crowd out the one that shares but the word for living.
        """
        votes: defaultdict[str, float] = defaultdict(float)
        for text, weight in ((content, 2), (related_words(content), 1)):
            for stem in _stems(text):
                holders = self._by_stem.get(stem, ())
                # A word in thousands of facts tells nothing apart, and is slow to count.
                if 0 < len(holders) <= max(200, len(self._facts) // 10):
                    value = weight * math.log(1 + len(self._facts) / len(holders))
                    for key in holders:
                        votes[key] += value
        if not votes and self._facts:
            for stem in _stems(content):
                for key in list(self._by_stem.get(stem, ()))[:_MOST]:
                    votes[key] += 1
        best = sorted(votes, key=lambda key: (-votes[key], key))[:_MOST]
        return [self._facts[key] for key in best]

    def _drop(self, key: str) -> None:
        known = self._facts.pop(key, None)
        if known is not None:
            for stem in _stems(known.content):
                self._by_stem[stem].discard(key)


def _stems(text: str) -> set[str]:
    english = _english()
    return {english.get(t, t) for t in tokenizer.terms(text, "en") if not tokenizer.is_stop_word(t)}


@cache
def _english() -> dict[str, str]:
    """Stems of words that a statement in the other language, of the user himself, or in British spelling, has in
    American English, said of somebody."""
    known = translations()
    said_of_him = {first: known.get(third, third) for first, third in {**FIRST_PERSON, **_OF_THE_USER}.items()}
    pairs = {**known, **SPELLINGS, **said_of_him, "relicensed": "license"}
    return {tokenizer.stem(a, "en"): tokenizer.stem(b, "en") for a, b in pairs.items()}
