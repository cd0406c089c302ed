"""Columns: Python code points on our side, the negotiated position encoding on the editor's (LSP 3.17 ``Position``)."""

from __future__ import annotations

from typing import Literal

PositionEncoding = Literal["utf-8", "utf-16", "utf-32"]


def column_to_units(line: str, column: int, encoding: PositionEncoding) -> int:
    """The code-point column ``column`` of ``line`` (its ending left out) counted in units of ``encoding``.

    A column past the end means the end, as LSP has it. Raises ``ValueError`` for a negative column and for an
    unknown encoding.
    """
    if column < 0:
        raise ValueError(f"a column cannot be negative: {column}")
    return _units(line[:column], encoding)


def units_to_column(line: str, units: int, encoding: PositionEncoding) -> int:
    """The code-point column of the position ``units`` (counted in ``encoding``) of ``line`` (its ending left out).

    A position past the end means the end; one inside a character means that character's start. Raises ``ValueError``
    for a negative position and for an unknown encoding.
    """
    if units < 0:
        raise ValueError(f"a position cannot be negative: {units}")
    if encoding == "utf-32" or line.isascii():
        _units("", encoding)
        return min(units, len(line))
    passed = 0
    for column, character in enumerate(line):
        passed += _units(character, encoding)
        if passed > units:
            return column
    return len(line)


def _units(text: str, encoding: PositionEncoding) -> int:
    if encoding == "utf-32":
        return len(text)
    if encoding == "utf-16":
        return len(text) if text.isascii() else len(text) + sum(character > "\uffff" for character in text)
    if encoding == "utf-8":
        # A lone surrogate (which a buffer may hold) counts as the three bytes its code point would take.
        return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    raise ValueError(f"unknown position encoding {encoding!r}: expected utf-8, utf-16 or utf-32")
