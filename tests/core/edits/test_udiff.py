"""``udiff``: diffs as git writes them and as models do, with right, wrong and no line numbers."""

from __future__ import annotations

import difflib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatls_core.edits import EditError, EditErrorKind, named_paths, preview

from .helpers import after, plan_of, refusal

HEAD = "--- a/f.txt\n+++ b/f.txt\n"


@pytest.mark.parametrize(
    "header", ["@@ -2,2 +2,2 @@", "@@ -70,9 +1 @@", "@@ ... @@", "@@", "@@ -2,2 +2,2 @@ def run():"]
)
def test_line_numbers_may_be_right_wrong_or_missing(header: str) -> None:
    assert after("udiff", "a\nb\nc\n", f"{HEAD}{header}\n b\n-c\n+C\n") == "a\nb\nC\n"


def test_right_line_numbers_tell_equal_places_apart() -> None:
    text = "x\ny\n" * 5
    assert after("udiff", text, f"{HEAD}@@ -5,2 +5,2 @@\n-x\n+X\n y\n") == "x\ny\nx\ny\nX\ny\nx\ny\nx\ny\n"
    message = refusal("udiff", text, f"{HEAD}@@ ... @@\n-x\n+X\n y\n", EditErrorKind.AMBIGUOUS)
    assert "5 times" in message


def test_numbers_that_are_off_alike_tell_equal_places_apart() -> None:
    text = "top\n" + "x\ny\n" * 5 + "only\n" + "x\ny\n" * 5
    edit = f"{HEAD}@@ -1,1 +1,1 @@\n-only\n+ONLY\n@@ -4,2 +4,2 @@\n-x\n+X\n y\n"
    assert after("udiff", text, edit) == text.replace("only\nx\ny\nx", "ONLY\nx\ny\nX")


def test_rising_line_numbers_show_the_order_of_hunks_even_where_they_are_wrong() -> None:
    text = "x\nb\nx\n"
    numbered = f"{HEAD}@@ -20 +20 @@\n-b\n+B\n@@ -31 +31 @@\n-x\n+X\n"
    assert after("udiff", text, numbered) == "x\nB\nX\n"
    for edit in (numbered.replace("-31 +31", "-11 +11"), f"{HEAD}@@ ... @@\n-b\n+B\n@@ ... @@\n-x\n+X\n"):
        assert "at lines 1, 3" in refusal("udiff", text, edit, EditErrorKind.AMBIGUOUS)


def test_a_new_file_a_deleted_file_and_a_renamed_one() -> None:
    edit = (
        "diff --git a/new.txt b/new.txt\nnew file mode 100644\n--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1,2 @@\n+a\n+b\n"
        "diff --git a/old.txt b/old.txt\ndeleted file mode 100644\n--- a/old.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"
        "diff --git a/from.txt b/to.txt\nsimilarity index 50%\nrename from from.txt\nrename to to.txt\n"
        "--- a/from.txt\n+++ b/to.txt\n@@ -1,2 +1,2 @@\n-one\n+1\n two\n"
    )
    plan = preview("udiff", {"old.txt": "x\n", "from.txt": "one\ntwo\n"}, edit)
    assert plan.after == {"new.txt": "a\nb\n", "old.txt": None, "from.txt": None, "to.txt": "1\ntwo\n"}
    assert plan.renames == {"from.txt": "to.txt"}
    assert named_paths("udiff", edit) == ("new.txt", "old.txt", "from.txt", "to.txt")


def test_deleting_a_file_that_holds_more_than_the_diff_shows_is_refused() -> None:
    edit = "--- a/f.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"
    assert preview("udiff", {"f.txt": "x\n"}, edit).after == {"f.txt": None}
    assert "delete_file" in refusal("udiff", "x\nmore\n", edit, EditErrorKind.NOT_FOUND)


def test_creating_a_file_that_exists_is_refused() -> None:
    refusal("udiff", "old\n", "--- /dev/null\n+++ b/f.txt\n@@ -0,0 +1 @@\n+new\n", EditErrorKind.MALFORMED)


def test_dev_null_on_a_diff_that_removes_lines_is_a_slip() -> None:
    assert after("udiff", "old\n", "--- /dev/null\n+++ f.txt\n@@ ... @@\n-old\n+new\n") == "new\n"


@pytest.mark.parametrize(
    ("text", "body", "wanted"),
    [
        ("a\nb", "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+B\n", "a\nB\n"),
        ("a\nb\n", "@@ -1,2 +1,2 @@\n a\n-b\n+B\n\\ No newline at end of file\n", "a\nB"),
        ("a\nb", "@@ -1,2 +1,2 @@\n-a\n+A\n b\n\\ No newline at end of file\n", "A\nb"),
        ("a\nb", "@@ -1,2 +1,2 @@\n a\n-b\n+B\n", "a\nB"),
        ("a\nb", "@@ -1,2 +1,1 @@\n a\n-b\n\\ No newline at end of file\n", "a\n"),
    ],
)
def test_marks_of_a_missing_final_newline(text: str, body: str, wanted: str) -> None:
    assert after("udiff", text, HEAD + body) == wanted


def test_several_files_in_a_fenced_block_with_prose_around() -> None:
    edit = (
        "I change two files.\n\n```diff\n--- a/x.py\n+++ b/x.py\n@@ ... @@\n-a\n+A\n\n"
        "--- a/y.py\n+++ b/y.py\n@@ ... @@\n"
        "-b\n+B\n```\n\nThat is all: - done\n"
    )
    assert preview("udiff", {"x.py": "a\n", "y.py": "b\n"}, edit).after == {"x.py": "A\n", "y.py": "B\n"}


def test_marked_lines_alone_are_a_diff_of_the_document_at_hand() -> None:
    assert after("udiff", "def f():\n    a\n    b\n", " def f():\n-    a\n+    A\n     b") == "def f():\n    A\n    b\n"
    assert after("udiff", "def f():\n    a\n    b\n", "def f():\n-    a\n+    A\n    b") == "def f():\n    A\n    b\n"
    assert after("udiff", "a\nb = 1\nc\n", "a\n\n- b = 1\n+ b = 2\nc") == "a\nb = 2\nc\n"


def test_removed_lines_that_look_like_a_header_stay_in_a_counted_hunk() -> None:
    text = "-- one\n++ two\nend\n"
    edit = f"{HEAD}@@ -1,3 +1,2 @@\n--- one\n+++ 1\n-++ two\n end\n"
    assert after("udiff", text, edit) == "++ 1\nend\n"


def test_names_without_prefixes_timestamps_and_quotes() -> None:
    assert (
        after("udiff", "a\n", "--- f.txt\t2026-01-01 10:00:00\n+++ f.txt\t2026-01-01\n@@ -1 +1 @@\n-a\n+b\n") == "b\n"
    )
    quoted = '--- "a/caf\\303\\251.txt"\n+++ "b/caf\\303\\251.txt"\n@@ -1 +1 @@\n-a\n+b\n'
    assert preview("udiff", {"café.txt": "a\n"}, quoted).after == {"café.txt": "b\n"}
    assert preview("udiff", {"a/x": "a\n"}, "--- a/x\n+++ a/x\n@@ @@\n-a\n+b\n").after == {"a/x": "b\n"}


def test_two_names_without_a_rename_mean_the_one_that_exists() -> None:
    edit = "--- f.txt.orig\n+++ f.txt\n@@ -1 +1 @@\n-a\n+b\n"
    assert preview("udiff", {"f.txt": "a\n"}, edit).after == {"f.txt": "b\n"}
    refusal("udiff", {"f.txt": "a\n", "f.txt.orig": "a\n"}, edit, EditErrorKind.MALFORMED)


def test_line_endings_are_kept() -> None:
    assert after("udiff", "a\r\nb\r\n", f"{HEAD}@@ -1,2 +1,3 @@\n a\n-b\n+B\n+C\n") == "a\r\nB\r\nC\r\n"


def test_added_lines_alone_need_a_header_that_counts_them() -> None:
    assert after("udiff", "a\nb\n", f"{HEAD}@@ -1,0 +2,1 @@\n+x\n") == "a\nx\nb\n"
    assert after("udiff", "", f"{HEAD}@@ ... @@\n+x\n") == "x\n"
    refusal("udiff", "a\nb\n", f"{HEAD}@@ ... @@\n+x\n", EditErrorKind.MALFORMED)


@pytest.mark.parametrize(
    ("edit", "kind"),
    [
        ("", EditErrorKind.MALFORMED),
        ("no diff here", EditErrorKind.MALFORMED),
        (f"{HEAD}@@ -1 +1 @@\n a\n", EditErrorKind.MALFORMED),
        (f"{HEAD}@@ -1 +1 @@\n-a\n+a\n", EditErrorKind.NO_CHANGE),
        ("diff --git a/f b/f\nGIT binary patch\nliteral 1\n", EditErrorKind.UNSUPPORTED),
        ("diff --git a/f.txt b/g\ncopy from f.txt\ncopy to g\n", EditErrorKind.UNSUPPORTED),
        ("--- a/gone\n+++ b/gone\n@@ -1 +1 @@\n-a\n+b\n", EditErrorKind.NO_SUCH_FILE),
    ],
)
def test_what_cannot_be_applied_is_refused(edit: str, kind: EditErrorKind) -> None:
    refusal("udiff", "a\nb\n", edit, kind)


rows = st.lists(st.sampled_from(["a", "b", "  c", "", "}", "-x", "+y", "@z"]), max_size=14)


def unified(old: list[str], new: list[str], context: int) -> list[str]:
    return list(difflib.unified_diff(old, new, "a/f.txt", "b/f.txt", lineterm="", n=context))


@settings(max_examples=200, deadline=None)
@given(rows, rows, st.integers(0, 3), st.sampled_from(["\n", "\r\n"]))
def test_a_true_diff_with_its_line_numbers_gives_the_new_text(
    old: list[str], new: list[str], context: int, newline: str
) -> None:
    if old == new or not old:
        return
    before = "".join(row + newline for row in old)
    edit = "\n".join(unified(old, new, context)) + "\n"
    assert after("udiff", before, edit) == "".join(row + newline for row in new)


@settings(max_examples=200, deadline=None)
@given(rows, rows, st.integers(1, 3))
def test_a_true_diff_without_line_numbers_never_gives_another_text(
    old: list[str], new: list[str], context: int
) -> None:
    if old == new or len(old) < 2:
        return
    edit = "\n".join("@@ ... @@" if line.startswith("@@") else line for line in unified(old, new, context)) + "\n"
    try:
        result = plan_of("udiff", "".join(row + "\n" for row in old), edit).after["f.txt"]
    except EditError as error:
        assert error.kind in (EditErrorKind.AMBIGUOUS, EditErrorKind.MALFORMED)
    else:
        assert result == "".join(row + "\n" for row in new)


def test_the_heading_of_a_hunk_without_numbers_tells_equal_places_apart() -> None:
    text = "def a():\n    x = 1\ndef b():\n    x = 1\n"
    assert after("udiff", text, f"{HEAD}@@ def b():\n-    x = 1\n+    x = 2\n") == text[:-2] + "2\n"
