"""How much a fact matters (spec/memory.md §4.5, §4.7)."""

from __future__ import annotations

import math
from datetime import datetime

from chatls_core.memory.records import EPOCH, Fact

HALF_LIFE_DAYS = 30.0
_UNDATED = 0.1
"""What is left of a fact that nobody dated: the last in order, and not archived for an age that nobody knows."""
ARCHIVE_BELOW = 0.1
USER_CONFIDENCE = 0.9
EXTRACTED_CONFIDENCE = 0.6
CORRECTED_CONFIDENCE = 1.0
REINFORCEMENT = 0.05

CONFIDENCE = {"user": USER_CONFIDENCE, "correction": CORRECTED_CONFIDENCE}


def confidence_of(fact: Fact) -> float:
    """The fact's confidence; an unset one counts as extracted, one from older versions by its use."""
    if fact.confidence > 0:
        return min(fact.confidence, 1.0)
    if fact.access_count > 1:
        return min(0.85, max(0.5, 0.5 + 0.1 * math.log(1 + fact.access_count)))
    return EXTRACTED_CONFIDENCE


def score(fact: Fact, now: datetime) -> float:
    """Use, decay by a half-life of 30 days since the last use, and confidence. A clock set back counts as no age."""
    weight = (1 + math.log(1 + max(fact.access_count, 0))) * (0.5 + confidence_of(fact))
    if fact.last_accessed <= EPOCH:
        return weight * _UNDATED
    days = max(0.0, (now - fact.last_accessed).total_seconds() / 86400)
    decay = math.exp(-days * math.log(2) / HALF_LIFE_DAYS)
    return weight * decay


def standing(fact: Fact) -> float:
    """Orders facts as :func:`score` does, without a now: all decay by one half-life, so their order stays."""
    weight = (1 + math.log(1 + max(fact.access_count, 0))) * (0.5 + confidence_of(fact))
    return math.log(weight) + fact.last_accessed.timestamp() / 86400 * math.log(2) / HALF_LIFE_DAYS


def said_by_user(provenance: str) -> bool:
    """Whether the user stated it: such a fact outranks any number of extractions."""
    return provenance.startswith(("user", "correction"))
