"""What a list of passages looks like as a whole: who speaks, where conversations begin, how long passages are.

Nobody tells the ranker what its passages are. Dialogue turns are short, lean on their neighbours ("Three times a week."
answers the turn before) and name their speaker; facts and pages stand for themselves. Smoothing over neighbours lifts
recall of the former by a quarter and only brings noise to the latter, so its strength is read off the corpus here.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]

_LABEL = re.compile(r"([^\W\d_][^\s:\[\](){}<>\"`/\\=]*(?: [^\s:\[\](){}<>\"`/\\=]+){0,3}):[ \t]")
_SESSION_GAP_SECONDS = 4 * 3600.0
_SHORT = 30.0
"""Terms of a passage that is too short to stand alone."""
_MANY_SESSIONS = 60.0


def speaker_label(text: str) -> tuple[str, str]:
    """The label ``Name`` of a text ``Name: …`` and the rest; an empty label when there is none."""
    match = _LABEL.match(text)
    if match is None or len(match[1]) > 40:
        return "", text
    return match[1], text[match.end() :]


@dataclass(frozen=True, slots=True)
class Shape:
    """How the corpus is to be read.

    ``speakers`` are the labels that are speakers. ``context`` (0 to 1) is how much a passage may lean on its neighbours
    and its conversation; ``b`` is BM25's length normalisation.
    """

    speakers: frozenset[str]
    context: float
    b: float


def sessions(times: Sequence[datetime | None], ids: Sequence[str]) -> Numbers:
    """The conversation each passage belongs to, numbered from 0 in the given order.

    A new one begins where time jumps (by hours, or at all when every passage of a conversation bears one time), runs
    backwards, or where the ids' common stem (``D1:`` of ``D1:7``) changes and stems are contiguous.
    """
    import numpy as np

    if not ids:
        return np.zeros(0, dtype=np.int64)
    seconds = np.array([_seconds(t) for t in times])
    steps = np.diff(seconds)
    both_dated = ~np.isnan(steps)
    same_time = int((steps[both_dated] == 0).sum()) if both_dated.any() else 0
    stamped = same_time > 0.5 * max(int(both_dated.sum()), 1)
    with np.errstate(invalid="ignore"):
        jumps = (steps != 0) if stamped else (np.abs(steps) > _SESSION_GAP_SECONDS) | (steps < 0)
    begins = jumps & both_dated | (np.isnan(seconds[1:]) != np.isnan(seconds[:-1]))
    stems = [_STEM.sub("", i) for i in ids]
    changes = np.array([a != b for a, b in zip(stems, stems[1:], strict=False)], dtype=bool)
    distinct = len(set(stems))
    if 1 < distinct <= len(ids) / 2 and int(changes.sum()) == distinct - 1:
        begins = begins | changes
    return np.concatenate(([0], np.cumsum(begins))).astype(np.int64)


_STEM = re.compile(r"[\W_]*\d+$")


def _seconds(time: datetime | None) -> float:
    # Wall-clock difference; a mixture of aware and naive times must not fail, and hours of offset hardly matter here.
    return float("nan") if time is None else (time.replace(tzinfo=None) - datetime(1970, 1, 1)).total_seconds()


def shape(labels: Counter[str], passages: int, sessions_count: int, mean_length: float) -> Shape:
    """Read the corpus: ``labels`` with their counts, number of passages and conversations, mean terms per passage."""
    shortness = min(1.0, (_SHORT / max(mean_length, 1.0)) ** 0.5)
    b = 0.75 - 0.5 * max(0.0, shortness - 0.5)
    speakers = frozenset(label for label, count in labels.items() if count >= 3)
    labelled = sum(labels[s] for s in speakers)
    is_dialogue = len(speakers) >= 2 and labelled >= 0.6 * passages and passages >= 3 * sessions_count
    if not is_dialogue:
        return Shape(frozenset(), 0.0, b)
    # Among many conversations more of them share a question's words by chance, and context proves less.
    crowding = min(1.0, (_MANY_SESSIONS / max(sessions_count, 1)) ** 0.25)
    return Shape(speakers, shortness * crowding, b)
