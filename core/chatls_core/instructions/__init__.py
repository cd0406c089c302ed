"""What does the workspace say? Instruction files, their hierarchy, imports and path rules (spec/memory.md §1, §2)."""

from __future__ import annotations

from chatls_core.instructions.loader import Instructions
from chatls_core.instructions.model import (
    ImportRecord,
    InstructionChanges,
    InstructionItem,
    InstructionReport,
    ReportEntry,
)
from chatls_core.instructions.render import render_item, render_stable

__all__ = [
    "ImportRecord",
    "InstructionChanges",
    "InstructionItem",
    "InstructionReport",
    "Instructions",
    "ReportEntry",
    "render_item",
    "render_stable",
]
