"""Search over saved conversations: by best passage, each conversation once, dates in sight (spec/memory.md §15.2).

A conversation counts by its best passage, not by the sum of its mentions: a marathon session that touches every word
must not hide the short one that holds the answer. Passages are scored by the one ranker, in
:mod:`chatls_core.text.stored_search`; further passages of the same conversation, and being recent, add a little.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from chatls_core.sessions.catalog import Catalog, Found
from chatls_core.sessions.conversation import SessionSummary
from chatls_core.sessions.passages import Source
from chatls_core.sessions.question import Question, understand
from chatls_core.text import cut, tokenizer
from chatls_core.text.amounts import amount
from chatls_core.text.days import local_day
from chatls_core.text.literal import Readable

SNIPPET_CHARS = 240
"""Most characters of one snippet."""

_FURTHER = 0.3
"""What each further passage of the same conversation adds, halving."""

_FRESH = 0.1
"""How much more a conversation of this week counts than an old one."""

_LANGUAGES: tuple[tokenizer.Language, ...] = ("en", "pt")

_SAME = 0.85
"""Share of common words from which two passages say the same (a forked conversation repeats its origin)."""


@dataclass(frozen=True, slots=True)
class Snippet:
    """A part of a message that matched. ``time`` is when it was said, ``None`` where no date is known."""

    message_id: str
    source: Source
    time: datetime | None
    text: str


@dataclass(frozen=True, slots=True)
class SessionHit:
    """A conversation that was found.

    ``matches`` counts its matching messages, ``coverage`` (0 to 1) is the share of the question's information in its
    best passage and ``words`` how many of its words stand there, ``why`` says what matched.
    """

    session: SessionSummary
    score: float
    coverage: float
    words: int
    matches: int
    snippets: tuple[Snippet, ...]
    why: str


@dataclass(frozen=True, slots=True)
class SearchResult(Readable):
    """What a search found, best first."""

    hits: tuple[SessionHit, ...]

    def __iter__(self) -> Iterator[SessionHit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)

    def _written(self, quote: Callable[[str], str]) -> str:
        """The hits as a list, with the date each snippet was said."""
        if not self.hits:
            return "No earlier conversation matches."
        lines = []
        for hit in self.hits:
            used = f", {local_day(hit.session.updated)}" if hit.session.updated else ""
            matches = f", {amount(hit.matches, 'matching message')}" if hit.matches else ""
            lines.append(f"- **{quote(hit.session.title or hit.session.name)}** (`{hit.session.name}`{used}{matches})")
            for snippet in hit.snippets:
                said = f" {local_day(snippet.time)}" if snippet.time else ""
                lines.append(f"  - {snippet.source}{said}: {quote(snippet.text)}")
        return "\n".join(lines)


class SessionSearch:
    """Answers questions from a :class:`~chatls_core.sessions.catalog.Catalog`."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def search(
        self,
        query: str,
        *,
        now: datetime,
        date_from: datetime | None = None,
        date_to: datetime | None = None,
        as_of: datetime | None = None,
        limit: int = 10,
        snippets: int = 3,
    ) -> list[SessionHit]:
        """The best conversations for a question in words, best first.

        Only what was said in ``[date_from, date_to)`` counts. ``as_of`` answers as of that moment: later messages do
        not exist and "last week" counts from there. A time expression in the query narrows the window too; where
        nothing was said in it, the whole time is searched. A query without a topic gives the most recent conversations.
        """
        question = understand(query, as_of or now)
        end = _earlier(date_to, as_of)
        if question.timed:
            start, last = _later(date_from, question.start), _earlier(end, question.end)
            if found := self.answer(question, now=as_of or now, start=start, end=last, limit=limit, snippets=snippets):
                return found
        return self.answer(question, now=as_of or now, start=date_from, end=end, limit=limit, snippets=snippets)

    def answer(
        self,
        question: Question,
        *,
        now: datetime,
        start: datetime | None = None,
        end: datetime | None = None,
        limit: int = 10,
        snippets: int = 3,
        only: Sequence[str] | None = None,
        exclude: Collection[str] = (),
        sources: Collection[Source] | None = None,
    ) -> list[SessionHit]:
        """Like :meth:`search` for a question already taken apart; its own window is not applied.

        ``only`` and ``exclude`` are names of sessions, ``sources`` kinds of passages.
        """
        if not question.words and not question.phrases:
            recent = self._catalog.recent(limit + len(exclude), start=start, end=end)
            return [SessionHit(s, 0.0, 0.0, 0, 0, (), "recent") for s in recent if s.name not in exclude][:limit]
        found = [
            passage
            for passage in self._catalog.search(
                question, start=start, end=end, only=only, exclude=exclude, sources=sources
            )
            if _allowed(passage, question)
        ]
        sessions = self._catalog.summaries(list({f.session for f in found}))
        by_session: dict[str, list[Found]] = {}
        for passage in found:
            if passage.session in sessions:
                by_session.setdefault(passage.session, []).append(passage)
        ranked = sorted(
            ((_session_score(passages, sessions[name], now), name) for name, passages in by_session.items()),
            reverse=True,
        )
        kept: list[tuple[float, str]] = []
        for score, name in ranked:
            if len(kept) == limit:
                break
            best = by_session[name][0]
            # A forked conversation repeats its origin: each hit must have something of its own to say.
            if not any(_same(best, by_session[other][0]) for _, other in kept):
                kept.append((score, name))
        return [_hit(sessions[name], by_session[name], question, score, snippets) for score, name in kept]


def _session_score(passages: Sequence[Found], session: SessionSummary, now: datetime) -> float:
    """A conversation's score from its passages, best first."""
    best = passages[0]
    score = best.hit.score + sum(p.hit.score * _FURTHER * 0.5**n for n, p in enumerate(passages[1:5]))
    said = best.passage.time or session.updated
    if said is not None:
        weeks = max((now - said).total_seconds(), 0.0) / 604_800
        score *= 1 + _FRESH / (1 + weeks)
    return score


def _hit(
    session: SessionSummary, passages: Sequence[Found], question: Question, score: float, snippets: int
) -> SessionHit:
    telling = [p for p in passages if p.hit.words] or passages[:1]
    shown: list[Found] = []
    for passage in telling:
        if len(shown) == snippets:
            break
        if all(passage.message_id != s.message_id and not _same(passage, s) for s in shown):
            shown.append(passage)
    best = telling[0]
    return SessionHit(
        session=session,
        score=score,
        coverage=best.hit.coverage,
        words=best.hit.words,
        matches=len({p.message_id for p in telling}),
        snippets=tuple(_snippet(p, question) for p in shown),
        why=best.hit.why,
    )


def _same(one: Found, other: Found) -> bool:
    mine, theirs = one.passage.text, other.passage.text
    if mine == theirs:
        return True
    if not 0.8 < len(mine) / len(theirs) < 1.25:
        return False
    own, others = set(one.terms.split()), set(other.terms.split())
    return len(own) > 8 and len(own & others) / len(own | others) >= _SAME


def _allowed(found: Found, question: Question) -> bool:
    if not question.phrases and not question.left_out:
        return True
    folded = tokenizer.fold(found.passage.text)
    return all(_stands_in(p, folded) for p in question.phrases) and not any(
        _stands_in(p, folded) for p in question.left_out
    )


def _stands_in(phrase: str, folded: str) -> bool:
    """Whether a phrase stands in a text as whole words, blanks alike."""
    pattern = r"\s+".join(map(re.escape, phrase.split()))
    return re.search(rf"(?<!\w){pattern}(?!\w)", folded) is not None


def _snippet(found: Found, question: Question) -> Snippet:
    from chatls_core.text import redaction

    text = redaction.redact(excerpt(found.passage.text, question, SNIPPET_CHARS))
    return Snippet(found.message_id, found.source, found.passage.time, text)


def excerpt(text: str, question: Question, limit: int) -> str:
    """At most ``limit`` characters of a text around where most of the question's words stand, on one line."""
    line = " ".join(text.split())
    if len(line) <= limit:
        return line
    wanted = {tokenizer.stem(word, language) for word in question.words for language in _LANGUAGES}
    # A stem keeps how its word begins; stemming every word of a text would cost more than the whole search.
    beginnings = {t[:2] for t in wanted}
    places = [
        m.start()
        for m in re.finditer(r"\w+", line)
        if (folded := tokenizer.fold(m.group()))[:2] in beginnings and _counts(folded, wanted)
    ]
    room = limit - 2
    best = max(places, key=lambda p: sum(p <= q < p + room for q in places), default=0)
    start = max(0, min(best - room // 6, len(line) - room))
    if start:
        start = line.find(" ", start) + 1 or start
    head = "…" if start else ""
    return head + cut.by_chars(line[start:], limit - len(head))


def _counts(folded: str, wanted: Collection[str]) -> bool:
    return any(tokenizer.stem(folded, language) in wanted for language in _LANGUAGES)


def _later(one: datetime | None, other: datetime | None) -> datetime | None:
    return max(one, other) if one and other else one or other


def _earlier(one: datetime | None, other: datetime | None) -> datetime | None:
    return min(one, other) if one and other else one or other
