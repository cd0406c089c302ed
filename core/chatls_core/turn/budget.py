"""Budgets of a conversation and of a day: a warning, then, if the user wants it, a stop (spec/agent.md §1.12)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from chatls_core.events import Notice, TurnEvent
from chatls_core.llm.events import ModelError
from chatls_core.sessions.conversation import Conversation
from chatls_core.turn.services import Services
from chatls_core.turn.spending import Rows, known_usd

WARNED_KEY = "budget_warned"
"""In ``Conversation.state``: the warnings about its budget that were given."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """One budget and what of it is spent, in US dollars; ``unpriced`` requests had no known price and count nothing."""

    name: str
    setting: str
    limit: float
    spent: float
    unpriced: int = 0

    @property
    def words(self) -> str:
        """For people: what was spent, and the budget."""
        return f"${self.spent:.2f} of {self.name} of ${self.limit:.2f}"


def allowances(services: Services, session_id: str | None) -> tuple[Allowance, ...]:
    """The budgets that are set, with what is spent of them. Reads the disk."""
    budget, spending = services.settings.budget, services.spending
    found = []
    if budget.session_usd is not None and session_id is not None:
        rows = spending.of_session(session_id)
        found.append(_allowance("this conversation's budget", "chatls.budget.sessionUsd", budget.session_usd, rows))
    if budget.daily_usd is not None:
        found.append(_allowance("today's budget", "chatls.budget.dailyUsd", budget.daily_usd, spending.today()))
    return tuple(found)


async def check(services: Services, conversation: Conversation, emit: Callable[[TurnEvent], None]) -> None:
    """Before a request: warn at the user's share of a budget and at its end, each once.

    Raises :class:`ModelError` of kind ``budget`` where a budget is spent and the user wants a stop.
    """
    budget = services.settings.budget
    if budget.session_usd is None and budget.daily_usd is None:
        return
    for each in await asyncio.to_thread(allowances, services, conversation.id):
        if each.spent >= each.limit and budget.hard_stop:
            raise stopped(each)
        if each.spent >= each.limit:
            _once(services, conversation, each, "spent", emit, f"{each.words} are spent; answers go on.")
        elif each.spent >= each.limit * budget.warning_share:
            _once(services, conversation, each, "near", emit, f"{each.words} are spent.")
        if each.unpriced:
            text = f"{each.unpriced} requests to models without a known price are not counted in {each.name}."
            _once(services, conversation, each, "unpriced", emit, text)


async def day_is_spent(services: Services) -> bool:
    """Whether background work should wait: the day's budget is spent and the user wants a stop."""
    budget = services.settings.budget
    if budget.daily_usd is None or not budget.hard_stop:
        return False
    return any(a.spent >= a.limit for a in await asyncio.to_thread(allowances, services, None))


def stopped(allowance: Allowance) -> ModelError:
    """The refusal of a request beyond a budget."""
    daily = allowance.setting.endswith("dailyUsd")
    later = "wait until tomorrow" if daily else "begin a new session"
    return ModelError(
        "budget", f"{allowance.words} are spent.", hint=f"Raise {allowance.setting} in the settings, or {later}."
    )


def _allowance(name: str, setting: str, limit: float, rows: Rows) -> Allowance:
    return Allowance(name, setting, limit, known_usd(rows), sum(row.unpriced for row in rows.values()))


def _once(
    services: Services,
    conversation: Conversation,
    allowance: Allowance,
    level: str,
    emit: Callable[[TurnEvent], None],
    text: str,
) -> None:
    """A budget that was raised is warned about anew."""
    key = f"{allowance.setting}:{allowance.limit}:{level}"
    if allowance.setting.endswith("dailyUsd"):
        key = f"{services.clock().astimezone().date()}:{key}"
        if key in services.spending.warned:
            return
        services.spending.warned.add(key)
    else:
        given = conversation.state.get(WARNED_KEY)
        known = list(map(str, given)) if isinstance(given, list) else []
        if key in known:
            return
        conversation.state[WARNED_KEY] = [*known, key]
    emit(Notice("warning", text))
