"""What a question wishes for in a corpus: its words as they stand there, persons, the kind of answer."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Protocol

from . import dates, expansion, query, scoring, tokenizer
from .bm25 import Vocabulary

_MOST_WORDS = 32
_FIRST_PERSON_LABELS = frozenset({"user", "human", "me", "usuario"})
_SECOND_PERSON_LABELS = frozenset({"assistant", "ai", "bot", "model", "assistente"})


class TimeWindow(Protocol):
    """A time that a question asks for: from ``start`` up to but not including ``end``; ``span`` is where it stands."""

    @property
    def start(self) -> datetime: ...
    @property
    def end(self) -> datetime: ...
    @property
    def span(self) -> tuple[int, int]: ...


def wish(
    text: str,
    vocabulary: Vocabulary,
    *,
    windows: Sequence[TimeWindow] = (),
    speakers: Iterable[str] = (),
    portuguese: int = 0,
    ignored: Collection[str] = (),
    verbatim: bool = False,
) -> scoring.Wish:
    """What ``text`` looks for, but for the passages inside its time.

    ``windows`` are the times it asks for that passages answer, ``speakers`` the labels that are speakers,
    ``portuguese`` the number of passages in Portuguese. ``ignored`` are folded words that are no topic here;
    ``verbatim`` asks for common words too where there are no others.
    """
    relative = False
    for start, end in (window.span for window in windows):
        # "last week" is understood and no topic any more; "March 2026" may also stand in a passage's text.
        if not dates.dates_in(text[start:end]):
            relative, text = True, text[:start] + " " * (end - start) + text[end:]
    question = query.read(text, verbatim=verbatim)
    topic = [word for word in question.topic if word.folded not in ignored]
    names = {word.folded for label in speakers for word in tokenizer.words(label)}
    asked = [w.folded for w in topic if w.folded in names]
    if len(asked) == len(topic):
        # A question that is only a name asks for what is said about it as well.
        names = set()
    if question.first_person and not asked:
        asked = sorted(names & _FIRST_PERSON_LABELS)
    if question.second_person:
        asked = sorted(names & _SECOND_PERSON_LABELS) or asked
    translated = portuguese < vocabulary.live if question.language == "pt" else portuguese > 0
    words = [
        expansion.resolve(
            w, vocabulary, translated=translated, translations=translated or not question.sure, labels=not names
        )
        for w in topic
        if w.folded not in names
    ]
    if len(words) > _MOST_WORDS:
        # A pasted log must not flood the question: what tells most stays.
        words = heapq.nlargest(
            _MOST_WORDS, words, key=lambda w: (vocabulary.frequency(w.terms[0][0]) > 0, w.information)
        )
    return scoring.Wish(words, None, relative, asked, question.wants_time, question.wants_number)
