"""Times and periods named in English and Portuguese text, as half-open windows (spec/memory.md §7.3).

A small grammar over tokens, read in levels: words and numbers, dates and units, parts of periods, ranges. Between
readings the longest wins; of two years or weeks the past one is meant unless the words look ahead. What forms are read
and what they mean is in ``docs/time-expressions.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from re import Match

from .periods import Period
from .periods_dates import DATE_RULES
from .periods_numbered import NUMBERED_RULES
from .periods_parts import LEVEL_DAYS_OF_MONTH, LEVEL_PARTS
from .periods_ranges import LEVEL_RANGES
from .periods_reduce import reduce
from .periods_tokens import Token, lexemes, tokens_of
from .periods_units import LEVEL_WORDS, UNIT_RULES
from .periods_words import DOUBTFUL, FUNCTION_WORDS, WORDS
from .tokenizer import fold

SCAN_LIMIT = 20_000
"""Characters of a text that are read; times further on are not looked for."""

_VOCABULARY = {code: {*FUNCTION_WORDS[code], *WORDS[code]} for code in FUNCTION_WORDS}
_ONLY = {
    "en": _VOCABULARY["en"] - _VOCABULARY["pt"] - DOUBTFUL["en"],
    "pt": _VOCABULARY["pt"] - _VOCABULARY["en"] - DOUBTFUL["pt"],
}
_LEVELS = (
    LEVEL_WORDS,
    (*DATE_RULES, *UNIT_RULES, *NUMBERED_RULES),
    LEVEL_DAYS_OF_MONTH,
    LEVEL_PARTS,
    LEVEL_PARTS,
    LEVEL_RANGES,
)


@dataclass(frozen=True, slots=True)
class TimeWindow:
    """A named time: ``start`` inclusive, ``end`` exclusive, in the zone of ``now``; ``span`` is where its words stand.

    ``span`` counts characters of the text, end exclusive.
    """

    start: datetime
    end: datetime
    span: tuple[int, int]


def find(text: str, now: datetime, language: str | None = None) -> list[TimeWindow]:
    """The times that ``text`` names, in the order of the text, not overlapping; relative ones count from ``now``.

    ``language`` is ``"en"`` or ``"pt"`` (a region may follow: ``"pt-BR"``); ``None`` reads both, and lets the words
    around decide which one a doubtful word or a slashed date belongs to. A naive ``now`` gives naive windows. Only the
    first :data:`SCAN_LIMIT` characters are read. Raises :class:`ValueError` for another language.
    """
    return list(_find(text[:SCAN_LIMIT], now, language))


@lru_cache(maxsize=32)
def _find(text: str, now: datetime, language: str | None) -> tuple[TimeWindow, ...]:
    # One question is asked of several stores at one moment.
    found = lexemes(text)
    local = now.replace(tzinfo=None)
    if language is not None:
        code = language[:2].lower()
        if code not in FUNCTION_WORDS:
            raise ValueError(f"times are read in English (en) and Portuguese (pt), not in {language!r}")
        return _windows(_read(found, local, code, sure=True), now)
    portuguese = _leaning(text)
    first, second = ("pt", "en") if portuguese > 0 else ("en", "pt")
    times = _read(found, local, first, sure=True)
    for token in _read(found, local, second, sure=False):
        inside = [t for t in times if t.start < token.end and token.start < t.end]
        if all(t.end - t.start < token.end - token.start for t in inside):
            times = [t for t in times if t not in inside] + [token]
    return _windows(sorted(times, key=lambda t: t.start), now)


def _leaning(text: str) -> int:
    """How much more Portuguese than English the little words and the words of time of a text are."""
    words = [fold(word.strip(",.;:!?()'\"")) for word in text.split()]
    return sum(w in _ONLY["pt"] for w in words) - sum(w in _ONLY["en"] for w in words)


def _read(found: Sequence[Match[str]], now: datetime, language: str, *, sure: bool) -> list[Token]:
    tokens = tokens_of(found, language)
    if not sure:
        tokens = [_without_doubt(token, DOUBTFUL[language]) for token in tokens]
    if all(token.code in ("_", "!", ".", ",", "-") for token in tokens):
        return []
    for level in _LEVELS:
        tokens = reduce(tokens, level, now, language)
    return [t for t in tokens if t.code == "P" and isinstance(t.value, Period) and t.value.alone]


def _without_doubt(token: Token, doubtful: frozenset[str]) -> Token:
    if token.word and token.code not in ("MON", "LIT") and fold(token.word) in doubtful:
        return Token("_", None, token.start, token.end, token.word)
    return token


def _windows(tokens: Sequence[Token], now: datetime) -> tuple[TimeWindow, ...]:
    found = []
    for token in tokens:
        assert isinstance(token.value, Period)
        start, end = token.value.start, token.value.end
        found.append(
            TimeWindow(start.replace(tzinfo=now.tzinfo), end.replace(tzinfo=now.tzinfo), (token.start, token.end))
        )
    return tuple(found)
