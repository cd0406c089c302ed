"""The model's plan, shown to the user as it changes."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from chatls_core.events import Plan, PlanEntry
from chatls_core.tools.base import Tool, ToolArguments, ToolContext, ToolOutcome


class Step(ToolArguments):
    text: str = Field(min_length=1, description="What this step does.")
    status: Literal["pending", "in_progress", "completed"] = "pending"


class PlanArguments(ToolArguments):
    entries: list[Step] = Field(min_length=1, max_length=50, description="The whole plan, in order.")


class UpdatePlan(Tool[PlanArguments]):
    name = "update_plan"
    description = "Show the user your plan, whole, each time a step starts or ends."
    kind = "think"
    arguments = PlanArguments
    aliases: ClassVar[dict[str, str]] = {"plan": "entries", "steps": "entries", "todos": "entries"}

    def label(self, arguments: PlanArguments) -> str:
        done = sum(e.status == "completed" for e in arguments.entries)
        return f"plan {done}/{len(arguments.entries)}"

    async def run(self, arguments: PlanArguments, context: ToolContext) -> ToolOutcome:
        context.emit(Plan(tuple(PlanEntry(e.text, e.status) for e in arguments.entries)))
        return ToolOutcome("Plan shown.", "")
