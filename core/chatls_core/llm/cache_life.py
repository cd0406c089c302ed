"""Which models keep a prompt's beginning for an hour, and who reports what was written (spec/agent.md §1.6, §1.7)."""

from __future__ import annotations

import re

_CLAUDE = re.compile(r"claude-(?:[a-z]+-)?(\d+)(?:[-.](\d{1,2}))?(?!\d)")
_RETAINING = re.compile(r"\bgpt-5\.5")
_WRITES_REPORTED = frozenset({"anthropic", "bedrock", "vertex"})
_READS_BY_ITSELF = frozenset({"openai", "openai_responses", "google", "deepseek"})


def carries_hour(provider: str, model: str) -> bool:
    """Whether cache entries of the model can live for an hour: Claude directly, and Claude 4.5 and later on Bedrock."""
    if provider == "anthropic":
        return True
    found = _CLAUDE.search(model.lower()) if provider == "bedrock" else None
    return found is not None and (int(found.group(1)), int(found.group(2) or 0)) >= (4, 5)


def retains_for_a_day(provider: str, model: str) -> bool:
    """Whether the model takes ``prompt_cache_retention``, which is sent when the user asks for an hour."""
    return provider in ("openai", "openai_responses") and _RETAINING.search(model.lower()) is not None


def names_caches(provider: str) -> bool:
    """Whether the service keeps a prompt's beginning under a name for as long as it is asked to, billed by the hour.

    Five minutes that use prolongs cost less there than an hour, so only the user chooses the hour.
    """
    return provider == "google"


def storage_price(provider: str, model: str) -> float:
    """US dollars for a million tokens kept for an hour in such a cache."""
    return 0.0 if provider != "google" else 4.5 if "pro" in model.lower() else 1.0


def reports_writes(provider: str) -> bool:
    """Whether usage says what was written to the cache beside what was read (the additive schema)."""
    return provider in _WRITES_REPORTED


def caches(provider: str) -> bool:
    """Whether a prompt sent twice is known to be read from a cache; others are believed when they report a read."""
    return provider in _WRITES_REPORTED or provider in _READS_BY_ITSELF
