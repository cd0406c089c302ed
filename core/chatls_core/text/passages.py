"""Passages as columns: what a search needs of each, by slot, kept up to date one passage at a time."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from . import bm25, conversation, dates, stopwords, tokenizer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_YEAR = re.compile(r"(?:19|20)\d\d")
_ASIDE = re.compile(r"\s*\[[^\]]*\]\s*$")
LABEL = "@l"
"""Begins the terms of a passage's ``Name:``, which are no words of its text."""


@dataclass(frozen=True, slots=True)
class Passage:
    """What can be found: a fact, an episode, a dialogue turn, a page.

    ``time`` is when it was said or holds; ``tags`` are words that describe it; ``weight`` multiplies its score.
    """

    id: str
    text: str
    time: datetime | None = None
    tags: tuple[str, ...] = ()
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Analysis:
    """What the ranker reads off a passage; kept by a persistent index, it stands for the passage's text.

    ``pairs`` are its terms in order, each with the folded word it came from. ``label`` is the ``Name`` of ``Name: …``.
    ``asks`` tells a question, ``dated`` a passage that names a time, ``counted`` one that holds a number.
    """

    pairs: Sequence[tuple[str, str]]
    label: str
    portuguese: bool
    asks: bool
    dated: bool
    counted: bool


def analyse(passage: Passage) -> Analysis:
    """Read a passage: its words, tags, speaker and date."""
    label, body = conversation.speaker_label(passage.text)
    language = tokenizer.detect_language(body) or "en"
    pairs = tokenizer.analysed(body, language)
    own, written = {term for term, _ in pairs}, {word for _, word in pairs}
    numbers = {word for word in written if word.isdigit()}
    pairs += [pair for tag in passage.tags for pair in tokenizer.analysed(tag, language) if pair[0] not in own]
    pairs += [(LABEL + word.folded, word.folded) for word in tokenizer.words(label)]
    if passage.time is not None:
        pairs += [(term, dates.spelled(term)) for term in dates.date_terms(passage.time)]
    return Analysis(
        pairs,
        label,
        language == "pt",
        _ASIDE.sub("", body).rstrip().endswith("?"),
        not stopwords.TIMES.isdisjoint(written) or any(_YEAR.fullmatch(n) for n in numbers),
        bool(numbers) or not stopwords.NUMBERS.isdisjoint(written),
    )


class Table:
    """All passages in order. A removed passage leaves its slot empty; a replaced one keeps it."""

    def __init__(self) -> None:
        self.postings = bm25.Postings()
        self.passages: list[Passage | None] = []
        self.labels: Counter[str] = Counter()
        """How many passages begin with each ``Name:``."""
        self.portuguese = 0
        """How many passages are in Portuguese."""
        self._slots: dict[str, int] = {}
        self._label: list[str] = []
        self._is_portuguese: list[bool] = []
        self._names: dict[str, int] = {"": 0}
        self._stem: list[int] = []
        self._stems: dict[str, int] = {}
        self._columns: dict[str, list[float]] = {
            name: [] for name in ("weight", "asks", "dated", "counted", "wall", "offset")
        }

    def __len__(self) -> int:
        return len(self._slots)

    def __iter__(self) -> Iterator[Passage]:
        return (passage for passage in self.passages if passage is not None)

    def slot(self, passage_id: str) -> int | None:
        """Where a passage stands."""
        return self._slots.get(passage_id)

    def named(self, slot: int) -> tuple[str, str]:
        """The id of the passage in a filled slot, and the ``Name`` with which it begins; empty when with none."""
        passage = self.passages[slot]
        assert passage is not None
        return passage.id, self._label[slot]

    def put(self, passage: Passage, analysis: Analysis | None = None) -> None:
        """Add at the end, or replace the one of the same id where it stands; ``analysis`` saves reading it."""
        read = analysis or analyse(passage)
        slot = self._slots.get(passage.id)
        if slot is None:
            slot = self._slots[passage.id] = self.postings.append()
            self.passages.append(None)
            self._label.append("")
            self._is_portuguese.append(False)
            self._stem.append(0)
            for column in self._columns.values():
                column.append(0.0)
        else:
            self._empty(slot)
        self.postings.fill(slot, read.pairs)
        self.passages[slot] = passage
        self.labels[read.label] += 1
        self._label[slot] = read.label
        self._names.setdefault(read.label, len(self._names))
        self.portuguese += read.portuguese
        self._is_portuguese[slot] = read.portuguese
        self._stem[slot] = self._stems.setdefault(conversation.id_stem(passage.id), len(self._stems))
        columns = self._columns
        columns["weight"][slot] = passage.weight
        columns["asks"][slot] = read.asks
        columns["dated"][slot] = read.dated
        columns["counted"][slot] = read.counted
        columns["wall"][slot] = conversation.wall_seconds(passage.time)
        columns["offset"][slot] = conversation.offset_seconds(passage.time)

    def remove(self, passage_id: str) -> bool:
        """Take a passage out; says whether it was there."""
        slot = self._slots.pop(passage_id, None)
        if slot is None:
            return False
        self._empty(slot)
        return True

    def _empty(self, slot: int) -> None:
        self.postings.clear(slot)
        self.passages[slot] = None
        self.labels[self._label[slot]] -= 1
        self.portuguese -= self._is_portuguese[slot]
        self._is_portuguese[slot] = False
        for name, column in self._columns.items():
            column[slot] = float("nan") if name == "wall" else 0.0

    def column(self, name: str) -> NDArray[np.float64]:
        """One of ``weight``, ``asks``, ``dated``, ``counted``, ``wall``, ``offset`` by slot (see :mod:`.scoring`)."""
        import numpy as np

        return np.array(self._columns[name], dtype=np.float64)

    def label_numbers(self) -> NDArray[np.int64]:
        """A number for the ``Name`` of each slot."""
        import numpy as np

        return np.array([self._names[label] for label in self._label], dtype=np.int64)

    def stems(self) -> NDArray[np.int64]:
        """A number for the stem of each slot's id."""
        import numpy as np

        return np.array(self._stem, dtype=np.int64)
