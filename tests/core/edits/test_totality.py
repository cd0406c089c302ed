"""Whatever comes in, a plan or an ``EditError`` comes out, and the work grows no faster than the input."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatls_core.edits import FORMATS, EditError, EditErrorKind, hunks, named_paths, preview, rebase

from .helpers import block, replace, update

PIECES = st.sampled_from(
    [
        "a", "b\n", "\n", "\r\n", "\r", "\0", "\ud800", "\u2028", "\ufeff", " ", "\t", "f.txt\n",
        "@@ -1,2 +3 @@\n", "@@\n",
        "--- a/f.txt\n+++ b/f.txt\n", "+x\n", "-a\n", " b\n", "*** Begin Patch\n", "*** End Patch\n",
        "*** Update File: f.txt\n", "*** Add File: n\n", "*** Delete File: f.txt\n", "*** Move to: g\n",
        "*** End of File\n",
        "<<<<<<< SEARCH\n", "=======\n", ">>>>>>> REPLACE\n", ":start_line:1\n", "-------\n", "```\n", "```diff\n",
        "---FILEPATH f.txt\n", "---FIND\n", "---REPLACE\n",
        '{"path": "f.txt", ', '"old_string": "a"', ', "new_string": "b"}',
        "diff --git a/f.txt b/f.txt\n", "rename from f.txt\n", "rename to g\n", "new file mode 1\n", "/dev/null",
        "\\ No newline at end of file\n", "[" * 3000, "9" * 5000, "x" * 20000,
    ]
)  # fmt: skip
ANYTHING = st.lists(PIECES, max_size=14).map("".join)


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(FORMATS), ANYTHING, ANYTHING)
def test_every_edit_ends_in_a_plan_or_an_edit_error(format: str, text: str, edit: str) -> None:
    files = {"f.txt": text}
    try:
        plan = preview(format, files, edit)
    except EditError as error:
        assert str(error)
    else:
        assert plan.after
        assert {report.path for report in plan.reports} == set(plan.after)
    assert files == {"f.txt": text}
    try:
        named_paths(format, edit)
    except EditError as error:
        assert str(error)


@settings(max_examples=100, deadline=None)
@given(ANYTHING, st.text(max_size=30), st.text(max_size=30))
def test_a_well_formed_edit_of_any_text_ends(text: str, old: str, new: str) -> None:
    for format, edit in (("str_replace", replace(old, new)), ("search_replace", block(f"{old}\n", f"{new}\n"))):
        try:
            preview(format, {"f.txt": text}, edit)
        except EditError as error:
            assert str(error)


LINES = st.lists(
    st.sampled_from(
        [
            "a",
            "  a",
            "\ta",
            "",
            "  ",
            "a,",
            "}",
            "x = 1",
            "    x = 1",
            "\u2018x\u2019",
            "'x'",
            "1 | a",
            "2\tb",
            "\0",
            "a\u200b",
        ]
    ),
    max_size=6,
)
MARKED = st.lists(st.tuples(st.sampled_from([" ", "-", "+", ""]), LINES.map(lambda rows: rows[0] if rows else "")))


@settings(max_examples=300, deadline=None)
@given(LINES, LINES, LINES, MARKED, st.sampled_from(["", "\n", "\n\n"]), st.sampled_from(["\n", "\r\n"]))
def test_edits_whose_lines_nearly_fit_end(
    rows: list[str], old: list[str], new: list[str], marked: list[tuple[str, str]], tail: str, newline: str
) -> None:
    hunk = "".join(f"{mark}{line}\n" for mark, line in marked)
    for format, edit in (
        ("str_replace", replace("\n".join(old) + tail, "\n".join(new))),
        ("search_replace", block("".join(f"{line}\n" for line in old), "".join(f"{line}\n" for line in new))),
        ("apply_patch", update(f"@@\n{hunk}")),
        ("udiff", f"--- f.txt\n+++ f.txt\n@@ -2,1 +2,1 @@\n{hunk}"),
    ):
        try:
            preview(format, {"f.txt": newline.join(rows) + newline}, edit)
        except EditError as error:
            assert str(error)


def calls(run: Callable[[], object]) -> int:
    """How many Python and C calls ``run`` makes: a measure of work that no busy machine disturbs."""
    count = 0

    def trace(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(trace)
    try:
        run()
    except EditError:
        pass
    finally:
        sys.setprofile(None)
    return count


def distinct(n: int) -> str:
    return "".join(f"    line {i} = call({i % 13})\n" for i in range(n))


CASES: dict[str, Callable[[int], Callable[[], object]]] = {
    "a search that finds nothing": lambda n: (
        lambda: preview("str_replace", {"f.txt": distinct(n)}, replace("no such line\nat all", "x"))
    ),
    "a long search that nearly fits": lambda n: (
        lambda: preview("str_replace", {"f.txt": distinct(n)}, replace(distinct(n)[:-9] + "x\n", "x"))
    ),
    "a long search in equal lines": lambda n: (
        lambda: preview("str_replace", {"f.txt": "    pass\n" * n}, replace("pass\n" * (n // 2), "x"))
    ),
    "a patch of many hunks in equal lines": lambda n: (
        lambda: preview(
            "apply_patch", {"f.txt": "    pass\n" * n}, update("@@\n     pass\n-    pass\n+    x\n" * (n // 20))
        )
    ),
    "a patch of many hunks": lambda n: (
        lambda: preview(
            "apply_patch",
            {"f.txt": distinct(n)},
            update("".join(f"@@\n-    line {i} = call({i % 13})\n+new\n" for i in range(0, n, 20))),
        )
    ),
    "a diff of shuffled equal lines": lambda n: (
        lambda: hunks("".join(f"{i * 7 % 5}\n" for i in range(n)), "".join(f"{i * 3 % 5}\n" for i in range(n)))
    ),
    "a merge of two long texts": lambda n: (
        lambda: rebase(distinct(n), distinct(n).replace("line 3 ", "row 3 "), distinct(n).replace("line 5 ", "row 5 "))
    ),
    "unclosed blocks": lambda n: lambda: preview("search_replace", {"f.txt": "a"}, "<<<<<<< SEARCH\na\n" * n),
    "nested brackets": lambda n: lambda: preview("str_replace", {"f.txt": "a"}, "[" * n),
    "fences": lambda n: lambda: preview("udiff", {"f.txt": "a"}, "```\nx\n" * n),
}


@pytest.mark.parametrize("case", CASES)
def test_the_work_grows_with_the_input_and_no_faster(case: str) -> None:
    small, large = calls(CASES[case](400)), calls(CASES[case](3200))
    assert large <= 8 * 1.6 * small + 2000, f"{small} calls at 400 lines, {large} at 3,200"


@pytest.mark.parametrize("format", ["str_replace", "search_replace", "apply_patch", "udiff"])
def test_refusing_a_text_that_a_huge_file_lacks_is_no_work_for_each_line(format: str) -> None:
    near = "line 500 = call(6)\nline 501 = cal(x)\n"
    hunk = "".join(f"-{line}\n" for line in near.splitlines()) + "+new\n"
    edit = {
        "str_replace": replace(near, "new\n"),
        "search_replace": block(near, "new\n"),
        "apply_patch": update(f"@@\n{hunk}"),
        "udiff": f"--- f.txt\n+++ f.txt\n@@ -500,2 +500,1 @@\n{hunk}",
    }[format]
    text = distinct(60_000)
    # Looking for the nearest text takes two or three calls a line, folding all lines for every rung took seven.
    assert calls(lambda: preview(format, {"f.txt": text}, edit)) < 180_000


FILLER = "".join(f"filler number {i}\n" for i in range(20_001))
some_line = st.sampled_from(
    ["", "alpha(1)", "  alpha(1)", "beta = gamma", "beta = gama", "}", "delta('x')", "delta(\u2018x\u2019)"]
)


@settings(max_examples=80, deadline=None)
@given(st.lists(some_line, min_size=1, max_size=8), st.lists(some_line, min_size=1, max_size=5), st.booleans())
def test_a_huge_file_is_edited_like_a_small_one(rows: list[str], search: list[str], diff: bool) -> None:
    small = "".join(f"{row}\n" for row in ["top", *rows, "bottom"])
    if diff:
        format, edit = "apply_patch", update("@@\n" + "".join(f"-{line}\n" for line in search) + "+new\n")
    else:
        format, edit = "search_replace", block("".join(f"{line}\n" for line in search), "new\n")

    def outcome(text: str) -> str:
        try:
            return preview(format, {"f.txt": text}, edit).after["f.txt"] or ""
        except EditError as error:
            return error.kind

    lone, among = outcome(small), outcome(FILLER + small)
    assert among == (lone if lone in tuple(EditErrorKind) else FILLER + lone)


def test_a_deeply_nested_edit_is_refused() -> None:
    with pytest.raises(EditError):
        preview("str_replace", {"f.txt": "a"}, json.dumps({"path": "f.txt", "edits": []}) + "]" * 9)


def test_a_file_of_more_different_lines_than_there_are_characters_is_searched() -> None:
    lines = [str(number) for number in range(1_200_000)]
    edit = "f.txt\n<<<<<<< SEARCH\n1199000\n=======\nnew\n>>>>>>> REPLACE\n"
    after = preview("search_replace", {"f.txt": "\n".join(lines)}, edit).after["f.txt"]
    lines[1_199_000] = "new"
    assert after == "\n".join(lines)
