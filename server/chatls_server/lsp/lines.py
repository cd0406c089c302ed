"""Text as LSP sees it: lines end at ``\\n``, ``\\r\\n`` and ``\\r`` only, columns count units of an encoding.

``str.splitlines`` also splits at form feeds and U+2028, where editors do not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

Encoding = Literal["utf-8", "utf-16", "utf-32"]


def split_lines(text: str) -> list[str]:
    """The lines with their ends; the last one has none and may be empty, so the list is never empty."""
    pieces = text.split("\n")
    last = pieces.pop()
    lines = [piece + "\n" for piece in pieces]
    lines.append(last)
    if text.count("\r") == text.count("\r\n"):
        return lines
    result: list[str] = []
    for line in lines:
        body = line[:-2] if line.endswith("\r\n") else line
        if "\r" not in body:
            result.append(line)
            continue
        *heads, tail = body.split("\r")
        result.extend(head + "\r" for head in heads)
        result.append(tail + line[len(body) :])
    return result


def content_length(line: str) -> int:
    """Code points before the line's end."""
    if line.endswith("\r\n"):
        return len(line) - 2
    return len(line) - 1 if line.endswith(("\n", "\r")) else len(line)


def to_column(line: str, units: int, encoding: Encoding) -> int:
    """The code-point column for ``units``, clamped to the line's content.

    Inside a character the column is the character's start.
    """
    end = content_length(line)
    if units <= 0:
        return 0
    if encoding == "utf-32" or line.isascii():
        return min(units, end)
    if encoding == "utf-16":
        if max(line) <= "\uffff":
            return min(units, end)
        width = _utf16_width
    else:
        width = _utf8_width
    seen = 0
    for column in range(end):
        seen += width(line[column])
        if seen > units:
            return column
        if seen == units:
            return column + 1
    return end


def to_units(line: str, column: int, encoding: Encoding) -> int:
    """The units before code-point ``column``, clamped to the line's content."""
    column = max(0, min(column, content_length(line)))
    head = line[:column]
    if encoding == "utf-32" or head.isascii():
        return column
    if encoding == "utf-16":
        return column + sum(1 for character in head if character > "\uffff")
    return len(head.encode("utf-8", "surrogatepass"))


def offset_of(lines: Sequence[str], line: int, column: int) -> int:
    """The offset in the whole text of a code-point position that exists."""
    return sum(map(len, lines[:line])) + column


def _utf16_width(character: str) -> int:
    return 2 if character > "\uffff" else 1


def _utf8_width(character: str) -> int:
    point = ord(character)
    return 1 if point < 0x80 else 2 if point < 0x800 else 3 if point < 0x10000 else 4
