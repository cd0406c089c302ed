"""What OpenAI's models accept, by name."""

from __future__ import annotations

import re

BREAKPOINT = {"mode": "explicit"}
"""Marks the end of a reusable prompt prefix (``prompt_cache_breakpoint``)."""


def _name(model: str) -> str:
    return model.rpartition("/")[2].lower()


def is_reasoning_model(model: str) -> bool:
    """Whether a model takes the reasoning parameters, and refuses ``temperature``."""
    name = _name(model)
    return bool(re.match(r"(?:o\d|gpt-[5-9]|codex)(?:$|[-.:])", name)) and "chat" not in name


def prefers_responses(model: str) -> bool:
    """Whether a model is asked through the Responses API: only there does its reasoning survive between tool calls."""
    return is_reasoning_model(model) or "codex" in _name(model) or _name(model).endswith("-pro")


def takes_breakpoints(model: str) -> bool:
    """Whether a model's prompt cache takes explicit breakpoints (gpt-5.6 and later)."""
    found = re.match(r"gpt-(\d+)(?:\.(\d+))?", _name(model))
    return found is not None and (int(found.group(1)), int(found.group(2) or 0)) >= (5, 6)
