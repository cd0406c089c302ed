"""``write``: whole files, their line endings, and placeholders that would erase code."""

from __future__ import annotations

import json

import pytest

from chatls_core.edits import EditErrorKind, preview

from .helpers import after, refusal


def write(content: str, path: str = "f.txt") -> str:
    return json.dumps({"path": path, "content": content})


@pytest.mark.parametrize("content", ["", "text", "text\n", "a\n\n"])
def test_a_new_file_holds_what_was_sent(content: str) -> None:
    assert preview("write", {}, write(content)).after == {"f.txt": content}


def test_an_existing_file_keeps_its_line_endings_and_its_mark() -> None:
    assert after("write", "\ufeffa\r\nb\r\n", write("a\nc\n")) == "\ufeffa\r\nc\r\n"


def test_a_file_of_the_same_name_elsewhere_is_not_touched() -> None:
    assert preview("write", {"lib/f.txt": "x"}, write("new")).after == {"f.txt": "new"}


@pytest.mark.parametrize(
    "line",
    [
        "# ... rest of the code ...",
        "// rest of the function remains the same",
        "/* existing code here */",
        "<!-- ... remaining content unchanged ... -->",
        "    # ... existing imports ...",
        "... the rest of the file ...",
        "// [rest of the code unchanged]",
        "-- remaining methods stay as they are",
    ],
)
def test_a_placeholder_is_refused(line: str) -> None:
    message = refusal("write", "a\nb\n", write(f"a\n{line}\n"), EditErrorKind.PLACEHOLDER)
    assert line.strip() in message


@pytest.mark.parametrize(
    "line",
    [
        "# The rest of the code is licensed under MIT by its authors",
        "return rest of the world",
        "// keep existing connections open until the queue is empty",
        "...",
        "def rest(self): ...",
        "# existing users are migrated first",
        "other = code",
    ],
)
def test_ordinary_lines_are_no_placeholders(line: str) -> None:
    assert after("write", "a\n", write(f"a\n{line}\n")) == f"a\n{line}\n"


def test_a_placeholder_the_file_has_already_is_text() -> None:
    text = "a\n# ... rest of the code ...\n"
    assert after("write", text, write("b\n# ... rest of the code ...\n")) == "b\n# ... rest of the code ...\n"


@pytest.mark.parametrize("edit", ["", "{", "[]", '{"path": "f"}', '{"path": "", "content": "x"}', '{"content": "x"}'])
def test_a_malformed_write_shows_the_right_form(edit: str) -> None:
    assert '"content"' in refusal("write", "a", edit, EditErrorKind.MALFORMED)
