"""When a conversation is compacted, and what the user is told (spec/agent.md §7.1, §7.5)."""

from __future__ import annotations

import logging
from collections.abc import Callable

from chatls_core.events import Notice, TurnEvent
from chatls_core.llm.events import Usage
from chatls_core.llm.model import Model
from chatls_core.prompt import service_edits
from chatls_core.prompt.compaction import ENOUGH_SHARE, Compacted, CompactionError, Compactor
from chatls_core.prompt.request import estimate_tokens
from chatls_core.prompt.skills_midrun import let_go
from chatls_core.prompt.window import is_small, room
from chatls_core.sessions.conversation import Conversation
from chatls_core.tools.base import Mode, ToolSet
from chatls_core.turn.services import Services
from chatls_core.turn.spending import SUMMARY

log = logging.getLogger(__name__)

SHARES: dict[Mode, float] = {"chat": 0.75, "agent": 0.60, "coder": 0.60}
"""Share of the window at which a conversation is compacted before the next request."""

KEPT: dict[Mode, int] = {"chat": 10, "agent": 8, "coder": 8}
"""Recent messages left whole."""

GUIDED_KEPT = 4
ON_REQUEST_SHARE = 0.5
LEAST_BUDGET_CHARS = 2_000


async def fit(
    services: Services,
    conversation: Conversation,
    model: Model,
    tools: ToolSet,
    mode: Mode,
    emit: Callable[[TurnEvent], None],
    *,
    turn_id: str = "",
    overflows: int = 0,
    coming_chars: int = 0,
) -> bool:
    """Compact when the next request would fill the window; says whether history was rewritten. Old skills of runs go
    first, as a call brings them back.

    ``overflows`` counts the model's refusals for size: each halves the budget and compacts in any case.
    ``coming_chars`` is what will still be appended. A conversation that cannot be compacted is left as it is.
    """
    if is_small(model) or not conversation.messages or not services.settings.prompt.archive:
        return False
    ratio = services.curation.ratio.ratio(model.provider, model.model)
    definitions = tools.definitions() if model.info.tools else ()
    cap = services.settings.prompt.max_request_bytes
    budget = room(model.info.window, SHARES[mode] / 2**overflows, ratio, cap)
    fixed = estimate_tokens(conversation.system, (), definitions, ratio) + int(coming_chars / ratio)
    if service_edits.engine(services.settings, mode) != "builtin":
        fixed -= service_edits.unread_tokens(conversation)
    if fixed + estimate_tokens((), conversation.messages, (), ratio) <= budget and not overflows:
        return False
    lighter = let_go(conversation, services.settings.prompt.skill_age_turns)
    if lighter:
        conversation.forget_prefix()
        if fixed + estimate_tokens((), conversation.messages, (), ratio) <= budget * ENOUGH_SHARE and not overflows:
            return True
    try:
        done = await compactor(services, conversation).run(
            conversation,
            model,
            budget_chars=max(LEAST_BUDGET_CHARS, int((budget - fixed) * ratio)),
            keep=KEPT[mode],
            ratio=ratio,
            turn_id=turn_id,
            attempt=overflows,
        )
    except CompactionError as error:
        log.info("conversation %s: %s", conversation.id, error)
        return lighter
    except OSError as error:
        log.error("conversation %s could not be compacted: %s", conversation.id, error)
        emit(Notice("warning", f"The conversation could not be compacted: the archive cannot be written ({error})."))
        return lighter
    emit(Notice("info", f"The conversation outgrew the model's window: {told(done)}"))
    return True


async def on_request(
    services: Services,
    conversation: Conversation,
    model: Model,
    mode: Mode,
    instruction: str,
    is_free: Callable[[], bool],
) -> Compacted:
    """Compact because the user asked; an ``instruction`` says what to keep in particular.

    Raises :class:`CompactionError` with a sentence for the user, or :class:`OSError`.
    """
    if not services.settings.prompt.archive:
        raise CompactionError("The archive is switched off (chatls.prompt.archive), so nothing may be cut.")
    ratio = services.curation.ratio.ratio(model.provider, model.model)
    return await compactor(services, conversation, is_free).run(
        conversation,
        model,
        budget_chars=int(
            room(model.info.window, ON_REQUEST_SHARE, ratio, services.settings.prompt.max_request_bytes) * ratio
        ),
        keep=GUIDED_KEPT if instruction.strip() else min(KEPT[mode], max(2, len(conversation.messages) // 2)),
        ratio=ratio,
        instruction=instruction,
    )


def compactor(services: Services, conversation: Conversation, is_free: Callable[[], bool] = lambda: True) -> Compactor:
    """A compactor whose summaries count towards the conversation's cost."""

    def spent(usage: Usage) -> None:
        services.spending.add(usage, SUMMARY, conversation.id)

    return Compactor(
        services.curation.archive,
        services.clock,
        services.new_id,
        on_usage=spent,
        is_free=is_free,
    )


def told(done: Compacted) -> str:
    """One sentence on what compaction did."""
    what = {
        1: "old tool results and contexts were shortened",
        2: f"{done.messages_before - done.messages_after + 1} earlier messages became a summary",
        3: "earlier messages were left out",
    }[done.level]
    why = f" (no summary: {done.problem})" if done.problem else ""
    return (
        f"{what}{why}; {done.chars_before:,} → {done.chars_after:,} characters. The model can look up what is missing."
    )
