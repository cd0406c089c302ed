"""``apply_patch``: the V4A grammar, placing of hunks, and refusals that teach."""

from __future__ import annotations

import difflib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatls_core.edits import EditError, EditErrorKind, Rung, named_paths, preview

from .helpers import after, patch, plan_of, refusal, update


def test_a_patch_changes_adds_moves_and_deletes_files_at_once() -> None:
    edit = patch(
        "*** Update File: a.txt\n*** Move to: b/a.txt\n@@\n-one\n+1\n*** Add File: new.txt\n+x\n+\n+y\n"
        "*** Delete File: old.txt\n"
    )
    plan = preview("apply_patch", {"a.txt": "one\ntwo\n", "old.txt": "gone"}, edit)
    assert plan.after == {"a.txt": None, "b/a.txt": "1\ntwo\n", "new.txt": "x\n\ny\n", "old.txt": None}
    assert plan.renames == {"a.txt": "b/a.txt"}
    assert named_paths("apply_patch", edit) == ("a.txt", "b/a.txt", "new.txt", "old.txt")


def test_a_move_without_hunks_renames() -> None:
    plan = preview("apply_patch", {"a": "x"}, patch("*** Update File: a\n*** Move to: b\n"))
    assert plan.after == {"a": None, "b": "x"}


def test_a_move_over_a_file_is_noted() -> None:
    plan = preview("apply_patch", {"a": "x\n", "b": "y"}, patch("*** Update File: a\n*** Move to: b\n@@\n-x\n+z\n"))
    assert plan.after == {"a": None, "b": "z\n"}
    assert "overwritten" in plan.notes[0]


@pytest.mark.parametrize("ending", ["", "\n"])
def test_the_end_of_the_file_stays_as_it_was(ending: str) -> None:
    assert after("apply_patch", "a\nb" + ending, update("@@\n a\n-b\n+B\n+C\n")) == "a\nB\nC" + ending


def test_new_lines_take_the_dominant_ending_and_others_keep_theirs() -> None:
    assert after("apply_patch", "a\r\nb\nc\r\n", update("@@\n a\n+x\n b\n-c\n+C\n")) == "a\r\nx\r\nb\nC\r\n"


@pytest.mark.parametrize(
    "wrapped",
    [
        "cat <<'EOF'\n{}EOF\n",
        "```\n{}```\n",
        " {}",
        "apply_patch <<EOF\n{}EOF",
        "Here it is:\n{}\nDone.",
    ],
)
def test_wrappings_around_the_patch_are_taken_off(wrapped: str) -> None:
    assert after("apply_patch", "a\n", wrapped.format(update("@@\n-a\n+b\n"))) == "b\n"


def test_crlf_in_the_patch_is_no_part_of_its_lines() -> None:
    assert after("apply_patch", "a\nb\n", update("@@\n a\n-b\n+c\n").replace("\n", "\r\n")) == "a\nc\n"


def test_bare_sections_are_read_but_a_cut_off_patch_is_refused() -> None:
    assert after("apply_patch", "a\n", "*** Update File: f.txt\n@@\n-a\n+b\n") == "b\n"
    message = refusal(
        "apply_patch", "a\n", "*** Begin Patch\n*** Update File: f.txt\n@@\n-a\n+b\n", EditErrorKind.MALFORMED
    )
    assert "cut off" in message


def test_context_without_its_blank_is_read() -> None:
    text = "class A {\n\trun() {\n\t\tgo();\n\t}\n}\n"
    assert after(
        "apply_patch", text, update("@@\nclass A {\n\trun() {\n-\t\tgo();\n+\t\tstop();\n\t}\n")
    ) == text.replace("go", "stop")


def test_the_line_after_at_signs_tells_equal_places_apart() -> None:
    text = "def a():\n    x = 1\n\ndef b():\n    x = 1\n\ndef c():\n    x = 1\n"
    assert after("apply_patch", text, update("@@ def b():\n-    x = 1\n+    x = 2\n")) == (
        "def a():\n    x = 1\n\ndef b():\n    x = 2\n\ndef c():\n    x = 1\n"
    )
    assert after("apply_patch", text, update("@@ def b\n-    x = 1\n+    x = 2\n")) is not None
    refusal("apply_patch", text, update("@@\n-    x = 1\n+    x = 2\n"), EditErrorKind.AMBIGUOUS)


def test_stacked_context_narrows_step_by_step() -> None:
    text = "class A:\n    def f(self):\n        pass\nclass B:\n    def f(self):\n        pass\n"
    edit = update("@@ class B:\n@@     def f(self):\n-        pass\n+        return 1\n")
    assert after("apply_patch", text, edit) == text[: text.rindex("pass")] + "return 1\n"
    message = refusal(
        "apply_patch", text, update("@@ class C:\n@@ def f\n-        pass\n+        x\n"), EditErrorKind.NOT_FOUND
    )
    assert "class C:" in message


def test_a_context_line_among_very_many_equal_ones_still_finds_its_block() -> None:
    text = "".join(f"def f{i}():\n    pass\n" for i in range(200))
    edit = update("@@ def f150():\n-    pass\n+    return 150\n")
    assert after("apply_patch", text, edit) == text.replace("f150():\n    pass", "f150():\n    return 150")


def test_single_context_that_is_missing_is_advice_only() -> None:
    assert after("apply_patch", "a\nb\n", update("@@ nowhere\n-b\n+B\n")) == "a\nB\n"


def test_text_before_the_context_line_is_not_taken() -> None:
    message = refusal("apply_patch", "x\nmarker\ny\n", update("@@ marker\n-x\n+X\n"), EditErrorKind.NOT_FOUND)
    assert "not after the line" in message


@pytest.mark.parametrize("hunks", [("b", "x"), ("x", "b"), ("c", "b", "x"), ("b", "x", "c")])
def test_hunks_that_may_be_back_to_front_do_not_tell_equal_places_apart(hunks: tuple[str, ...]) -> None:
    edit = update("".join(f"@@\n-{line}\n+{line.upper()}\n" for line in hunks))
    message = refusal("apply_patch", "a\nx\nb\nc\nx\n", edit, EditErrorKind.AMBIGUOUS)
    assert "at lines 2, 5" in message
    assert "after @@" in message


def test_a_hunk_whose_other_place_is_taken_stands_at_the_one_left() -> None:
    edit = update("@@\n-x\n-b\n+B\n@@\n-x\n+X\n")
    assert after("apply_patch", "x\nb\nx\n", edit) == "B\nX\n"


def test_equal_hunks_fill_as_many_equal_places() -> None:
    assert after("apply_patch", "x\nb\nx\n", update("@@\n-x\n+X\n@@\n-x\n+X\n")) == "X\nb\nX\n"
    refusal("apply_patch", "x\nb\nx\n", update("@@\n-x\n+X\n@@\n-x\n+Y\n"), EditErrorKind.AMBIGUOUS)


def test_hunks_out_of_order_are_placed_where_each_stands_once() -> None:
    plan = plan_of("apply_patch", "a\nb\nc\n", update("@@\n-c\n+C\n@@\n-a\n+A\n"))
    assert plan.after["f.txt"] == "A\nb\nC\n"
    assert "order" in plan.notes[0]


def test_hunks_that_change_the_same_line_are_refused() -> None:
    refusal("apply_patch", "a\nb\n", update("@@\n-a\n+A\n@@\n-a\n+AA\n"), EditErrorKind.OVERLAP)


def test_hunks_may_share_context() -> None:
    assert after("apply_patch", "a\nb\nc\n", update("@@\n-a\n+A\n b\n@@\n b\n-c\n+C\n")) == "A\nb\nC\n"


def test_end_of_file_tells_equal_places_apart() -> None:
    assert after("apply_patch", "x\ny\nx\n", update("@@\n-x\n+X\n*** End of File\n")) == "x\ny\nX\n"


def test_an_empty_line_after_the_end_of_file_mark_is_harmless() -> None:
    assert after("apply_patch", "x\n", update("@@\n-x\n+X\n*** End of File\n\n")) == "X\n"


def test_lines_added_without_context_go_to_the_end_or_below_the_named_line() -> None:
    assert after("apply_patch", "a\nb\n", update("@@\n+c\n")) == "a\nb\nc\n"
    assert after("apply_patch", "a\nb\n", update("@@ a\n+c\n")) == "a\nc\nb\n"
    assert after("apply_patch", "", update("@@\n+c\n")) == "c\n"
    refusal("apply_patch", "a\nb\na\n", update("@@ a\n+c\n"), EditErrorKind.MALFORMED)


def test_a_marked_empty_line_is_context_and_an_unmarked_one_may_only_set_apart() -> None:
    assert after("apply_patch", "a\n\nb\n", update("@@\n+x\n \n")) == "a\nx\n\nb\n"
    assert after("apply_patch", "a\n\nb\n", update("@@\n+x\n\n")) == "a\n\nb\nx\n"


def test_an_empty_line_too_many_is_overlooked() -> None:
    plan = plan_of("apply_patch", "a\nb\n", update("@@\n a\n\n-b\n+B\n\n"))
    assert (plan.after["f.txt"], plan.rung) == ("a\nB\n", Rung.BLANK_LINES)


def test_a_text_line_too_many_is_not() -> None:
    refusal("apply_patch", "a\nb\nc\nd\n", update("@@\n-b\n+B\n\n-d\n+D\n"), EditErrorKind.NOT_FOUND)


def test_added_lines_follow_the_files_indentation() -> None:
    text = "class A:\n        def f(self):\n                return 1\n"
    edit = update("@@\n def f(self):\n-        return 1\n+        return 2\n")
    assert after("apply_patch", text, edit) == text.replace("1", "2")


def test_context_keeps_the_files_own_characters() -> None:
    text = "// \u201cquoted\u201d\nold();\n"
    assert (
        after("apply_patch", text, update('@@\n // "quoted"\n-old();\n+new();\n')) == "// \u201cquoted\u201d\nnew();\n"
    )


def test_a_removed_line_may_be_mistyped_but_context_may_not() -> None:
    text = "begin();\nmessage();\nsend();\nend();\n"
    assert (
        after("apply_patch", text, update("@@\n begin();\n-mesage();\n send();\n end();\n"))
        == "begin();\nsend();\nend();\n"
    )
    refusal("apply_patch", text, update("@@\n begin();\n mesage();\n-send();\n end();\n"), EditErrorKind.NOT_FOUND)


def test_a_comma_that_a_new_neighbour_needs_is_an_unmarked_change() -> None:
    text = "f(\n  a,\n  b\n);\n"
    assert after("apply_patch", text, update("@@\n f(\n   a,\n   b,\n+  c\n );\n")) == "f(\n  a,\n  b,\n  c\n);\n"


def test_tabs_written_out_in_added_lines_are_refused() -> None:
    message = refusal(
        "apply_patch", {"a.go": "\ta()\n"}, update("@@\n-\ta()\n+\\tb()\n", path="a.go"), EditErrorKind.MALFORMED
    )
    assert "real tab" in message
    assert preview("apply_patch", {"a.tex": "x\n"}, update("@@\n-x\n+\\textbf{x}\n", path="a.tex")).after == {
        "a.tex": "\\textbf{x}\n"
    }


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        ("", "first line"),
        ("prose", "first line"),
        (patch(""), "changes no file"),
        (patch("*** Frobnicate File: a\n"), "Frobnicate"),
        (patch("*** Add File: a\nplain\n"), "begins with +"),
        (patch("*** Delete File: f.txt\n+x\n"), "deletion has none"),
        (patch("*** Update File: f.txt\n"), "no line that begins"),
        (patch("*** Update File: f.txt\n@@\n a\n"), "no line that begins"),
        (patch("*** Update File: f.txt\n*** Move to:\n"), "names no file"),
        (patch("*** Update File: f.txt\n@@\n-a\n*** End of File\n+b\n"), "follows"),
    ],
)
def test_malformed_patches_say_what_is_wrong_and_show_the_form(edit: str, words: str) -> None:
    message = refusal("apply_patch", "a\n", edit, EditErrorKind.MALFORMED)
    assert words in message
    assert "*** Begin Patch" in message


def test_one_missing_file_fails_the_whole_patch() -> None:
    edit = patch("*** Add File: new\n+x\n*** Update File: gone.txt\n@@\n-a\n+b\n")
    message = refusal("apply_patch", {"f.txt": "b\n"}, edit, EditErrorKind.NO_SUCH_FILE)
    assert "gone.txt" in message


def test_a_file_is_only_deleted_by_its_full_path() -> None:
    refusal("apply_patch", {"lib/a.txt": "x"}, patch("*** Delete File: a.txt\n"), EditErrorKind.NO_SUCH_FILE)


def test_a_patch_that_changes_nothing_is_refused() -> None:
    refusal("apply_patch", "a\n", update("@@\n-a\n+a\n"), EditErrorKind.NO_CHANGE)


def test_a_wrong_name_is_taken_for_the_document_at_hand_only_word_for_word() -> None:
    text = "one\ntwo\nthree\n"
    edit = update("@@\n one\n-two\n+2\n", path="other.txt")
    assert preview("apply_patch", {"f.txt": text}, edit).after == {"f.txt": "one\n2\nthree\n"}
    refusal("apply_patch", {"f.txt": text}, update("@@\n-two\n+2\n", path="other.txt"), EditErrorKind.NO_SUCH_FILE)


rows = st.lists(st.sampled_from(["a", "b", "  c", "", "}", "d e"]), max_size=14)


def as_patch(old: list[str], new: list[str], context: int) -> str:
    """The V4A form of the difference: hunks without line numbers."""
    body = "".join(
        ("@@\n" if line.startswith("@@") else line + "\n")
        for line in list(difflib.unified_diff(old, new, lineterm="", n=context))[2:]
    )
    return update(body)


@settings(max_examples=250, deadline=None)
@given(rows, rows, st.integers(1, 3), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_a_true_difference_gives_the_new_text_or_a_refusal_never_another_text(
    old: list[str], new: list[str], context: int, newline: str, closed: bool
) -> None:
    tail = newline if closed else ""
    before, wanted = newline.join(old) + (tail if old else ""), newline.join(new)
    if len(old) < 2 or old == new or (not closed and (not old[-1] or (new and not new[-1]))):
        return
    try:
        result = after("apply_patch", before, as_patch(old, new, context))
    except EditError as error:
        assert error.kind in (EditErrorKind.AMBIGUOUS, EditErrorKind.MALFORMED)
    else:
        assert result == wanted + (tail if new else "")


def test_lines_added_inside_what_another_hunk_removes_are_refused() -> None:
    edit = update("@@ b\n+x\n@@\n-a\n-b\n-c\n")
    refusal("apply_patch", "a\nb\nc\n", edit, EditErrorKind.OVERLAP)
