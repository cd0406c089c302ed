"""Hunks: minimal replacements in editor positions that rebuild the new text in every position encoding."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatls_core.edits import HunkError, PositionEncoding, apply_hunks, column_to_units, hunks, units_to_column
from chatls_core.host import Hunk, Position, Range

ENCODINGS: tuple[PositionEncoding, ...] = ("utf-8", "utf-16", "utf-32")

lines = st.lists(
    st.tuples(
        st.sampled_from(["", "a", "b", "x = 1", "é", "\U0001f600", "\tz", "\u2028", "\f", "\ud800"]),
        st.sampled_from(["\n", "\r\n", "\r"]),
    ),
    max_size=12,
)
texts = st.builds(lambda rows, tail: "".join(a + b for a, b in rows) + tail, lines, st.sampled_from(["", "end", "é"]))


class EditorModel:
    """A document as an editor keeps it: lines cut at the three LSP line ends, edits in encoded columns."""

    def __init__(self, text: str, encoding: PositionEncoding) -> None:
        self.text, self.encoding = text, encoding

    def _rows(self) -> list[str]:
        rows, row, i = [], "", 0
        while i < len(self.text):
            if self.text.startswith("\r\n", i):
                rows.append(row + "\r\n")
                row, i = "", i + 2
            elif self.text[i] in "\r\n":
                rows.append(row + self.text[i])
                row, i = "", i + 1
            else:
                row, i = row + self.text[i], i + 1
        return [*rows, row]

    def _offset(self, line: int, units: int) -> int:
        rows = self._rows()
        assert line < len(rows)
        content = rows[line].rstrip("\r\n")
        return sum(map(len, rows[:line])) + units_to_column(content, units, self.encoding)

    def edit(self, edits: list[tuple[tuple[int, int], tuple[int, int], str]]) -> None:
        for start, stop, new in sorted(edits, key=lambda e: e[0], reverse=True):
            self.text = self.text[: self._offset(*start)] + new + self.text[self._offset(*stop) :]

    def units(self, position: Position) -> tuple[int, int]:
        content = self._rows()[position.line].rstrip("\r\n")
        assert position.character <= len(content), "a hunk points into a line ending"
        return position.line, column_to_units(content, position.character, self.encoding)


@settings(max_examples=150, deadline=None)
@given(texts, texts, st.sampled_from(ENCODINGS))
def test_an_editor_that_applies_the_hunks_gets_the_new_text(
    before: str, after: str, encoding: PositionEncoding
) -> None:
    editor = EditorModel(before, encoding)
    editor.edit([(editor.units(h.range.start), editor.units(h.range.end), h.new_text) for h in hunks(before, after)])
    assert editor.text == after


@settings(max_examples=100, deadline=None)
@given(texts, texts)
def test_all_hunks_applied_give_the_new_text_and_none_the_old(before: str, after: str) -> None:
    made = hunks(before, after)
    assert apply_hunks(before, made) == after
    assert apply_hunks(before, made, ()) == before
    assert [hunk.id for hunk in made] == [f"h{i + 1}" for i in range(len(made))]


def test_only_what_differs_is_replaced() -> None:
    (hunk,) = hunks("one\nvalue = 1\nthree\n", "one\nvalue = 10\nthree\n")
    assert (hunk.range, hunk.old_text, hunk.new_text) == (Range(Position(1, 9), Position(1, 9)), "", "0")


def test_a_change_of_line_endings_never_cuts_one_in_two() -> None:
    (hunk,) = hunks("a\r\nb", "a\nb")
    assert hunk.range == Range(Position(0, 1), Position(1, 0))
    assert (hunk.old_text, hunk.new_text) == ("\r\n", "\n")


def test_separate_changes_can_be_taken_one_by_one() -> None:
    before = "a\nb\nc\nd\ne\n"
    made = hunks(before, "A\nb\nc\nd\nE\n")
    assert [hunk.id for hunk in made] == ["h1", "h2"]
    assert apply_hunks(before, made, {"h2"}) == "a\nb\nc\nd\nE\n"


def test_hunks_for_another_text_are_refused() -> None:
    made = hunks("a\nb\n", "a\nB\n")
    with pytest.raises(HunkError, match="another text: line 2"):
        apply_hunks("a\nx\n", made)
    with pytest.raises(HunkError, match="h9"):
        apply_hunks("a\nb\n", made, {"h9"})


def test_overlapping_hunks_are_refused() -> None:
    spot = Range(Position(0, 0), Position(0, 2))
    with pytest.raises(HunkError, match="overlaps"):
        apply_hunks("abc", [Hunk("h1", spot, "ab", "x"), Hunk("h2", Range(Position(0, 1), Position(0, 3)), "bc", "y")])


@pytest.mark.parametrize(
    ("encoding", "units"), [("utf-8", [0, 1, 3, 7, 8]), ("utf-16", [0, 1, 2, 4, 5]), ("utf-32", [0, 1, 2, 3, 4])]
)
def test_columns_count_in_the_negotiated_unit(encoding: PositionEncoding, units: list[int]) -> None:
    line = "aé\U0001f600b"
    assert [column_to_units(line, column, encoding) for column in range(5)] == units
    assert [units_to_column(line, unit, encoding) for unit in units] == [0, 1, 2, 3, 4]


def test_positions_outside_a_line_or_inside_a_character_are_clamped() -> None:
    assert column_to_units("ab", 99, "utf-16") == 2
    assert units_to_column("ab", 99, "utf-16") == 2
    assert units_to_column("\U0001f600b", 1, "utf-16") == 0
    assert units_to_column("é", 1, "utf-8") == 0
    with pytest.raises(ValueError, match="negative"):
        column_to_units("ab", -1, "utf-8")
    with pytest.raises(ValueError, match="negative"):
        units_to_column("ab", -1, "utf-8")


def test_many_changes_in_a_long_file_stay_many_small_hunks() -> None:
    before = [f"line {i % 97} of {i}" for i in range(9000)]
    after = [line + "!" if i % 90 == 0 else line for i, line in enumerate(before)]
    made = hunks("\n".join(before), "\n".join(after))
    assert len(made) == 100
    assert all(hunk.new_text == "!" for hunk in made)
