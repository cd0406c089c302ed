"""Dates as they are asked for: ISO, or in words."""

from __future__ import annotations

from datetime import date, datetime, timedelta

import pytest

from chatls_core.text.asked_dates import end_of, start_of


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("2026-03-31", date(2026, 3, 31), date(2026, 3, 31)),
        ("2026-03", date(2026, 3, 1), date(2026, 3, 31)),
        ("March 2026", date(2026, 3, 1), date(2026, 3, 31)),
        ("março de 2026", date(2026, 3, 1), date(2026, 3, 31)),
        ("2025", date(2025, 1, 1), date(2025, 12, 31)),
    ],
)
def test_a_date_counts_whole(text: str, first: date, last: date) -> None:
    assert start_of(text).date() == first
    assert end_of(text).date() == last
    assert start_of(text).utcoffset() is not None


def test_words_count_from_today() -> None:
    yesterday = datetime.now().astimezone().date() - timedelta(days=1)
    assert end_of("yesterday").date() == end_of("ontem").date() == yesterday


def test_a_moment_is_that_moment() -> None:
    assert end_of("2026-03-31T10:00:00+00:00") == start_of("2026-03-31T10:00:00+00:00")


@pytest.mark.parametrize(
    "text", ["spring", "soonish", "the day we met", "from the logs of yesterday", "2026-02-31", "1.2.3"]
)
def test_what_is_no_date_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no date"):
        end_of(text)
