"""Dates as search terms: a passage of 8 May 2023 is found by "in May 2023", "em maio" and "2023-05-08".

Only the calendar's own names are read here; relative expressions ("last week") are :mod:`.time_expressions`' business.
"""

from __future__ import annotations

import re
from datetime import datetime

from .tokenizer import fold

_MONTHS = {
    name: number
    for names in (
        "january february march april may june july august september october november december",
        "janeiro fevereiro marco abril maio junho julho agosto setembro outubro novembro dezembro",
    )
    for number, name in enumerate(names.split(), 1)
}
_WEEKDAYS = {
    name: number
    for names in (
        "monday tuesday wednesday thursday friday saturday sunday",
        "segunda-feira terca-feira quarta-feira quinta-feira sexta-feira sabado domingo",
    )
    for number, name in enumerate(names.split())
}
_DOUBTFUL_MONTHS = frozenset({"may", "march", "marco"})
"""Also a verb and a name: they need a neighbour that makes them a month."""

_TOKEN = re.compile(r"[^\W_]+(?:-feira)?", re.UNICODE)
_ISO = re.compile(r"\b(\d{4})-(\d{2})(?:-(\d{2}))?\b")
_BEFORE_MONTH = frozenset(
    "in of on since until till from by during early late mid last next this em de do no desde ate".split()
)
_MONTH_NAMES = "January February March April May June July August September October November December".split()


def date_terms(time: datetime) -> tuple[str, ...]:
    """The terms by which a passage of ``time`` is found: year, month, day of the month, day of the week."""
    return (f"@y{time.year}", f"@m{time.month}", f"@d{time.day}", f"@w{time.weekday()}")


def spelled(term: str) -> str:
    """A date term in words, for explanations."""
    kind, number = term[1], int(term[2:])
    if kind == "m":
        return _MONTH_NAMES[number - 1]
    if kind == "w":
        return ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")[number]
    return str(number)


def dates_in(query: str) -> dict[str, str]:
    """The date terms a question names, by the folded word that names each."""
    found: dict[str, str] = {}
    for match in _ISO.finditer(query):
        year, month, day = match.groups()
        if 1 <= int(month) <= 12:
            found[year] = f"@y{int(year)}"
            found[match[0]] = f"@m{int(month)}"
            if day:
                found[day] = f"@d{int(day)}"
    written = _TOKEN.findall(query)
    words = [fold(w) for w in written]
    for i, word in enumerate(words):
        if word in _WEEKDAYS:
            found[word] = f"@w{_WEEKDAYS[word]}"
        elif word in _MONTHS and _is_month(written, words, i):
            found[word] = f"@m{_MONTHS[word]}"
            for j in (i - 1, i + 1, i - 2):
                if 0 <= j < len(words) and (j != i - 2 or words[i - 1] in ("of", "de")):
                    day = re.fullmatch(r"(\d{1,2})(?:st|nd|rd|th)?", words[j])
                    if day and 1 <= int(day[1]) <= 31:
                        found[words[j]] = f"@d{int(day[1])}"
                        break
        elif re.fullmatch(r"(?:19|20)\d\d", word):
            found[word] = f"@y{word}"
    return found


def _is_month(written: list[str], words: list[str], i: int) -> bool:
    if words[i] not in _DOUBTFUL_MONTHS or "ç" in written[i].lower():
        return True
    before = words[i - 1] if i else ""
    after = words[i + 1] if i + 1 < len(words) else ""
    numbered = any(re.fullmatch(r"\d{1,4}(?:st|nd|rd|th)?", w) for w in (before, after))
    if words[i] == "marco":
        return numbered or before in ("em", "desde") or (before == "de" and i > 1 and words[i - 2].isdigit())
    return numbered or (
        before in _BEFORE_MONTH and (written[i][0].isupper() or written[i].islower() and before != "this")
    )
