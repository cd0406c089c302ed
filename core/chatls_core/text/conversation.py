"""What a list of passages looks like as a whole: who speaks, where conversations begin, how long passages are.

Nobody tells the ranker what its passages are. Dialogue turns are short, lean on their neighbours ("Three times a week."
answers the turn before) and name their speaker; facts and pages stand for themselves. Smoothing over neighbours lifts
recall of the former by a quarter and only brings noise to the latter, so its strength is read off the corpus here.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from .bm25 import Postings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]
    Scores = NDArray[np.float64]

_LABEL = re.compile(r"([^\W\d_][^\s:\[\](){}<>\"`/\\=]*(?: [^\s:\[\](){}<>\"`/\\=]+){0,3}):[ \t]")
_SESSION_GAP_SECONDS = 4 * 3600.0
_SHORT = 30.0
"""Terms of a passage that is too short to stand alone."""
_MANY_SESSIONS = 60.0
_PAIRS = 200
_DIALOGUE_COHESION = 0.1
_LEAST_COHESION = 0.05


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


def id_stem(passage_id: str) -> str:
    """An id without its running number: ``D1`` of ``D1:7``."""
    return _RUNNING_NUMBER.sub("", passage_id)


_RUNNING_NUMBER = re.compile(r"[\W_]*\d+$")


def sessions(wall: Scores, stems: Numbers) -> Numbers:
    """The conversation each passage belongs to, numbered from 0 in the given order.

    ``wall`` are their times (:func:`wall_seconds`), ``stems`` a number for each id's stem. A new conversation begins
    where time jumps (by hours, or at all when all passages of a conversation bear one time), where it runs backwards,
    and where the stem changes if every stem's passages stand together.
    """
    import numpy as np

    if not len(wall):
        return np.zeros(0, dtype=np.int64)
    steps = np.diff(wall)
    dated = ~np.isnan(steps)
    stamped = int(np.count_nonzero(steps[dated] == 0)) > 0.5 * max(int(np.count_nonzero(dated)), 1)
    with np.errstate(invalid="ignore"):
        jumps = (steps != 0) if stamped else (np.abs(steps) > _SESSION_GAP_SECONDS) | (steps < 0)
    begins = (jumps & dated) | (np.isnan(wall[1:]) != np.isnan(wall[:-1]))
    changes = stems[1:] != stems[:-1]
    distinct = len(np.unique(stems))
    if 1 < distinct <= len(stems) / 2 and np.count_nonzero(changes) == distinct - 1:
        begins |= changes
    return np.concatenate(([0], np.cumsum(begins))).astype(np.int64)


def wall_seconds(time: datetime | None) -> float:
    """Seconds of the wall clock since 1970 in the time's own zone; NaN for no time."""
    return float("nan") if time is None else (time.replace(tzinfo=None) - datetime(1970, 1, 1)).total_seconds()


def offset_seconds(time: datetime | None) -> float:
    """Seconds that the time's zone is ahead of UTC; NaN for no time and for a naive one."""
    offset = None if time is None else time.utcoffset()
    return float("nan") if offset is None else offset.total_seconds()


def at_or_after(wall: Scores, offset: Scores, mark: datetime) -> NDArray[np.bool_]:
    """Which times (:func:`wall_seconds`, :func:`offset_seconds`) are at or after ``mark``.

    Two times that both name a zone are compared as instants, others by what the clock on the wall showed.
    """
    import numpy as np

    zone = offset_seconds(mark)
    shift = np.where(np.isnan(offset), 0.0, zone - offset) if not np.isnan(zone) else 0.0
    later: NDArray[np.bool_] = wall + shift >= wall_seconds(mark)
    return later


def cohesion(postings: Postings, live: Numbers, group: Numbers) -> float:
    """How much more passages that stand together share than passages that do not, as a share of their information.

    0 where nothing stands together; about 0.1 in dialogue and in running text, a few hundredths in lists of facts.
    ``live`` are the filled slots, ``group`` the conversation of each. Looks at some hundred pairs, always the same.
    """
    import numpy as np

    beside = np.flatnonzero(group[1:] == group[:-1])
    if not len(beside):
        return 0.0
    pairs = beside[:: -(-len(beside) // _PAIRS)].tolist()
    half = len(live) // 2
    shared = [
        postings.overlap(int(live[i]), int(live[i + 1])) - postings.overlap(int(live[i]), int(live[i - half]))
        for i in pairs
    ]
    return sum(shared) / len(shared)


def takes_turns(label: Numbers, group: Numbers) -> bool:
    """Whether the labels of passages (as numbers) alternate within conversations, as speakers do, not headings."""
    import numpy as np

    beside, next_but_one = group[1:] == group[:-1], group[2:] == group[:-2]
    if not next_but_one.any():
        return False
    changes = np.mean(label[1:][beside] != label[:-1][beside])
    returns = np.mean(label[2:][next_but_one] == label[:-2][next_but_one])
    return bool(changes >= 0.5 and returns >= 0.5)


def shape(
    labels: Counter[str],
    passages: int,
    sessions_count: int,
    mean_length: float,
    alternates: Callable[[], bool],
    cohesive: Callable[[], float],
) -> Shape:
    """Read the corpus.

    ``labels`` are the names with their counts, ``passages`` and ``sessions_count`` how many there are, ``mean_length``
    is in terms. ``alternates`` tells :func:`takes_turns`, ``cohesive`` measures :func:`cohesion`; they are asked only
    where it matters.
    """
    shortness = min(1.0, (_SHORT / max(mean_length, 1.0)) ** 0.75)
    b = 0.75 - 0.5 * max(0.0, shortness - 0.5)
    if passages < 3 * sessions_count:
        return Shape(frozenset(), 0.0, b)
    # Among many conversations more of them share a question's words by chance, and context proves less.
    crowding = min(1.0, (_MANY_SESSIONS / sessions_count) ** 0.25)
    speakers = frozenset(label for label, count in labels.items() if label and count >= 3)
    if len(speakers) >= 2 and sum(labels[s] for s in speakers) >= 0.6 * passages and alternates():
        return Shape(speakers, shortness * crowding, b)
    together = cohesive()
    strength = min(1.0, together / _DIALOGUE_COHESION) if together >= _LEAST_COHESION else 0.0
    return Shape(frozenset(), shortness * crowding * strength, b)
