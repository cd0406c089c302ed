"""Fit items into the caps: the nearest text stays whole, farther text gives way (spec/memory.md §18.1 row 32)."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from chatls_core.instructions import caps
from chatls_core.instructions.documents import digest_of
from chatls_core.instructions.model import InstructionItem
from chatls_core.text import tokens

_NOTE_ROOM = 256
"""Bytes kept free for a farther file at most, so that a note about it still fits."""

_LEAST_WORTH_SHOWING = 512

_JOINING = 16
"""Bytes of heading marks and separators around one item."""


def with_text(item: InstructionItem, text: str) -> InstructionItem:
    """``item`` with another text, fingerprint and token count."""
    if text == item.text:
        return item
    return dataclasses.replace(item, text=text, digest=digest_of(text), tokens=tokens.estimate(text))


def prefix(item: InstructionItem) -> str:
    """The comment line before a file that is not the workspace root's own (spec §1.3)."""
    return f"<!-- {item.comment} -->\n" if item.comment else ""


def fit_hierarchy(items: Sequence[InstructionItem], limit: int) -> tuple[list[InstructionItem], int]:
    """Shorten ``items`` (outermost first) to ``limit`` bytes joined, outermost first to go; and the bytes used."""
    kept: list[InstructionItem] = []
    used = 0
    needs = [min(_NOTE_ROOM, caps.size(prefix(item)) + caps.size(item.text) + 2) for item in items]
    for index in range(len(items) - 1, -1, -1):
        item = items[index]
        overhead = caps.size(prefix(item)) + (2 if used else 0)
        reserve = min(sum(needs[:index]), limit // 4)
        room = limit - used - overhead - reserve
        size = caps.size(item.text)
        if size > room:
            note = caps.hierarchy_note(item.title, item.full_bytes)
            if room < _LEAST_WORTH_SHOWING:
                text = caps.left_out_note(item.title, item.full_bytes)
                if caps.size(text) + overhead > limit - used:
                    continue
            else:
                text = caps.cut(item.text, room, note)
            item = with_text(item, text)
        kept.append(item)
        used += overhead + caps.size(item.text)
    kept.reverse()
    return kept, used


def fit_whole(
    items: Sequence[InstructionItem], nearness: Sequence[int], limit: int
) -> tuple[list[InstructionItem], list[InstructionItem]]:
    """Those of ``items`` that fit into ``limit`` bytes, nearest (highest ``nearness``) first, and the others.

    Items are taken whole or not at all, so that an item's text never depends on its company. Order is kept.
    """
    order = sorted(range(len(items)), key=lambda i: (-nearness[i], i))
    used = 0
    taken: set[int] = set()
    for index in order:
        size = caps.size(items[index].text) + caps.size(items[index].title) + _JOINING
        if used + size <= limit:
            used += size
            taken.add(index)
    return (
        [item for index, item in enumerate(items) if index in taken],
        [item for index, item in enumerate(items) if index not in taken],
    )
