"""Shorten text at a character boundary, and say so (spec/memory.md §18.1 row 37).

A character here is what a reader sees as one: a cut never parts a base letter from its combining marks, an emoji from
its modifiers, or a carriage return from its line feed.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

ELLIPSIS = "…"
"""The note of a short cut."""

_JOINER = "\u200d"


def _joins_previous(char: str) -> bool:
    """Whether ``char`` continues the visible character before it."""
    code = ord(char)
    return (
        unicodedata.combining(char) != 0
        or unicodedata.category(char) in ("Mn", "Me", "Mc")
        or char == _JOINER
        or 0xFE00 <= code <= 0xFE0F
        or 0x1F3FB <= code <= 0x1F3FF
    )


def _boundary(text: str, at: int) -> int:
    """The last place at or before ``at`` that lies between two visible characters."""
    if at >= len(text):
        return len(text)
    while at > 0 and (
        _joins_previous(text[at]) or text[at - 1] == _JOINER or (text[at - 1] == "\r" and text[at] == "\n")
    ):
        at -= 1
    return at


def _boundary_after(text: str, at: int) -> int:
    """The first place at or after ``at`` that lies between two visible characters."""
    while 0 < at < len(text) and _boundary(text, at) != at:
        at += 1
    return at


def _characters_within(text: str, limit: int) -> int:
    """How many leading code points of ``text`` take at most ``limit`` bytes of UTF-8."""
    head = text[:limit]
    if len(head.encode("utf-8", "surrogatepass")) <= limit:
        return len(head)
    return len(head.encode("utf-8", "surrogatepass")[: max(limit, 0)].decode("utf-8", "ignore"))


def by_chars(text: str, limit: int, note: str = ELLIPSIS) -> str:
    """``text`` in at most ``limit`` characters (code points), ending in ``note`` when something was left out.

    A limit too small for the note gives as much of the note as fits.
    """
    if len(text) <= limit:
        return text
    room = limit - len(note)
    if room <= 0:
        return note[: max(limit, 0)]
    return text[: _boundary(text, room)] + note


def by_bytes(text: str, limit: int, note: str = ELLIPSIS) -> str:
    """``text`` in at most ``limit`` bytes of UTF-8, ending in ``note`` when something was left out."""
    if byte_length(text) <= limit:
        return text
    room = limit - byte_length(note)
    if room <= 0:
        return note[: _characters_within(note, limit)]
    return text[: _boundary(text, _characters_within(text, room))] + note


def byte_length(text: str) -> int:
    """Length of ``text`` in bytes of UTF-8 (lone surrogates counted as three bytes)."""
    return len(text.encode("utf-8", "surrogatepass"))


def _default_note(left_out: int) -> str:
    return f"\n[… {left_out} characters left out …]\n"


def middle(text: str, head: int, tail: int, note: Callable[[int], str] = _default_note) -> str:
    """The first ``head`` and last ``tail`` characters of ``text``, with a note between that says how many are missing.

    Unchanged when nothing would be saved.
    """
    start = _boundary(text, max(head, 0))
    end = _boundary_after(text, max(len(text) - max(tail, 0), start))
    between = note(end - start)
    if end - start <= len(between):
        return text
    return text[:start] + between + text[end:]


def encodable(text: str) -> str:
    """The text without halves of characters (lone surrogates), which UTF-8 and SQLite cannot hold."""
    return text.encode("utf-8", "replace").decode()
