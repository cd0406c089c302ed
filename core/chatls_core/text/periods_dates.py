"""Dates of the time grammar: days and months, dates in digits, years and weekdays."""

from __future__ import annotations

from datetime import datetime

from .periods import (
    CalendarFields,
    Period,
    add,
    day_of,
    filled,
    full_year,
    latest,
    latest_weekday,
    next_weekday,
    spanning,
    unit_at,
    weekdays_of,
    year,
)
from .periods_pieces import NO_SUCH, PIECES, PREPOSITIONS, as_part, capital, plural, shift
from .periods_reduce import Reading, rules
from .periods_tokens import Token, WrittenDate
from .periods_words import (
    DONE_BY_PERSONS,
    FUNCTION_WORDS,
    GIVEN_NAMES,
    PERMISSION_WORDS,
    STREETS,
    TIME_VERBS,
    TOLD_TO,
    VERSION_VERBS,
)
from .tokenizer import fold

_ABBREVIATED_AFTER = frozenset({"ON", "FROM", "TO", "BETWEEN", "AND", "SINCE", "BEFORE", "AFTER"})
_NEAREST = frozenset({"past", "coming", "upcoming"})
"""Modifiers that mean the nearest such weekday, where "last" and "next" mean that of the week before or after."""
_AMOUNTS = frozenset(
    {*("menos", "total", "maximo", "minimo", "acima", "abaixo", "soma", "valor", "limite", "media", "preco", "custo")}
    | {*("numero", "quantidade", "porta", "lote", "grupo", "conjunto", "lista", "salario", "base")}
)
_WORDS_TOO = frozenset({"sat", "sun", "mon"})


def _month_is_meant(r: Reading) -> bool:
    """Whether "may", "march", "set" and their like are months here."""
    month = r.token("m")
    assert month is not None
    if month.code == "MON" or r.has("y") or r.has("w"):
        return True
    day = r.token("d") if "d" in r.match.re.groupindex else None
    if day is None:
        if _in_a_range_of_months(r):
            return True
        before = r.before()
        if before is not None and before.code == "-":
            before = r.before(2)  # "mid-March"
        if before is not None and (before.code in ("EARLY", "MID", "LATE") or _names_a_noun(r, before)):
            return capital(month)
        if before is None or before.code not in PREPOSITIONS:
            return r.whole and capital(month) and fold(month.word) == "march"
        if r.language == "pt" and len(month.word) == 3 and before.code in ("OF", "IN"):
            return capital(month) and r.closed
        if fold(month.word) == "marco" and before.word.lower() in ("de", "do", "da", "ao", "por"):
            return False
        if len(month.word) == 3 and fold(month.word) != "may":
            return capital(month) and r.closed and r.language == "en"
        part = r.before(2)
        counted = before.code == "OF" and part is not None and part.code in ("UNIT", "DUR", "WD")
        return (capital(month) and before.code != "FOR") or ((counted or before.code in ("IN", "SINCE")) and r.closed)
    if day.code == "O" or any(t.code == "OF" for t in r.tokens[r.first : r.last + 1]):
        return True
    before = r.before()
    return capital(month) or r.whole or (before is not None and before.code in PREPOSITIONS and r.closed)


_MONTHS = frozenset({"MON", "DMON"})


def _in_a_range_of_months(r: Reading) -> bool:
    """Whether a month is one end of "between March and May", "March to May 2026", "Mar-May"."""
    if r.first != r.last:
        return False
    tokens, at = r.tokens, r.first
    for first, last in ((at, at + 2), (at - 2, at)):
        if first < 0 or last >= len(tokens) or not {tokens[first].code, tokens[last].code} <= _MONTHS:
            continue
        joint, opening = tokens[first + 1].code, tokens[first - 1].code if first else ""
        if opening == "BETWEEN":
            return joint in ("AND", "TO", "-")
        named = capital(tokens[first]) and capital(tokens[last])
        if joint in ("TO", "-", "–", "—", "A") and (named or opening == "FROM"):
            return True
    return False


def _names_a_noun(r: Reading, before: Token) -> bool:
    """Whether a month says of when a thing is: "our March numbers", "the May release"."""
    month = r.token("m")
    assert month is not None
    whose = before.code in ("THE", "MY") and r.language == "en" and (len(month.word) > 3 or fold(month.word) == "may")
    return whose and r.followed_by("_") and fold(r.tokens[r.last + 1].word) not in FUNCTION_WORDS["en"]


def _date(r: Reading) -> Period | tuple[str, None] | None:
    if not _month_is_meant(r) or r.loose_join or (r.has("u") and r.unit("u") != "day"):
        return None
    before = r.before()
    if before is not None and r.language == "pt" and fold(before.word) in STREETS:
        return NO_SUCH
    fields = CalendarFields(r.number("y") if r.has("y") else None, _month(r), r.number("d"))
    try:
        return latest(fields, r.now)
    except ValueError:
        return NO_SUCH if r.number("d") <= 31 else None


def _month(r: Reading) -> int:
    token = r.token("m")
    assert token is not None
    return int(str(token.value))


def _days_of_month(r: Reading) -> Period | None:
    if not _month_is_meant(r):
        return None
    lit = r.token("lit")
    if lit is not None:
        if not isinstance(lit.value, WrittenDate) or lit.value.pair is None:
            return None
        first, last = lit.value.pair
    else:
        first, last = r.number("d"), r.number("e")
    month = _month(r)
    named = r.number("y") if r.has("y") else None
    if lit is not None and isinstance(lit.value, WrittenDate) and lit.value.fields.month is None:
        named = lit.value.fields.year
    if named is not None:
        start = filled(CalendarFields(named, month, first))
    else:
        start = latest(CalendarFields(None, month, first), r.now, strictly=True)
    end = filled(CalendarFields(start.start.year, month, last))
    return spanning(start, end)


def _month_of_year(r: Reading) -> Period:
    return filled(CalendarFields(r.number("y"), _month(r)))


def _month_of_short_year(r: Reading) -> Period | None:
    return filled(CalendarFields(full_year(r.number("y")), _month(r))) if r.number("y") < 100 else None


def _month_alone(r: Reading) -> Period | None:
    month = r.token("m")
    assert month is not None
    before = r.before()
    if not _month_is_meant(r) or (fold(month.word) == "janeiro" and r.before(2) and _is_rio(r)) or _is_person(r):
        return None
    if (
        len(month.word) == 3
        and not capital(month)
        and month.code == "MON"
        and not (before is not None and before.code in PREPOSITIONS)
    ):
        return None
    return latest(CalendarFields(None, _month(r)), r.now)


def _is_person(r: Reading) -> bool:
    """Whether "April", "June" or "August" is somebody by the words around: "ask April", "June said", "April O'Neil"."""
    month, before = r.token("m"), r.before()
    assert month is not None
    if fold(month.word) not in GIVEN_NAMES or (before is not None and before.code in PREPOSITIONS):
        return False
    if before is not None and fold(before.word) in TOLD_TO:
        return True
    if r.last + 1 == len(r.tokens):
        return False
    after = r.tokens[r.last + 1]
    surname = after.code == "_" and capital(after) and before is None
    return fold(after.word) in DONE_BY_PERSONS or surname


def _is_rio(r: Reading) -> bool:
    name = r.before(2)
    return name is not None and fold(name.word) == "rio"


def _month_with_modifier(r: Reading) -> Period | None:
    month = r.token("m")
    assert month is not None
    if month.code == "DMON" and not capital(month) and (shift(r) == 0 or len(month.word) == 3):
        return None
    return filled(CalendarFields(r.now.year + shift(r), _month(r)))


def _written(r: Reading) -> Period | None:
    token = r.token("lit")
    assert token is not None and isinstance(token.value, WrittenDate)
    if token.value.fields.month is None:
        return None  # days that need their month before them
    if token.value.pair is not None and r.followed_by("OF", "IN", "NEXT", "LAST", "THIS", "OFTHIS", "MON", "DMON"):
        return None  # days of the month that follows: "4-23 in next month"
    found = latest(token.value.fields, r.now)
    return found if not token.value.doubtful or _is_date(r, token) else as_part(found)


def _is_date(r: Reading, token: Token) -> bool:
    before = r.before()
    assert isinstance(token.value, WrittenDate)
    if not r.ended:
        return False
    if token.value.fields.year is None and "." in token.word:
        # "We moved to 3.11" is a version's.
        placed = before is not None and (before.code in ("IN", "ON") or fold(before.word) in TIME_VERBS)
        return r.whole or (placed and r.after_any(TIME_VERBS - VERSION_VERBS, 4))
    if r.timely:
        return True
    if token.value.fields.year is None and "/" not in token.word:
        return False  # "in section 4-22"
    if before is not None and before.code == "OF" and r.language == "pt":
        return "/" in token.word and "0" in (token.word[0], token.word[-2])  # "logs de 03/06"; 3/6 may be a share
    return before is not None and before.code in ("IN", "ON", "SINCE", "BEFORE", "AFTER", "FROM", "TO", "UNIT")


def _bare_year(r: Reading) -> Period | None:
    token = r.token("y")
    assert token is not None
    value = r.number("y")
    before = r.before()
    said = token.word == "spelled"
    if not (1900 <= value <= 2100 or (said and value > 1500)):
        return None
    told = before is not None and (
        before.code in ("IN", "SINCE", "BEFORE", "AFTER", "FROM", "FOR", "BETWEEN", "LATE", "EARLY", "MID")
        or (before.code == "TO" and before.word.lower() not in ("to", "ao"))
        or (before.code == "OF" and r.language == "pt" and 1950 <= value <= r.now.year + 2 and _names_what_it_is_of(r))
    )
    return year(value, alone=(told and r.ended) or r.whole)


def _names_what_it_is_of(r: Reading) -> bool:
    """Whether a thing stands before "de 2024" ("o relatório de 2024"), not an amount ("mais de 2000")."""
    thing = r.before(2)
    return thing is not None and thing.code == "_" and fold(thing.word) not in _AMOUNTS and bool(thing.word)


# Weekdays


def _weekday(r: Reading) -> Period | None:
    token = r.token("w")
    assert token is not None
    number = int(str(token.value))
    before = r.before()
    if plural(token):
        return None  # "on Fridays" is a habit, no day
    if token.code == "DWD":
        placed = before is not None and before.code in _ABBREVIATED_AFTER
        if r.language != "en" or not placed or not (capital(token) or len(token.word) > 3):
            return None
    if token.code == "WO":
        placed = before is not None and before.code in ("IN", "A", "OF", "SINCE", "TO", "THIS", "BETWEEN", "AND")
        if not (r.whole or (placed and _no_noun_after(r))):
            return None
    found = latest_weekday(r.now, number)
    if r.after_any(PERMISSION_WORDS, 8):
        return Period(found.start, found.end, "day", weekday=number, alone=False)
    return found


def _no_noun_after(r: Reading) -> bool:
    """Whether "segunda" is a day, not an ordinal with its noun ("na segunda opção"): a verb or nothing follows."""
    return r.ended


def _weekday_with_modifier(r: Reading) -> Period | None:
    token = r.token("w")
    assert token is not None
    if token.code == "DWD" and token.word in _WORDS_TOO:
        return None
    if token.code == "WO" and not _no_noun_after(r):
        return None
    modifier = r.token("mod")
    assert modifier is not None
    if modifier.word.lower() in _NEAREST:
        return _nearest(r.now, int(str(token.value)), shift(r))
    week = unit_at(r.now, "week", shift(r))
    return weekdays_of(week, int(str(token.value)))[0]


def _nearest(now: datetime, weekday: int, shift: int) -> Period:
    found = latest_weekday(now, weekday) if shift < 0 else next_weekday(now, weekday)
    return day_of(found.start)


def _weekday_and_day(r: Reading) -> Period | None:
    token = r.token("w")
    assert token is not None
    day = r.token("d")
    if day is None or (day.code == "N" and not (r.has("the") or r.closed)):
        return None
    if token.code == "DWD" and not capital(token) and len(token.word) == 3:
        return None
    this_month = CalendarFields(r.now.year, r.now.month, r.number("d"))
    wanted = int(str(token.value))
    for months in range(0, -13, -1):
        month = add(r.now.replace(day=1), months, "month")
        try:
            found = filled(CalendarFields(month.year, month.month, this_month.day))
        except ValueError:
            continue  # that month is too short
        if found.start.weekday() == wanted:
            return day_of(found.start)
    return None


def _weekday_before_last(r: Reading) -> Period:
    token = r.token("w")
    assert token is not None
    return day_of(add(latest_weekday(r.now, int(str(token.value))).start, -1, "week"))


def _weekday_after_next(r: Reading) -> Period | None:
    token = r.token("w")
    assert token is not None
    if r.language != "en":
        return None
    return day_of(add(next_weekday(r.now, int(str(token.value))).start, 1, "week"))


def _counted_weekdays(r: Reading) -> Period:
    token = r.token("w")
    assert token is not None
    first = next_weekday(r.now, int(str(token.value)))
    return day_of(add(first.start, r.number("n") - 1, "week"))


def _weekdays_ago(r: Reading) -> Period:
    token, count = r.token("w"), r.token("n")
    assert token is not None and count is not None
    latest_one = latest_weekday(r.now, int(str(token.value)))
    return day_of(add(latest_one.start, 1 - int(str(count.value or 1)), "week"))


DATE_RULES = rules(
    (r"{weekday_before}(?:THE )?(?:(?P<u>UNIT) )?(?P<d>N|O) (?:\. |- |/ )?(?:OF )?(?:THE )?{mo}{year_after}", _date),
    (r"(?P<d>N|O) (?:\. |- |/ )?(?P<m>MON|DMON) (?:- |/ )(?P<y>Y) ", _date),
    (r"{weekday_before}{mo}(?:THE )?(?P<d>N|O) {year_after}", _date),
    (r"(?P<y>Y) (?:- |/ )?{mo}(?:- |/ )?(?P<d>N|O) ", _date),
    (r"{mo}(?P<d>N|O) (?:TO |- |– )(?P<e>N|O) (?!MON |DMON |OF ){year_after}", _days_of_month),
    (r"{mo}(?:FROM |BETWEEN )(?:THE )?(?P<d>N|O) (?:TO |AND |- )(?:THE )?(?P<e>N|O) {year_after}", _days_of_month),
    (r"{mo}(?P<lit>LIT) {year_after}", _days_of_month),
    (r"{mo}(?:, |- |/ )?(?:OF |IN )?(?P<y>Y) ", _month_of_year),
    (r"{mo}' (?P<y>N) ", _month_of_short_year),
    (r"(?P<y>Y) (?:, |- |/ |OF )?(?P<m>MON|DMON) ", _month_of_year),
    (r"(?P<m>MON|DMON) ", _month_alone),
    (r"{mod}{not_part}(?P<m>MON|DMON) ", _month_with_modifier),
    (r"(?P<m>MON|DMON) (?P<mod>LAST|NEXT) (?!UNIT)", lambda r: _month_with_modifier(r) if r.language == "pt" else None),
    (r"(?P<lit>LIT) ", _written),
    (r"(?P<y>Y) ", _bare_year),
    (r"(?P<w>WD|DWD|WO) ", _weekday),
    (r"{mod}{wd}{not_part}", _weekday_with_modifier),
    (r"{wd}(?P<mod>LAST|NEXT) (?!UNIT)", lambda r: _weekday_with_modifier(r) if r.language == "pt" else None),
    (r"{wd}(?:, )?(?P<the>THE )?(?P<d>N|O) ", _weekday_and_day),
    (r"{wd}BEFORE (?:THE )?LAST (?!UNIT)", lambda r: _weekday_before_last(r) if r.language == "en" else None),
    (r"{wd}AFTER (?:THE )?NEXT (?!UNIT)", _weekday_after_next),
    (r"(?P<n>N) {wd}(?:FROM NOW |LATER )", _counted_weekdays),
    (r"(?P<n>N|ONE) {wd}AGO ", _weekdays_ago),
    pieces=PIECES,
)
