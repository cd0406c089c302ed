"""The formats as tools for a model, and the format each model family gets."""

from __future__ import annotations

import json

import pytest

from chatls_core.edits import FORMATS, EditError, edit_tool_schema, format_for_model, preview

from .helpers import block, update


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_is_a_tool_with_a_schema(format: str) -> None:
    name, description, schema = edit_tool_schema(format)
    assert name.isidentifier()
    assert len(description) > 80
    assert set(schema["required"]) <= set(schema["properties"])
    json.dumps(schema)


def test_tool_names_differ() -> None:
    assert len({edit_tool_schema(format)[0] for format in FORMATS}) == len(FORMATS)


def test_an_unknown_format_names_the_known_ones() -> None:
    with pytest.raises(EditError, match="apply_patch"):
        edit_tool_schema("ed")
    with pytest.raises(EditError, match="str_replace"):
        preview("ed", {}, "")


@pytest.mark.parametrize(
    ("format", "arguments"),
    [
        ("str_replace", {"path": "f.txt", "edits": [{"old_string": "a", "new_string": "b"}]}),
        ("write", {"path": "f.txt", "content": "b\n"}),
        ("apply_patch", {"edit": update("@@\n-a\n+b\n")}),
        ("search_replace", {"edit": block("a\n", "b\n")}),
        ("udiff", {"edit": "--- f.txt\n+++ f.txt\n@@ @@\n-a\n+b\n"}),
    ],
)
def test_arguments_as_the_schema_asks_for_them_are_an_edit(format: str, arguments: dict[str, object]) -> None:
    edit = arguments["edit"] if "edit" in arguments else json.dumps(arguments)
    assert preview(format, {"f.txt": "a\n"}, str(edit)).after == {"f.txt": "b\n"}


@pytest.mark.parametrize(
    ("model", "format"),
    [
        ("claude-sonnet-4-5", "str_replace"),
        ("anthropic/claude-opus-4", "str_replace"),
        ("gpt-5.2-codex", "apply_patch"),
        ("gpt-4.1-mini", "apply_patch"),
        ("openai/o3", "apply_patch"),
        ("o4-mini", "apply_patch"),
        ("gpt-oss:20b", "apply_patch"),
        ("gpt-4o", "search_replace"),
        ("gemini-2.5-pro", "str_replace"),
        ("qwen3-coder:30b", "str_replace"),
        ("something-new", "str_replace"),
    ],
)
def test_the_format_follows_the_model_family(model: str, format: str) -> None:
    assert format_for_model(model) == format
