"""Text of others inside Markdown of ours is read as it was written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatls_core.text.literal import literal, one_line
from tests.fakes import markdown

_MARKED = st.text(st.sampled_from("ab1 _*`[]()<>!#+-=.|~&;$\\:\"'\n\t/{}^@é\u202e\x07"), max_size=24)


@given(_MARKED, st.sampled_from(["{}", "- {}", "- [fact] {}", "## {}", "> {}", "1. {}"]))
def test_it_is_shown_as_it_stands_wherever_it_stands(text: str, place: str) -> None:
    seen = "".join(markdown.lines(place.format(literal(text))))
    assert seen.removeprefix("[fact]").strip() == one_line(text)


@given(_MARKED)
def test_it_stays_in_its_cell(text: str) -> None:
    cell = literal(text).replace("|", "\\|")
    assert markdown.tables(f"| a | b |\n| --- | --- |\n| {cell} | z |") == [[["a", "b"], [one_line(text), "z"]]]


@pytest.mark.parametrize(
    "text",
    [
        "my_var and main.go",
        "2 * 3 < 7 && x",
        "issue #12",
        "[WIP] squash",
        "Run `npm test` first",
        "1.5 GB",
        "C++",
        "-Xmx",
    ],
)
def test_what_is_no_markup_stays_readable_where_markdown_is_not_drawn(text: str) -> None:
    assert literal(text) == text


def test_what_turns_the_direction_of_writing_ends_nowhere_else() -> None:
    assert one_line("abc \u202e def\u2066 \x1b[31m שלום") == "abc def [31m שלום"
