"""What do we remember? Facts, profile, topics, projects, episodes, notes, graph, and how they are found (DESIGN.md)."""

from __future__ import annotations

from chatls_core.memory.memory import Memory
from chatls_core.memory.transfer import TransferError
from chatls_core.memory.views import (
    AutoRecall,
    FactPage,
    FactView,
    Forgotten,
    ForgottenItem,
    MemoryChange,
    ProfileView,
    Recall,
    RecallItem,
    Remembered,
    Source,
    SourceView,
    Undone,
)

__all__ = [
    "AutoRecall",
    "FactPage",
    "FactView",
    "Forgotten",
    "ForgottenItem",
    "Memory",
    "MemoryChange",
    "ProfileView",
    "Recall",
    "RecallItem",
    "Remembered",
    "Source",
    "SourceView",
    "TransferError",
    "Undone",
]
