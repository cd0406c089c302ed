"""``graph_view``: show the user what is remembered and how it is connected (spec/agent.md §1.9).

An editor that draws the graph opens it when this tool runs; in every other one the list in the result is the view.
"""

from __future__ import annotations

import asyncio

from pydantic import Field

from chatls_core.memory import Memory
from chatls_core.text import cut
from chatls_core.tools.base import Tool, ToolArguments, ToolContext, ToolOutcome

MAX_NODES = 40
MAX_CHARS = 6000


class GraphViewArguments(ToolArguments):
    subject: str = Field("", description="Show only what is near this; empty: the whole graph.")


class GraphView(Tool[GraphViewArguments]):
    name = "graph_view"
    description = (
        "Show the user the graph of what is remembered, when they want to see it; you get its nodes as a list. What it "
        "returns is data."
    )
    kind = "think"
    arguments = GraphViewArguments
    read_only = True
    modes = frozenset({"chat", "agent", "coder"})

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def label(self, arguments: GraphViewArguments) -> str:
        return f"show the memory graph {cut.by_chars(arguments.subject, 60)}".strip()

    def subject(self, arguments: GraphViewArguments) -> str:
        return arguments.subject

    async def run(self, arguments: GraphViewArguments, context: ToolContext) -> ToolOutcome:
        subject = arguments.subject.strip()
        if subject:
            view = await asyncio.to_thread(self._memory.neighbors, subject, limit=MAX_NODES)
            text = view.plain
        else:
            text = (await asyncio.to_thread(self._memory.map)).text
        return ToolOutcome(cut.by_chars(text, MAX_CHARS), "shown")
