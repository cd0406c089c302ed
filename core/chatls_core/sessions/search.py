"""Search over saved conversations: by best passage, each conversation once, dates in sight (spec/memory.md §15.2).

A conversation counts by its best passage, not by the sum of its mentions: a marathon session that touches every word
must not hide the short one that holds the answer. How much of the question a passage covers weighs as much as how well
it scores; neighbouring passages and further mentions add a little.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from chatls_core.sessions.catalog import Catalog, Found, Statistics
from chatls_core.sessions.conversation import SessionSummary
from chatls_core.sessions.passages import Source
from chatls_core.sessions.question import Question, understand
from chatls_core.text import cut, tokenizer

SNIPPET_CHARS = 240
"""Most characters of one snippet."""

_CANDIDATES, _RELATED = 200, 60
"""Passages looked at closely: by the question's words, and by related ones."""

_POSTINGS = 6_000
"""Most passages a search may touch: among many sessions the rare words of a question decide where to look."""

_RELATED_COVERS = 0.5
"""How much of a word a related one covers."""

_NEIGHBOUR = 0.3
"""What the passages next to one add to its score."""

_FURTHER = 0.3
"""What each further passage of the same conversation adds, halving."""

_TOGETHER = 0.3
"""What the conversation as a whole adds, each word counted once: some questions need two of its passages."""

_K1, _B = 1.2, 0.75
"""BM25's saturation and length normalisation; answers of assistants are long and need the latter."""

_FRESH = 0.1
"""How much more a conversation of this week counts than an old one."""

_WEIGHTS: dict[str, float] = {"user": 1.0, "assistant": 1.0, "summary": 0.8, "tool": 0.6}

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
class SearchResult:
    """What a search found, best first."""

    hits: tuple[SessionHit, ...]

    def __iter__(self) -> Iterator[SessionHit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)

    @property
    def markdown(self) -> str:
        """The hits as a list, with the date each snippet was said."""
        if not self.hits:
            return "No earlier conversation matches."
        lines = []
        for hit in self.hits:
            used = f", {hit.session.updated:%Y-%m-%d}" if hit.session.updated else ""
            matches = f", {hit.matches} matching message{'' if hit.matches == 1 else 's'}" if hit.matches else ""
            lines.append(f"- **{hit.session.title or hit.session.name}** (`{hit.session.name}`{used}{matches})")
            for snippet in hit.snippets:
                said = f" {snippet.time:%Y-%m-%d}" if snippet.time else ""
                lines.append(f"  - {snippet.source}{said}: {snippet.text}")
        return "\n".join(lines)


@dataclass(slots=True)
class _Scored:
    found: Found
    score: float
    coverage: float
    points: dict[str, float]


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
        statistics = self._catalog.statistics((*question.terms, *question.variants))
        found = {
            passage.row: passage
            for terms, most in (
                (statistics.affordable(question.terms, _POSTINGS), _CANDIDATES),
                (statistics.affordable(question.variants, _POSTINGS // 3), _RELATED),
            )
            for passage in self._catalog.match(terms, most, start=start, end=end, only=only)
            if passage.session not in exclude
            and (sources is None or passage.source in sources)
            and _allowed(passage, question)
        }
        sessions = self._catalog.summaries(list({f.session for f in found.values()}))
        by_session: dict[str, list[_Scored]] = {}
        for scored in _scored(list(found.values()), question, statistics):
            if scored.found.session in sessions:
                by_session.setdefault(scored.found.session, []).append(scored)
        ranked = sorted(
            ((_session_score(passages, sessions[name], now), name) for name, passages in by_session.items()),
            reverse=True,
        )
        kept: list[tuple[float, str]] = []
        for score, name in ranked:
            if len(kept) == limit:
                break
            best = by_session[name][0].found
            # A forked conversation repeats its origin: each hit must have something of its own to say.
            if not any(_same(best, by_session[other][0].found) for _, other in kept):
                kept.append((score, name))
        return [_hit(sessions[name], by_session[name], question, score, snippets) for score, name in kept]


def _scored(found: Sequence[Found], question: Question, statistics: Statistics) -> list[_Scored]:
    """Passages with their final scores, best first."""
    worth, whole = _worth(question, statistics)
    scored = []
    for passage in found:
        norm = _K1 * (1 - _B + _B * len(passage.terms) / statistics.mean_length)
        points: dict[str, float] = {}
        covered: dict[str, float] = {}
        for term, count in Counter([t for t in passage.terms if t in worth]).items():
            saturated = count * (_K1 + 1) / (count + norm)
            for word, value, coverage in worth[term]:
                points[word] = max(points.get(word, 0.0), value * saturated)
                covered[word] = max(covered.get(word, 0.0), coverage)
        if points:
            score = _WEIGHTS[passage.source] * sum(points.values())
            scored.append(_Scored(passage, score, sum(covered.values()) / whole, points))
    own_scores = {(s.found.session, s.found.place): s.score for s in scored}
    for item in scored:
        name, place = item.found.session, item.found.place
        around = own_scores.get((name, place - 1), 0.0) + own_scores.get((name, place + 1), 0.0)
        item.score = (item.score + _NEIGHBOUR * around) * (0.5 + item.coverage)
    scored.sort(key=lambda s: s.score, reverse=True)
    return scored


def _worth(question: Question, statistics: Statistics) -> tuple[dict[str, list[tuple[str, float, float]]], float]:
    """For each index term the words it may stand for, what finding it is worth and how much of the question it covers.

    In nats of information; beside it the information of the whole question.
    """
    worth: dict[str, list[tuple[str, float, float]]] = {}
    whole = 0.0
    for word in question.words:
        information = word.weight * statistics.information(word.terms)
        whole += information
        for term in word.terms:
            worth.setdefault(term, []).append((word.written, information, information))
        for term, weight in word.variants:
            if term not in word.terms and statistics.containing.get(term):
                value = min(information, word.weight * statistics.information((term,))) * weight
                worth.setdefault(term, []).append((word.written, value, _RELATED_COVERS * information))
    return worth, whole or 1.0


def _session_score(passages: Sequence[_Scored], session: SessionSummary, now: datetime) -> float:
    """A conversation's score from its passages, best first."""
    best = passages[0]
    score = best.score + sum(p.score * _FURTHER * 0.5**n for n, p in enumerate(passages[1:5]))
    score += _TOGETHER * sum(_everywhere(passages).values())
    said = best.found.time or session.updated
    if said is not None:
        weeks = max((now - said).total_seconds(), 0.0) / 604_800
        score *= 1 + _FRESH / (1 + weeks)
    return score


def _everywhere(passages: Sequence[_Scored]) -> dict[str, float]:
    """The points of each word where it scores best."""
    points: dict[str, float] = {}
    for passage in passages:
        for word, value in passage.points.items():
            points[word] = max(points.get(word, 0.0), value)
    return points


def _hit(
    session: SessionSummary, passages: Sequence[_Scored], question: Question, score: float, snippets: int
) -> SessionHit:
    best = passages[0]
    shown: list[_Scored] = []
    for passage in passages:
        if len(shown) == snippets:
            break
        if all(passage.found.message_id != s.found.message_id and not _same(passage.found, s.found) for s in shown):
            shown.append(passage)
    everywhere = _everywhere(passages)
    matched = [w.written for w in question.words if w.written in everywhere]
    return SessionHit(
        session=session,
        score=score,
        coverage=best.coverage,
        words=len(best.points),
        matches=len({p.found.message_id for p in passages}),
        snippets=tuple(_snippet(p.found, question) for p in shown),
        why="words: " + ", ".join(matched) if matched else "phrase",
    )


def _same(one: Found, other: Found) -> bool:
    if one.text == other.text:
        return True
    if not 0.8 < len(one.text) / len(other.text) < 1.25:
        return False
    mine, theirs = set(one.terms), set(other.terms)
    return len(mine) > 8 and len(mine & theirs) / len(mine | theirs) >= _SAME


def _allowed(found: Found, question: Question) -> bool:
    if not question.phrases and not question.left_out:
        return True
    folded = tokenizer.fold(found.text)
    return all(_stands_in(p, folded) for p in question.phrases) and not any(
        _stands_in(p, folded) for p in question.left_out
    )


def _stands_in(phrase: str, folded: str) -> bool:
    """Whether a phrase stands in a text as whole words, blanks alike."""
    pattern = r"\s+".join(map(re.escape, phrase.split()))
    return re.search(rf"(?<!\w){pattern}(?!\w)", folded) is not None


def _snippet(found: Found, question: Question) -> Snippet:
    from chatls_core.text import redaction

    text = redaction.redact(excerpt(found.text, question, SNIPPET_CHARS))
    return Snippet(found.message_id, found.source, found.time, text)


def excerpt(text: str, question: Question, limit: int) -> str:
    """At most ``limit`` characters of a text around where most of the question's words stand, on one line."""
    line = " ".join(text.split())
    if len(line) <= limit:
        return line
    wanted = {t for word in question.words for t in word.terms}
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
    return tokenizer.stem(folded, "en") in wanted or tokenizer.stem(folded, "pt") in wanted


def _later(one: datetime | None, other: datetime | None) -> datetime | None:
    return max(one, other) if one and other else one or other


def _earlier(one: datetime | None, other: datetime | None) -> datetime | None:
    return min(one, other) if one and other else one or other
