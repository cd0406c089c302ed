"""``str_replace``: the ladder rung by rung, literal insertion, line endings, and what its refusals teach."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatls_core.edits import EditError, EditErrorKind, Rung, preview

from .helpers import after, plan_of, refusal, replace

CODE = "def run(a):\n    total = a\n    return total\n"


def test_one_place_is_replaced() -> None:
    plan = plan_of("str_replace", CODE, replace("total = a", "total = a + 1"))
    assert plan.after == {"f.txt": "def run(a):\n    total = a + 1\n    return total\n"}
    assert plan.rung is Rung.EXACT
    assert plan.notes == ()


def test_two_places_are_refused_with_their_lines() -> None:
    message = refusal("str_replace", "x\ny\nx\n", replace("x", "z"), EditErrorKind.AMBIGUOUS)
    assert "2 times" in message
    assert "lines 1, 3" in message
    assert "replace_all" in message


def test_overlapping_places_count_as_two() -> None:
    refusal("str_replace", "aaa", replace("aa", "b"), EditErrorKind.AMBIGUOUS)


def test_all_places_are_replaced_when_asked() -> None:
    plan = plan_of("str_replace", "x\ny x\n", replace("x", "zz", replace_all=True))
    assert plan.after == {"f.txt": "zz\ny zz\n"}
    assert [place.line for place in plan.reports[0].places] == [1, 2]


@pytest.mark.parametrize("new", ["$& $1 $$", r"\1 \g<0> \n", "%s {0} {{", "a\\"])
def test_the_new_text_is_inserted_literally(new: str) -> None:
    assert after("str_replace", "a old b", replace("old", new)) == f"a {new} b"


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_line_endings_of_the_file_are_kept(newline: str) -> None:
    text = newline.join(["one", "two", "three", ""])
    assert after("str_replace", text, replace("two\nthree", "2\n3\n4")) == newline.join(["one", "2", "3", "4", ""])


def test_a_single_line_search_still_inserts_the_files_line_endings() -> None:
    assert after("str_replace", "a\r\nb\r\n", replace("b", "b\nc")) == "a\r\nb\r\nc\r\n"


def test_lines_that_stay_keep_their_own_ending_in_a_mixed_file() -> None:
    text = "a\r\nb\nc\r\nd\r\n"
    assert after("str_replace", text, replace("b\nc", "b\nnew\nc")) == "a\r\nb\nnew\r\nc\r\nd\r\n"


def test_line_endings_in_the_search_are_taken_literally() -> None:
    assert after("str_replace", "a\r\nb\n", replace("a\r\nb", "a\nb")) == "a\nb\n"


def test_blanks_at_line_ends_are_overlooked() -> None:
    plan = plan_of("str_replace", "one  \ntwo\n", replace("one\ntwo", "1\n2"))
    assert (plan.after["f.txt"], plan.rung) == ("1\n2\n", Rung.TRAILING_BLANKS)


def test_an_unchanged_line_keeps_the_blanks_at_its_end() -> None:
    assert after("str_replace", "text  \nold\n", replace("text\nold", "text\nnew")) == "text  \nnew\n"


def test_a_uniform_indentation_is_carried_over_to_the_new_text() -> None:
    text = "class A:\n    def f(self):\n        return 1\n"
    edit = replace("def f(self):\n    return 1", "def f(self):\n    if x:\n        return 2\n\n    return 1")
    plan = plan_of("str_replace", text, edit)
    assert plan.after["f.txt"] == (
        "class A:\n    def f(self):\n        if x:\n            return 2\n\n        return 1\n"
    )
    assert plan.rung is Rung.INDENTATION
    assert plan.notes == ("f.txt:2: matched apart from a uniform indentation.",)


def test_spaces_for_tabs_are_carried_over_level_by_level() -> None:
    text = "\tif a {\n\t\tb()\n\t}\n"
    edit = replace("if a {\n    b()\n}", "if a {\n    for {\n        b()\n    }\n}")
    assert after("str_replace", text, edit) == "\tif a {\n\t\tfor {\n\t\t\tb()\n\t\t}\n\t}\n"


def test_a_new_text_in_the_files_indentation_is_not_indented_twice() -> None:
    assert after("str_replace", "x\n\n    old()\n    end()\n", replace("old()\nend()", "    new()\n    end()")) == (
        "x\n\n    new()\n    end()\n"
    )


def test_a_new_text_in_neither_indentation_is_refused() -> None:
    message = refusal(
        "str_replace", "    old()\n    end()\n", replace("old()\nend()", "  new()\n  end()"), EditErrorKind.NOT_FOUND
    )
    assert "indented like neither" in message


def test_an_indentation_that_is_not_uniform_is_refused_where_it_means_something() -> None:
    text = "if a:\n  b()\n    # c\n"
    with pytest.raises(EditError):
        preview("str_replace", {"f.py": text}, replace("if a:\nb()\n# c", "if a:\nd()\n# c", path="f.py"))


def test_an_indentation_that_is_not_uniform_is_harmless_in_a_language_with_braces() -> None:
    plan = preview("str_replace", {"f.js": "  \ta();\n\tb();\n"}, replace("a();\nb();", "c();\nd();", path="f.js"))
    assert plan.after == {"f.js": "c();\nd();\n"}
    assert "no uniform way" in plan.notes[0]


def test_typographic_characters_are_overlooked_and_kept_where_nothing_changes() -> None:
    text = "say \u201chello\u201d \u2014 now\nend\n"
    plan = plan_of("str_replace", text, replace('say "hello" - now\nend', 'say "hello" - now\nstop'))
    assert (plan.after["f.txt"], plan.rung) == ("say \u201chello\u201d \u2014 now\nstop\n", Rung.TYPOGRAPHY)
    assert after("str_replace", "a\u00a0b \u2018c\u2019\n", replace("'c'", "'d'")) == "a\u00a0b 'd'\n"


def test_typographic_characters_the_model_made_of_plain_ones_are_not_written() -> None:
    edit = replace("say(\u2018a\u2019)\nend()", "say(\u2018a\u2019)\nsay(\u2018b\u2019)\nend()")
    assert after("str_replace", "say('a')\nend()\n", edit) == "say('a')\nsay('b')\nend()\n"
    part = replace("(\u2018a\u2019)\nend", "(\u2018c\u2019)\nend")
    assert after("str_replace", "say('a')\nend()\n", part) == "say('c')\nend()\n"


def test_lines_shared_with_the_search_tell_how_the_new_text_is_indented() -> None:
    text = "    def f(self):\n        a()\n        b()\n"
    edit = replace("def f(self):\n    a()\n    b()", "    a()\n    b()")
    assert after("str_replace", text, edit) == "        a()\n        b()\n"


def test_empty_lines_are_overlooked() -> None:
    plan = plan_of("str_replace", "a\n\n\nb\nc\n", replace("a\n\nb\nc", "a\n\nb\nd"))
    assert (plan.after["f.txt"], plan.rung) == ("a\n\nb\nd\n", Rung.BLANK_LINES)


def test_one_mistyped_line_among_right_ones_is_overlooked_and_not_written() -> None:
    text = 'const message = "hi";\nlog(message);\nend();\n'
    edit = replace('const mesage = "hi";\nlog(message);', 'const mesage = "hi";\nlog(message, 1);')
    plan = plan_of("str_replace", text, edit)
    assert (plan.after["f.txt"], plan.rung) == ('const message = "hi";\nlog(message, 1);\nend();\n', Rung.SIMILAR)


@pytest.mark.parametrize(
    ("text", "old"),
    [
        ("The price is $100.", "The price is $50."),
        ("a = 1\nb = 2\nc = 3\n", "a = 1\nb = 7\nc = 3"),
        ("if (!done) {\n  go();\n}\n", "if (done) {\n  go();\n}"),
        ("start\nmiddle\nend\n", "start\nanything else\nend"),
        ("Hello World", "hello world"),
        ("x = foo(a)\ny = foo(b)\n", "x = foo(b)\ny = foo(a)"),
    ],
)
def test_another_text_is_never_taken_for_the_one_searched(text: str, old: str) -> None:
    refusal("str_replace", text, replace(old, "new"), EditErrorKind.NOT_FOUND)


def test_tolerant_places_must_be_the_only_one_too() -> None:
    text = "  f()\n  g()\n\n    f()\n    g()\n"
    message = refusal("str_replace", text, replace("f()\ng()\n", "h()\n"), EditErrorKind.AMBIGUOUS)
    assert "lines 1, 4" in message


def test_several_edits_are_made_in_turn_all_or_none() -> None:
    edits = [{"old_string": "a", "new_string": "b"}, {"old_string": "b", "new_string": "c"}]
    assert after("str_replace", "a\n", json.dumps({"path": "f.txt", "edits": edits})) == "c\n"
    edits.append({"old_string": "gone", "new_string": "d"})
    refusal("str_replace", "a\n", json.dumps({"path": "f.txt", "edits": edits}), EditErrorKind.NOT_FOUND)


def test_an_empty_search_creates_a_file_or_fills_an_empty_one() -> None:
    assert preview("str_replace", {}, replace("", "new\n", path="a/b.txt")).after == {"a/b.txt": "new\n"}
    assert after("str_replace", "", replace("", "new\n")) == "new\n"
    message = refusal("str_replace", "text\n", replace("", "new\n"), EditErrorKind.EMPTY_SEARCH)
    assert "write_file" in message


def test_creating_a_file_does_not_touch_one_with_the_same_name_elsewhere() -> None:
    plan = preview("str_replace", {"lib/a.py": "text"}, replace("", "new", path="a.py"))
    assert plan.after == {"a.py": "new"}


def test_the_same_text_twice_is_refused() -> None:
    assert "would not change" in refusal("str_replace", "a\n", replace("a", "a"), EditErrorKind.NO_CHANGE)


def test_a_missing_file_names_the_ones_like_it() -> None:
    message = refusal(
        "str_replace", {"src/server.py": "x"}, replace("x", "y", path="src/servre.py"), EditErrorKind.NO_SUCH_FILE
    )
    assert "src/server.py" in message


@pytest.mark.parametrize("path", ["./src/a.py", "src\\a.py", "/home/me/project/src/a.py", "a.py"])
def test_a_path_in_another_spelling_finds_its_file(path: str) -> None:
    assert preview("str_replace", {"src/a.py": "x"}, replace("x", "y", path=path)).after == {"src/a.py": "y"}


def test_a_short_path_that_fits_two_files_is_refused() -> None:
    refusal("str_replace", {"a/x.py": "x", "b/x.py": "x"}, replace("x", "y", path="x.py"), EditErrorKind.NO_SUCH_FILE)


@pytest.mark.parametrize(
    "edit",
    ["", "nonsense", "[]", "{}", "[[[", '{"path": "f.txt"}', '{"path": 1, "old_string": "a", "new_string": "b"}'],
)
def test_a_malformed_edit_shows_the_right_form(edit: str) -> None:
    assert '"old_string"' in refusal("str_replace", "a", edit, EditErrorKind.MALFORMED)


def test_a_text_not_found_shows_the_nearest_with_line_numbers() -> None:
    message = refusal("str_replace", CODE, replace("    total = b\n    return total", "x"), EditErrorKind.NOT_FOUND)
    assert "     2\t    total = a" in message
    assert "     3\t    return total" in message


def test_an_edit_made_before_says_so() -> None:
    message = refusal("str_replace", "new()\n", replace("old()", "new()"), EditErrorKind.NOT_FOUND)
    assert "made before" in message


def test_line_numbers_copied_from_the_read_tool_are_left_out_where_they_are_right() -> None:
    text = "a\nb\nc\n"
    assert after("str_replace", text, replace("     2\tb\n     3\tc", "B\nC")) == "a\nB\nC\n"
    message = refusal("str_replace", text, replace("     7\tb\n     8\tc", "B\nC"), EditErrorKind.NOT_FOUND)
    assert "line numbers" in message


def test_a_placeholder_for_left_out_text_is_refused() -> None:
    edit = replace("    total = a", "    total = a\n    # ... rest of the code ...")
    assert "placeholder" in refusal("str_replace", CODE, edit, EditErrorKind.PLACEHOLDER)
    text = "a\n# ... rest of the code ...\n"
    assert after("str_replace", text, replace(text, "b\n# ... rest of the code ...\n")) is not None


def test_a_byte_order_mark_stays_in_front_of_the_first_line() -> None:
    assert after("str_replace", "\ufeffone\ntwo\n", replace("one\ntwo\n", "1\n")) == "\ufeff1\n"


line = st.text(st.sampled_from("ab {}\t"), max_size=5)


@settings(max_examples=200, deadline=None)
@given(st.lists(line, max_size=10), st.sampled_from(["\n", "\r\n", "\r"]), st.data())
def test_a_piece_of_the_file_is_replaced_where_it_stands_or_refused(
    rows: list[str], newline: str, data: st.DataObject
) -> None:
    text = "\n".join(rows)
    start = data.draw(st.integers(0, len(text)))
    stop = data.draw(st.integers(start, len(text)))
    new = data.draw(line.map(lambda s: s + "Z"))
    try:
        result = after("str_replace", text.replace("\n", newline), replace(text[start:stop], new))
    except EditError as error:
        assert error.kind in (EditErrorKind.AMBIGUOUS, EditErrorKind.EMPTY_SEARCH, EditErrorKind.MALFORMED)
    else:
        assert result == (text[:start] + new + text[stop:]).replace("\n", newline)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(0, 3), min_size=2, max_size=8), st.sampled_from(["    ", "\t", "  "]), st.data())
def test_a_search_without_the_common_indentation_is_carried_to_its_place(
    depths: list[int], unit: str, data: st.DataObject
) -> None:
    kept = [unit * (depth + 1) + f"row {i}" for i, depth in enumerate(depths)]
    low = data.draw(st.integers(0, len(kept) - 2))
    high = data.draw(st.integers(low + 2, len(kept)))
    sent = "\n".join(row.removeprefix(unit) for row in kept[low:high])
    first = kept[low].removeprefix(unit).removesuffix(f"row {low}")
    result = after("str_replace", "\n".join(kept), replace(sent, f"{first}NEW\n{sent}"))
    assert result == "\n".join([*kept[:low], f"{unit}{first}NEW", *kept[low:]])


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        ("import a\n\nx = 1\n", " a\n\nx = 1", "import a\n\nx = 2"),
        ("    return compute(1)\n    # done @public\n", "compute(1)\n    # done @", "compute(2)\n    # done @public"),
    ],
)
def test_a_word_lost_at_the_edge_of_a_search_is_not_put_twice(text: str, old: str, new: str) -> None:
    assert "twice" in refusal("str_replace", text, replace(old, new), EditErrorKind.NOT_FOUND)


@pytest.mark.parametrize(
    ("text", "old", "new", "wanted"),
    [
        ("total = add(a,\n  b)\n", "a,\n  b", "f(a),\n  g(b)", "total = add(f(a),\n  g(b))\n"),
        ("value = one\n", "one", "value or one", "value = value or one\n"),
        ("import a\nimport b\n", " a\nimport b", " c\nimport d", "import c\nimport d\n"),
    ],
)
def test_a_search_inside_lines_is_put_as_it_is(text: str, old: str, new: str, wanted: str) -> None:
    assert after("str_replace", text, replace(old, new)) == wanted


def test_unchanged_blank_lines_keep_their_blanks_when_a_block_is_indented_anew() -> None:
    text = "class M:\n    a = 1\n    \n    b = 2\n"
    edit = replace(
        "    class M:\n        a = 1\n    \n        b = 2", "    class M:\n        a = 9\n    \n        b = 2"
    )
    assert after("str_replace", text, edit) == text.replace("a = 1", "a = 9")
