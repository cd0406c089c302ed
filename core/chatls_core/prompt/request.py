"""One request to the model: system, history, tools, cache breakpoints (DESIGN.md, "The prompt's shape" 4)."""

from __future__ import annotations

from collections.abc import Sequence

from chatls_core.llm.messages import Message, ModelRequest, ToolDefinition
from chatls_core.text.tokens import estimate

LOOK_BACK_BLOCKS = 15
"""Anthropic finds a cached prefix at most 20 blocks before a marker; a second one is set before that runs out."""


def breakpoints(messages: Sequence[Message]) -> tuple[int, ...]:
    """Indices of the messages that carry a rolling cache marker: the last user-role message, and one at most
    ``LOOK_BACK_BLOCKS`` blocks earlier when the turn has grown past that."""
    users = [i for i, m in enumerate(messages) if m.role == "user"]
    if not users:
        return ()
    last = users[-1]
    blocks = 0
    for index in range(last, -1, -1):
        blocks += max(1, len(messages[index].parts))
        if blocks > LOOK_BACK_BLOCKS and index != last and messages[index].role == "user":
            return (index, last)
    return (last,)


def estimate_tokens(
    system: Sequence[str], messages: Sequence[Message], tools: Sequence[ToolDefinition], ratio: float
) -> int:
    """Estimated prompt tokens at ``ratio`` characters per token."""
    return estimate(_chars(system, messages, tools), ratio)


def prompt_chars(request: ModelRequest) -> int:
    """The weight of a whole request in characters, as :func:`estimate_tokens` counts it."""
    return _chars(request.system, request.messages, request.tools)


def _chars(system: Sequence[str], messages: Sequence[Message], tools: Sequence[ToolDefinition]) -> int:
    return sum(map(len, system)) + sum(m.chars for m in messages) + sum(t.chars for t in tools)


def starts_exchange(message: Message) -> bool:
    """Whether history may begin at ``message`` without separating a call from its result."""
    return message.role == "user" and message.kind in ("text", "turn_context", "summary")


def newest_that_fit(messages: Sequence[Message], budget_chars: int, keep: int) -> int:
    """The first index from which the newest messages fit ``budget_chars``; the last ``keep`` exchanges always stay."""
    starts = [
        i
        for i, m in enumerate(messages)
        if starts_exchange(m) and not (m.kind == "text" and i and messages[i - 1].kind == "turn_context")
    ]
    if not starts:
        return 0
    total, chosen = 0, starts[-1]
    end = len(messages)
    for number, start in enumerate(reversed(starts), 1):
        total += sum(m.chars for m in messages[start:end])
        end = start
        if total > budget_chars and number > keep:
            break
        chosen = start
    return chosen
