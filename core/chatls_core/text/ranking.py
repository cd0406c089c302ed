"""The one ranker: facts, episodes, sessions, knowledge and graph search all use :class:`PassageIndex`.

BM25 over stemmed words decides; around it stand small, general helpers, each measured in docs/ranking.md: related words,
dates, the speaker a question names, and, in dialogue only, the neighbours and the conversation of a passage.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from . import bm25, conversation, dates, expansion, query, tokenizer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Scores = NDArray[np.float64]

Embed = Callable[[Sequence[str]], Sequence[Sequence[float]]]
"""Turns texts into vectors of one length."""

STRONG_COVERAGE = 0.5
"""Share of the question's information a passage must hold to count as a strong match."""

LEAST_COVERAGE = 0.12
"""Below this share of the question's information a passage that stands alone is unrelated."""

_NEXT, _NEXT_BUT_ONE = 0.5, 0.2
_CONVERSATION = 1.0
_SPEAKER = 0.5
_COVERAGE = 0.3
_TIME_ANSWER, _NUMBER_ANSWER = 0.3, 0.2
_QUESTION = 0.2
_FUSION = 60.0
_VECTOR_WEIGHT = 0.5

_TIME_WORD = re.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|last|next|ago|weeks?|weekend|months?|years?|since|recently|"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|ontem|anteontem|hoje|amanh[ãa]|semana|m[êe]s|ano|passad[oa]|h[áa]|desde|"
    r"january|february|march|april|june|july|august|september|october|november|december|"
    r"janeiro|fevereiro|mar[çc]o|abril|maio|junho|julho|agosto|setembro|outubro|novembro|dezembro|\d{4}|\d{1,2}[/:]\d{1,2})\b",
    re.IGNORECASE,
)
_NUMBER_WORD = re.compile(
    r"\b(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten|couple|few|several|first|second|third|once|twice|"
    r"um|uma|dois|duas|tr[êe]s|quatro|cinco|seis|sete|oito|nove|dez|primeir[oa]|segund[oa])\b",
    re.IGNORECASE,
)
_ASIDE = re.compile(r"\s*\[[^\]]*\]\s*$")
_FIRST_PERSON_LABELS = frozenset({"user", "human", "me", "usuario"})
_SECOND_PERSON_LABELS = frozenset({"assistant", "ai", "bot", "model", "assistente"})


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
class Hit:
    """A found passage.

    ``score`` orders hits and compares across questions: about 1 for a passage that holds everything asked for.
    ``coverage`` (0 to 1) is the share of the question's information that the passage's *own* words hold; ``why`` says in
    words what matched.
    """

    id: str
    score: float
    why: str
    coverage: float = 0.0


def strong_match(hit: Hit) -> bool:
    """Whether a hit may be shown unasked (auto-recall): its own words, not its neighbours', meet the question."""
    return hit.coverage >= STRONG_COVERAGE


@dataclass(frozen=True, slots=True)
class _Entry:
    """What is kept of a passage beside its terms."""

    passage: Passage
    label: str
    portuguese: bool
    asks: bool
    dated: bool
    counted: bool


@dataclass(frozen=True, slots=True)
class _Built:
    """What searches need and changes invalidate; arrays are by slot."""

    live: NDArray[np.int64]
    group: NDArray[np.int64]
    shape: conversation.Shape
    scorer: bm25.Scorer
    groups: bm25.GroupScorer | None
    weight: Scores
    asks: Scores
    dated: Scores
    counted: Scores


class PassageIndex:
    """A searchable set of passages, in the order they were added. Changes are cheap, and seen by the next search.

    Not safe for changes and searches from several threads at once.
    """

    def __init__(self, passages: Iterable[Passage] = (), *, embed: Embed | None = None) -> None:
        """``embed`` is optional; where given, its ranking is fused with the words' at half weight."""
        self._postings = bm25.Postings()
        self._slot: dict[str, int] = {}
        self._entries: list[_Entry | None] = []
        self._labels: Counter[str] = Counter()
        self._portuguese = 0
        self._built: _Built | None = None
        self._embed = embed
        self._vectors: dict[str, Sequence[float]] = {}
        for passage in passages:
            self.add(passage)

    def __len__(self) -> int:
        return len(self._slot)

    def __contains__(self, passage_id: object) -> bool:
        return passage_id in self._slot

    def add(self, passage: Passage) -> None:
        """Add a passage at the end; one with the same id is replaced where it stands."""
        slot = self._slot.get(passage.id)
        if slot is None:
            slot = self._slot[passage.id] = self._postings.append()
            self._entries.append(None)
        elif (known := self._entries[slot]) is not None:
            if known.passage == passage:
                return
            self._forget(slot, known)
        label, body = conversation.speaker_label(passage.text)
        language = tokenizer.detect_language(body) or "en"
        pairs = tokenizer.analysed(body, language)
        own = {term for term, _ in pairs}
        pairs += [pair for tag in passage.tags for pair in tokenizer.analysed(tag, language) if pair[0] not in own]
        pairs += [(f"@l{word.folded}", word.folded) for word in tokenizer.words(label)]
        if passage.time is not None:
            pairs += [(term, dates.spelled(term)) for term in dates.date_terms(passage.time)]
        self._postings.fill(slot, pairs)
        self._entries[slot] = _Entry(
            passage,
            label,
            language == "pt",
            _ASIDE.sub("", body).rstrip().endswith("?"),
            bool(_TIME_WORD.search(body)),
            bool(_NUMBER_WORD.search(body)),
        )
        self._labels[label] += 1
        self._portuguese += language == "pt"
        self._built = None

    def remove(self, passage_id: str) -> bool:
        """Remove a passage; says whether it was there."""
        slot = self._slot.pop(passage_id, None)
        if slot is None:
            return False
        entry = self._entries[slot]
        assert entry is not None
        self._forget(slot, entry)
        if self._postings.slots > 64 and self._postings.live < self._postings.slots / 2:
            self._compact()
        return True

    def replace(self, passages: Iterable[Passage]) -> None:
        """Make the index hold exactly ``passages``; those that stay the same are not read again.

        The order becomes the given one; when it differs from the present order, everything is read again.
        """
        wanted = {p.id: p for p in passages}
        for passage_id in [i for i in self._slot if i not in wanted]:
            self.remove(passage_id)
        kept = [i for i in wanted if i in self._slot]
        in_order = sorted(kept, key=self._slot.__getitem__) == kept and list(wanted)[: len(kept)] == kept
        if not in_order:
            for passage_id in kept:
                self.remove(passage_id)
        for passage in wanted.values():
            self.add(passage)

    def _forget(self, slot: int, entry: _Entry) -> None:
        self._postings.clear(slot)
        self._entries[slot] = None
        self._labels[entry.label] -= 1
        self._portuguese -= entry.portuguese
        self._vectors.pop(entry.passage.id, None)
        self._built = None

    def _compact(self) -> None:
        """Close the gaps that removed passages left."""
        vectors = self._vectors
        fresh = PassageIndex((e.passage for e in self._entries if e is not None), embed=self._embed)
        self.__dict__.update(fresh.__dict__)
        self._vectors = vectors

    def _build(self) -> _Built:
        import numpy as np

        filled = [(slot, entry) for slot, entry in enumerate(self._entries) if entry is not None]
        size = self._postings.slots
        live = np.array([slot for slot, _ in filled], dtype=np.int64)
        group_of_live = conversation.sessions([e.passage.time for _, e in filled], [e.passage.id for _, e in filled])
        count = int(group_of_live[-1]) + 1 if len(filled) else 0
        shape = conversation.shape(
            Counter({label: n for label, n in self._labels.items() if label}),
            len(filled),
            count,
            self._postings.average_length,
        )
        group = np.zeros(size, dtype=np.int64)
        group[live] = group_of_live

        def by_slot(value: Callable[[_Entry], float]) -> Scores:
            result: Scores = np.zeros(size)
            result[live] = [value(e) for _, e in filled]
            return result

        return _Built(
            live,
            group,
            shape,
            bm25.scorer(self._postings, b=shape.b),
            bm25.GroupScorer(self._postings, group, count, b=shape.b) if shape.context else None,
            by_slot(lambda e: e.passage.weight),
            by_slot(lambda e: e.asks),
            by_slot(lambda e: e.dated),
            by_slot(lambda e: e.counted),
        )

    def search(self, query_text: str, k: int, *, now: datetime | None = None) -> list[Hit]:
        """The best ``k`` passages, best first; nothing when the question has no topic or nothing is related to it."""
        if not self._slot or k <= 0:
            return []
        import numpy as np

        built = self._built = self._built or self._build()
        question = query.read(query_text)
        words, speakers = self._resolve(question, built.shape)
        if not words:
            return []
        size = self._postings.slots
        total, covered, near = np.zeros(size), np.zeros(size), np.zeros(size)
        by_group = np.zeros(int(built.group.max()) + 1) if built.groups else None
        information = sum(w.information for w in words)
        presence = []
        for word in words:
            score, present = np.zeros(size), np.zeros(size)
            for term, worth in word.terms:
                slots, values = built.scorer.scores(term)
                # A rare stand-in must not outweigh the word that was asked for.
                fair = worth * min(1.0, word.idf / max(self._postings.idf(term), 1e-9))
                score[slots] = np.maximum(score[slots], fair * values)
                present[slots] = np.maximum(present[slots], worth)
            total += word.weight * score
            covered += word.information * present
            presence.append(present)
            if built.groups and by_group is not None:
                near += word.information * np.maximum(present, self._beside(built, present, np.maximum))
                best = np.zeros_like(by_group)
                base = built.groups.scores(word.terms[0][0])[1]
                for term, worth in word.terms:
                    values, idf = built.groups.scores(term)
                    best = np.maximum(best, worth * min(1.0, base / max(idf, 1e-9)) * values)
                by_group += word.weight * best
        total, covered, near = total, covered / information, near / information
        context = built.shape.context
        if context and by_group is not None:
            total = total + context * (
                _NEXT * self._beside(built, total, np.add) + _NEXT_BUT_ONE * self._beside(built, total, np.add, 2)
            )
            total = total + context * _CONVERSATION * by_group[built.group] * (total > 0)
            total *= 1 - _QUESTION * context * built.asks
            total *= 1 + _COVERAGE * near
        else:
            total = np.where(covered >= LEAST_COVERAGE, total * (1 + _COVERAGE * covered), 0.0)
        spoken = np.zeros(size)
        for name in speakers:
            spoken[self._postings.arrays(f"@l{name}")[0]] = 1.0
        total *= 1 + _SPEAKER * spoken
        if question.wants_time:
            total *= 1 + _TIME_ANSWER * built.dated
        elif question.wants_number:
            total *= 1 + _NUMBER_ANSWER * built.counted
        total *= built.weight
        possible = sum(w.weight * w.idf for w in words) * (bm25.K1 + 1)
        order = self._best(total, k)
        hits = []
        for slot in order:
            entry = self._entries[slot]
            if entry is None:
                continue
            why = self._why(slot, words, presence, spoken[slot] > 0 and entry.label)
            hits.append(
                Hit(entry.passage.id, round(float(total[slot]) / possible, 6), why, round(float(covered[slot]), 4))
            )
        return hits

    def _resolve(self, question: query.Question, shape: conversation.Shape) -> tuple[list[expansion.Wanted], list[str]]:
        """The topic words with every term that may stand for them here, and the speakers that the question names."""
        names = {word.folded for label in shape.speakers for word in tokenizer.words(label)}
        speakers = [w.folded for w in question.topic if w.folded in names]
        if question.first_person and not speakers:
            speakers = sorted(names & _FIRST_PERSON_LABELS)
        if question.second_person:
            speakers = sorted(names & _SECOND_PERSON_LABELS) or speakers
        mixed = 0 < self._portuguese < len(self._slot) or (self._portuguese > 0) != (question.language == "pt")
        topic = [w for w in question.topic if w.folded not in names]
        labels_are_words = not shape.speakers
        wanted = [expansion.resolve(w, self._postings, translated=mixed, labels=labels_are_words) for w in topic]
        return wanted, speakers

    def _beside(
        self, built: _Built, values: Scores, combine: Callable[[Scores, Scores], Scores], distance: int = 1
    ) -> Scores:
        """The values of the passages ``distance`` before and after in the same conversation, combined."""
        import numpy as np

        compact, group = values[built.live], built.group[built.live]
        before, after = np.zeros_like(compact), np.zeros_like(compact)
        if len(compact) > distance:
            same = group[distance:] == group[:-distance]
            before[distance:] = compact[:-distance] * same
            after[:-distance] = compact[distance:] * same
        result = np.zeros_like(values)
        result[built.live] = combine(before, after)
        return result

    @staticmethod
    def _best(total: Scores, k: int) -> list[int]:
        """The slots of the ``k`` highest positive scores, best first, earlier passages first among equals."""
        import numpy as np

        positive = np.flatnonzero(total > 0)
        if len(positive) > 4 * k:
            threshold = np.partition(total[positive], -k)[-k]
            positive = positive[total[positive] >= threshold]
        return [int(i) for i in positive[np.argsort(-total[positive], kind="stable")][:k]]

    def _why(self, slot: int, words: list[expansion.Wanted], presence: list[Scores], speaker: str | bool) -> str:
        held = self._postings.terms_of(slot)
        parts = []
        for word, present in zip(words, presence, strict=True):
            if present[slot] <= 0:
                continue
            term = next(t for t, worth in sorted(word.terms, key=lambda p: -p[1]) if t in held)
            parts.append(
                word.folded if term == word.terms[0][0] else f"{self._postings.written(term)} (for {word.folded})"
            )
        why = "has " + ", ".join(parts) if parts else "stands beside a passage that matches"
        return f"{why}; said by {speaker}" if speaker else why
