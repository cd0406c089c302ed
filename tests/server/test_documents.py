"""The document store against a naive model: any edits, any line ends, any encoding."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatls_server.lsp.documents import Documents
from chatls_server.lsp.lines import split_lines, to_column, to_units
from chatls_server.lsp.protocol.base import BadParams

URI = "file:///w/a.txt"
PIECES = ["a", "b", "é", "😀", "\n", "\r\n", "\r", "\f", "\u2028", "\t", "\x85", " "]
texts = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)
encodings = st.sampled_from(["utf-8", "utf-16", "utf-32"])
places = st.tuples(st.integers(-1, 12), st.integers(-1, 12))


def naive_lines(text: str) -> list[str]:
    """Lines by the letter of the specification."""
    return [*re.findall(r"[^\r\n]*(?:\r\n|\r|\n)", text), re.split(r"\r\n|\r|\n", text)[-1]]


def naive_offset(text: str, place: tuple[int, int], encoding: str) -> int:
    lines = naive_lines(text)
    line, units = place
    if line < 0:
        return 0
    if line >= len(lines):
        return len(text)
    content = lines[line].rstrip("\r\n")
    codec = {"utf-8": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}[encoding]
    width = {"utf-8": 1, "utf-16": 2, "utf-32": 4}[encoding]
    column = 0
    for end in range(len(content) + 1):
        if len(content[:end].encode(codec)) // width <= max(units, 0):
            column = end
    return sum(map(len, lines[:line])) + column


def opened(text: str, encoding: str = "utf-16") -> Documents:
    documents = Documents()
    documents.encoding = encoding  # type: ignore[assignment]  # the strategy's strings are the literals
    documents.did_open({"textDocument": {"uri": URI, "languageId": "plaintext", "version": 1, "text": text}})
    return documents


def change(start: tuple[int, int], end: tuple[int, int], text: str) -> dict[str, object]:
    return {
        "range": {
            "start": {"line": start[0], "character": start[1]},
            "end": {"line": end[0], "character": end[1]},
        },
        "text": text,
    }


def text_of(documents: Documents, uri: str = URI) -> str:
    document = documents.get(uri)
    assert document is not None
    return document.text


@given(texts)
def test_lines_end_at_three_line_ends_only(text: str) -> None:
    assert split_lines(text) == naive_lines(text)


@settings(max_examples=300)
@given(texts, st.lists(st.tuples(places, places, texts), max_size=6), encodings)
def test_any_sequence_of_edits_gives_the_text_a_naive_editor_has(
    text: str, edits: list[tuple[tuple[int, int], tuple[int, int], str]], encoding: str
) -> None:
    documents = opened(text, encoding)
    expected = text
    for start, end, new in edits:
        low, high = min(start, end), max(start, end)
        first, last = naive_offset(expected, low, encoding), naive_offset(expected, high, encoding)
        expected = expected[:first] + new + expected[max(first, last) :]
    documents.did_change(
        {
            "textDocument": {"uri": URI, "version": 2},
            "contentChanges": [change(start, end, new) for start, end, new in edits],
        }
    )
    document = documents.get(URI)
    assert document is not None
    assert document.text == expected
    assert list(document.lines) == naive_lines(expected)


@given(st.text(st.sampled_from("aé€😀")), st.integers(0, 20), encodings)
def test_columns_and_units_agree(line: str, column: int, encoding: str) -> None:
    units = to_units(line, column, encoding)  # type: ignore[arg-type]
    assert to_column(line, units, encoding) == min(column, len(line))  # type: ignore[arg-type]


def test_a_position_past_the_end_of_the_last_line_is_its_end() -> None:
    documents = opened("ab\ncd")
    documents.did_change(
        {"textDocument": {"uri": URI, "version": 2}, "contentChanges": [change((1, 99), (1, 99), "!")]}
    )
    assert text_of(documents) == "ab\ncd!"


def test_a_form_feed_and_a_line_separator_are_no_line_ends() -> None:
    documents = opened("one\ftwo\u2028three\nfour")
    documents.did_change({"textDocument": {"uri": URI, "version": 2}, "contentChanges": [change((1, 0), (1, 4), "4")]})
    assert text_of(documents) == "one\ftwo\u2028three\n4"


@pytest.mark.parametrize(
    "spelling",
    ["file:///w/a%2Etxt", "file:///w/%61.txt", "file://localhost/w/a.txt", "file:///w/a.txt#L3"],
)
def test_spellings_of_one_uri_are_one_document(spelling: str) -> None:
    documents = opened("x")
    assert text_of(documents, spelling) == "x"


def test_drive_letters_and_their_colons_are_one_document() -> None:
    documents = Documents()
    documents.did_open(
        {"textDocument": {"uri": "file:///c%3A/p/a.txt", "languageId": "plaintext", "version": 1, "text": "x"}}
    )
    assert text_of(documents, "file:///C:/p/a.txt") == "x"


def test_what_is_open_is_dirty_until_it_is_known_to_be_on_disk() -> None:
    documents = opened("x")
    document = documents.get(URI)
    assert document is not None
    assert document.dirty
    documents.did_save({"textDocument": {"uri": URI}})
    assert not document.dirty
    documents.did_change({"textDocument": {"uri": URI, "version": 2}, "contentChanges": [change((0, 0), (0, 0), "y")]})
    assert document.dirty
    documents.did_change({"textDocument": {"uri": URI, "version": 3}, "contentChanges": [change((0, 0), (0, 1), "")]})
    assert not document.dirty


def test_notebook_cells_are_documents_that_come_change_and_go() -> None:
    documents = Documents()
    cells = [
        {"uri": f"vscode-notebook-cell:/n.ipynb#{i}", "languageId": "python", "version": 1, "text": f"c{i}"}
        for i in range(2)
    ]
    documents.did_open_notebook(
        {
            "notebookDocument": {
                "uri": "file:///n.ipynb",
                "notebookType": "jupyter-notebook",
                "version": 1,
                "cells": [{"kind": 2, "document": cell["uri"]} for cell in cells],
            },
            "cellTextDocuments": cells,
        }
    )
    fresh = {"uri": "vscode-notebook-cell:/n.ipynb#9", "languageId": "python", "version": 1, "text": "new"}
    documents.did_change_notebook(
        {
            "notebookDocument": {"uri": "file:///n.ipynb", "version": 2},
            "change": {
                "cells": {
                    "structure": {
                        "array": {"start": 0, "deleteCount": 1, "cells": [{"kind": 2, "document": fresh["uri"]}]},
                        "didOpen": [fresh],
                        "didClose": [{"uri": cells[0]["uri"]}],
                    },
                    "textContent": [
                        {
                            "document": {"uri": cells[1]["uri"], "version": 2},
                            "changes": [change((0, 0), (0, 1), "C")],
                        }
                    ],
                }
            },
        }
    )
    assert documents.get(str(cells[0]["uri"])) is None
    assert text_of(documents, str(cells[1]["uri"])) == "C1"
    assert text_of(documents, str(fresh["uri"])) == "new"
    documents.did_close_notebook(
        {"notebookDocument": {"uri": "file:///n.ipynb"}, "cellTextDocuments": [fresh, cells[1]]}
    )
    assert list(documents) == []


def test_malformed_changes_are_named() -> None:
    documents = opened("x")
    with pytest.raises(BadParams, match="contentChanges"):
        documents.did_change({"textDocument": {"uri": URI, "version": 2}})
    with pytest.raises(BadParams, match=r"range\.start"):
        documents.did_change(
            {
                "textDocument": {"uri": URI, "version": 2},
                "contentChanges": [{"range": {"start": {"line": "1"}, "end": {}}, "text": ""}],
            }
        )
