"""Times named in English and Portuguese (spec/memory.md §7.3), counted from Wednesday 13 May 2026, 15:30."""

from __future__ import annotations

import unicodedata
from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatls_core.text.time_expressions import SCAN_LIMIT, TimeWindow, find

NOW = datetime(2026, 5, 13, 15, 30)

ENGLISH = """
In 2024 Maria became CTO | 2024-01-01 2025-01-01
in 2023 PostgreSQL replaced MySQL | 2023-01-01 2024-01-01
On 4/12 Ana moved out | 2026-04-12 2026-04-13
between March and May we rewrote the parser | 2026-03-01 2026-06-01
what changed between march and may? | 2026-03-01 2026-06-01
what changed from march to may | 2026-03-01 2026-06-01
March to May 2026 | 2026-03-01 2026-06-01
Mar-May 2026 | 2026-03-01 2026-06-01
May - July 2025 | 2025-05-01 2025-08-01
the March–May numbers | 2026-03-01 2026-06-01
up to last week | 0001-01-03 2026-05-11
prior to 2025 | 0001-01-03 2025-01-01
prior to last week | 0001-01-03 2026-05-04
no later than 2025 | 0001-01-03 2026-01-01
earlier than June 2025 | 0001-01-03 2025-06-01
later than June 2025 | 2025-07-01 2026-05-14
from March on | 2026-03-01 2026-05-14
from March onwards | 2026-03-01 2026-05-14
starting in March | 2026-03-01 2026-05-14
3 days back | 2026-05-10 2026-05-11
a few weeks back | 2026-04-20 2026-04-27
a week ago yesterday | 2026-05-05 2026-05-06
so far this year | 2026-01-01 2026-05-13
the last year and a half | 2024-11-13 2026-05-13
since the 10th | 2026-05-10 2026-05-14
before the 5th | 0001-01-03 2026-05-05
the coming weekend | 2026-05-16 2026-05-18
we ship in two weeks' time | 2026-05-27 2026-05-28
the demo is in a week’s time | 2026-05-20 2026-05-21
2026-W14 notes | 2026-03-30 2026-04-06
what stands in 2026-W14-3? | 2026-04-01 2026-04-02
mid-March release | 2026-03-10 2026-03-21
our March numbers | 2026-03-01 2026-04-01
the May release | 2026-05-01 2026-06-01
May 2025's outage | 2025-05-01 2025-06-01
budget for 2025 | 2025-01-01 2026-01-01
Q1/2026 results | 2026-01-01 2026-04-01
Q4 '25 | 2025-10-01 2026-01-01
in the 1990's | 1990-01-01 2000-01-01
what did we do last week? | 2026-05-04 2026-05-11
in this month | 2026-05-01 2026-06-01
what happened last Tuesday | 2026-05-05 2026-05-06
on Friday we met | 2026-05-08 2026-05-09
next Friday | 2026-05-22 2026-05-23
this Friday | 2026-05-15 2026-05-16
Friday next week | 2026-05-22 2026-05-23
the last 3 days | 2026-05-10 2026-05-13
over the past few weeks | 2026-04-22 2026-05-13
a couple of days ago | 2026-05-11 2026-05-12
three days ago | 2026-05-10 2026-05-11
two weeks ago | 2026-04-27 2026-05-04
a month ago | 2026-04-01 2026-05-01
two and a half days ago | 2026-05-11 2026-05-12
a week and a half ago | 2026-05-03 2026-05-04
three and a half years ago | 2022-11-13 2022-11-14
a year ago today | 2025-05-13 2025-05-14
6 mos ago | 2025-11-01 2025-12-01
a week from Friday | 2026-05-22 2026-05-23
the Sunday before last | 2026-05-03 2026-05-04
June 5-9, 2025 | 2025-06-05 2025-06-10
2 years ago | 2024-01-01 2025-01-01
1 month 21 days ago | 2026-03-23 2026-03-24
3 business days ago | 2026-05-08 2026-05-09
yesterday | 2026-05-12 2026-05-13
the day before yesterday | 2026-05-11 2026-05-12
the day after tomorrow | 2026-05-15 2026-05-16
last night | 2026-05-12 2026-05-13
two days before yesterday | 2026-05-10 2026-05-11
what did we ship the day before 5 June 2025? | 2025-06-04 2025-06-05
the day after June 5, 2025 | 2025-06-06 2025-06-07
the week before June 5, 2025 | 2025-05-29 2025-06-05
the week after June 5, 2025 | 2025-06-06 2025-06-13
the weekend before June 5, 2025 | 2025-05-31 2025-06-02
the weekend after June 5, 2025 | 2025-06-07 2025-06-09
the month before May 2025 | 2025-04-01 2025-05-01
the month after May 2025 | 2025-06-01 2025-07-01
the year before 2020 | 2019-01-01 2020-01-01
the Sunday before 25 May 2025 | 2025-05-18 2025-05-19
the Friday after 25 May 2025 | 2025-05-30 2025-05-31
the Monday after next | 2026-05-25 2026-05-26
two weeks from now | 2026-05-27 2026-05-28
three days from tomorrow | 2026-05-17 2026-05-18
April 12 | 2026-04-12 2026-04-13
12th of December | 2025-12-12 2025-12-13
May twenty-first | 2025-05-21 2025-05-22
on September the twenty first nineteen seventy eight | 1978-09-21 1978-09-22
Wed, 6 May 2026 | 2026-05-06 2026-05-07
Oct2 | 2025-10-02 2025-10-03
the third of May | 2026-05-03 2026-05-04
I went back for the 27th | 2026-04-27 2026-04-28
on the 4th we shipped it | 2026-05-04 2026-05-05
Friday the 8th | 2026-05-08 2026-05-09
Feb 29 | 2024-02-29 2024-03-01
in June | 2025-06-01 2025-07-01
in March | 2026-03-01 2026-04-01
May 2026 | 2026-05-01 2026-06-01
2026, April | 2026-04-01 2026-05-01
last September | 2025-09-01 2025-10-01
June next year | 2027-06-01 2027-07-01
2026-04-12 | 2026-04-12 2026-04-13
at 2026-04-12T10:30:00Z | 2026-04-12 2026-04-13
2026-04 | 2026-04-01 2026-05-01
04/05/2026 | 2026-04-05 2026-04-06
31/12/2025 | 2025-12-31 2026-01-01
on 4/12 | 2026-04-12 2026-04-13
13.5.2015 | 2015-05-13 2015-05-14
2019-sep-1 | 2019-09-01 2019-09-02
in 2025 | 2025-01-01 2026-01-01
last year | 2025-01-01 2026-01-01
in two thousand and eighteen | 2018-01-01 2019-01-01
in the 70s | 1970-01-01 1980-01-01
in the nineteen nineties | 1990-01-01 2000-01-01
the last decade | 2010-01-01 2020-01-01
the 15th century | 1400-01-01 1500-01-01
Q1 2026 | 2026-01-01 2026-04-01
during Q4 | 2025-10-01 2026-01-01
last quarter | 2026-01-01 2026-04-01
the third quarter of 2025 | 2025-07-01 2025-10-01
first half of 2025 | 2025-01-01 2025-07-01
2025H2 | 2025-07-01 2026-01-01
week 10 | 2026-03-02 2026-03-09
the week of the 18th | 2026-04-13 2026-04-20
w/c May 4 | 2026-05-04 2026-05-11
first friday of july | 2025-07-04 2025-07-05
second Monday of next month | 2026-06-08 2026-06-09
the last week of july | 2025-07-28 2025-08-04
the first 3 days of May | 2026-05-01 2026-05-04
last day of February | 2026-02-28 2026-03-01
20th of next month | 2026-06-20 2026-06-21
early this month | 2026-05-01 2026-05-16
late last week | 2026-05-07 2026-05-11
mid-2018 | 2018-04-01 2018-10-01
mid-April | 2026-04-10 2026-04-21
beginning of next week | 2026-05-18 2026-05-21
end of 2000 | 2000-09-01 2001-01-01
rest of the week | 2026-05-13 2026-05-17
earlier this week | 2026-05-11 2026-05-13
later this month | 2026-05-13 2026-06-01
the weekend | 2026-05-16 2026-05-18
last weekend | 2026-05-09 2026-05-11
the month after next | 2026-07-01 2026-08-01
I will be back within 5 days | 2026-05-13 2026-05-18
it will ship in 5 days | 2026-05-18 2026-05-19
next 3 days | 2026-05-14 2026-05-17
a week starting tomorrow | 2026-05-14 2026-05-21
from Monday to Friday | 2026-05-11 2026-05-16
between March and April | 2026-03-01 2026-05-01
from 4 to 22 January, 1995 | 1995-01-04 1995-01-23
from 4 to 22 next month | 2026-06-04 2026-06-23
Monday to Friday last week | 2026-05-04 2026-05-09
from 4-23 in next month | 2026-06-04 2026-06-24
January 5-9 | 2026-01-05 2026-01-10
Jan 5 - Jan 9 | 2026-01-05 2026-01-10
between 3 and 12 of Sept | 2025-09-03 2025-09-13
from 10/25 to 01/25 | 2025-10-25 2026-01-26
from 2014 to 2018 | 2014-01-01 2019-01-01
last week between Tuesday and Thursday | 2026-05-05 2026-05-08
from the 4th to the 8th | 2026-05-04 2026-05-09
since Monday | 2026-05-11 2026-05-14
since 2024 | 2024-01-01 2026-05-14
after May 5 | 2026-05-06 2026-05-14
"""

PORTUGUESE = """
em 2024 usávamos MySQL | 2024-01-01 2025-01-01
em 2023 Ana entrou | 2023-01-01 2024-01-01
em 12/04 falei com a Ana | 2026-04-12 2026-04-13
no dia 12/04 falamos | 2026-04-12 2026-04-13
na quinta fui ao médico | 2026-05-07 2026-05-08
março a maio de 2026 | 2026-03-01 2026-06-01
entre marco e maio | 2026-03-01 2026-06-01
anterior a março de 2026 | 0001-01-03 2026-03-01
de março em diante | 2026-03-01 2026-05-14
entre os dias 10 e 12 de abril | 2026-04-10 2026-04-13
primeira quinzena de abril | 2026-04-01 2026-04-16
segunda quinzena de abril | 2026-04-16 2026-05-01
1.º de abril | 2026-04-01 2026-04-02
trasanteontem | 2026-05-10 2026-05-11
há mais ou menos um mês | 2026-04-01 2026-05-01
há coisa de duas semanas | 2026-04-27 2026-05-04
há meio ano | 2025-11-01 2025-12-01
o último ano e meio | 2024-11-13 2026-05-13
desde a semana passada | 2026-05-04 2026-05-14
até a semana passada | 0001-01-03 2026-05-11
no início desta semana | 2026-05-11 2026-05-14
mais cedo esta semana | 2026-05-11 2026-05-13
nos últimos dias | 2026-05-10 2026-05-13
logs de 03/02 | 2026-02-03 2026-02-04
o relatório de 2024 | 2024-01-01 2025-01-01
o que fizemos semana passada? | 2026-05-04 2026-05-11
mês que vem | 2026-06-01 2026-07-01
no dia 3 do mês passado | 2026-04-03 2026-04-04
dia 15 do mês que vem | 2026-06-15 2026-06-16
há dois dias e meio | 2026-05-11 2026-05-12
faz uma semana e meia | 2026-05-03 2026-05-04
há cerca de dois meses | 2026-03-01 2026-04-01
há uns três dias | 2026-05-10 2026-05-11
na 6ª feira | 2026-05-08 2026-05-09
em mar/24 | 2024-03-01 2024-04-01
neste mês | 2026-05-01 2026-06-01
no ano passado | 2025-01-01 2026-01-01
anteontem | 2026-05-11 2026-05-12
antes de ontem | 2026-05-11 2026-05-12
depois de amanhã | 2026-05-15 2026-05-16
depois de amanha | 2026-05-15 2026-05-16
há 3 meses | 2026-02-01 2026-03-01
ha 2 semanas | 2026-04-27 2026-05-04
dez dias atrás | 2026-05-03 2026-05-04
alguns dias atras | 2026-05-10 2026-05-11
nos últimos 3 dias | 2026-05-10 2026-05-13
as 3 semanas passadas | 2026-04-22 2026-05-13
próximos 3 dias | 2026-05-14 2026-05-17
daqui a duas semanas | 2026-05-27 2026-05-28
semana retrasada | 2026-04-27 2026-05-04
sexta passada | 2026-05-08 2026-05-09
na terça discutimos o deploy | 2026-05-12 2026-05-13
segunda que vem | 2026-05-18 2026-05-19
segunda feira | 2026-05-11 2026-05-12
na próxima quarta | 2026-05-20 2026-05-21
quinta da semana passada | 2026-05-07 2026-05-08
12 de abril de 2025 | 2025-04-12 2025-04-13
vinte e um de maio | 2025-05-21 2025-05-22
1º de maio | 2026-05-01 2026-05-02
2 de Out | 2025-10-02 2025-10-03
10/out/2025 | 2025-10-10 2025-10-11
no dia 12 | 2026-05-12 2026-05-13
em março | 2026-03-01 2026-04-01
em marco de 2025 | 2025-03-01 2025-04-01
março do ano passado | 2025-03-01 2025-04-01
05/04/2026 | 2026-04-05 2026-04-06
04/31/2026 e 12/31/2025 | 2025-12-31 2026-01-01
no dia 12/04 | 2026-04-12 2026-04-13
em 2025 | 2025-01-01 2026-01-01
anos 90 | 1990-01-01 2000-01-01
década de 80 | 1980-01-01 1990-01-01
século XIX | 1800-01-01 1900-01-01
primeiro trimestre de 2026 | 2026-01-01 2026-04-01
segundo semestre de 2025 | 2025-07-01 2026-01-01
no fim de semana passado | 2026-05-09 2026-05-11
final de semana | 2026-05-16 2026-05-18
no fim do mês | 2026-05-16 2026-06-01
meados de abril | 2026-04-10 2026-04-21
primeira sexta de julho | 2025-07-04 2025-07-05
do dia 4 até o dia 22 de janeiro | 2026-01-04 2026-01-23
último dia do mês | 2026-05-31 2026-06-01
última semana de abril | 2026-04-27 2026-05-04
de 1 a 5 de maio | 2026-05-01 2026-05-06
desde o 4 até o 8 deste mês | 2026-05-04 2026-05-09
entre o 3 e o 12 de Set | 2025-09-03 2025-09-13
de segunda a sexta | 2026-05-11 2026-05-16
de março a abril | 2026-03-01 2026-05-01
desde ontem | 2026-05-12 2026-05-14
a partir de março | 2026-03-01 2026-05-14
a semana antes de 5 de junho de 2025 | 2025-05-29 2025-06-05
o dia depois de 5 de junho de 2025 | 2025-06-06 2025-06-07
o domingo antes de 25 de maio de 2025 | 2025-05-18 2025-05-19
"""


def _cases(block: str) -> list[tuple[str, str, str]]:
    cases = []
    for line in block.strip().splitlines():
        text, dates = line.split(" | ")
        start, end = dates.split()
        cases.append((text, start, end))
    return cases


def _days(windows: list[TimeWindow]) -> list[tuple[str, str]]:
    return [(w.start.date().isoformat(), w.end.date().isoformat()) for w in windows]


@pytest.mark.parametrize(("text", "start", "end"), _cases(ENGLISH))
def test_an_english_time_is_read(text: str, start: str, end: str) -> None:
    assert _days(find(text, NOW, "en")) == [(start, end)]
    assert _days(find(text, NOW)) == [(start, end)]


@pytest.mark.parametrize(("text", "start", "end"), _cases(PORTUGUESE))
def test_a_portuguese_time_is_read(text: str, start: str, end: str) -> None:
    assert _days(find(text, NOW, "pt")) == [(start, end)]


@pytest.mark.parametrize(("text", "start", "end"), [c for c in _cases(PORTUGUESE) if "05/04" not in c[0]])
def test_the_language_need_not_be_told(text: str, start: str, end: str) -> None:
    assert _days(find(text, NOW)) == [(start, end)]


@pytest.mark.parametrize(
    "text", ["o que eu disse em março?", "há três dias", "sábado passado", "mês passado", "até março"]
)
def test_accents_of_their_own_characters_are_read(text: str) -> None:
    apart = unicodedata.normalize("NFD", text)
    (window,), (typed,) = find(apart, NOW), find(text, NOW)
    assert (window.start, window.end) == (typed.start, typed.end)
    assert unicodedata.normalize("NFC", apart[slice(*window.span)]) == text[slice(*typed.span)]


def test_several_times_come_in_the_order_of_the_text_with_their_places() -> None:
    text = "moved it from yesterday, then last month, em abril de 2025 e hoje"
    windows = find(text, NOW)
    assert [text[w.span[0] : w.span[1]] for w in windows] == ["yesterday", "last month", "abril de 2025", "hoje"]


def test_a_doubtful_date_is_read_by_the_language_of_its_sentence() -> None:
    assert _days(find("what did we ship on 05/04/2026", NOW)) == [("2026-05-04", "2026-05-05")]
    assert _days(find("o que lançamos em 05/04/2026", NOW)) == [("2026-04-05", "2026-04-06")]


def test_a_time_that_does_not_exist_is_no_time() -> None:
    for text in ("31 June 2025", "the fifth Sunday of February 2025", "2025-02-30", "the 31st of next month", "Feb 30"):
        assert find(text, NOW, "en") == [], text


def test_before_and_until_have_no_beginning() -> None:
    (before,) = find("before April", NOW)
    (until,) = find("until Friday", NOW)
    assert before.start.year == until.start.year == 1
    assert (before.end, until.end) == (datetime(2026, 4, 1), datetime(2026, 5, 9))


def test_open_ends_can_be_carried_to_any_zone() -> None:
    far = timezone(timedelta(hours=14))
    for text in ("before April", "after next year"):
        (window,) = find(text, NOW.replace(tzinfo=far))
        assert window.start.astimezone(UTC) < window.end.astimezone(UTC)


def test_the_last_days_reach_up_to_now() -> None:
    assert find("the last 24 hours", NOW)[0].start == datetime(2026, 5, 12, 15, 30)
    assert find("last 3 days", NOW)[0].end == NOW


def test_windows_are_in_the_zone_of_now() -> None:
    zone = ZoneInfo("America/Sao_Paulo")
    (window,) = find("ontem", NOW.replace(tzinfo=zone), "pt-BR")
    assert window == TimeWindow(datetime(2026, 5, 12, tzinfo=zone), datetime(2026, 5, 13, tzinfo=zone), (0, 5))
    assert find("yesterday", NOW)[0].start.tzinfo is None


def test_another_language_is_refused() -> None:
    with pytest.raises(ValueError, match="English"):
        find("gestern", NOW, "de")


def test_a_long_text_is_read_at_its_beginning_only() -> None:
    assert len(find("yesterday " * 200_000, NOW, "en")) == SCAN_LIMIT // len("yesterday ")
    assert find("a." * 500_000 + " yesterday", NOW) == []


@pytest.mark.parametrize(
    "text", ["", " ", "\x00", "²", "١٢ May", "9" * 5000 + " days ago", "99999 years ago", "0 days ago"]
)
def test_odd_texts_are_harmless(text: str) -> None:
    assert all(w.start <= w.end for w in find(text, NOW))


_VOCABULARY = (
    "last next this the of in on from to between and since before 3 12 31 2025 May march monday friday week month year"
    " days ago later early end rest first second twenty Q3 1/2 2026-04-12 10:30 , - . de a o semana passado que vem"
    " sexta há atrás até entre março fim dia 21st decade century half quarter weekend now today tomorrow"
)
_WORDS = st.sampled_from(_VOCABULARY.split())


@settings(max_examples=300, deadline=None)
@given(st.lists(_WORDS, max_size=14).map(" ".join), st.datetimes(datetime(1970, 1, 1), datetime(2100, 1, 1)))
def test_whatever_is_said_windows_are_ordered_apart_and_inside_the_text(text: str, now: datetime) -> None:
    for language in (None, "en", "pt"):
        end_of_last = 0
        for window in find(text, now, language):
            assert window.start <= window.end
            assert end_of_last <= window.span[0] < window.span[1] <= len(text)
            end_of_last = window.span[1]


@settings(max_examples=100, deadline=None)
@given(st.datetimes(datetime(1950, 1, 1), datetime(2090, 1, 1)), st.sampled_from(["%Y-%m-%d", "%d %B %Y", "%B %d, %Y"]))
def test_a_full_date_is_its_day_whenever_it_is_read(day: datetime, form: str) -> None:
    start = datetime(day.year, day.month, day.day)
    (window,) = find(f"we met on {day.strftime(form)}", NOW, "en")
    assert (window.start, window.end) == (start, start + timedelta(days=1))
