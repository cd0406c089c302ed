"""Which tools a mode offers."""

from __future__ import annotations

from typing import Any

from chatls_core.config import Settings
from chatls_core.edits import format_for_model
from chatls_core.memory import Memory
from chatls_core.sessions import SessionStore
from chatls_core.tools.ask import AskUser
from chatls_core.tools.base import Mode, Tool, ToolSet
from chatls_core.tools.edit_tools import DeleteFile, EditFile, FormattedEdit, MoveFile, WriteFile
from chatls_core.tools.exec import RunCommand
from chatls_core.tools.files import FindFiles, ListDir, ReadFile
from chatls_core.tools.git import GitDiff, GitLog, GitStatus
from chatls_core.tools.graph_tool import GraphView
from chatls_core.tools.insight import Diagnostics, Outline, SessionTool
from chatls_core.tools.memory_tool import MemoryTool
from chatls_core.tools.plan import UpdatePlan
from chatls_core.tools.search import Search


def tools_for(mode: Mode, settings: Settings, memory: Memory, sessions: SessionStore, model: str) -> ToolSet:
    """The tools of ``mode`` for a model: the edit format follows its family unless a setting says otherwise."""
    everything: list[Tool[Any]] = [
        ReadFile(), ListDir(), FindFiles(), Search(), Outline(), EditFile(), WriteFile(), MoveFile(), DeleteFile(),
        RunCommand(), GitStatus(), GitDiff(), GitLog(), Diagnostics(), AskUser(), UpdatePlan(), SessionTool(sessions),
    ]  # fmt: skip
    chosen = format_for_model(model) if settings.edits.format == "auto" else settings.edits.format
    if chosen not in ("str_replace", "write"):
        everything.append(FormattedEdit(chosen))
    tools = [t for t in everything if mode in t.modes]
    with_memory = settings.memory.enabled and settings.memory.mode != "off"
    if with_memory and (mode != "chat" or settings.memory.chat_tool):
        tools.append(MemoryTool(memory))
        if settings.memory.graph:
            tools.append(GraphView(memory))
    return ToolSet(tools)
