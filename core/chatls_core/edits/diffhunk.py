"""One hunk of a diff as models write it, and the ways to read its lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Op = Literal[" ", "-", "+"]
Reading = tuple[tuple[Op, str], ...]
"""The lines of a hunk, each with its mark."""


@dataclass(frozen=True, slots=True)
class DiffHunk:
    """One hunk as parsed.

    ``body`` holds the raw lines after the header. ``anchors`` are the ``@@`` contexts, outermost first; ``stacked``
    says that more than one ``@@`` line led here, so that they have to be found. ``soft`` anchors only break ties.
    ``line`` is the 0-based line of the old text the hunk claims to start at (or to insert before), ``old_count`` and
    ``new_count`` what its header counts. ``at_end``: it claims to end at the end of the file. ``old_open`` and
    ``new_open``: a "no newline at end of file" mark stood on that side.
    """

    body: tuple[str, ...]
    number: int
    anchors: tuple[str, ...] = ()
    stacked: bool = False
    soft: bool = False
    line: int | None = None
    old_count: int | None = None
    new_count: int | None = None
    at_end: bool = False
    old_open: bool = False
    new_open: bool = False

    @property
    def readings(self) -> tuple[Reading, ...]:
        """The ways to read the body, the proper one first.

        Models leave the blank before context lines out, in part or everywhere, or put one more blank after every mark.
        Empty lines without a mark at either end may be context or only set the hunk apart.
        """
        return tuple(dict.fromkeys((*_readings(self.body), *_readings(_set_apart(self.body)))))

    @property
    def searches(self) -> bool:
        """Whether it has a line to look for. An empty line without a mark is none: it may only set the hunk apart."""
        return any(line and not line.startswith("+") for line in self.body)

    @property
    def changes(self) -> bool:
        """Whether it adds or removes a line."""
        return any(line[:1] in ("+", "-") for line in self.body)


def _set_apart(body: Sequence[str]) -> Sequence[str]:
    """The body without the empty, unmarked lines at its ends."""
    start = next((i for i, line in enumerate(body) if line), 0)
    stop = next((i for i in range(len(body), start, -1) if body[i - 1]), len(body))
    return body[start:stop]


def _readings(body: Sequence[str]) -> list[Reading]:
    proper = _read(body, bare=False, spaced=False)
    readings: list[Reading] = [] if proper is None else [proper]
    bare = _read(body, bare=True, spaced=False)
    assert bare is not None
    readings.append(bare)
    if proper is None:
        readings.append(_read_mixed(body))
    spaced = _read(body, bare=True, spaced=True)
    if spaced is not None:
        readings.append(spaced)
    return readings


def _read(body: Sequence[str], *, bare: bool, spaced: bool) -> Reading | None:
    lines: list[tuple[Op, str]] = []
    for raw in body:
        mark = raw[:1]
        if mark == "+" or mark == "-":
            text = raw[1:]
            if spaced and text:
                if not text.startswith(" "):
                    return None
                text = text[1:]
            lines.append(("+" if mark == "+" else "-", text))
        elif bare or not raw:
            lines.append((" ", raw))
        elif mark == " ":
            lines.append((" ", raw[1:]))
        else:
            return None
    return tuple(lines)


def _read_mixed(body: Sequence[str]) -> Reading:
    lines: list[tuple[Op, str]] = []
    for raw in body:
        if raw[:1] in ("+", "-"):
            lines.append(("+" if raw[0] == "+" else "-", raw[1:]))
        else:
            lines.append((" ", raw[1:] if raw.startswith(" ") else raw))
    return tuple(lines)
