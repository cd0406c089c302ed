"""The arithmetic of a search: BM25 of the wanted words over all passages, and what context adds to it in dialogue.

Arrays run over slots, a passage's place in the index; empty slots hold zeros.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from . import bm25, expansion
from .conversation import Shape
from .expansion import Wanted
from .passages import LABEL

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]
    Scores = NDArray[np.float64]

LEAST_COVERAGE = 0.12
"""Below this share of the question's information a passage that stands alone is unrelated, …"""
LEAST_TELLING = 1.5
"""… unless it meets as much as this many telling words: the share says little where a question is a page long."""

NEXT, NEXT_BUT_ONE = 0.5, 0.2
"""How much of its neighbours' scores a dialogue turn takes over."""
CONVERSATION = 1.5
"""Weight of the whole conversation's score in a turn's."""
SPEAKER = 0.5
"""Bonus of passages said by whom the question names."""
COVERAGE = 0.3
"""Bonus of meeting every word of the question."""
TIME_SHARE = 1.1
"""What the asked time is worth as evidence, against all words of the question."""
TIME_ANSWER, NUMBER_ANSWER = 0.3, 0.2
"""Bonus of passages that hold the kind of answer the question wants."""
QUESTION = 0.2
"""Turns that ask seldom answer."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """What searches need of the passages; valid until they change."""

    postings: bm25.Postings
    vocabulary: bm25.Vocabulary
    """What is known of the whole, of which ``postings`` may be the part that can matter."""
    shape: Shape
    scorer: bm25.Scorer
    live: Numbers
    group: Numbers
    """The conversation of each filled slot, in the order of ``live``."""
    groups: bm25.GroupScorer | None
    weight: Scores
    asks: Scores
    dated: Scores
    counted: Scores
    wall: Scores
    """Wall-clock seconds of each passage's time; NaN where it has none."""
    offset: Scores
    """Seconds that its time zone is ahead of UTC; NaN where it names none."""

    @property
    def size(self) -> int:
        """Number of slots."""
        return self.postings.slots

    def neighbours(self, rows: Scores, distance: int) -> tuple[Scores, Scores]:
        """``rows`` (any number of them, by filled slot) shifted so that each passage meets the one before and after.

        Passages of other conversations count as zero.
        """
        import numpy as np

        before, after = np.zeros_like(rows), np.zeros_like(rows)
        if rows.shape[-1] > distance:
            same = self.group[distance:] == self.group[:-distance]
            before[..., distance:] = rows[..., :-distance] * same
            after[..., :-distance] = rows[..., distance:] * same
        return before, after


@dataclass(frozen=True, slots=True)
class Wish:
    """What is looked for: words, passages inside the asked time, speakers, the kind of answer."""

    words: Sequence[Wanted]
    inside: Scores | None = None
    """1 for passages of the asked time."""
    only_inside: bool = False
    """Whether the time is asked in words that no passage would use ("last week"), so that it alone can meet them."""
    speakers: Sequence[str] = ()
    wants_time: bool = False
    wants_number: bool = False


@dataclass(frozen=True, slots=True)
class Result:
    """Scores by slot. ``presence`` tells per word how much of it a passage holds (0 to 1)."""

    total: Scores
    coverage: Scores
    telling: Scores
    presence: Scores
    spoken: Scores
    possible: float = field(default=1.0)
    """The score of a passage that holds everything, often."""
    unit: float = 1.0
    """The information of a word that one passage has."""


def score(corpus: Corpus, wish: Wish) -> Result:
    """Score every passage for ``wish``, which must hold words or a time."""
    import numpy as np

    size = corpus.size
    total, told, near = np.zeros(size), np.zeros(size), np.zeros(size)
    presence = np.zeros((len(wish.words), size))
    for present, word in zip(presence, wish.words, strict=True):
        row = np.zeros(size)
        for term, worth in word.terms:
            slots, values = corpus.scorer.scores(term)
            # A rare stand-in must not outweigh the word that was asked for, nor a common one tell as much.
            idf = bm25.idf(corpus.vocabulary, term)
            row[slots] = np.maximum(row[slots], worth * min(1.0, word.idf / max(idf, 1e-9)) * values)
            told_by_term = worth * min(1.0, idf / max(word.idf, 1e-9))
            present[slots] = np.maximum(present[slots], told_by_term)
        total += word.weight * row
        told += word.information * present
        if corpus.groups is not None:
            compact = present[corpus.live]
            before, after = corpus.neighbours(compact, 1)
            near[corpus.live] += word.information * np.maximum(compact, np.maximum(before, after))
    information = sum(word.information for word in wish.words)
    possible = sum(word.weight * word.idf for word in wish.words) * (bm25.K1 + 1)
    near /= max(information, 1e-9)
    if wish.inside is not None:
        # An asked time is one more word, which the passages of that time have.
        idf = bm25.inverse_frequency(corpus.vocabulary.live, int(wish.inside.sum()))
        total += idf * wish.inside * ((total > 0) if wish.words else 1.0)
        # It weighs as much as all the others together: the right thing at the wrong time is no answer.
        share = (TIME_SHARE * information if wish.only_inside else 0.0) if wish.words else 1.0
        told += share * wish.inside
        information += share
        possible += idf
    coverage = told / max(information, 1e-9)
    unit = expansion.information(corpus.vocabulary, 1)
    telling = told / unit
    spoken = np.zeros(size)
    for name in wish.speakers:
        spoken[corpus.postings.arrays(LABEL + name)[0]] = 1.0
    # Without speakers it is no dialogue, where an answer may lack every word of its question.
    alone = ((coverage < LEAST_COVERAGE) & (telling < LEAST_TELLING)) if not corpus.shape.speakers else None
    if corpus.groups is not None and wish.words:
        total = _in_context(corpus, corpus.groups, wish.words, total, near)
    else:
        total *= 1 + COVERAGE * coverage
    if alone is not None:
        total[alone] = 0.0
    total *= 1 + SPEAKER * spoken
    if wish.wants_time:
        total *= 1 + TIME_ANSWER * corpus.dated
    elif wish.wants_number:
        total *= 1 + NUMBER_ANSWER * corpus.counted
    total *= corpus.weight
    return Result(total, coverage, telling, presence, spoken, max(possible, 1e-9), unit)


def _in_context(
    corpus: Corpus, groups: bm25.GroupScorer, words: Sequence[Wanted], total: Scores, near: Scores
) -> Scores:
    """The scores of dialogue turns, each leaning on its neighbours and on its conversation."""
    import numpy as np

    context, live = corpus.shape.context, corpus.live
    own = total[live]
    leaning = own + context * (NEXT * sum(corpus.neighbours(own, 1)) + NEXT_BUT_ONE * sum(corpus.neighbours(own, 2)))
    conversation = np.zeros(int(corpus.group[-1]) + 1)
    for word in words:
        best = np.zeros_like(conversation)
        asked = groups.scores(word.terms[0][0])[1]
        for term, worth in word.terms:
            values, idf = groups.scores(term)
            best = np.maximum(best, worth * min(1.0, asked / max(idf, 1e-9)) * values)
        conversation += word.weight * best
    leaning += context * CONVERSATION * conversation[corpus.group] * (leaning > 0)
    leaning *= (1 - QUESTION * context * corpus.asks[live]) * (1 + COVERAGE * near[live])
    result = np.zeros_like(total)
    result[live] = leaning
    return result


def best(total: Scores, k: int) -> list[int]:
    """The slots of the ``k`` highest positive scores, best first; earlier passages first among equals."""
    import numpy as np

    positive = _leading(total, k)
    return [int(slot) for slot in positive[np.argsort(-total[positive], kind="stable")][:k]]


def best_and_newest(total: Scores, k: int, wall: Scores, named: Callable[[int], str]) -> list[int]:
    """Like :func:`best`, but among equals the newest first, then by name: in whatever order they were added."""
    import numpy as np

    total = np.round(total, 9)  # sums of the same parts differ in the last bits
    slots = _leading(total, k)
    newest = np.nan_to_num(wall[slots], nan=-np.inf)
    order = np.lexsort((-newest, -total[slots]))
    slots, newest = slots[order], newest[order]
    found: list[int] = []
    while len(found) < min(k, len(slots)):
        first = len(found)
        same = (total[slots[first:]] == total[slots[first]]) & (newest[first:] == newest[first])
        group = [int(slot) for slot in slots[first:][same]]
        found += sorted(group, key=named) if len(group) > 1 else group
    return found[:k]


def _leading(total: Scores, k: int) -> Numbers:
    """Slots with positive scores, among them all that may be of the ``k`` best."""
    import numpy as np

    positive = np.flatnonzero(total > 0)
    if len(positive) > 4 * k:
        threshold = np.partition(total[positive], -k)[-k]
        positive = positive[total[positive] >= threshold]
    return positive
