"""The edit formats as tools for a model, and which family of models edits best in which."""

from __future__ import annotations

import re
from typing import Any

from chatls_core.edits.errors import EditError, EditErrorKind

_PATH = {"type": "string", "description": "Path of the file, relative to the workspace folder."}

_STR_REPLACE = (
    "edit_file",
    "Replace text in one file. old_string must be the text as it stands in the file, with its indentation and without "
    "line numbers, and must stand there once: take enough lines around the change to make it the only place, or set "
    "replace_all. An empty old_string creates a new file or fills an empty one. Several changes of the file go into "
    "edits; they are made in turn, all or none.",
    {
        "type": "object",
        "properties": {
            "path": _PATH,
            "old_string": {"type": "string", "description": "The text to replace, exactly as it stands in the file."},
            "new_string": {"type": "string", "description": "The text to put there, in full."},
            "replace_all": {"type": "boolean", "description": "Replace every place where old_string stands."},
            "edits": {
                "type": "array",
                "description": "Several replacements in this file, instead of old_string and new_string.",
                "items": {
                    "type": "object",
                    "properties": {
                        "old_string": {"type": "string"},
                        "new_string": {"type": "string"},
                        "replace_all": {"type": "boolean"},
                    },
                    "required": ["old_string", "new_string"],
                },
            },
        },
        "required": ["path"],
    },
)

_WRITE = (
    "write_file",
    "Create a file, or replace all of an existing one. content is the whole text; nothing may be left out. To change a "
    "part of a file, edit it instead.",
    {
        "type": "object",
        "properties": {"path": _PATH, "content": {"type": "string", "description": "The whole text of the file."}},
        "required": ["path", "content"],
    },
)


def _one_text(description: str) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"edit": {"type": "string", "description": description}},
        "required": ["edit"],
    }


_APPLY_PATCH = (
    "apply_patch",
    "Change, add, move and delete files with one patch; all of it is applied or nothing.\n"
    "*** Begin Patch\n*** Update File: src/app.py\n*** Move to: src/main.py\n@@ def run():\n     context line\n"
    "-    removed line\n+    added line\n     context line\n*** Add File: src/new.py\n+first line\n"
    "*** Delete File: src/old.py\n*** End Patch\n"
    "Every line of a hunk begins with a blank (context), - or +. Give three lines of context above and below; where "
    "they stand at more than one place, name the class or function after @@. *** Move to: is optional.",
    _one_text("The patch, from *** Begin Patch to *** End Patch."),
)

_SEARCH_REPLACE = (
    "search_replace",
    "Replace blocks of lines. Each block has the file's path on the line above it:\n"
    "src/app.py\n<<<<<<< SEARCH\nlines as they stand in the file\n=======\nlines to put there\n>>>>>>> REPLACE\n"
    "SEARCH must stand in the file once; ':start_line:12' and '-------' right below the SEARCH marker tell equal "
    "places apart. An empty SEARCH creates a file. A line of text that looks like a marker gets a backslash before it.",
    _one_text("The blocks."),
)

_UDIFF = (
    "apply_diff",
    "Apply a unified diff of one or several files; all of it or nothing. Context and removed lines must be the file's "
    "own; line numbers may be left out (@@ ... @@). /dev/null as old or new file adds or deletes one.",
    _one_text("The diff, with --- and +++ lines for each file."),
)

_TOOLS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "str_replace": _STR_REPLACE,
    "search_replace": _SEARCH_REPLACE,
    "udiff": _UDIFF,
    "apply_patch": _APPLY_PATCH,
    "write": _WRITE,
}

# Model families by the format they were trained to edit in; the first that matches decides (docs/edits.md).
_FAMILIES: tuple[tuple[str, str], ...] = (
    (r"codex|gpt-(?:4\.1|[5-9])|(?:^|[/:])o[134](?:$|[-.])|gpt-oss", "apply_patch"),
    (
        r"claude|gemini|gemma|grok|kimi|glm|minimax|qwen|deepseek|mistral|devstral|codestral|magistral|llama",
        "str_replace",
    ),
    (r"gpt-4|gpt-3|chatgpt", "search_replace"),
)
_DEFAULT = "str_replace"


def edit_tool_schema(format: str) -> tuple[str, str, dict[str, Any]]:
    """A format as a tool: its name, its description for the model, and the JSON schema of its arguments.

    ``str_replace`` and ``write`` take their arguments as they are (as JSON, they are the edit); the others take one
    argument, ``edit``, which is the edit. Raises :class:`EditError` for an unknown format.
    """
    try:
        return _TOOLS[format]
    except KeyError:
        raise EditError(
            EditErrorKind.UNSUPPORTED, f"There is no edit format {format!r}: use one of {', '.join(_TOOLS)}."
        ) from None


def format_for_model(model: str) -> str:
    """The edit format for a model by its name (with or without a provider before it); ``str_replace`` for others."""
    name = model.lower()
    return next((format for pattern, format in _FAMILIES if re.search(pattern, name)), _DEFAULT)
