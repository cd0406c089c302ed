"""Days as a person counts them."""

from __future__ import annotations

from datetime import date, datetime

import pytest

from chatls_core.text.days import days_of, local_day


@pytest.mark.usefixtures("sao_paulo")
@pytest.mark.parametrize(
    ("moment", "day"),
    [
        ("2026-04-12T01:30:00+00:00", date(2026, 4, 11)),
        ("2026-04-12T12:00:00+00:00", date(2026, 4, 12)),
        ("2026-04-11T23:00:00-03:00", date(2026, 4, 11)),
        ("2026-04-12T00:00:00+00:00", date(2026, 4, 12)),  # a day that was written down without an hour
    ],
)
def test_a_moment_belongs_to_the_day_it_was_here(moment: str, day: date) -> None:
    assert local_day(datetime.fromisoformat(moment)) == day


@pytest.mark.usefixtures("sao_paulo")
@pytest.mark.parametrize(
    ("start", "end", "days"),
    [
        ("2026-04-01T00:00:00-03:00", "2026-05-01T00:00:00-03:00", "2026-04-01 → 2026-04-30"),
        ("2026-04-12T20:00:00-03:00", "2026-04-12T23:00:00-03:00", "2026-04-12"),
        ("2026-04-12T00:00:00-03:00", "9999-12-31T00:00:00+00:00", "since 2026-04-12"),
        ("0001-01-01T00:00:00+00:00", "2026-04-12T00:00:00-03:00", "until 2026-04-11"),
        ("0001-01-01T00:00:00+00:00", "9999-12-31T00:00:00+00:00", ""),
    ],
)
def test_a_window_is_told_by_the_days_that_belong_to_it(start: str, end: str, days: str) -> None:
    assert days_of((datetime.fromisoformat(start), datetime.fromisoformat(end))) == days
