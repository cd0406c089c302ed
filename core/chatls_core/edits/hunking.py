"""The difference of two texts as small replacements in editor positions, and back (PROTOCOL.md, ``edit`` events)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Sequence
from itertools import accumulate

from chatls_core.edits.diffing import opcodes
from chatls_core.edits.lines import split_keepends
from chatls_core.host import Hunk, Position, Range


class HunkError(ValueError):
    """Hunks do not fit the text they are applied to: another text, an unknown id, or overlapping ranges."""


def hunks(before: str, after: str) -> tuple[Hunk, ...]:
    """The replacements that turn ``before`` into ``after``, in order, with the ids ``h1``, ``h2``, …

    Ranges are in zero-based lines and code-point columns of ``before``; none starts or ends inside a ``\\r\\n``. Within
    a changed block only the part that differs is replaced, so that cursors and folds around it survive.
    """
    old, new = split_keepends(before), split_keepends(after)
    old_offsets, new_offsets = _offsets(old), _offsets(new)
    found: list[Hunk] = []
    for tag, i1, i2, j1, j2 in opcodes(old, new):
        if tag == "equal":
            continue
        start, stop, text = _trim(before, old_offsets[i1], old_offsets[i2], after[new_offsets[j1] : new_offsets[j2]])
        found.append(
            Hunk(
                id=f"h{len(found) + 1}",
                range=Range(_position(before, old_offsets, start), _position(before, old_offsets, stop)),
                old_text=before[start:stop],
                new_text=text,
            )
        )
    return tuple(found)


def apply_hunks(before: str, hunks: Sequence[Hunk], accepted: Collection[str] | None = None) -> str:
    """``before`` with the hunks applied whose ids are in ``accepted`` (all of them for ``None``).

    Raises :class:`HunkError` when an id is unknown, two hunks overlap, or the text at a hunk's range is not its
    ``old_text`` (the hunks were made for another text).
    """
    if accepted is not None:
        unknown = set(accepted) - {hunk.id for hunk in hunks}
        if unknown:
            raise HunkError(f"no hunk has the id {', '.join(sorted(unknown))}")
    offsets = _offsets(split_keepends(before))
    parts: list[str] = []
    done = 0
    for hunk in sorted(hunks, key=lambda h: (h.range.start.line, h.range.start.character)):
        if accepted is not None and hunk.id not in accepted:
            continue
        start = _offset(before, offsets, hunk.range.start)
        stop = _offset(before, offsets, hunk.range.end)
        if start < done:
            raise HunkError(f"hunk {hunk.id} overlaps the one before it")
        if before[start:stop] != hunk.old_text:
            raise HunkError(f"hunk {hunk.id} was made for another text: line {hunk.range.start.line + 1} differs")
        parts += (before[done:start], hunk.new_text)
        done = stop
    parts.append(before[done:])
    return "".join(parts)


def _offsets(lines: Sequence[str]) -> list[int]:
    return list(accumulate((len(line) for line in lines), initial=0))


def _inside_crlf(text: str, offset: int) -> bool:
    return 0 < offset < len(text) and text[offset - 1] == "\r" and text[offset] == "\n"


def _trim(before: str, start: int, stop: int, new: str) -> tuple[int, int, str]:
    """Leave out what the block and its replacement share at both ends, but never cut a ``\\r\\n`` of ``before``."""
    room = min(stop - start, len(new))
    head = _common_prefix(before, start, new, room)
    while _inside_crlf(before, start + head) and head:
        head -= 1
    room -= head
    tail = _common_suffix(before, stop, new, room)
    while _inside_crlf(before, stop - tail) and tail:
        tail -= 1
    return start + head, stop - tail, new[head : len(new) - tail]


def _common_prefix(before: str, start: int, new: str, room: int) -> int:
    """Found by halving: comparing slices is far cheaper than comparing characters one by one."""
    low, high = 0, room
    while low < high:
        middle = (low + high + 1) // 2
        if before[start + low : start + middle] == new[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _common_suffix(before: str, stop: int, new: str, room: int) -> int:
    size = len(new)
    low, high = 0, room
    while low < high:
        middle = (low + high + 1) // 2
        if before[stop - middle : stop - low] == new[size - middle : size - low]:
            low = middle
        else:
            high = middle - 1
    return low


def _position(text: str, offsets: Sequence[int], offset: int) -> Position:
    line = bisect_right(offsets, offset) - 1
    if line == len(offsets) - 1 and line and not text.endswith(("\n", "\r")):
        # The end of an unterminated last line belongs to that line; a terminated text has an empty line after it.
        line -= 1
    return Position(line, offset - offsets[line])


def _offset(text: str, offsets: Sequence[int], position: Position) -> int:
    """The offset of a position; past the end of a line it is that line's end, past the last line the text's end."""
    if position.line < 0 or position.character < 0:
        raise HunkError(f"a position cannot be negative: {position}")
    if position.line >= len(offsets) - 1:
        return len(text)
    start, stop = offsets[position.line], offsets[position.line + 1]
    while stop > start and text[stop - 1] in "\r\n":
        stop -= 1
    return min(start + position.character, stop)
