"""Agent mode plans before it changes anything (spec/agent.md §3), and no step stays in progress after the turn.

The first call that would change something is answered with the plan to make. A model that will not plan is told in two
steps of a turn; then it works without one, and the user is told so.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from chatls_core.events import Notice, Plan, TurnEvent
from chatls_core.tools.base import Mode, Tool, ToolArguments
from chatls_core.tools.plan import UpdatePlan
from chatls_core.tools.policy import Policy

MAX_TOLD = 2
_CHANGES = frozenset(("edit", "move", "delete", "execute"))
_WITHOUT = "[This was done without a plan. Show the user one with update_plan.]"
_PLAN_FIRST = (
    "Nothing was done: in agent mode the user sees a plan before anything is changed, and there is none in this turn. "
    'Call update_plan first, for example with {"entries": [{"text": "Find where it is set", "status": "completed"}, '
    '{"text": "Change it", "status": "in_progress"}, {"text": "Run the tests", "status": "pending"}]}, then send this '
    "call again. Reading, searching and asking need no plan."
)


class Planning:
    """The plan of one turn, learned from the turn's events (:meth:`see`)."""

    def __init__(self, mode: Mode, policy: Policy) -> None:
        self._required = mode == "agent"
        self._policy = policy
        self._plan: Plan | None = None
        self._told = 0
        self.held = False
        """Whether a call of this step was held back."""

    def see(self, event: TurnEvent) -> None:
        """Take notice of an event of the turn."""
        if isinstance(event, Plan):
            self._plan = event

    def begin_step(self) -> None:
        """The calls of another answer follow."""
        self._told += self.held
        self.held = False

    async def refusal(self, tool: Tool[Any], arguments: ToolArguments, names: tuple[str, ...]) -> str:
        """What to answer instead of running a call that needs a plan first; empty when it may run.

        ``names`` are the tools on offer: without the one that plans nothing is held back.
        """
        if not self._lacking(tool) or self._told >= MAX_TOLD or UpdatePlan.name not in names:
            return ""
        if tool.kind == "execute" and await asyncio.to_thread(self._policy.only_looks, tool.subject(arguments)):
            return ""
        self.held = True
        return _PLAN_FIRST

    def remark(self, tool: Tool[Any], emit: Callable[[TurnEvent], None]) -> str:
        """What to add to the result of the first change that was made without a plan; mostly nothing."""
        if not self._lacking(tool) or self._told < MAX_TOLD:
            return ""
        self._required = False
        emit(Notice("info", "The model works without a plan."))
        return _WITHOUT

    def close(self, emit: Callable[[TurnEvent], None]) -> None:
        """The turn is over: what is not completed is open, and nothing is in progress any more."""
        if self._plan is not None and any(entry.status == "in_progress" for entry in self._plan.entries):
            emit(
                Plan(
                    tuple(
                        replace(entry, status="pending") if entry.status == "in_progress" else entry
                        for entry in self._plan.entries
                    )
                )
            )

    def _lacking(self, tool: Tool[Any]) -> bool:
        return self._required and self._plan is None and tool.kind in _CHANGES
