"""A cascade of rewriting rules over tokens: each level replaces what it reads by one token, the longest first."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from .periods import Period
from .periods_tokens import Token
from .periods_words import FUNCTION_WORDS, FUTURE_WORDS, TIME_VERBS
from .tokenizer import fold

_FUNCTION_WORDS = FUNCTION_WORDS["en"] | FUNCTION_WORDS["pt"]


@dataclass(frozen=True, slots=True)
class Reading:
    """One place where a rule may apply: the named tokens of its pattern, and the sentence around."""

    match: re.Match[str]
    tokens: Sequence[Token]
    first: int
    last: int
    starts: Sequence[int]
    now: datetime
    language: str

    def token(self, name: str) -> Token | None:
        """The first token of a named group; ``None`` when the group is not there."""
        return self.tokens[bisect_right(self.starts, self.match.start(name)) - 1] if self.has(name) else None

    def number(self, name: str) -> int:
        """The number of a named group. Raises :class:`ValueError` when the group is not there."""
        token = self.token(name)
        if token is None or not isinstance(token.value, int):
            raise ValueError(f"no number {name}")
        return token.value

    def unit(self, name: str) -> str:
        """The calendar unit of a named group."""
        token = self.token(name)
        assert token is not None
        return str(token.value)

    def has(self, name: str) -> bool:
        """Whether an optional group took part."""
        return name in self.match.re.groupindex and self.match.start(name) >= 0

    def period(self, name: str) -> Period:
        """The period of a named group. Raises :class:`ValueError` when there is none."""
        token = self.token(name)
        if token is None or not isinstance(token.value, Period):
            raise ValueError(f"no period {name}")
        return token.value

    def before(self, steps: int = 1) -> Token | None:
        """The token ``steps`` before the reading."""
        at = self.first - steps
        return self.tokens[at] if at >= 0 else None

    @property
    def closed(self) -> bool:
        """Whether the phrase ends here: no noun follows that the words could belong to ("on 15 servers")."""
        if self.last + 1 >= len(self.tokens):
            return True
        after = self.tokens[self.last + 1]
        return after.code not in ("_", "WO", "-", "/", "OF", "UNIT", "N", "LIT", "HALFWORD", "'") or (
            bool(after.word) and after.code != "OF" and fold(after.word) in _FUNCTION_WORDS
        )

    def followed_by(self, *codes: str) -> bool:
        """Whether one of these codes comes next."""
        return self.last + 1 < len(self.tokens) and self.tokens[self.last + 1].code in codes

    @property
    def whole(self) -> bool:
        """Whether the text holds nothing else but marks and articles."""
        rest = (*self.tokens[: self.first], *self.tokens[self.last + 1 :])
        return all(t.code in ("THE", ".", ",", "!", "IN", "ON", "OF") for t in rest)

    def after_any(self, words: frozenset[str], within: int) -> bool:
        """Whether one of the ``within`` words before the reading is among ``words``."""
        return any(fold(t.word) in words for t in self.tokens[max(0, self.first - within) : self.first] if t.word)

    @property
    def timely(self) -> bool:
        """Whether a verb of time stands just before, or nothing else stands at all."""
        return self.whole or self.after_any(TIME_VERBS, 4)

    @property
    def future(self) -> bool:
        """Whether the sentence looks ahead."""
        return any(fold(t.word) in FUTURE_WORDS for t in self.tokens[max(0, self.first - 12) : self.first] if t.word)


Handler = Callable[[Reading], "Period | tuple[str, object] | None"]


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern over token codes and what it means. A handler that gives ``None`` declines."""

    pattern: re.Pattern[str]
    handler: Handler


def rules(*pairs: tuple[str, Handler], pieces: dict[str, str]) -> tuple[Rule, ...]:
    """Compile a level. In a pattern every code is followed by a space; ``{name}`` inserts a piece."""
    return tuple(Rule(re.compile(r"(?<!\S)(?:" + _filled(p, pieces) + ")"), handler) for p, handler in pairs)


def _filled(pattern: str, pieces: dict[str, str]) -> str:
    for name, piece in pieces.items():
        pattern = pattern.replace("{" + name + "}", piece)
    return pattern


def reduce(tokens: list[Token], level: Iterable[Rule], now: datetime, language: str) -> list[Token]:
    """Apply one level once: where readings overlap the longest wins, then the leftmost, then the earlier rule."""
    codes, starts, at = [], [], 0
    for token in tokens:
        codes.append(token.code)
        starts.append(at)
        at += len(token.code) + 1
    line = " ".join(codes) + " "
    ends = {start: i for i, start in enumerate(starts)} | {at: len(tokens)}
    candidates = []
    for order, rule in enumerate(level):
        for match in rule.pattern.finditer(line):
            first, last = bisect_right(starts, match.start()) - 1, ends[match.end()] - 1
            candidates.append((tokens[first].start - tokens[last].end, first, order, last, match, rule))
    taken = [False] * len(tokens)
    replaced: dict[int, tuple[int, Token]] = {}
    for _, first, _, last, match, rule in sorted(candidates, key=lambda c: c[:3]):
        if any(taken[first : last + 1]):
            continue
        value = _meaning(rule.handler, Reading(match, tokens, first, last, starts, now, language))
        if value is None:
            continue
        code, meaning = ("P", value) if isinstance(value, Period) else value
        replaced[first] = (last, Token(code, meaning, tokens[first].start, tokens[last].end, tokens[first].word))
        taken[first : last + 1] = [True] * (last + 1 - first)
    found, i = [], 0
    while i < len(tokens):
        last, token = replaced.get(i, (i, tokens[i]))
        found.append(token)
        i = last + 1
    return found


def _meaning(handler: Handler, reading: Reading) -> Period | tuple[str, object] | None:
    try:
        return handler(reading)
    except (ValueError, OverflowError):
        return None  # a date that the calendar does not have ("31 June", "100000 years ago") is no date
