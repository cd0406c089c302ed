"""``search_replace``: markers in three spellings, file names, line hints, and marker mistakes that teach."""

from __future__ import annotations

import pytest

from chatls_core.edits import EditErrorKind, Rung, named_paths, preview

from .helpers import after, block, plan_of, refusal

TWICE = "f()\nx\n" * 12


def test_a_block_of_lines_is_replaced() -> None:
    assert after("search_replace", "a\nb\nc\n", block("b\n", "B\nB2\n")) == "a\nB\nB2\nc\n"


def test_lines_are_matched_whole() -> None:
    assert after("search_replace", "ab\nb\n", block("b\n", "B\n")) == "ab\nB\n"


def test_an_empty_replacement_deletes_the_lines() -> None:
    assert after("search_replace", "a\nb\nc", block("b\n", "")) == "a\nc"
    assert after("search_replace", "a\nb", block("b\n", "")) == "a"


@pytest.mark.parametrize("ending", ["", "\n"])
def test_the_end_of_the_file_stays_as_it_was(ending: str) -> None:
    assert after("search_replace", "a\nb" + ending, block("b\n", "B\nC\n")) == "a\nB\nC" + ending


def test_line_endings_are_kept() -> None:
    assert after("search_replace", "a\r\nb\r\n", block("b\n", "B\nC\n")) == "a\r\nB\r\nC\r\n"


def test_blocks_are_applied_in_turn_and_share_the_file_name() -> None:
    edit = block("a\n", "b1\n") + "\nand then\n" + block("b1\n", "c\n").split("\n", 1)[1]
    assert after("search_replace", "a\n", edit) == "c\n"


def test_several_files_in_one_answer() -> None:
    edit = "First:\n\n" + block("a\n", "A\n", path="x/one.py") + "\n" + block("", "new\n", path="x/two.py")
    assert preview("search_replace", {"x/one.py": "a\n"}, edit).after == {"x/one.py": "A\n", "x/two.py": "new\n"}
    assert named_paths("search_replace", edit) == ("x/one.py", "x/two.py")


@pytest.mark.parametrize(
    "head",
    [
        "src/a.py\n",
        "```python\nsrc/a.py\n",
        "src/a.py\n```python\n",
        "**src/a.py**\n```\n",
        "# src/a.py\n",
        "`src/a.py`:\n\n```py\n",
        "```src/a.py\n",
        " ```python\nsrc/a.py\n```\n```python\n",
    ],
)
def test_the_file_name_is_found_above_the_block(head: str) -> None:
    edit = "Here is the change:\n\n" + head + block("a\n", "A\n").split("\n", 1)[1]
    assert preview("search_replace", {"src/a.py": "a\n", "b.py": "a\n"}, edit).after == {"src/a.py": "A\n"}


def test_a_block_without_a_name_means_the_one_document_at_hand() -> None:
    nameless = block("a\n", "A\n").split("\n", 1)[1]
    assert after("search_replace", "a\n", nameless) == "A\n"
    message = refusal("search_replace", {"x": "a\n", "y": "a\n"}, nameless, EditErrorKind.MALFORMED)
    assert "which file" in message


def test_the_other_spellings_of_the_markers() -> None:
    assert after("search_replace", "a\nb\n", "f.txt\n------- SEARCH\na\n=======\nA\n+++++++ REPLACE\n") == "A\nb\n"
    find = "Prose.\n---FILEPATH /home/me/f.txt\n---FIND\n```text\na\n```\n---REPLACE\n```text\nA\n```\n---COMPLETE"
    assert after("search_replace", "a\nb\n", find) == "A\nb\n"
    nested = "---FILEPATH f.txt\n---FIND\n````md\n```\na\n```\n````\n---REPLACE\n````md\n```\nb\n```\n````\n---COMPLETE"
    assert after("search_replace", "x\n```\na\n```\n", nested) == "x\n```\nb\n```\n"


def test_a_uniform_indentation_is_carried_over() -> None:
    plan = plan_of("search_replace", "    a\n        b\n", block("a\n    b\n", "a\n    c\n        d\n"))
    assert (plan.after["f.txt"], plan.rung) == ("    a\n        c\n            d\n", Rung.INDENTATION)


def test_an_empty_line_at_the_end_of_both_sides_says_nothing() -> None:
    assert after("search_replace", "a\nb\n", block("b\n\n", "B\n\n")) == "a\nB\n"


def test_equal_places_are_told_apart_by_the_line_hint() -> None:
    hinted = block("f()\n", "g()\n", hint=":start_line:3\n-------\n")
    assert after("search_replace", TWICE, hinted) == "f()\nx\ng()\nx\n" + "f()\nx\n" * 10
    message = refusal("search_replace", TWICE, block("f()\n", "g()\n"), EditErrorKind.AMBIGUOUS)
    assert "12 times" in message
    assert ":start_line:" in message


def test_a_hint_between_two_places_decides_nothing() -> None:
    refusal("search_replace", TWICE, block("f()\n", "g()\n", hint=":start_line:4\n-------\n"), EditErrorKind.AMBIGUOUS)


def test_a_hint_counts_the_lines_before_the_edit() -> None:
    grow = block("first\n", "1\n2\n3\n")
    later = block("f()\n", "g()\n", hint=":start_line:4\n-------\n").split("\n", 1)[1]
    assert after("search_replace", "first\nf()\nx\nf()\n", grow + later) == "1\n2\n3\nf()\nx\ng()\n"


def test_line_numbers_in_the_search_are_left_out_where_they_are_right() -> None:
    assert after("search_replace", "a\nb\nc\n", block("2 | b\n3 | c\n", "B\nC\n")) == "a\nB\nC\n"
    refusal("search_replace", "a\nb\nc\n", block("8 | b\n9 | c\n", "B\nC\n"), EditErrorKind.NOT_FOUND)


def test_text_that_looks_like_a_marker_is_escaped() -> None:
    text = "<<<<<<< HEAD\na\n=======\nb\n>>>>>>> main\n"
    edit = block("\\<<<<<<< HEAD\na\n\\=======\nb\n\\>>>>>>> main\n", "a\n")
    assert after("search_replace", text, edit) == "a\n"


def test_an_underline_of_another_length_is_text() -> None:
    assert after("search_replace", "Title\n=====\n", block("Title\n=====\n", "Name\n=====\n")) == "Name\n=====\n"


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        ("f.txt\n<<<<<<< SEARCH\na\n=======\nb\n", "no REPLACE marker"),
        ("f.txt\n<<<<<<< SEARCH\na\n>>>>>>> REPLACE\n", "no line of ======="),
        ("f.txt\n<<<<<<< SEARCH\na\n=======\nb\n=======\nc\n>>>>>>> REPLACE\n", "2 lines of ======="),
        ("f.txt\n<<<<<<< SEARCH\na\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n", "no REPLACE marker"),
        ("f.txt\n>>>>>>> REPLACE\n", "no SEARCH marker opens"),
        ("---FILEPATH f.txt\n---REPLACE\na\n---COMPLETE", "no ---FIND"),
        ("just prose", "no search/replace block"),
    ],
)
def test_marker_mistakes_are_named_and_the_form_is_shown(edit: str, words: str) -> None:
    message = refusal("search_replace", "a\n", edit, EditErrorKind.MALFORMED)
    assert words in message
    assert "<<<<<<< SEARCH" in message


def test_an_empty_search_is_refused_where_there_is_text() -> None:
    refusal("search_replace", "a\n", block("", "b\n"), EditErrorKind.EMPTY_SEARCH)
    assert after("search_replace", "", block("", "b\n")) == "b\n"


def test_equal_sides_are_refused() -> None:
    refusal("search_replace", "a\n", block("a\n", "a\n"), EditErrorKind.NO_CHANGE)


def test_one_block_that_fails_fails_the_edit() -> None:
    message = refusal("search_replace", "a\n", block("a\n", "b\n") + block("gone\n", "c\n"), EditErrorKind.NOT_FOUND)
    assert "block 2" in message
