"""Cuts end between characters and say that they are cuts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatls_core.text import cut

_text = st.text(alphabet=st.sampled_from("abç日é\u0301\u200d👩🏽💻\r\n "), max_size=40)


def test_a_short_text_is_left_alone() -> None:
    assert cut.by_chars("abc", 3) == cut.by_bytes("abc", 3) == cut.middle("abc", 2, 1) == "abc"


def test_a_cut_is_visible() -> None:
    assert cut.by_chars("abcdef", 4) == "abc…"
    assert cut.by_bytes("abcdef", 5) == "ab…"
    assert cut.by_chars("abcdef", 5, note="[..]") == "a[..]"


@pytest.mark.parametrize(
    ("text", "limit", "result"),
    [
        ("e\u0301e\u0301e\u0301", 4, "e\u0301…"),
        ("e\u0301e\u0301e\u0301", 5, "e\u0301e\u0301…"),
        ("a👩🏽\u200d💻b", 4, "a…"),
        ("ab\r\ncd", 4, "ab…"),
    ],
)
def test_a_cut_never_parts_what_a_reader_sees_as_one(text: str, limit: int, result: str) -> None:
    assert cut.by_chars(text, limit) == result


def test_bytes_are_counted_in_utf8() -> None:
    assert cut.byte_length("ação") == 6
    assert cut.by_bytes("ação", 5) == "a…"


def test_the_middle_says_how_much_is_missing() -> None:
    shortened = cut.middle("a" * 500 + "b" * 500, 100, 50)
    assert shortened.startswith("a" * 100 + "\n[")
    assert shortened.endswith("]\n" + "b" * 50)
    assert "850 characters" in shortened


def test_a_middle_that_saves_nothing_is_kept() -> None:
    assert cut.middle("a" * 30, 10, 10) == "a" * 30


@given(_text, st.integers(0, 45))
def test_a_cut_keeps_its_limit_and_is_a_beginning(text: str, limit: int) -> None:
    by_chars, by_bytes = cut.by_chars(text, limit), cut.by_bytes(text, limit)
    assert len(by_chars) <= max(limit, 0)
    assert len(by_bytes.encode()) <= max(limit, 0)
    for shortened in (by_chars, by_bytes):
        assert text == shortened or text.startswith(shortened.removesuffix(cut.ELLIPSIS))


@given(_text, st.integers(0, 20), st.integers(0, 20))
def test_head_and_tail_are_those_of_the_text(text: str, head: int, tail: int) -> None:
    shortened = cut.middle(text, head, tail, note=lambda n: "|")
    if shortened != text:
        before, _, after = shortened.partition("|")
        assert text.startswith(before)
        assert text.endswith(after)
        assert len(before) <= head
        assert len(after) <= tail
