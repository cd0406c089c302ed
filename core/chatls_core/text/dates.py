"""Dates as search terms: a passage of 8 May 2023 is found by "in May 2023", "em maio" and "2023-05-08".

Only the calendar's own names are read here; relative expressions ("last week") are :mod:`.time_expressions`' business.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterator, Sequence
from datetime import date, datetime, time

from .tokenizer import fold


def iso_moment(text: str) -> datetime:
    """An ISO date or moment, in local time where it names no zone. Raises :class:`ValueError`."""
    value = datetime.fromisoformat(text)
    return value if value.tzinfo else value.astimezone()


def iso_end(text: str) -> datetime:
    """The last moment of an ISO date, or the moment that is named: what "until" and "as of" mean by a day.

    In local time where no zone is named. Raises :class:`ValueError`.
    """
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return iso_moment(text)
    return datetime.combine(day, time.max).astimezone()


def _numbered(first: int, *rows: str) -> dict[str, int]:
    return {name: number for row in rows for number, name in enumerate(row.split(), first)}


_MONTHS = _numbered(
    1,
    "january february march april may june july august september october november december",
    "janeiro fevereiro marco abril maio junho julho agosto setembro outubro novembro dezembro",
)
_WEEKDAYS = _numbered(
    0,
    "monday tuesday wednesday thursday friday saturday sunday",
    "segundafeira tercafeira quartafeira quintafeira sextafeira sabado domingo",
)
_DOUBTFUL_MONTHS = frozenset({"may", "march", "marco"})
"""Also a verb and a name: they need a neighbour that makes them a month."""

_TOKEN = re.compile(r"[^\W_]+(?:-feira)?")
_ISO = re.compile(r"\b(\d{4})-(\d{2})(?:-(\d{2}))?\b")
_DAY = re.compile(r"(\d{1,2})(?:st|nd|rd|th)?")
_YEAR = re.compile(r"(?:19|20)\d\d")
_BEFORE_MONTH = frozenset(
    {"in", "of", "on", "since", "until", "till", "from", "during", "early", "late", "mid", "last"}
)
_BEFORE_MARCO = frozenset({"em", "desde"})


def date_terms(time: datetime) -> tuple[str, ...]:
    """The terms by which a passage of ``time`` is found: year, month, day of the month, day of the week."""
    return (f"@y{time.year}", f"@m{time.month}", f"@d{time.day}", f"@w{time.weekday()}")


def spelled(term: str) -> str:
    """A date term in words, for explanations."""
    kind, number = term[1], int(term[2:])
    if kind == "m":
        return calendar.month_name[number]
    return calendar.day_name[number] if kind == "w" else str(number)


def dates_in(query: str) -> dict[str, tuple[str, ...]]:
    """The date terms a question names, by the folded word that names them."""
    found: dict[str, tuple[str, ...]] = {}
    for match in _ISO.finditer(query):
        month, day = int(match[2]), int(match[3] or 0)
        if 1 <= month <= 12:
            found[match[0].replace("-", "")] = (f"@d{day}",) if day else (f"@m{month}",)
    written = _TOKEN.findall(query)
    words = [fold(word).replace("-", "") for word in written]
    for i, word in enumerate(words):
        if word in _WEEKDAYS:
            found[word] = (f"@w{_WEEKDAYS[word]}",)
        elif word in _MONTHS and _is_month(written, words, i):
            found[word] = (f"@m{_MONTHS[word]}",)
            for day_word in _days_beside(words, i):
                found[day_word] = (f"@d{int(day_word.rstrip('stndrh'))}",)
        elif _YEAR.fullmatch(word):
            found[word] = (f"@y{word}",)
    return found


def _days_beside(words: Sequence[str], month: int) -> Iterator[str]:
    """The word that is the day of the month at ``month``: "May 8", "8th May", "8 de maio"."""
    before = month - 2 if month > 1 and words[month - 1] in ("of", "de") else month - 1
    for place in (before, month + 1):
        if 0 <= place < len(words):
            day = _DAY.fullmatch(words[place])
            if day and 1 <= int(day[1]) <= 31:
                yield words[place]
                return


def _is_month(written: Sequence[str], words: Sequence[str], i: int) -> bool:
    if words[i] not in _DOUBTFUL_MONTHS or "ç" in written[i].lower():
        return True
    before = words[i - 1] if i else ""
    after = words[i + 1] if i + 1 < len(words) else ""
    if any(_DAY.fullmatch(word) or _YEAR.fullmatch(word) for word in (before, after)):
        return True
    if words[i] == "marco":
        return before in _BEFORE_MARCO or (before == "de" and i > 1 and words[i - 2].isdigit())
    return before in _BEFORE_MONTH
