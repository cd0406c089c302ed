"""The user's answer to what waits: remembered or dropped, told to the editor either way."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from chatls_core.memory.views import MemoryChange
from chatls_core.memory.worker.applying import keep
from chatls_core.memory.worker.review import ReviewItem, ReviewStore, Settled, shown

if TYPE_CHECKING:
    from chatls_core.memory.memory import Memory

logger = logging.getLogger(__name__)


def accept(memory: Memory, review: ReviewStore, ids: Sequence[str], now: datetime) -> Settled:
    """Remember waiting items. One that is refused stays out and is logged. Raises :class:`OSError`."""
    taken, unknown = _waiting(review, ids)
    with memory.together():
        for item in taken:
            try:
                keep(memory, item, again=True)
            except ValueError as error:
                logger.warning("Not remembered (%s): %s", item.kind, error)
    return _settle(memory, review, "Remembered", taken, unknown, now)


def reject(memory: Memory, review: ReviewStore, ids: Sequence[str], now: datetime) -> Settled:
    """Drop waiting items. Raises :class:`OSError`."""
    return _settle(memory, review, "Dropped", *_waiting(review, ids), now)


def _waiting(review: ReviewStore, ids: Sequence[str]) -> tuple[list[ReviewItem], tuple[str, ...]]:
    known = {i.id: i for i in review.items()}
    return [known[i] for i in dict.fromkeys(ids) if i in known], tuple(i for i in ids if i not in known)


def _settle(
    memory: Memory, review: ReviewStore, verb: str, taken: list[ReviewItem], unknown: tuple[str, ...], now: datetime
) -> Settled:
    review.settle([i.id for i in taken], now)
    memory.announce(MemoryChange(removed=tuple(f"review:{i.id}" for i in taken)))
    return Settled(verb, tuple(map(shown, taken)), unknown)
