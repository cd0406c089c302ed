"""Edits that seem to fit, and mean something else: the smallest inputs that once gave a text nobody had asked for."""

from __future__ import annotations

import pytest

from chatls_core.edits import EditError, EditErrorKind, preview

from .helpers import after, block, refusal, replace, update

HEAD = "--- a/f.txt\n+++ b/f.txt\n@@ ... @@\n"


@pytest.mark.parametrize(
    ("search", "put"),
    [("a\nb\n\n", "a\nB\nc\n"), ("a\nb\n\n", "a\nB\nc\nd\n"), ("\n\nb\nc\n", "a\nB\nc\n"), ("a\nb\n\n\n", "a\nB\nc\n")],
)
def test_an_empty_line_that_the_new_text_fills_with_the_files_next_line_is_no_match(search: str, put: str) -> None:
    text = "x\na\nb\nc\nd\n"
    assert "empty line" in refusal("search_replace", text, block(search, put), EditErrorKind.NOT_FOUND)
    assert "empty line" in refusal("str_replace", text, replace(search, put, path="f.txt"), EditErrorKind.NOT_FOUND)


def test_an_empty_line_beside_a_change_may_stand_for_a_line_the_model_skipped() -> None:
    text = "def f():\n    old()\n\ndef g():\n    pass\n"
    edit = block("def f():\n\n", "def f():\n    new()\n\n")
    assert "'old()'" in refusal("search_replace", text, edit, EditErrorKind.NOT_FOUND)
    diff = " def f():\n+    new()\n \n"
    for format, whole in (("apply_patch", update(f"@@\n{diff}")), ("udiff", HEAD + diff)):
        refusal(format, text, whole, EditErrorKind.NOT_FOUND)


def test_an_empty_line_beside_a_line_that_stays_says_nothing() -> None:
    text = "a\nb\nc\n"
    assert after("search_replace", text, block("a\nb\n\n", "A\nb\n")) == "A\nb\nc\n"
    assert after("str_replace", text, replace("a\nb\n\n", "A\nb\n")) == "A\nb\nc\n"
    assert after("str_replace", text, replace("\na\nb", "\na\nB")) == "a\nB\nc\n"
    assert after("apply_patch", text, update("@@\n-a\n+A\n b\n \n")) == "A\nb\nc\n"
    assert after("apply_patch", text, update("@@\n a\n-b\n+B\n\n")) == "a\nB\nc\n"
    assert after("apply_patch", text, update("@@\n b\n-c\n+C\n \n")) == "a\nb\nC\n"


def test_an_empty_line_more_than_the_file_has_joins_no_lines() -> None:
    assert after("str_replace", "  a\n  b\nc\n", replace("  a\n  b\n\n", "  A\n  b\n")) == "  A\n  b\nc\n"


@pytest.mark.parametrize(
    ("text", "old", "new", "place"),
    [
        ("total = 1\nreturn total\n", "total = 1\n", "total = 2", "below"),
        ("f()\n    g()\n", "f()\n", "h()", "below"),
        ("import a\nimport b\n", "\nimport b", "import c", "above"),
        ("a:  \n\tb\n\tc\n", "a:\n\tb\n", "a:\n\tB", "below"),
        ("  f()\n}\n}\n", "  f()\n}\n", "  g()\n}", "below"),
        ("f(  \n{\n)\n", "f(\n{\n", "g(\n(", "below"),
        ("(\n)\nf()\n", "\n)\nf()", ")\ng()", "above"),
    ],
)
def test_a_line_break_that_only_the_search_has_joins_no_words(text: str, old: str, new: str, place: str) -> None:
    assert f"the line {place}" in refusal("str_replace", text, replace(old, new), EditErrorKind.MALFORMED)


@pytest.mark.parametrize(
    ("text", "old", "new", "wanted"),
    [
        ("if (a)\n{\n", "\n{", " {", "if (a) {\n"),
        ("a,\nb\n", "a,\n", "a, ", "a, b\n"),
        ("a\nb\n", "a\n", "", "b\n"),
        ("f(\n)\n", "f(\n", "f(", "f()\n"),
        ("a\nb\n", "b\n", "B", "a\nB"),
    ],
)
def test_lines_are_joined_where_that_is_meant(text: str, old: str, new: str, wanted: str) -> None:
    assert after("str_replace", text, replace(old, new)) == wanted


@pytest.mark.parametrize(
    ("line", "sent"),
    [
        ("def f(x):", "def  f(x):"),
        ("x    = 1", "x = 1"),
        ("say('a  b')", "say('a b')"),
        ("f(x)  # why", "f(x) # why"),
        ("x =\u00a01", "x = 1"),
    ],
)
def test_an_unchanged_line_keeps_the_files_spacing(line: str, sent: str) -> None:
    text = f"{line}\nname = 2\n"
    assert after("search_replace", text, block(f"{sent}\nname = 2\n", f"{sent}\nname = 3\n")) == f"{line}\nname = 3\n"
    edit = replace(f"{sent}\nname = 2", f"{sent}\nname = 3")
    assert after("str_replace", text, edit) == f"{line}\nname = 3\n"


def test_a_wide_gap_that_means_nothing_may_be_closed() -> None:
    edit = block("if a:\n    b = 2\n", "if a:\n    b = 3\n")
    assert after("search_replace", "if  a:\n    b = 2\n", edit) == "if a:\n    b = 3\n"


@pytest.mark.parametrize(
    "text",
    [
        "def f():\n    x = g(a)\n    }\n",
        "if (a) {\n    x = g(a)\n}\n",
    ],
)
def test_a_comma_is_added_to_an_item_of_a_list_and_to_nothing_else(text: str) -> None:
    old = next(line for line in text.split("\n") if "x" in line)
    below = text.split("\n")[2]
    edit = update(f"@@\n {text.split(chr(10))[0]}\n {old},\n+    y\n {below}\n")
    refusal("apply_patch", text, edit, EditErrorKind.NOT_FOUND)


def test_a_comma_before_other_changes_is_miscopied() -> None:
    text = "f(\n    a()\n    if b(\n        c,\n    )\n)\n"
    edit = update("@@\n f(\n     a(),\n-    if b(\n-        c,\n+    if d(\n     )\n )\n")
    refusal("apply_patch", text, edit, EditErrorKind.NOT_FOUND)


def test_brackets_at_another_depth_are_other_brackets() -> None:
    text = "f(\n    g(\n        x\n    )\n)\n"
    for format, edit in (
        ("apply_patch", update("@@\n         )\n+        y\n")),
        ("search_replace", block("        )\n", "        y\n        )\n")),
    ):
        refusal(format, text, edit, EditErrorKind.NOT_FOUND)


def test_a_place_where_the_new_lines_would_not_fit_still_makes_two_places() -> None:
    text = "\tdone()\nif a:\n\t\tdone()\n"
    edit = update("@@\n     done()\n+    if b:\n+        again()\n")
    refusal("apply_patch", text, edit, EditErrorKind.AMBIGUOUS)


def test_among_places_apart_from_typography_the_one_indented_alike_is_meant() -> None:
    text = "if a:\n    say('x')\nsay('x')\n"
    assert (
        after("search_replace", text, block("say(\u2018x\u2019)\n", "say('y')\n")) == "if a:\n    say('x')\nsay('y')\n"
    )


def test_new_lines_indented_like_the_file_under_old_ones_that_are_not_are_in_doubt() -> None:
    text = "class A:\n    def f(self):\n        return 1\n"
    for body in (
        "-def f(self):\n-    return 1\n+    def g(self):\n+        return 1\n",
        "-return 1\n+        return 2\n",
    ):
        for format, edit in (("apply_patch", update(f"@@\n{body}")), ("udiff", HEAD + body)):
            assert "indentation" in refusal(format, text, edit, EditErrorKind.NOT_FOUND)


@pytest.mark.parametrize("format", ["search_replace", "apply_patch"])
def test_levels_of_another_width_are_told_by_lines_that_go_deeper(format: str) -> None:
    text = "class A:\n    def f(self):\n        a = 1\n        b = 2\n"
    edit = (
        block("    a = 1\n    b = 2\n", "    if x:\n      a = 1\n    b = 2\n")
        if format == "search_replace"
        else update("@@\n-    a = 1\n+    if x:\n+      a = 1\n     b = 2\n")
    )
    wanted = "class A:\n    def f(self):\n        if x:\n            a = 1\n        b = 2\n"
    assert preview(format, {"f.txt": text}, edit).after == {"f.txt": wanted}


CURLED = 'first("a")\nsecond()\nthird()\n'


@pytest.mark.parametrize(
    ("format", "edit"),
    [
        (
            "search_replace",
            block("second()\n", "second(\u2019b\u2019)\n") + block("first(\u201ca\u201d)\n", "first(\u201cc\u201d)\n"),
        ),
        (
            "apply_patch",
            update("@@\n-first(\u201ca\u201d)\n+first(\u201cc\u201d)\n@@\n-second()\n+second(\u2019b\u2019)\n"),
        ),
        (
            "udiff",
            f"{HEAD}-first(\u201ca\u201d)\n+first(\u201cc\u201d)\n@@ ... @@\n-second()\n+second(\u2019b\u2019)\n",
        ),
        (
            "str_replace",
            '{"path": "f.txt", "edits": [{"old_string": "second()", "new_string": "second(\u2019b\u2019)"}, '
            '{"old_string": "first(\u201ca\u201d)", "new_string": "first(\u201cc\u201d)"}]}',
        ),
    ],
)
def test_what_one_search_shows_of_curly_quotes_holds_for_all_new_text(format: str, edit: str) -> None:
    assert preview(format, {"f.txt": CURLED}, edit).after["f.txt"] == "first(\"c\")\nsecond('b')\nthird()\n"


def test_curly_quotes_of_the_file_itself_stay_curly() -> None:
    text = CURLED + "// it\u2019s\n"
    edit = block("first(\u201ca\u201d)\n", "first(\u201cc\u201d)\n") + block("second()\n", "// that\u2019s\n")
    assert after("search_replace", text, edit) == 'first("c")\n// that\u2019s\nthird()\n// it\u2019s\n'


@pytest.mark.parametrize("format", ["search_replace", "str_replace"])
def test_line_numbers_are_left_out_of_the_new_text_too(format: str) -> None:
    def attempt(new: str) -> str:
        old = "     2\tb\n     3\tc\n"
        edit = block(old, new) if format == "search_replace" else replace(old, new)
        return after(format, "a\nb\nc\nd\n", edit) or ""

    assert attempt("     2\tb\n     4\tC\n") == "a\nb\nC\nd\n"
    assert attempt("     2\tb\nnew\n     3\tc\n") == "a\nb\nnew\nc\nd\n"
    assert attempt("b\nC\n") == "a\nb\nC\nd\n"
    with pytest.raises(EditError):
        attempt("     2\tb\nnew\n     7\tx\n")


def test_an_empty_line_at_the_top_of_a_hunk_picks_no_place_among_others() -> None:
    edit = update("@@\n \n-x\n+X\n")
    refusal("apply_patch", "x\na\nx\n", edit, EditErrorKind.AMBIGUOUS)


def test_a_mistyped_line_that_is_moved_is_taken_from_the_file() -> None:
    text = "one(a)\ntwo(b)\nthree(c)\ninternal(d)\n"
    edit = block("one(a)\ntwo(b)\nthree(c)\nintrnal(d)\n", "intrnal(d)\none(a)\ntwo(b)\nthree(c)\n")
    assert after("search_replace", text, edit) == "internal(d)\none(a)\ntwo(b)\nthree(c)\n"
    bracketed = block("{\none(a)\n}\ntwo(b)\n", "{\none(a)\n{\n}\n}\ntwo(c)\n")
    assert (after("search_replace", "{\none(a)\n},\ntwo(b)\n", bracketed) or "").count(",") == 1


def test_a_line_number_that_fits_another_place_but_for_indentation_is_a_contradiction() -> None:
    text = "x = 1\nif a:\n    x = 1\n"
    message = refusal("udiff", text, "--- f.txt\n+++ f.txt\n@@ -3 +3 @@\n-x = 1\n+x = 2\n", EditErrorKind.AMBIGUOUS)
    assert "at lines 1, 3" in message
    hinted = block("x = 1\n", "x = 2\n", hint=":start_line:3\n-------\n")
    assert "at lines 1, 3" in refusal("search_replace", text, hinted, EditErrorKind.AMBIGUOUS)


def test_a_line_below_that_the_new_text_has_already_is_not_doubled() -> None:
    edit = replace("a\n\tb\n", "A\n\tb\nlast")
    refusal("str_replace", "a  \n\tb\nlast\n", edit, EditErrorKind.NOT_FOUND)


def test_new_text_as_deep_as_the_file_in_other_characters_is_in_doubt() -> None:
    text = "f(\n\t\tif a:\n\t\t\tb()\n\t\tc()\n)\n"
    edit = block("    if a:\n        b()\n    c()\n", "        if a:\n            b()\n        d()\n    c()\n")
    refusal("search_replace", text, edit, EditErrorKind.NOT_FOUND)


def test_empty_lines_alone_are_only_found_as_they_are() -> None:
    refusal("str_replace", "a\n\nb\n", replace("  \n\n", "\n"), EditErrorKind.NOT_FOUND)
    assert after("str_replace", "a\n\n\nb\n", replace("\n\n\n", "\n")) == "a\nb\n"


def test_a_file_that_the_edit_names_rightly_is_not_meant_by_another_name_beside_it() -> None:
    text = "one\ntwo\nthree\nfive\n"
    patched = update("@@\n-five\n+5\n").replace("*** End Patch\n", "")
    patched += "*** Update File: gone.txt\n@@\n one\n-two\n+2\n*** End Patch\n"
    diff = f"{HEAD}-five\n+5\n--- a/gone.txt\n+++ b/gone.txt\n@@ ... @@\n one\n-two\n+2\n"
    for format, edit in (("apply_patch", patched), ("udiff", diff)):
        assert "gone.txt" in refusal(format, text, edit, EditErrorKind.NO_SUCH_FILE)


def test_a_path_in_another_folder_is_another_file() -> None:
    refusal("str_replace", {"a.py": "x"}, replace("x", "y", path="lib/a.py"), EditErrorKind.NO_SUCH_FILE)
    for path, key in (("/srv/app/a.py", "a.py"), ("app/src/a.py", "src/a.py"), ("a.py", "src/a.py")):
        assert preview("str_replace", {key: "x"}, replace("x", "y", path=path)).after == {key: "y"}


def test_a_line_with_two_slips_is_taken_from_the_file_where_it_stays() -> None:
    text = 'say("a", source=1)\nlast()\nmore()\nend()\n'
    old = "say(\u201ca\u201d,  sourec=1)\nlast()\nmore()\nend()\n"
    new = "say(\u201ca\u201d,  sourec=1)\nlast(\u201cb\u201d)\nmore()\nend()\n"
    wanted = text.replace("last()", 'last("b")')
    assert after("search_replace", text, block(old, new)) == wanted
    assert after("str_replace", text, replace(old, new)) == wanted


def test_a_slip_in_a_line_that_stays_is_seen_under_another_indentation() -> None:
    text = "a = f(\n    1\n)\nb = f(\n    2\n)\n"
    sent = "    a = f(\n        1\n    ),\n    b = f(\n        2\n    )\n"
    put = "a = f(\n    3\n),\nb = f(\n    2\n)\n"
    assert after("search_replace", text, block(sent, put)) == text.replace("1", "3")


@pytest.mark.parametrize("format", ["apply_patch", "udiff"])
def test_a_line_that_is_removed_and_added_again_is_the_files_own(format: str) -> None:
    body = "-while  a  == 1:\n-    one()\n+while  a  == 1:\n+    two()\n"
    edit = update(f"@@\n{body}") if format == "apply_patch" else HEAD + body
    assert after(format, "while a == 1:\n    one()\n", edit) == "while a == 1:\n    two()\n"


def test_a_place_among_lines_too_common_to_look_at_all_of_them_is_not_the_only_one() -> None:
    text = "".join(f'    "number{i}": {{\n        "b": 1\n    }}\n' for i in range(80))
    twice = '    "when": "always"\n    }\n'
    edit = block("    'when': 'always'\n    }\n", '    "when": "never"\n    }\n')
    refusal("search_replace", twice + text + twice, edit, EditErrorKind.NOT_FOUND)


def test_a_line_number_and_a_heading_that_name_different_places_decide_nothing() -> None:
    text = "def f():\n    go()\n\ndef g():\n    go()\n\ndef h():\n    go()\n"

    def edit(line: int, heading: str) -> str:
        return f"--- f.txt\n+++ f.txt\n@@ -{line} +{line} @@ def {heading}():\n-    go()\n+    stop()\n"

    assert after("udiff", text, edit(5, "g")) == text.replace("g():\n    go", "g():\n    stop")
    assert after("udiff", text, edit(99, "g")) == text.replace("g():\n    go", "g():\n    stop")
    assert after("udiff", text, edit(5, "gone")) == text.replace("g():\n    go", "g():\n    stop")
    assert "at lines 2, 5, 8" in refusal("udiff", text, edit(8, "g"), EditErrorKind.AMBIGUOUS)


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_an_empty_line_too_many_among_typographic_characters_is_no_half_of_a_line_ending(newline: str) -> None:
    text = "caf\u00e9\na\nb\nc\n".replace("\n", newline)
    assert after("str_replace", text, replace("a\n\nb\n", "a\nB\n")) == text.replace("b", "B")
    curly = "it\u2019s\na\n".replace("\n", newline)
    assert after("str_replace", curly, replace("it's\na", "its\na")) == curly.replace("\u2019", "")
