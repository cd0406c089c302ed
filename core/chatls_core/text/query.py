"""A question as the ranker reads it: topic words with their worth, dates, persons, the kind of answer it wants."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from . import dates, stopwords, thesaurus, tokenizer
from .tokenizer import Language

_WEAK_WEIGHT = 0.3
_DATE_OF_PASSAGE = 0.9
_JOINED = 0.9

_FIRST_PERSON = re.compile(r"\b(?:i|my|me|mine|i'm|i've|eu|meu|minha|meus|minhas)\b", re.IGNORECASE)
_SECOND_PERSON = re.compile(
    r"\byou\s+(?:\w+\s+)?(?:told|tell|said|say|gave|give|recommend\w*|suggest\w*|mention\w*|provid\w*|explain\w*|wrote|list\w*|propos\w*)\b"
    r"|\byour\s+(?:recommendation|suggestion|answer|advice|list|explanation)s?\b"
    r"|\bvoc[êe]\s+(?:me\s+)?(?:disse|falou|recomendou|sugeriu|explicou|listou|escreveu)\b",
    re.IGNORECASE,
)
_WHEN = re.compile(
    r"\s*(?:when\b|(?:on\s+|in\s+)?(?:what|which)\s+(?:date|day|month|year)\b|how\s+long\b|since\s+when\b|quando\b|desde\s+quando\b|"
    r"(?:em\s+)?que\s+(?:dia|m[êe]s|ano|data)\b|h[áa]\s+quanto\s+tempo\b)",
    re.IGNORECASE,
)
_HOW_MANY = re.compile(r"\bhow\s+(?:many|much|old|often|long)\b|\bquant[oa]s?\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Variant:
    """Another term that may stand for a topic word, worth ``weight`` (0 to 1) of it.

    A ``translation`` counts only where passages are in the other language: stems of two languages may look alike.
    """

    term: str
    weight: float
    translation: bool = False


@dataclass(frozen=True, slots=True)
class TopicWord:
    """A word of the question: as folded, its term, its worth, and terms that may stand for it.

    ``translated`` is the word's stem in the other language, for corpora that hold passages in it.
    """

    folded: str
    term: str
    weight: float
    variants: tuple[Variant, ...] = ()
    translated: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, and in which language; ``sure`` where its words show it, else English is assumed."""

    language: Language
    sure: bool
    topic: tuple[TopicWord, ...]
    first_person: bool
    second_person: bool
    wants_time: bool
    wants_number: bool


@cache
def _related(language: Language) -> Mapping[str, Mapping[str, float]]:
    """The thesaurus by stems: words of either language lead to the stems of their relatives."""
    related: dict[str, dict[str, float]] = {}
    for word, others in thesaurus.related_words().items():
        asked = tokenizer.stem(word, language)
        if asked != word and word in thesaurus.portuguese_words() and language == "en":
            continue  # "caro", stemmed as English, is "car"
        targets = related.setdefault(asked, {})
        for other, weight in others.items():
            for stem in _stems(other, weight):
                # "comida" is stemmed to "com", which is every other Portuguese sentence.
                if not tokenizer.is_stop_word(stem):
                    targets[stem] = max(targets.get(stem, 0.0), weight)
    return related


def _stems(word: str, weight: float) -> set[str]:
    """The stems under which a relative may stand in a passage.

    A translation also stands in passages taken for the other language, unless that one's rules make another word of
    it: "caro", stemmed as English, is "car".
    """
    if weight < thesaurus.TRANSLATION:
        return {tokenizer.stem(word, "en")}
    own, other = ("pt", "en") if word in thesaurus.portuguese_words() else ("en", "pt")
    kept = {word} if tokenizer.stem(word, other) == word else set()
    return {tokenizer.stem(word, own), *kept}


def read(text: str, *, verbatim: bool = False) -> Question:
    """Analyse a question of any length.

    One without topic words has an empty ``topic``, or, asked for ``verbatim``, all its words as topic.
    """
    detected = tokenizer.detect_language(text)
    language: Language = detected or "en"
    named_dates = dates.dates_in(text)
    topic: dict[str, TopicWord] = {}
    words = tokenizer.topic_words(text)
    joined = _joined(tokenizer.words(text), {word.folded for word in words})
    for word in words or (tokenizer.words(text) if verbatim else ()):
        term = tokenizer.stem(word.folded, language)
        if term in topic:
            continue
        weight = _WEAK_WEIGHT if word.folded in stopwords.WEAK or word.part else 1.0
        variants = (
            *_variants(word.folded, term, language, named_dates),
            *(Variant(tokenizer.stem(one, language), _JOINED) for one in joined.get(word.folded, ())),
        )
        # Names and loan words of a passage in the other language are stemmed by its rules.
        other = tokenizer.stem(word.folded, "pt" if language == "en" else "en")
        topic[term] = TopicWord(word.folded, term, weight, variants, other if other != term else "")
    return Question(
        language,
        detected is not None,
        tuple(topic.values()),
        bool(_FIRST_PERSON.search(text)),
        bool(_SECOND_PERSON.search(text)),
        bool(_WHEN.match(text)),
        bool(_HOW_MANY.search(text)),
    )


def _joined(found: Iterable[tokenizer.Word], topic: set[str]) -> Mapping[str, list[str]]:
    """By topic word, what it makes with the one beside it: passages may say "frontend" for "front end"."""
    whole = [word.folded for word in found if not word.part]
    joined: dict[str, list[str]] = {}
    for first, second in pairwise(whole):
        if {first, second} <= topic and first.isalpha() and second.isalpha() and len(first) + len(second) > 5:
            for word in (first, second):
                joined.setdefault(word, []).append(first + second)
    return joined


def _variants(
    folded: str, term: str, language: Language, named_dates: Mapping[str, tuple[str, ...]]
) -> Iterable[Variant]:
    for date_term in named_dates.get(folded, ()):
        yield Variant(date_term, _DATE_OF_PASSAGE)
    # "likely" is stemmed to "like" and means something else.
    adverb = folded.endswith("ly") and folded not in thesaurus.related_words()
    for stem, weight in () if adverb else _related(language).get(term, {}).items():
        yield Variant(stem, weight, translation=weight == thesaurus.TRANSLATION)
