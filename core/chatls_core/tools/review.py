"""Hunks a person reviews: whole lines, so their ranges mean the same in every position encoding."""

from __future__ import annotations

import difflib
from collections.abc import Collection

from chatls_core.edits.lines import split_keepends
from chatls_core.host import Hunk, Position, Range

MAX_DIFF_LINES = 4000
"""Changed regions larger than this are one hunk: finding common lines inside would take quadratic time."""


def review_hunks(before: str | None, after: str | None) -> tuple[Hunk, ...]:
    """The changes from ``before`` to ``after`` as whole-line hunks ``h1``, ``h2``, …, in order."""
    old, new = split_keepends(before or ""), split_keepends(after or "")
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    middle_old, middle_new = old[head : len(old) - tail], new[head : len(new) - tail]
    if not middle_old and not middle_new:
        return ()
    if max(len(middle_old), len(middle_new)) > MAX_DIFF_LINES:
        opcodes = [("replace", 0, len(middle_old), 0, len(middle_new))]
    else:
        opcodes = [
            (op, a, b, c, d)
            for op, a, b, c, d in difflib.SequenceMatcher(None, middle_old, middle_new, autojunk=False).get_opcodes()
            if op != "equal"
        ]
    return tuple(
        Hunk(
            f"h{number}",
            Range(Position(head + a, 0), Position(head + b, 0)),
            "".join(middle_old[a:b]),
            "".join(middle_new[c:d]),
        )
        for number, (_, a, b, c, d) in enumerate(opcodes, 1)
    )


def accept_hunks(before: str | None, hunks: tuple[Hunk, ...], accepted: Collection[str]) -> str:
    """``before`` with only the accepted hunks of :func:`review_hunks` applied."""
    old = split_keepends(before or "")
    out: list[str] = []
    position = 0
    for hunk in hunks:
        start, end = hunk.range.start.line, hunk.range.end.line
        out += old[position:start]
        out.append(hunk.new_text if hunk.id in accepted else "".join(old[start:end]))
        position = end
    return "".join(out + old[position:])
