"""Does the search find the evidence? Sessions and turns in the order it gives them, and how good that order is."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from chatls_core.config import Sessions
from chatls_core.evaluation.longmemeval import Case
from chatls_core.llm.messages import Message, TextPart

Place = tuple[int, int]
"""A turn: number of its session in the case, number of the turn in it; both from 0."""
Through = Literal["passages", "sessions"]
THROUGH: tuple[Through, ...] = ("passages", "sessions")

DEEPEST = 100
"""Most turns asked for."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """What a search found, best first."""

    sessions: tuple[int, ...]
    turns: tuple[Place, ...]


Search = Callable[[Case], Ranked]


def by_passages(case: Case) -> Ranked:
    """The one ranker over all turns; a session stands where its best turn does."""
    from chatls_core.text.ranking import Passage, PassageIndex

    index = PassageIndex(
        Passage(f"{number}:{place}", f"{turn.role}: {turn.text}", session.time)
        for number, session in enumerate(case.sessions)
        for place, turn in enumerate(session.turns)
    )
    places = [_place(hit.id) for hit in index.search(case.question, DEEPEST, now=case.asked)]
    return Ranked(tuple(dict.fromkeys(session for session, _ in places)), tuple(places))


def by_sessions(case: Case) -> Ranked:
    """The search of saved conversations, as the model's session tool runs it, over a store made for this question."""
    from chatls_core.sessions import SessionStore

    asked = case.asked.replace(tzinfo=UTC)
    with tempfile.TemporaryDirectory(prefix="chatls-eval-") as folder:
        store = SessionStore(Path(folder), clock=lambda: asked, settings=Sessions())
        try:
            numbers = {}
            for number, session in enumerate(case.sessions):
                conversation = store.create(name=f"s {number}")
                conversation.messages += [
                    Message(
                        "user" if turn.role == "user" else "assistant",
                        (TextPart(turn.text),),
                        id=f"{number}:{place}",
                        time=session.time.replace(tzinfo=UTC),
                    )
                    for place, turn in enumerate(session.turns)
                ]
                conversation.created = session.time.replace(tzinfo=UTC)
                store.save(conversation, explicit=True)
                numbers[conversation.name] = number
            store.index_all()
            hits = store.search(case.question, limit=DEEPEST).hits
        finally:
            store.close()
    turns = (_place(snippet.message_id) for hit in hits for snippet in hit.snippets)
    return Ranked(tuple(numbers[hit.session.name] for hit in hits), tuple(dict.fromkeys(turns)))


SEARCHES: dict[Through, Search] = {"passages": by_passages, "sessions": by_sessions}


def _place(key: str) -> Place:
    session, _, turn = key.partition(":")
    return int(session), int(turn)


def figures(case: Case, found: Ranked) -> dict[str, float]:
    """Recall and rank quality of one question; empty where the case names no evidence to find.

    ``any@k``: one evidence session is among the first k; ``all@k``: all are; ``R@k``: the share that is.
    """
    wanted = {number for number, session in enumerate(case.sessions) if session.id in case.evidence}
    if not wanted or case.abstention:
        return {}
    shown = {f"session any@{k}": float(bool(wanted.intersection(found.sessions[:k]))) for k in (5, 10)}
    shown |= {f"session all@{k}": float(wanted.issubset(found.sessions[:k])) for k in (5, 10)}
    shown |= {f"session R@{k}": len(wanted.intersection(found.sessions[:k])) / len(wanted) for k in (5, 10)}
    shown["session NDCG@10"] = _ndcg([s in wanted for s in found.sessions[:10]], len(wanted))
    turns = {
        (number, place)
        for number, session in enumerate(case.sessions)
        for place, turn in enumerate(session.turns)
        if turn.evidence and number in wanted
    }
    if turns:
        shown["turn R@10"] = len(turns.intersection(found.turns[:10])) / len(turns)
    return shown


def _ndcg(relevant: Sequence[bool], wanted: int) -> float:
    gain = sum(1 / math.log2(rank + 2) for rank, right in enumerate(relevant) if right)
    return gain / sum(1 / math.log2(rank + 2) for rank in range(min(wanted, 10)))


def date_shown(time: datetime) -> str:
    """A session's date as readers see it."""
    return f"{time:%Y-%m-%d (%a) %H:%M}"
