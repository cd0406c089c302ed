"""Agent mode shows a plan before it changes anything, and no step stays in progress after the turn.

The plan is the model's. Where it begins to change things without one, the user sees what it is about to do as the
plan, step by step, and the model is told once that a plan of its own would take that one's place.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from chatls_core.events import Plan, PlanEntry, TurnEvent
from chatls_core.tools.base import Mode, Tool, ToolArguments
from chatls_core.tools.plan import UpdatePlan
from chatls_core.tools.policy import Policy

_CHANGES = frozenset(("edit", "move", "delete", "execute"))
_REMARK = (
    "[The user saw this call as the plan, since there was none. If more is to be done, show the whole plan with "
    "update_plan now.]"
)


class Planning:
    """The plan of one turn, learned from the turn's events (:meth:`see`)."""

    def __init__(self, mode: Mode, policy: Policy, emit: Callable[[TurnEvent], None]) -> None:
        self._required = mode == "agent"
        self._policy = policy
        self._emit = emit
        self._plan: Plan | None = None
        self._calls: dict[str, PlanEntry] = {}
        """The changes that were shown in place of a plan, by call."""
        self._told = False

    def see(self, event: TurnEvent) -> None:
        """Take notice of an event of the turn."""
        if isinstance(event, Plan):
            self._plan = event

    async def begin(self, call_id: str, tool: Tool[Any], arguments: ToolArguments) -> None:
        """A call is about to run: where it changes something and the model showed no plan, it is shown as one."""
        if not self._required or self._has_own_plan or tool.kind not in _CHANGES:
            return
        if tool.kind == "execute" and await asyncio.to_thread(self._policy.only_looks, tool.subject(arguments)):
            return
        self._calls[call_id] = PlanEntry(tool.label(arguments), "in_progress")
        self._emit(Plan(tuple(self._calls.values())))

    def end(self, call_id: str, names: tuple[str, ...], *, done: bool) -> str:
        """The call ran, or did not. What to add to its result; mostly nothing.

        ``names`` are the tools on offer: without the one that plans there is nothing to say.
        """
        entry = self._calls.get(call_id)
        if entry is None or self._has_own_plan:
            return ""
        self._calls[call_id] = replace(entry, status="completed" if done else "pending")
        self._emit(Plan(tuple(self._calls.values())))
        if self._told or not done or UpdatePlan.name not in names:
            return ""
        self._told = True
        return _REMARK

    def close(self) -> None:
        """The turn is over: what is not completed is open, and nothing is in progress any more."""
        if self._plan is not None and any(entry.status == "in_progress" for entry in self._plan.entries):
            self._emit(
                Plan(
                    tuple(
                        replace(entry, status="pending") if entry.status == "in_progress" else entry
                        for entry in self._plan.entries
                    )
                )
            )

    @property
    def _has_own_plan(self) -> bool:
        return self._plan is not None and self._plan.entries != tuple(self._calls.values())
