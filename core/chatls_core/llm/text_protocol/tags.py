"""``<tool_call …/>`` and ``<tool …/>`` in text, self-closing or paired (spec/agent.md §3.7 "Scanner rules")."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from chatls_core.llm.text_protocol.cleanup import is_json

_OPEN = re.compile(r"<(tool_call|tool)(?=[\s>/])", re.I)
_ATTRIBUTE = re.compile(r"([A-Za-z_][\w:.-]*)\s*=\s*")
_BARE = re.compile(r"[^\s>]*?(?=\s|/?>|\Z)")
_AFTER_VALUE = re.compile(r"\s*(/?>|\Z|[A-Za-z_][\w:.-]*\s*=)")
_QUOTES = {quote: re.compile(rf"\\.|{quote}", re.S) for quote in ('"', "'")}
MAX_TAGS = 200
MAX_VALUE_CHARS = 400_000


@dataclass(frozen=True, slots=True)
class Tag:
    """One tag with the characters ``start`` to ``end`` it takes; ``body`` is what a paired one encloses."""

    start: int
    end: int
    name: str
    arguments: str
    body: str = ""
    body_start: int = 0


def tags(text: str) -> Iterator[Tag]:
    """All tags in order. One without a name may still enclose a call as JSON."""
    at = 0
    for _ in range(MAX_TAGS):
        opening = _OPEN.search(text, at)
        if opening is None:
            return
        attributes, end, closed = _attributes(text, opening.end())
        body, body_start = "", end
        if not closed:
            body, end = _body(text, opening.group(1), end)
        arguments = attributes.get("args", attributes.get("arguments", attributes.get("input", "")))
        yield Tag(opening.start(), end, attributes.get("name", "").strip(), arguments, body, body_start)
        at = end


def _attributes(text: str, at: int) -> tuple[dict[str, str], int, bool]:
    """Attributes in any order, where the tag ends, and whether it closed itself."""
    found: dict[str, str] = {}
    while at < len(text):
        if text.startswith("/>", at):
            return found, at + 2, True
        if text[at] == ">":
            return found, at + 1, False
        if attribute := _ATTRIBUTE.match(text, at):
            value, at = _value(text, attribute.end())
            found.setdefault(attribute.group(1).lower(), value)
        else:
            at += 1
    return found, at, True


def _value(text: str, at: int) -> tuple[str, int]:
    quote = text[at : at + 1]
    quote = quote if quote in ('"', "'") else ""
    if (inner := _json_at(text, at + len(quote))) and text.startswith(quote, inner):
        return text[at + len(quote) : inner], inner + len(quote)
    if not quote:
        bare = _BARE.match(text, at)
        end = bare.end() if bare else at
        return html.unescape(text[at:end]), end
    end = _closing_quote(text, at + 1, quote)
    value = text[at + 1 : end]
    if not is_json(value):
        value = html.unescape(value)
        if value.lstrip()[:1] not in ("{", "["):
            value = value.replace(f"\\{quote}", quote)
    return value, min(end + len(quote), len(text)) if text.startswith(quote, end) else end


def _json_at(text: str, at: int) -> int:
    """Where a JSON object that begins at ``at`` ends; 0 when none does."""
    while text[at : at + 1].isspace():
        at += 1
    if text[at : at + 1] not in ("{", "["):
        return 0
    try:
        _, end = json.JSONDecoder(strict=False).raw_decode(text, at)
    except (ValueError, RecursionError):
        return 0
    while text[end : end + 1].isspace():
        end += 1
    return end


def _closing_quote(text: str, at: int, quote: str) -> int:
    """The quote behind which the tag goes on; else any; with none at all, the tag's or the line's end."""
    first = -1
    for found in _QUOTES[quote].finditer(text, at, at + MAX_VALUE_CHARS):
        if found.group() != quote:
            continue
        first = found.start() if first < 0 else first
        if _AFTER_VALUE.match(text, found.end()):
            return found.start()
    if first >= 0:
        return first
    ends = [end for mark in ("/>", ">", "\n") if (end := text.find(mark, at)) >= 0]
    return min(ends, default=len(text))


def _body(text: str, spelling: str, at: int) -> tuple[str, int]:
    """What stands before the close tag of the same spelling, unless another call begins first."""
    close = re.compile(rf"</{spelling}\s*>", re.I).search(text, at)
    following = _OPEN.search(text, at)
    if close is None or (following is not None and following.start() < close.start()):
        return "", at
    return text[at : close.start()], close.end()
