"""Calls as JSON objects in text, and in brackets: ``{"tool": …}``, ``[tool: name …]`` (spec/agent.md §3.7)."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from typing import Any

from chatls_core.llm.text_protocol.names import CODER_COMMANDS, tool_name
from chatls_core.llm.text_protocol.recovery import UnreadableJsonError, parse_at

MAX_CALLS = 200
MAX_WASTED_CHARS = 2_000_000
"""Characters that may be looked at in vain, all tries together: reading stays linear."""
MAX_OBJECT_CHARS = 200_000
_OBJECT = re.compile(r"\{\s*[\"'A-Za-z_]")
_BRACKET = re.compile(r"\[(?:tool_call|tool):[ \t]*(@?[A-Za-z][\w-]*)", re.I)


def objects(text: str) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """The outermost JSON objects with their places, those written carelessly included."""
    at, wasted = 0, 0
    while wasted < MAX_WASTED_CHARS and (opening := _OBJECT.search(text, at)) is not None:
        start = opening.start()
        piece = text[start : start + MAX_OBJECT_CHARS]
        try:
            value, end = parse_at(piece, 0)
        except UnreadableJsonError:
            wasted += len(piece)
            at = start + 1
            continue
        if isinstance(value, dict):
            yield start, start + end, value
        at = start + end


def call_in(value: dict[str, Any], offered: Collection[str]) -> tuple[str, Any] | None:
    """Name and arguments of the call that an object is, ``None`` for any other object.

    Output of tools that the model repeats is no call; nor is a name that no tool here has.
    """
    if "url" in value or {"title", "snippet"} <= value.keys() or {"type", "error"} <= value.keys():
        return None
    if isinstance(function := value.get("function"), dict):
        return call_in(function, offered)
    for key in ("tool_call", "name", "tool"):
        name = value.get(key)
        arguments = value.get("args", value.get("arguments"))
        if isinstance(name, str) and arguments is not None:
            known = tool_name(name, offered)
            return (name, arguments) if known or name.startswith("@") else None
    command = value.get("cmd")
    if isinstance(command, str) and command in CODER_COMMANDS and not (command == "search" and "query" in value):
        return "@coder", value
    return None


def brackets(text: str) -> Iterator[tuple[int, int, str, str]]:
    """``[tool: name arguments]`` with its place; the closing bracket may be missing."""
    at = 0
    for _ in range(MAX_CALLS):
        opening = _BRACKET.search(text, at)
        if opening is None:
            return
        start = opening.end()
        while text[start : start + 1] in (" ", "\t"):
            start += 1
        end = start
        if text.startswith("{", start):
            try:
                _, length = parse_at(text[start : start + MAX_OBJECT_CHARS], 0)
                end = start + length
            except UnreadableJsonError:
                end = start
        if end == start:
            line = text.find("\n", start)
            line = len(text) if line < 0 else line
            close = text.find("]", start, line)
            end = line if close < 0 else close
        arguments = text[start:end]
        while text[end : end + 1] in (" ", "\t"):
            end += 1
        end += text.startswith("]", end)
        yield opening.start(), end, opening.group(1), arguments.strip()
        at = end


def as_text(arguments: Any) -> str:
    """Arguments as the text that the readers take."""
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
