"""A cascade of rewriting rules over tokens: each level replaces what it reads by one token, the longest first."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from .periods import Period
from .periods_tokens import Token
from .periods_words import FUNCTION_WORDS, FUTURE_WORDS, PORTUGUESE_VERBS, TIME_VERBS
from .tokenizer import fold

_FUNCTION_WORDS = FUNCTION_WORDS["en"] | FUNCTION_WORDS["pt"]


_SEEDS = frozenset(
    {
        "MON",
        "DMON",
        "WD",
        "DWD",
        "WO",
        "UNIT",
        "DAYPART",
        "REL",
        "NOW",
        "LIT",
        "Y",
        "DEC",
        "PART",
        "WEEK",
        "TODATE",
        "WC",
        "DUR",
        "P",
    }
)
"""Every expression holds one of these, or a number after one of the next."""
_BEFORE_DAY = frozenset({"ON", "IN", "THE"})
_GAPS = frozenset({"_", "!", "CLOCK"})


@dataclass(frozen=True, slots=True)
class Line:
    """The codes of those runs of tokens that may hold a time, as one line for the patterns; most prose is left out."""

    codes: str
    starts: Sequence[int]
    places: Sequence[int]

    def token_at(self, position: int) -> int:
        """The index of the token whose code stands at a position of the line."""
        return self.places[bisect_right(self.starts, position) - 1]


def _line(tokens: Sequence[Token]) -> Line:
    codes: list[str] = []
    starts: list[int] = []
    places: list[int] = []
    length = 0
    for run in _runs(tokens):
        for place in run:
            codes.append(tokens[place].code)
            starts.append(length)
            places.append(place)
            length += len(tokens[place].code) + 1
        codes.append("|")
        length += 2
    return Line(" ".join(codes) + " ", starts, places)


def _runs(tokens: Sequence[Token]) -> Iterator[range]:
    first, seeded = 0, False
    for i, token in enumerate(tokens):
        if token.code in _GAPS:
            if seeded:
                yield range(first, i)
            first, seeded = i + 1, False
        elif token.code in _SEEDS or (token.code in ("N", "O") and i and tokens[i - 1].code in _BEFORE_DAY):
            seeded = True
    if seeded:
        yield range(first, len(tokens))


@dataclass(frozen=True, slots=True)
class Reading:
    """One place where a rule may apply: the named tokens of its pattern, and the sentence around."""

    match: re.Match[str]
    tokens: Sequence[Token]
    first: int
    last: int
    line: Line
    now: datetime
    language: str

    def token(self, name: str) -> Token | None:
        """The first token of a named group; ``None`` when the group is not there."""
        return self.tokens[self.line.token_at(self.match.start(name))] if self.has(name) else None

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
        return after.code not in ("_", "WO", "-", "/", "OF", "UNIT", "N", "LIT", "'") or (
            bool(after.word) and after.code != "OF" and fold(after.word) in _FUNCTION_WORDS
        )

    @property
    def ended(self) -> bool:
        """Whether the phrase ends here, as :attr:`closed`, or the sentence goes on with its subject or its verb.

        "In 2024 Maria became CTO", "em 2024 usávamos MySQL"; not "in 2024 Python files", "em 2024 linhas".
        """
        if self.closed:
            return True
        after = self.tokens[self.last + 1]
        if not after.word:
            return False
        if self.language == "pt" and _is_portuguese_verb(fold(after.word)):
            return True
        behind = self.tokens[self.last + 2] if self.last + 2 < len(self.tokens) else None
        counted = behind is None or (behind.word.islower() and behind.word.endswith("s"))
        return after.code == "_" and after.word[:1].isupper() and not after.word.endswith("s") and not counted

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
        near = self.tokens[max(0, self.first - within) : self.first]
        return any(fold(t.word) in words and t.word != "Go" for t in near if t.word)  # "Go 1.22" is a language

    @property
    def timely(self) -> bool:
        """Whether a verb of time stands just before, or nothing else stands at all."""
        return self.whole or self.after_any(TIME_VERBS, 4)

    @property
    def future(self) -> bool:
        """Whether the words around look ahead."""
        around = self.tokens[max(0, self.first - 12) : self.last + 6]
        return any(fold(t.word) in FUTURE_WORDS for t in around if t.word)

    @property
    def loose_join(self) -> bool:
        """Whether a hyphen or slash stands apart inside the reading: "5 - Jan" joins two dates, "5-Jan" is one."""
        inside = range(self.first + 1, self.last)
        return any(self.tokens[i].code in ("-", "/") and self.tokens[i - 1].end < self.tokens[i].start for i in inside)


_VERB_ENDINGS = ("mos", "ei", "ou", "aram", "eram", "iram", "eu", "iu", "ava", "avam")


def _is_portuguese_verb(folded: str) -> bool:
    return folded in PORTUGUESE_VERBS or (folded.endswith(_VERB_ENDINGS) and len(folded) > 3)


Handler = Callable[[Reading], "Period | tuple[str, object] | None"]


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern over token codes and what it means. A handler that gives ``None`` declines."""

    pattern: re.Pattern[str]
    needed: tuple[frozenset[str], ...]
    handler: Handler


_GROUP = re.compile(r"\((\?P<\w+>|\?:|\?!)?([^()]*)\)(\?|\*)?")
_CODES = re.compile(r"[A-Z]+ ?(?:\|[A-Z]+ ?)*")


def _needed(pattern: str) -> tuple[frozenset[str], ...]:
    """The codes without which a pattern cannot match: one of each set, read outside every optional group."""
    choices: list[frozenset[str]] = []

    def inner(group: re.Match[str]) -> str:
        if group[3] or group[1] == "?!":
            return ""
        if "|" not in group[2]:
            return group[2]
        if not _CODES.fullmatch(group[2]):
            return ""
        choices.append(frozenset(group[2].replace(" ", "").split("|")))
        return f"<{len(choices) - 1}>"

    while (simpler := _GROUP.sub(inner, pattern)) != pattern:
        pattern = simpler
    single = [frozenset({code}) for code in re.findall(r"[A-Z]+", pattern)]
    return (*single, *(choices[int(place)] for place in re.findall(r"<(\d+)>", pattern)))


def rules(*pairs: tuple[str, Handler], pieces: dict[str, str]) -> tuple[Rule, ...]:
    """Compile a level. In a pattern every code is followed by a space; ``{name}`` inserts a piece."""
    filled = [(_filled(pattern, pieces), handler) for pattern, handler in pairs]
    return tuple(Rule(re.compile(rf"(?<!\S)(?:{pattern})"), _needed(pattern), handler) for pattern, handler in filled)


def _filled(pattern: str, pieces: dict[str, str]) -> str:
    for name, piece in pieces.items():
        pattern = pattern.replace("{" + name + "}", piece)
    return pattern


def reduce(tokens: list[Token], level: Iterable[Rule], now: datetime, language: str) -> list[Token]:
    """Apply one level once: where readings overlap the longest wins, then the leftmost, then the earlier rule."""
    line = _line(tokens)
    present = {tokens[place].code for place in line.places}
    candidates = []
    for order, rule in enumerate(level):
        if any(present.isdisjoint(codes) for codes in rule.needed):
            continue
        for match in rule.pattern.finditer(line.codes):
            first, last = line.token_at(match.start()), line.token_at(match.end() - 1)
            candidates.append((tokens[first].start - tokens[last].end, first, order, last, match, rule))
    if not candidates:
        return tokens
    taken = [False] * len(tokens)
    replaced: dict[int, tuple[int, Token]] = {}
    for _, first, _, last, match, rule in sorted(candidates, key=lambda c: c[:3]):
        if any(taken[first : last + 1]):
            continue
        value = _meaning(rule.handler, Reading(match, tokens, first, last, line, now, language))
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
