"""Byte caps that keep the beginning of a text, end at a line and say what is missing (spec/memory.md §1.4)."""

from __future__ import annotations

from chatls_core.text.cut import by_bytes, byte_length, encodable

size = byte_length


def shown(path: str) -> str:
    """A path as one line of text that can be encoded and cannot end a comment, whatever name the file system holds."""
    clean = encodable(path).replace("-->", "--›")
    return clean if clean.isprintable() else "".join(c if c.isprintable() else "?" for c in clean)


def cut(text: str, limit: int, note: str) -> str:
    """``text`` in at most ``limit`` bytes of UTF-8; shortened at a line end if one lies beyond half, with ``note``."""
    if size(text) <= limit:
        return text
    room = limit - size(note) - 2
    if room <= 0:
        return by_bytes(note, limit, "")
    head = by_bytes(text, room, "")
    newline = head.rfind("\n")
    if newline > 0 and size(head[:newline]) * 2 > room:
        head = head[:newline]
    return f"{head.rstrip()}\n\n{note}"


def file_note(title: str, size_bytes: int) -> str:
    """The note of a file or import that is longer than the model may read."""
    return f"<!-- truncated at 32 KiB: {shown(title)} has {size_bytes:,} bytes; read the file for the rest -->"


def hierarchy_note(title: str, size_bytes: int) -> str:
    """The note of an AGENTS file that had to give way to nearer ones."""
    return (
        f"<!-- instruction files truncated at 32 KiB: {shown(title)} has {size_bytes:,} bytes; "
        "read the file for the rest -->"
    )


def left_out_note(title: str, size_bytes: int) -> str:
    """The note that stands for an AGENTS file with no room left at all."""
    return f"<!-- instruction files truncated at 32 KiB: {shown(title)} ({size_bytes:,} bytes) is left out -->"
