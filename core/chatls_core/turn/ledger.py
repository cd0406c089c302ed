"""What was spent: usage by model, per session and in all, kept with the session."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

from chatls_core.llm.events import Usage
from chatls_core.sessions.conversation import Conversation

STATE_KEY = "usage"


def spent(conversation: Conversation) -> dict[str, Usage]:
    """Usage of a conversation by ``provider:model``."""
    stored = conversation.state.get(STATE_KEY)
    return {str(k): _usage(v) for k, v in stored.items()} if isinstance(stored, Mapping) else {}


def record(conversation: Conversation, usage: Usage) -> None:
    """Add one request's usage to a conversation."""
    if not usage.prompt_tokens and not usage.output_tokens:
        return
    rows = spent(conversation)
    name = f"{usage.provider}:{usage.model}"
    rows[name] = rows[name] + usage if name in rows else usage
    conversation.state[STATE_KEY] = {key: asdict(value) for key, value in rows.items()}


def _usage(value: Any) -> Usage:
    names = {f.name for f in fields(Usage)}
    return Usage(**{k: v for k, v in value.items() if k in names}) if isinstance(value, Mapping) else Usage()
