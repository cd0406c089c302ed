"""Invented people: what is known of each, what they type that it bears on, and what they type that it does not.

To the messages of twelve of them the weights of `memory.relevance` were fitted; the other eight only measure.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Person:
    """``answered`` pairs a message with the facts that clearly bear on it; on ``unrelated`` ones none does."""

    name: str
    facts: tuple[str, ...]
    answered: tuple[tuple[str, frozenset[str]], ...]
    unrelated: tuple[str, ...]


def _read(path: Path) -> Person:
    told = json.loads(path.read_text(encoding="utf-8"))
    facts = tuple(told["facts"])
    answered = tuple((a["message"], frozenset(facts[n] for n in a["facts"])) for a in told["answered"])
    return Person(path.stem, facts, answered, tuple(told["unrelated"]))


def _named(*names: str) -> tuple[Person, ...]:
    return tuple(_read(Path(__file__).parent / f"{name}.json") for name in names)


TUNING = _named(
    "bank_backend",
    "game_developer",
    "hospital_data",
    "university_admin",
    "mobile_freelancer",
    "firmware_engineer",
    "student",
    "open_source_maintainer",
    "streaming_sre",
    "maths_teacher",
    "robotics_student",
    "consultant",
)
MEASURING = _named(
    "airline_databases",
    "shop_founder",
    "audio_plugins",
    "government_web",
    "data_journalist",
    "railway_signalling",
    "vet_clinic",
    "patent_translator",
)
