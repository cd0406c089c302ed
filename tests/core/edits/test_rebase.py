"""Rebase: what the user types between the agent's read and its write is never lost and never misplaced."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatls_core.edits import RebaseConflict, rebase

BASE = "one\ntwo\nthree\nfour\nfive\n"


def test_typing_above_and_below_the_edit_survives() -> None:
    ours = BASE.replace("three", "THREE")
    theirs = "zero\n" + BASE + "six\n"
    assert rebase(BASE, ours, theirs) == "zero\none\ntwo\nTHREE\nfour\nfive\nsix\n"


def test_typing_in_the_neighbouring_line_is_no_conflict() -> None:
    assert rebase(BASE, BASE.replace("two", "TWO"), BASE.replace("three", "drei")) == "one\nTWO\ndrei\nfour\nfive\n"


def test_the_same_line_changed_twice_is_a_conflict_that_shows_the_text_as_it_is() -> None:
    theirs = "zero\n" + BASE.replace("three", "drei")
    with pytest.raises(RebaseConflict) as caught:
        rebase(BASE, BASE.replace("three", "THREE"), theirs)
    (conflict,) = caught.value.conflicts
    assert (conflict.first, conflict.last, conflict.current, conflict.wanted) == (4, 4, "drei\n", "THREE\n")
    assert "Line 4 was changed since you read them" in str(caught.value)
    assert "     4\tdrei" in str(caught.value)


def test_every_conflict_is_named() -> None:
    with pytest.raises(RebaseConflict) as caught:
        rebase(BASE, BASE.replace("one", "1").replace("five", "5"), BASE.replace("one", "I").replace("five", "V"))
    assert [(c.first, c.current) for c in caught.value.conflicts] == [(1, "I\n"), (5, "V\n")]


def test_lines_deleted_under_the_edit_are_a_conflict() -> None:
    with pytest.raises(RebaseConflict, match="deleted since you read them"):
        rebase(BASE, BASE.replace("three", "THREE"), BASE.replace("three\n", ""))


def test_the_same_change_on_both_sides_is_made_once() -> None:
    changed = BASE.replace("three\n", "three\nnew\n")
    assert rebase(BASE, changed, "zero\n" + changed) == "zero\n" + changed


def test_different_insertions_at_the_same_place_are_a_conflict() -> None:
    with pytest.raises(RebaseConflict):
        rebase(BASE, BASE.replace("two\n", "two\nx\n"), BASE.replace("two\n", "two\ny\n"))


def test_a_line_appended_below_an_unterminated_last_line_the_user_types_in() -> None:
    assert rebase("a\nb", "a\nb\nc", "a\nb!") == "a\nb!\nc"
    assert rebase("a\r\nb", "A\r\nb", "a\r\nb\r\n") == "A\r\nb\r\n"


words = st.sampled_from(["alpha", "beta", "gamma", "", "}", "  x"])


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_concurrent_typing_outside_the_touched_lines_always_survives(data: st.DataObject) -> None:
    newline = data.draw(st.sampled_from(["\n", "\r\n", "\r"]))
    base = [f"{i} {data.draw(words)}" for i in range(data.draw(st.integers(4, 14)))]
    touched = set(data.draw(st.sets(st.integers(0, len(base) - 1), min_size=1, max_size=3)))
    free = [i for i in range(len(base)) if i not in touched]
    typed_at = data.draw(st.lists(st.sampled_from(free), unique=True, max_size=4)) if free else []
    wanted = {i: data.draw(st.sampled_from([["agent"], [], ["agent", f"more {i}"]])) for i in touched}
    typed = {
        i: data.draw(st.sampled_from([["user"], [], [f"{base[i]} typed"], [f"user {i}", base[i]]])) for i in typed_at
    }

    def build(*sides: dict[int, list[str]]) -> str:
        rows: list[str] = []
        for i, line in enumerate(base):
            rows += next((side[i] for side in sides if i in side), [line])
        return "".join(row + newline for row in rows)

    assert rebase(build(), build(wanted), build(typed)) == build(wanted, typed)


@settings(max_examples=100, deadline=None)
@given(st.text("ab\n\r", max_size=20), st.text("ab\n\r", max_size=20), st.text("ab\n\r", max_size=20))
def test_rebase_ends_in_a_text_or_a_conflict(base: str, ours: str, theirs: str) -> None:
    assert rebase(base, ours, base) == ours
    assert rebase(base, base, theirs) == theirs
    try:
        merged = rebase(base, ours, theirs)
    except RebaseConflict as conflict:
        assert conflict.conflicts
    else:
        assert isinstance(merged, str)
