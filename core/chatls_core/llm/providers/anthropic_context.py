"""Context editing by Claude's service: what is asked for, and what it says it did (spec/agent.md §1.5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from chatls_core.llm.events import ContextCleared
from chatls_core.llm.messages import ModelRequest

Json = dict[str, Any]

TRIGGER_TOKENS = 100_000
CLEAR_AT_LEAST_TOKENS = 20_000
KEPT_TOOL_USES = 5
KEPT_THINKING_TURNS = 3
SUMMARY_TOKENS = 150_000
BETA = "context-management-2025-06-27"
SUMMARY_BETA = "compact-2026-01-12"
NEVER_CLEARED = ("recall_archive",)
"""What the model looked up because it had been cleared."""

SUMMARY_BLOCK = "compaction"
_WRITE_PRICE, _READ_PRICE = 1.25, 0.1
"""Shares of the input price."""


def edits(request: ModelRequest, *, thinks: bool) -> Json | None:
    """The ``context_management`` of a request; ``None`` where the service is to leave it as it is."""
    if request.context_engine == "builtin":
        return None
    wanted: list[Json] = []
    if thinks:  # refused without, and it has to come first
        keep = {"type": "thinking_turns", "value": KEPT_THINKING_TURNS}
        wanted.append({"type": "clear_thinking_20251015", "keep": keep})
    names = [t.name for t in request.tools if t.name in NEVER_CLEARED]
    wanted.append(
        {
            "type": "clear_tool_uses_20250919",
            "trigger": {"type": "input_tokens", "value": TRIGGER_TOKENS},
            "keep": {"type": "tool_uses", "value": KEPT_TOOL_USES},
            "clear_at_least": {"type": "input_tokens", "value": CLEAR_AT_LEAST_TOKENS},
            **({"exclude_tools": names} if names else {}),
        }
    )
    if request.context_engine == "provider-compact":
        trigger = {"type": "input_tokens", "value": SUMMARY_TOKENS}
        wanted.append({"type": "compact_20260112", "trigger": trigger})
    return {"edits": wanted}


def betas(request: ModelRequest) -> tuple[str, ...]:
    """The beta features such a request needs."""
    if request.context_engine == "builtin":
        return ()
    return (BETA, SUMMARY_BETA) if request.context_engine == "provider-compact" else (BETA,)


def applied(management: Any, *, summarised: bool) -> tuple[ContextCleared, ...]:
    """What the service did, by the ``context_management`` of its answer (a model or a mapping, or nothing)."""
    cleared = 0
    for edit in _get(management, "applied_edits") or ():
        cleared = max(cleared, int(_get(edit, "cleared_tool_uses") or 0))
    return (ContextCleared(cleared, summarised),) if cleared or summarised else ()


def summary_cost(iterations: Sequence[Any] | None) -> tuple[int, int]:
    """Tokens for summaries that an answer's own counts leave out: input at its full price, and output."""
    read = written = 0
    for one in iterations or ():
        if _get(one, "type") != SUMMARY_BLOCK:
            continue
        fresh, made, cached = (
            int(_get(one, f"{name}input_tokens") or 0) for name in ("", "cache_creation_", "cache_read_")
        )
        read += round(fresh + made * _WRITE_PRICE + cached * _READ_PRICE)
        written += int(_get(one, "output_tokens") or 0)
    return read, written


def _get(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)
