"""How memory is written in the background, and kept small (docs/memory-learning.md)."""

from __future__ import annotations

from chatls_core.memory.worker.balance import Balance, balance
from chatls_core.memory.worker.housekeeping import Housekeeper, Housekept
from chatls_core.memory.worker.learner import Learner, ModelFactory
from chatls_core.memory.worker.results import LearnResult
from chatls_core.memory.worker.review import PendingItem, PendingView, Settled
from chatls_core.memory.worker.segment import Line, Segment

__all__ = [
    "Balance",
    "Housekeeper",
    "Housekept",
    "LearnResult",
    "Learner",
    "Line",
    "ModelFactory",
    "PendingItem",
    "PendingView",
    "Segment",
    "Settled",
    "balance",
]
