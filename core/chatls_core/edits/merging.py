"""Carrying an edit through what was typed since (issue 5, "At the editor's boundary"): a three-way merge by lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from chatls_core.edits.diffing import opcodes
from chatls_core.edits.lines import dominant_newline, split_keepends

_SHOWN_LINES = 40


@dataclass(frozen=True, slots=True)
class Conflict:
    """One place both sides changed: lines ``first``..``last`` (1-based, inclusive) of the current text.

    ``last`` is ``first - 1`` where the current text has no line there (it was deleted). ``current`` is what stands
    there now, ``wanted`` what the edit wanted to put there.
    """

    first: int
    last: int
    current: str
    wanted: str


class RebaseConflict(Exception):
    """The edit and the typing since touched the same lines; ``str()`` tells the model which, with the text as it is."""

    def __init__(self, conflicts: tuple[Conflict, ...]) -> None:
        super().__init__("\n".join(_describe(conflict) for conflict in conflicts))
        self.conflicts = conflicts


def _describe(conflict: Conflict) -> str:
    if conflict.last < conflict.first:
        return (
            f"The lines this edit changes were deleted since you read them (they stood before line {conflict.first})."
        )
    place = (
        f"line {conflict.first} was"
        if conflict.first == conflict.last
        else f"lines {conflict.first}-{conflict.last} were"
    )
    current = split_keepends(conflict.current)
    shown = [f"{conflict.first + i:6}\t{line.rstrip(chr(13) + chr(10))[:400]}" for i, line in enumerate(current)]
    if len(shown) > _SHOWN_LINES:
        left_out = len(shown) - _SHOWN_LINES
        shown = [*shown[:_SHOWN_LINES], f"       … {left_out} more lines"]
    return f"{place[0].upper()}{place[1:]} changed since you read them; the text there is now:\n" + "\n".join(shown)


def rebase(base: str, ours: str, theirs: str) -> str:
    """Merge two descendants of ``base``: ``ours`` (what the edit wants) into ``theirs`` (the buffer as it is now).

    Changes of ``theirs`` outside the lines that ``ours`` changes always survive. The same change on both sides is made
    once. Raises :class:`RebaseConflict` where both changed the same lines differently, or inserted different text at
    the same place.
    """
    if theirs == base or ours == theirs:
        return ours
    if ours == base:
        return theirs
    newline = dominant_newline(theirs, dominant_newline(base))
    merged = _merge(*(split_keepends(_closed(text, newline)) for text in (base, ours, theirs)))
    return merged if _ends_closed(base, ours, theirs) else _opened(merged)


def _closed(text: str, newline: str) -> str:
    """``text`` with its last line ended, so that a line typed below the last one is no change of that line."""
    return text if not text or text.endswith(("\n", "\r")) else text + newline


def _opened(text: str) -> str:
    if text.endswith("\r\n"):
        return text[:-2]
    return text[:-1] if text.endswith(("\n", "\r")) else text


def _ends_closed(base: str, ours: str, theirs: str) -> bool:
    was, wanted, now = (not text or text.endswith(("\n", "\r")) for text in (base, ours, theirs))
    return wanted if wanted != was else now


@dataclass(frozen=True, slots=True)
class _Change:
    start: int
    stop: int
    text: tuple[str, ...]


def _changes(base: Sequence[str], side: Sequence[str]) -> list[_Change]:
    return [_Change(i1, i2, tuple(side[j1:j2])) for tag, i1, i2, j1, j2 in opcodes(base, side) if tag != "equal"]


def _touch(one: _Change, other: _Change) -> bool:
    """Whether two changes concern the same lines: they overlap, or both insert at the very same place."""
    if one.start == one.stop and other.start == other.stop:
        return one.start == other.start
    return one.start < other.stop and other.start < one.stop


def _merge(base: list[str], ours: list[str], theirs: list[str]) -> str:
    wanted, typed = _changes(base, ours), _changes(base, theirs)
    out: list[str] = []
    conflicts: list[Conflict] = []
    at = 0
    w = t = 0
    while w < len(wanted) or t < len(typed):
        if t >= len(typed) or (w < len(wanted) and _before(wanted[w], typed[t])):
            group_w, group_t = [wanted[w]], []
            w += 1
        else:
            group_w, group_t = [], [typed[t]]
            t += 1
        grew = True
        while grew:
            grew = False
            while w < len(wanted) and any(_touch(wanted[w], change) for change in group_t):
                group_w.append(wanted[w])
                w += 1
                grew = True
            while t < len(typed) and any(_touch(typed[t], change) for change in group_w):
                group_t.append(typed[t])
                t += 1
                grew = True
        start = min(change.start for change in (*group_w, *group_t))
        stop = max(change.stop for change in (*group_w, *group_t))
        out += base[at:start]
        mine, now = _side(base, start, stop, group_w), _side(base, start, stop, group_t)
        if group_w and group_t and mine != now:
            first = _place(base, theirs, typed, start, group_t)
            conflicts.append(Conflict(first, first + len(now) - 1, "".join(now), "".join(mine)))
        out += mine if group_w else now
        at = stop
    if conflicts:
        raise RebaseConflict(tuple(conflicts))
    out += base[at:]
    return "".join(out)


def _before(one: _Change, other: _Change) -> bool:
    return (one.start, one.stop) <= (other.start, other.stop)


def _side(base: list[str], start: int, stop: int, changes: Sequence[_Change]) -> list[str]:
    out: list[str] = []
    at = start
    for change in changes:
        out += base[at : change.start]
        out += change.text
        at = change.stop
    out += base[at:stop]
    return out


def _place(base: list[str], theirs: list[str], typed: Sequence[_Change], start: int, group: Sequence[_Change]) -> int:
    """The 1-based line of the current text where base line ``start`` came to stand."""
    shift = 0
    for change in typed:
        if change.stop > start or change in group:
            break
        shift += len(change.text) - (change.stop - change.start)
    return start + shift + 1
