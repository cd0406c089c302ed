"""``@@`` context of a hunk: lines that come before it, outermost first (V4A; a diff's section heading)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from chatls_core.edits.indentation import indent_of
from chatls_core.edits.matching import FileIndex, Match

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Anchoring:
    """The lines where a chain of anchors can end; empty when there is no anchor, or ``missing`` was not found."""

    places: tuple[int, ...] = ()
    missing: str | None = None

    @property
    def found(self) -> bool:
        """Whether there is an anchor and it stands in the file."""
        return bool(self.places)

    def allows(self, match: Match, stop: int) -> bool:
        """Whether an anchor stands before the change (or is one of the hunk's own context lines)."""
        return self.places[0] < max(stop, match.start + 1)

    def blocks(self, index: FileIndex) -> list[tuple[int, int]]:
        """The line ranges that the anchors open, each from its anchor to the end of its block."""
        return [(place, _block_end(index.lines.contents, place)) for place in self.places]

    def inside(self, index: FileIndex, items: list[_T], match_of: Callable[[_T], Match]) -> list[_T]:
        """Of several items, those in the block that an anchor opens; all of them when none is."""
        if len(items) < 2:
            return items
        blocks = self.blocks(index)
        starts = [place for place, _ in blocks]
        inner = [
            item
            for item in items
            if (at := bisect_right(starts, match_of(item).start)) and match_of(item).start < blocks[at - 1][1]
        ]
        return inner or items


def anchor_places(index: FileIndex, anchors: Sequence[str]) -> Anchoring:
    """Where the chain ``anchors`` can end: each one after the one before it, as near as possible."""
    ends: list[int] = []
    for depth, anchor in enumerate(a for a in anchors if a.strip()):
        spots = _lines_with(index.lines.contents, anchor.strip())
        if depth:
            spots = sorted({spots[at] for end in ends if (at := bisect_right(spots, end)) < len(spots)})
        if not spots:
            return Anchoring(missing=anchor)
        ends = spots
    return Anchoring(tuple(ends))


def _lines_with(contents: Sequence[str], anchor: str) -> list[int]:
    """The lines that are the anchor, else those that begin with it (``def run`` for ``def run(self):``)."""
    stripped = [content.strip() for content in contents]
    whole = [number for number, content in enumerate(stripped) if content == anchor]
    return whole or [number for number, content in enumerate(stripped) if content.startswith(anchor)]


def _block_end(contents: Sequence[str], opening: int) -> int:
    """The line after the block that line ``opening`` begins, by indentation."""
    depth = len(indent_of(contents[opening]).expandtabs(4))
    for number in range(opening + 1, len(contents)):
        content = contents[number]
        if content.strip() and len(indent_of(content).expandtabs(4)) <= depth:
            return number
    return len(contents)
