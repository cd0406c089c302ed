"""The gate every call passes: policy, then the user; refusals are counted (spec/agent.md §5.3)."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from chatls_core.host import Approval
from chatls_core.tools.base import Tool, ToolArguments, ToolContext, ToolError
from chatls_core.tools.policy import Policy


@dataclass(slots=True)
class Denials:
    """How often the user said no in this conversation."""

    in_a_row: Counter[str] = field(default_factory=Counter)
    total: int = 0


async def permit(
    policy: Policy, denials: Denials, tool: Tool[Any], arguments: ToolArguments, context: ToolContext
) -> None:
    """Return when the call may run; raises :class:`ToolError` when policy or user say no.

    Edits are reviewed where they are made, so they ask here only when a rule says so.
    """
    subject = tool.subject(arguments)
    verdict = await asyncio.to_thread(
        policy.judge, tool.name, subject, read_only=tool.read_only, asks=tool.asks, also=tool.other_names
    )
    if verdict.action == "deny":
        raise ToolError(f"Not allowed: {verdict.why or 'a rule denies it'}. Do it another way.", denied=True)
    limits = context.settings.agent
    if verdict.action == "allow" and denials.total < limits.max_denials:
        return
    words = subject.split()
    key = f"{tool.name} {' '.join(words[3:5] if words[:1] == ['cd'] and words[2:3] == ['&&'] else words[:2])}"
    if denials.in_a_row[key] >= limits.max_denials_in_a_row:
        raise ToolError("The user refused this several times; it is not asked again. Do it another way.", denied=True)
    title = f"Run {subject}" if tool.kind == "execute" else tool.label(arguments)
    answer = await context.host.approve(
        Approval(
            context.call_id,
            title,
            tool.kind,
            preview=tool.preview(arguments),
            reason=verdict.why,
            allow_always=bool(verdict.always),
        )
    )
    if answer.decision == "deny":
        denials.in_a_row[key] += 1
        denials.total += 1
        raise ToolError(f"The user did not allow it{f': {answer.reason}' if answer.reason else ''}.", denied=True)
    denials.in_a_row[key] = 0
    if answer.decision == "always" and verdict.always:
        await asyncio.to_thread(policy.set_rule, verdict.always, "allow")
