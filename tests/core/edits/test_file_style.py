"""New files follow ``.editorconfig`` and ``.gitattributes``; texts keep or take line endings as asked."""

from __future__ import annotations

import pytest

from chatls_core.edits import FileStyle, dominant_newline, new_file_style, with_newlines


def test_nothing_said_means_lf_and_utf_8() -> None:
    assert new_file_style("a/b.py") == FileStyle("\n", "utf-8", False, None)


def test_editorconfig_decides_newline_charset_and_final_newline() -> None:
    text = "root = true\n[*]\nend_of_line = crlf\n[*.{md,txt}]\ncharset = utf-8-bom\ninsert_final_newline = true\n"
    assert new_file_style("doc/x.md", {"": text}) == FileStyle("\r\n", "utf-8", True, True)
    assert new_file_style("doc/x.py", {"": text}) == FileStyle("\r\n", "utf-8", False, None)


def test_a_nearer_editorconfig_outranks_a_farther_one_up_to_the_root() -> None:
    far, near = "[*]\nend_of_line = crlf\ncharset = latin1\n", "[*.py]\nend_of_line = lf\n"
    assert new_file_style("a/x.py", {"": far, "a": near}) == FileStyle("\n", "latin-1", False, None)
    assert new_file_style("a/x.py", {"": far, "a": "root = true\n" + near}).encoding == "utf-8"
    assert new_file_style("b/x.py", {"": far, "a": near}).newline == "\r\n"


def test_gitattributes_decide_where_editorconfig_is_silent() -> None:
    attributes = "* text=auto\n*.bat text eol=crlf\n*.sh text eol=lf\nkeep.bat -text\n"
    assert new_file_style("x/run.bat", gitattributes={"": attributes}).newline == "\r\n"
    assert new_file_style("keep.bat", gitattributes={"": attributes}).newline == "\n"
    assert new_file_style("run.bat", {"": "[*]\nend_of_line = lf\n"}, {"": attributes}).newline == "\n"
    assert new_file_style("x/run.sh", gitattributes={"": "* eol=crlf\n", "x": "*.sh eol=lf\n"}).newline == "\n"


def test_what_nobody_says_comes_from_the_default() -> None:
    default = FileStyle("\r\n", "utf-16-le", True, False)
    assert new_file_style("a", {"": "[*]\ncharset = utf-8\n"}, default=default) == FileStyle(
        "\r\n", "utf-8", False, False
    )


def test_a_broken_editorconfig_is_skipped_and_said(caplog: pytest.LogCaptureFixture) -> None:
    assert new_file_style("a.py", {"": "[*]\nnonsense\nend_of_line = crlf\n"}) == FileStyle()
    assert "skipped .editorconfig" in caplog.text


@pytest.mark.parametrize(
    ("style", "text", "wanted"),
    [
        (FileStyle("\r\n"), "a\nb", "a\r\nb"),
        (FileStyle("\n", final_newline=True), "a", "a\n"),
        (FileStyle("\n", final_newline=True), "", ""),
        (FileStyle("\r\n", final_newline=False), "a\n\n", "a"),
    ],
)
def test_a_style_is_applied_to_a_text(style: FileStyle, text: str, wanted: str) -> None:
    assert style.apply(text) == wanted


def test_the_dominant_line_ending_is_the_most_frequent_then_the_first() -> None:
    assert dominant_newline("a\r\nb\nc\nd") == "\n"
    assert dominant_newline("a\r\nb\n") == "\r\n"
    assert dominant_newline("a\rb\r") == "\r"
    assert dominant_newline("a", "\r\n") == "\r\n"
    assert with_newlines("a\r\nb\rc\n", "\r\n") == "a\r\nb\r\nc\r\n"
