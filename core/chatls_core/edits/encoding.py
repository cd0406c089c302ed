"""Bytes to text and back, without ever guessing: strict decoding, the same codec out, refusal instead of damage.

Workspace files are UTF-8 (with or without a byte-order mark) or UTF-16/UTF-32 with one; a legacy 8-bit encoding is
used only when the caller names it (``.editorconfig``, a setting, the editor). A wrong guess would rewrite every
non-ASCII character of the file on the first save.
"""

from __future__ import annotations

import codecs
from dataclasses import dataclass

from chatls_core.edits.lines import dominant_newline, with_newlines

__all__ = ["DecodeError", "DecodedText", "EncodeError", "decode", "dominant_newline", "encode", "with_newlines"]

# UTF-32 first: its little-endian mark begins with the one of UTF-16.
_MARKS: tuple[tuple[bytes, str], ...] = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_MARK_OF = {name: mark for mark, name in _MARKS}


@dataclass(frozen=True, slots=True)
class DecodedText:
    """A file's text; ``encoding`` is a Python codec name, ``bom`` whether a byte-order mark stood before the text."""

    text: str
    encoding: str
    bom: bool


class DecodeError(ValueError):
    """Bytes that are no text in the expected encoding. ``offset`` is the first bad byte; ``binary``: holds NULs."""

    def __init__(self, message: str, offset: int, *, binary: bool = False) -> None:
        super().__init__(message)
        self.offset = offset
        self.binary = binary


class EncodeError(ValueError):
    """A text holds a character its file's encoding cannot; ``offset`` is the first one, in code points."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.offset = offset


def decode(data: bytes, encoding: str | None = None) -> DecodedText:
    """The text in ``data``: UTF-8, or UTF-16/UTF-32 by its byte-order mark, or ``encoding`` where the caller knows it.

    A byte-order mark outranks ``encoding``. Raises :class:`DecodeError` naming the first byte that does not fit, or
    saying that the data is binary (it holds NULs), and ``LookupError`` for an encoding Python does not know.
    """
    for mark, name in _MARKS:
        if data.startswith(mark):
            return DecodedText(_strict(data[len(mark) :], name, len(mark)), name, bom=True)
    codec = codecs.lookup(encoding).name if encoding else "utf-8"
    if not codec.startswith(("utf-16", "utf-32")):
        nul = data.find(b"\0")
        if nul >= 0:
            raise DecodeError(f"this is a binary file: a NUL byte at offset {nul}", nul, binary=True)
    return DecodedText(_strict(data, codec, 0), codec, bom=False)


def _strict(data: bytes, codec: str, skipped: int) -> str:
    try:
        return data.decode(codec, "strict")
    except UnicodeDecodeError as error:
        offset = error.start + skipped
        bad = " ".join(f"{byte:02x}" for byte in data[error.start : error.start + 4])
        raise DecodeError(
            f"not valid {codec}: byte {bad} at offset {offset} (line {data.count(10, 0, error.start) + 1})"
            + ("; if the file is in a legacy encoding, that encoding must be named" if codec == "utf-8" else ""),
            offset,
        ) from error


def encode(text: str, encoding: str, bom: bool) -> bytes:
    """The bytes of ``text``. Raises :class:`EncodeError` for the first character that ``encoding`` cannot hold.

    Nothing is ever replaced by a question mark. Lone surrogates fit no encoding and are refused too.
    """
    codec = codecs.lookup(encoding).name
    # Python's unmarked utf-16 and utf-32 write a mark of their own; the endianness has to be fixed first.
    codec = {"utf-16": "utf-16-le", "utf-32": "utf-32-le"}.get(codec, codec)
    try:
        data = text.encode(codec, "strict")
    except UnicodeEncodeError as error:
        character = text[error.start]
        line = text.count("\n", 0, error.start) + 1
        raise EncodeError(
            f"the character {character!a} (U+{ord(character):04X}, line {line}) cannot be written in {encoding}, "
            "the file's encoding: use another character or convert the file first",
            error.start,
        ) from error
    return _MARK_OF.get(codec, b"") + data if bom else data
