"""What the rules of the time grammar share: pieces of patterns, and what can be asked of a word."""

from __future__ import annotations

from .periods import Period
from .periods_reduce import Reading
from .periods_tokens import Token
from .tokenizer import fold

PIECES = {
    "mo": "(?P<m>MON|DMON) (?:\\. )?",
    "wd": "(?P<w>WD|DWD|WO) ",
    "weekday_before": "(?:(?P<w>WD|DWD|WO) (?:, |\\. )?(?:THE |OF )?)?",
    "the": "(?:THE |A |MY )?",
    "mod": "(?P<mod>LAST|NEXT|THIS|OFTHIS) ",
    "year_after": "(?:(?:, )?(?:OF |IN )?(?:(?P<y>Y) ))?",
    "not_part": "(?!(?:OF|IN) (?:THE )?(?:MON|DMON|THIS|NEXT|LAST|OFTHIS|Y|UNIT|SAME))",
}
PREPOSITIONS = frozenset(
    {"IN", "ON", "OF", "FROM", "TO", "SINCE", "BEFORE", "AFTER", "BETWEEN", "FOR", "EARLY", "MID", "LATE", "WITHIN"}
    | {"OFTHIS", "STARTING"}
)
_SHIFT = {"LAST": -1, "NEXT": 1, "THIS": 0, "OFTHIS": 0, "SAME": 0}
_SINGULARS_IN_S = frozenset({"mes", "fds"})
NO_SUCH = ("_", None)
"""What is read of a day that does not exist ("31 June", "fifth Sunday"): nothing, not even its month."""


def shift(r: Reading, name: str = "mod") -> int:
    """How many units away a modifier points: -1 for "last", 0 for "this", 1 for "next"."""
    token = r.token(name)
    assert token is not None
    return _SHIFT[token.code]


def capital(token: Token) -> bool:
    """Whether the word is written with a capital."""
    return token.word[:1].isupper()


def plural(token: Token | None) -> bool:
    """Whether the word is a plural."""
    return token is not None and token.word.lower().endswith("s") and fold(token.word) not in _SINGULARS_IN_S


def as_part(period: Period) -> Period:
    """The period as one that counts only inside a longer expression."""
    return Period(period.start, period.end, period.grain, period.fields, period.weekday, alone=False)
