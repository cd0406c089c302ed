"""Which part of a long history is sent: all of it until the window fills, then its newest part, in large steps.

Moving the start rewrites the prefix, so it is a natural rebuild and happens rarely; nothing leaves the saved history.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from chatls_core.events import Notice, TurnEvent
from chatls_core.llm.messages import ToolDefinition
from chatls_core.llm.model import Model
from chatls_core.prompt.request import estimate_tokens, newest_that_fit
from chatls_core.sessions.conversation import Conversation
from chatls_core.text.tokens import DEFAULT_RATIO

SMALL_WINDOW = 8192
FULL_SHARE = 0.75
SMALL_SHARE = 0.25
AFTER_SHARE = 0.5
START_KEY = "history_start"
PAYLOAD_SHARE = 0.7


def is_small(model: Model) -> bool:
    """Whether the model's window is so small that only the conversation itself fits."""
    return model.info.window <= SMALL_WINDOW


def room(window: int, share: float, ratio: float, max_bytes: int | None) -> int:
    """Tokens a request may have: a ``share`` of the ``window``, and no more than 70 % of the largest request that a
    proxy takes (spec/agent.md §7.1)."""
    tokens = int(window * share)
    return tokens if max_bytes is None else min(tokens, int(max_bytes * PAYLOAD_SHARE / ratio))


def history_start(
    conversation: Conversation,
    model: Model,
    tools: Sequence[ToolDefinition],
    emit: Callable[[TurnEvent], None],
    overflows: int,
    ratio: float = DEFAULT_RATIO,
    unread: int = 0,
    max_bytes: int | None = None,
) -> int:
    """Index of the first message to send.

    ``overflows`` counts refusals of the model for size; each halves the budget. ``ratio`` is characters
    per token; ``unread`` tokens are sent but left out by the service itself; ``max_bytes`` is
    the largest request that a proxy takes.
    """
    stored = conversation.state.get(START_KEY, 0)
    start = stored if isinstance(stored, int) and 0 <= stored < len(conversation.messages) else 0
    share = (SMALL_SHARE if is_small(model) else FULL_SHARE) / 2**overflows
    budget = room(model.info.window, share, ratio, max_bytes)
    used = estimate_tokens(conversation.system, conversation.messages[start:], tools, ratio) - unread
    if used <= budget:
        return start
    fixed = used - sum(m.chars for m in conversation.messages[start:]) / ratio
    target = max(0, int((budget * (1 if is_small(model) else AFTER_SHARE) - fixed) * ratio))
    new = start + newest_that_fit(conversation.messages[start:], target, 1)
    if new > start:
        conversation.state[START_KEY] = new
        if not is_small(model):
            emit(
                Notice("info", f"The conversation outgrew the model's window: its oldest {new} messages are not sent.")
            )
    return new
