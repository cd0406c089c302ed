"""Values of a kind that a statement holds: an amount, a date, a time, a port, a version, a path (spec/memory.md §18.1).

Two statements about one thing that hold other values of one kind cannot both be true of one moment.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from chatls_core.memory import slot_words as words
from chatls_core.memory.statement_words import is_number, stem, tokens_of
from chatls_core.memory.wordlists import word_pairs, word_set
from chatls_core.text import tokenizer

_NUMBER = r"\d+(?:[.,]\d+)*"
_MONTH = "|".join(sorted(words.MONTHS, key=len, reverse=True))
_MONEY = re.compile(
    rf"(?:r\$|us\$|[$€£]) ?({_NUMBER}k?)|({_NUMBER}k?) ?(?:euros?|dollars?|reais|pounds?|bucks|eur|usd|gbp|brl|[$€£])"
    rf"|\b({_NUMBER}) (?:an?|per|por|ao) (?:hour|week|month|year|hora|semana|mes|ano)\b"
)
_DATE = re.compile(
    rf"\b(\d{{1,2}}) (?:(?:of|de) )?({_MONTH})\b|\b({_MONTH}) (\d{{1,2}})\b(?![:.])|\b(20\d\d-\d\d-\d\d)\b"
)
_CLOCK = re.compile(
    r"\b(\d{1,2}(?:[:h]\d{2})) ?([ap]m)?\b(?!\.\d)|\b(\d{1,2}) ?([ap]m|h|o'clock)\b|\bas (\d{1,2})\b(?! de\b)"
)
_PATH = re.compile(r"(?<!\S)(?:~|\.{0,2})/?[\w.-]+(?:/[\w.-]+)+/?")
_HOST = re.compile(r"\b(?:[a-z0-9-]+\.)+(?:dev|com|io|org|net|br|pt|local|lan|internal|app|example|test)\b")
_PORT = re.compile(
    r"\b(?:ports?|porta|porto)\s+(\d{2,5})\b|\b(?:on|to|em|na|para|at) (?:the )?:?([1-9]\d{3,4})\b(?![.,:/]\d|[a-z%])"
    r"(?! (?!to|and|because|after|since|for|on|in|as|so|but|with|instead|now|agora|porque|desde|para|e|mas)[a-z%])"
)
RHYTHMS = word_pairs(
    """
    hourly:hour daily:day nightly:day weekly:week biweekly:fortnight fortnightly:fortnight monthly:month
    quarterly:quarter yearly:year annually:year annual:year diario:day diaria:day semanal:week quinzenal:fortnight
    mensal:month trimestral:quarter anual:year diariamente:day semanalmente:week mensalmente:month
    """
)
"""How often, in a word."""
_EVERY = re.compile(
    r"\b(?:every|each|once an?|cada|tod[oa]s? (?:[oa]s? )?|uma vez por|vezes por|times an?)\s*(?:1 )?"
    r"(?P<many>(?:\d+|two|duas|dois|three|tres|four|quatro|six|seis|twelve|doze) )?"
    r"(?P<what>hour|day|night|morning|evening|week|fortnight|month|quarter|year|hora|dia|noite|manha|semana|quinzena|mes"
    r"|trimestre|ano|monday|tuesday|wednesday|thursday|friday|saturday|sunday|segunda|terca|quarta|quinta|sexta|sabado"
    r"|domingo)s?\b"
)
_EVERY_UNIT = word_pairs(
    """
    hour:hour hora:hour day:day night:day morning:day evening:day dia:day noite:day manha:day week:week semana:week
    fortnight:fortnight quinzena:fortnight month:month mes:month quarter:quarter trimestre:quarter year:year ano:year
    monday:week tuesday:week wednesday:week thursday:week friday:week saturday:week sunday:week segunda:week terca:week
    quarta:week quinta:week sexta:week sabado:week domingo:week
    """
)
_ROOM = re.compile(r"\b(?:the )?([\w-]+) room\b|\b(?:room|sala) ([\w-]+)\b")
_BYTES = frozenset(map(stem, word_set("byte bytes kb mb gb tb")))
_DURATIONS = frozenset(map(stem, words.UNITS - word_set("byte bytes kb mb gb tb")))
"""Units of time, as stems: minutes and hours are of one kind."""
_PRODUCTS = words.NUMBERED - words.MONTHS - words.ATTRIBUTES - frozenset({"release", "versao"})
"""Words behind which a number is a version."""

_WRITTEN = {
    "path": _PATH,
    "host": _HOST,
    "money": _MONEY,
    "date": _DATE,
    "clock": _CLOCK,
    "port": _PORT,
    "room": _ROOM,
}
"""Kinds that are told by how they are written, the surest first."""


def without_values(folded: str) -> str:
    """A folded text without the values that are told by how they are written."""
    for pattern in _WRITTEN.values():
        folded = pattern.sub(" ", folded)
    return _EVERY.sub(" ", folded)


@lru_cache(maxsize=16384)
def typed_values(folded: str) -> dict[str, frozenset[str]]:
    """The values of a folded statement by kind: ``money``, ``date``, ``clock``, ``port``, ``version of node``, …"""
    found: dict[str, set[str]] = {}
    for kind, value in _found(folded):
        found.setdefault(kind, set()).add(value)
    return {kind: frozenset(values) for kind, values in found.items()}


@lru_cache(maxsize=16384)
def exact_values(folded: str) -> dict[str, frozenset[str]]:
    """As :func:`typed_values`, without counts of things and names of products: those may be told in other words."""
    return {k: v for k, v in typed_values(folded).items() if not k.startswith(("amount of ", "one of "))}


_SEASONS = word_set("spring summer autumn fall winter primavera verao outono inverno")
_DAYTIMES = word_set("noon midday midnight bed bedtime lunch dinner breakfast deitar almoco jantar")


def at_other_times(a: str, b: str) -> bool:
    """Whether two folded texts tell of other days, times of the day or of the year: what ended on Sundays goes on on
    Mondays.
    """
    return any(mine and theirs and not mine & theirs for mine, theirs in zip(_times(a), _times(b), strict=True))


def _times(folded: str) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """Weekdays, times of the day, and months and seasons, as stems."""
    kinds = [(stem(token.rstrip("s")), token, words.KIND_OF.get(token)) for token in tokens_of(folded)]
    return (
        frozenset(name for name, _, kind in kinds if kind == "weekday"),
        frozenset(name for name, token, kind in kinds if kind == "part-of-day" or token in _DAYTIMES)
        | typed_values(folded).get("clock", frozenset()),
        frozenset(name for name, token, kind in kinds if kind == "month" or token in _SEASONS),
    )


def _found(folded: str) -> Iterator[tuple[str, str]]:
    rest = folded
    for kind, pattern in _WRITTEN.items():
        for match in pattern.finditer(rest):
            yield kind, _normal(kind, [part for part in match.groups() if part] or [match[0]])
        rest = pattern.sub(" ; ", rest)
    for match in _EVERY.finditer(rest):
        yield "rhythm", _rhythm(match)
    tokens = tokens_of(rest)
    for before, token, behind in zip(["", *tokens], tokens, [*tokens[1:], ""], strict=False):
        if words.KIND_OF.get(token) == "manner":
            yield "manner", "by hand" if token.startswith("manual") else "automatic"
        if token in words.CLASS_OF:
            yield f"one of {words.CLASS_OF[token]}", words.ALIKE.get(token, token)
        if token in RHYTHMS:
            yield "rhythm", RHYTHMS[token]
        elif words.KIND_OF.get(token) == "weekday":
            yield "weekday", stem(token.removesuffix("s"))
        elif token[0].isdigit() and before in _PRODUCTS:
            yield f"version of {words.ALIKE.get(before, before)}", token
        elif token[0].isdigit() and behind and not is_number(behind) and not tokenizer.is_stop_word(behind):
            unit = stem(behind)
            if token == "1" and "1" not in folded:
                continue  # an article
            if unit in _BYTES:
                yield "bytes", f"{token} {unit}"
                continue
            yield ("duration", f"{token} {unit}") if unit in _DURATIONS else (f"amount of {unit}", token)


def _rhythm(every: re.Match[str]) -> str:
    unit, many = _EVERY_UNIT[every["what"]], (every["many"] or "1").strip()
    many = words.NUMBERS.get(many, many)
    if (many, unit) == ("2", "week"):
        return "fortnight"
    return unit if many == "1" else f"{many} {unit}"


def _normal(kind: str, parts: list[str]) -> str:
    if kind == "date" and len(parts) == 2:
        day, month = sorted(parts, key=lambda part: not part[0].isdigit())
        return f"{int(day)} {stem(month)[:3]}"
    if kind == "money":
        return re.sub(r"[.,](?=\d{3}\b)", "", parts[0])
    return " ".join(parts).replace("h", ":") if kind == "clock" else parts[0]
