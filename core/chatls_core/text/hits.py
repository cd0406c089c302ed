"""What a search found: passages with their scores, and why in words."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass

from . import expansion, scoring
from .bm25 import Postings

STRONG_COVERAGE = 0.5
"""Share of the question's information a passage must hold to count as a strong match, …"""
STRONG_TELLING = 2.5
"""… or so many telling words of it."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A found passage.

    ``score`` orders hits and compares across questions: about 1 for a passage that holds everything asked for, more
    where its conversation does too.
    ``coverage`` (0 to 1) is the share of the question's information that the passage's *own* words hold.
    ``telling`` is the same as a number of words: 2.0 for as much as two words that no other passage has.
    ``words`` counts the words of the question it holds itself.
    ``met`` names them, folded, each with how well it is met (0 to 1) and with its part of ``telling``.
    ``why`` says in words what matched.
    """

    id: str
    score: float
    why: str
    coverage: float = 0.0
    telling: float = 0.0
    words: int = 0
    met: tuple[tuple[str, float, float], ...] = ()


def strong_match(hit: Hit) -> bool:
    """Whether a hit may be shown unasked (auto-recall): its own words, not its neighbours', meet the question.

    They hold half of a short question, or some three telling words of a long one.
    """
    return hit.coverage >= STRONG_COVERAGE or hit.telling >= STRONG_TELLING


def hits_of(
    postings: Postings,
    named: Callable[[int], tuple[str, str]],
    slots: Sequence[int],
    wish: scoring.Wish,
    result: scoring.Result,
    times: str = "",
) -> list[Hit]:
    """The passages in ``slots`` with their scores and reasons.

    ``named`` gives a slot's passage id and who speaks, ``times`` is the asked time in words.
    """
    names_of_words = [_naming(postings, word) for word in wish.words]
    places = list(slots)
    presence = result.presence[:, places].T.round(4).tolist()
    tells = [word.information / result.unit for word in wish.words]
    totals = (result.total[places] / result.possible).round(6).tolist()
    coverage = result.coverage[places].clip(max=1.0).round(4).tolist()
    telling = result.telling[places].round(4).tolist()
    within = [False] * len(places) if wish.inside is None else (wish.inside[places] > 0).tolist()
    spoken = (result.spoken[places] > 0).tolist()
    whys: dict[tuple[object, ...], str] = {}
    found = []
    for place, slot in enumerate(places):
        passage_id, label = named(slot)
        parts = tuple(
            # Most words have one term that anything holds.
            names[0][0] if len(names) == 1 else next(name for name, holders in names if slot in holders)
            for names, present in zip(names_of_words, presence[place], strict=True)
            if present
        )
        speaker = label if spoken[place] else ""
        key = (parts, within[place], speaker)
        if (why := whys.get(key)) is None:
            why = whys[key] = _reason(parts, times if within[place] else "", speaker)
        met = tuple(
            (word.folded, share, round(share * tell, 4))
            for word, share, tell in zip(wish.words, presence[place], tells, strict=True)
            if share
        )
        found.append(Hit(passage_id, totals[place], why, coverage[place], telling[place], len(parts), met))
    return found


def _naming(postings: Postings, word: expansion.Wanted) -> list[tuple[str, Container[int]]]:
    """How each term of a wanted word is called in a reason, with the slots that hold it; the closest first."""
    names = []
    for term, _ in sorted(word.terms, key=lambda pair: -pair[1]):
        itself = term == word.terms[0][0] or term.startswith("@")
        name = word.folded if itself else f"{postings.written(term)} (for {word.folded})"
        names.append((name, postings.holders(term)))
    return names


def _reason(parts: Sequence[str], times: str, speaker: str) -> str:
    """Why a passage was found: the words it has, the asked time it is from, the asked person who said it."""
    reasons = ["has " + ", ".join(parts)] if parts else []
    if times:
        reasons.append(f"in the time asked for ({times})")
    if not reasons:
        reasons.append("stands beside a passage that matches")
    if speaker:
        reasons.append(f"said by {speaker}")
    return "; ".join(reasons)
