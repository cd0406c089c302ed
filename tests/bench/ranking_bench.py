"""How well and how fast the ranker finds things.

    python -m tests.bench.ranking_bench                       quality on our own memory, speed at 600 and 50,000
    python -m tests.bench.ranking_bench --data FILE...        recall on labelled corpora
    python -m tests.bench.ranking_bench --data FILE --levers  each part of the ranker switched off in turn
    python -m tests.bench.ranking_bench --data FILE --embed M  recall with vectors by the ONNX model M as well

A data file holds {"corpora": [{"name", "passages": [{"id", "text", "time", "session"}], "questions": [{"text",
"gold": [ids], "kind", "now"}]}]}; times are ISO 8601 or null. Every figure stands beside a baseline from the same run:
rank-bm25 on words split at blanks.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import statistics
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from rank_bm25 import BM25Okapi

from chatls_core.llm.embedding_local import LocalEmbedder
from chatls_core.store import IndexFile
from chatls_core.text import conversation, dates, expansion, query, scoring, stored, stored_search, tokenizer
from chatls_core.text.ranking import Passage, PassageIndex, strong_match
from tests.core.text.ranking_cases import ANSWERED, FACTS, UNRELATED

Search = Callable[[str, int, datetime | None], list[str]]


@dataclass(frozen=True)
class Question:
    text: str
    gold: frozenset[str]
    now: datetime | None


@dataclass(frozen=True)
class Corpus:
    passages: tuple[Passage, ...]
    session: dict[str, str]
    questions: tuple[Question, ...]


def moment(value: str | None) -> datetime | None:
    return datetime.fromisoformat(value) if value else None


def load(path: Path) -> list[Corpus]:
    corpora = []
    for raw in json.loads(path.read_text(encoding="utf-8"))["corpora"]:
        passages = tuple(Passage(p["id"], p["text"], moment(p["time"])) for p in raw["passages"])
        session = {p["id"]: p["session"] for p in raw["passages"]}
        questions = tuple(Question(q["text"], frozenset(q["gold"]), moment(q.get("now"))) for q in raw["questions"])
        corpora.append(Corpus(passages, session, questions))
    return corpora


def ours(passages: Sequence[Passage]) -> Search:
    index = PassageIndex(passages)
    return lambda text, k, now: [hit.id for hit in index.search(text, k, now=now)]


def by_meaning_too(model: Path) -> Callable[[Sequence[Passage]], Search]:
    """The ranker with vectors; ``model`` is a sentence-transformer as ONNX, its tokenizer.json beside it."""
    embedder = LocalEmbedder(model)
    known: dict[str, list[float]] = {}

    def embed(texts: Sequence[str]) -> list[list[float]]:
        # Texts of like length together: padding is work.
        missing = sorted(set(texts) - known.keys(), key=len)
        known.update(zip(missing, asyncio.run(embedder.embed(missing)), strict=True))
        return [known[text] for text in texts]

    def ranker(passages: Sequence[Passage]) -> Search:
        index = PassageIndex(passages, embed=embed)
        return lambda text, k, now: [hit.id for hit in index.search(text, k, now=now)]

    return ranker


def baseline(passages: Sequence[Passage]) -> Search:
    bm25 = BM25Okapi([p.text.lower().split() for p in passages])

    def search(text: str, k: int, now: datetime | None) -> list[str]:
        scores = bm25.get_scores(text.lower().split())
        return [passages[i].id for i in scores.argsort()[::-1][:k] if scores[i] > 0]

    return search


def recall(corpora: Iterable[Corpus], ranker: Callable[[Sequence[Passage]], Search]) -> tuple[float, float]:
    """Mean share of evidence passages in the first ten, and of evidence sessions in the first five."""
    passages, sessions = [], []
    for corpus in corpora:
        search = ranker(corpus.passages)
        for question in corpus.questions:
            found = search(question.text, 100, question.now)
            passages.append(len(set(found[:10]) & question.gold) / len(question.gold))
            ranked = list(dict.fromkeys(corpus.session[i] for i in found))[:5]
            wanted = {corpus.session[i] for i in question.gold}
            sessions.append(len(set(ranked) & wanted) / len(wanted))
    return statistics.fmean(passages), statistics.fmean(sessions)


@contextmanager
def patched(*changes: tuple[Any, str, Any]) -> Iterator[None]:
    """Switch parts of the ranker off for a while."""
    before = [(place, name, getattr(place, name)) for place, name, _ in changes]
    try:
        for place, name, value in changes:
            setattr(place, name, value)
        yield
    finally:
        for place, name, value in before:
            setattr(place, name, value)


def _english_as_written(word: str, language: tokenizer.Language) -> str:
    return word


def _nothing(*args: object) -> Iterator[Any]:
    return iter(())


_plain_variants = query._variants


def _dates_only(folded: str, term: str, language: tokenizer.Language, named: Any) -> Iterator[query.Variant]:
    return (v for v in _plain_variants(folded, term, language, named) if v.term.startswith("@"))


LEVERS: dict[str, tuple[tuple[Any, str, Any], ...]] = {
    "stems": ((tokenizer, "stem", _english_as_written),),
    "stop words": ((tokenizer, "is_stop_word", lambda word: False),),
    "dates of passages": ((dates, "date_terms", lambda moment: ()),),
    "related words": ((query, "_variants", _dates_only),),
    "word families": ((expansion, "_derived", _nothing),),
    "misspellings": ((expansion, "_misspelt", _nothing),),
    "speaker named": ((scoring, "SPEAKER", 0.0),),
    "neighbours": ((scoring, "NEXT", 0.0), (scoring, "NEXT_BUT_ONE", 0.0)),
    "whole conversation": ((scoring, "CONVERSATION", 0.0),),
    "all context": ((conversation, "_SHORT", 1e-9),),
    "coverage bonus": ((scoring, "COVERAGE", 0.0),),
    "kind of answer": ((scoring, "TIME_ANSWER", 0.0), (scoring, "NUMBER_ANSWER", 0.0)),
    "questions marked down": ((scoring, "QUESTION", 0.0),),
}


def levers(corpora: Sequence[Corpus]) -> None:
    passages, sessions = recall(corpora, ours)
    print(f"{'everything':24} R@10 {passages:.4f}         sessions R@5 {sessions:.4f}")
    for name, changes in LEVERS.items():
        with patched(*changes):
            tokenizer._chunk_terms.cache_clear()
            without = recall(corpora, ours)
        tokenizer._chunk_terms.cache_clear()
        print(
            f"without {name:24} R@10 {without[0]:.4f} ({without[0] - passages:+.4f})"
            f"  sessions R@5 {without[1]:.4f} ({without[1] - sessions:+.4f})"
        )


def folds(corpora: Sequence[Corpus]) -> None:
    """One corpus at a time, so that no average hides a corpus on which the settings do not hold."""
    for number, corpus in enumerate(corpora):
        passages, sessions = recall([corpus], ours)
        print(f"corpus {number}: R@10 {passages:.4f}  sessions R@5 {sessions:.4f}  ({len(corpus.questions)} questions)")


def precision() -> None:
    """Our own small memory: what comes first, what comes along, what must stay away."""
    index = PassageIndex(FACTS)
    answers = [(index.search(question, 5), gold) for question, gold in ANSWERED]
    first = sum(bool(hits) and hits[0].id in gold for hits, gold in answers)
    strong = [hit.id in gold for hits, gold in answers for hit in hits[:3] if strong_match(hit)]
    unasked = [index.search(question, 3) for question in UNRELATED]
    print(f"first hit right           {first}/{len(answers)}")
    print(f"strong matches that fit   {sum(strong)}/{len(strong)}")
    print(f"unrelated: any hit        {sum(map(bool, unasked))}/{len(unasked)}")
    print(f"unrelated: strong match   {sum(any(map(strong_match, hits)) for hits in unasked)}/{len(unasked)}")


def speed(size: int) -> None:
    """CPU time per question on ``size`` passages made of our facts, ten to a conversation."""
    start = datetime(2024, 1, 1)
    passages = [
        replace(
            FACTS[i % len(FACTS)],
            id=f"s{i // 10}:{i % 10}",
            text=f"{'user' if i % 2 else 'assistant'}: {FACTS[i % len(FACTS)].text}, note {i * 7919 % 5003} of {i}",
            time=start + timedelta(hours=i // 10 * 9),
        )
        for i in range(size)
    ]
    began = time.process_time()
    index = PassageIndex(passages)
    index.search("warm up the cache", 1)
    build = time.process_time() - began

    def median_ms(search: Callable[[str], object], rounds: int) -> float:
        times = []
        for _ in range(rounds):
            for question, _ in ANSWERED:
                began = time.process_time()
                search(question)
                times.append((time.process_time() - began) * 1e3)
        return statistics.median(times)

    plain = baseline(passages)
    own = median_ms(lambda q: index.search(q, 10), 3)
    theirs = median_ms(lambda q: plain(q, 10, None), 1)
    index.search("warm", 1)
    began = time.process_time()
    index.add(Passage("one more", "one more passage"))
    index.search("passage", 1)
    change = (time.process_time() - began) * 1e3
    print(
        f"{size:6} passages: {own:.2f} ms a question (rank-bm25 alone {theirs:.2f} ms, ratio {own / theirs:.2f}), "
        f"built in {build:.2f} s, add and search {change:.1f} ms"
    )
    with tempfile.TemporaryDirectory() as folder:
        on_disk(Path(folder) / "index.sqlite3", passages, build, own, median_ms)


def on_disk(path: Path, passages: Sequence[Passage], build: float, own: float, median_ms: Callable[..., float]) -> None:
    """The same passages in a file: read once, opened again as after a restart, asked the same questions."""
    began = time.process_time()
    file = IndexFile(path, stored.SCHEMA, 1)
    for number, (_, talk) in enumerate(itertools.groupby(passages, lambda p: p.id.partition(":")[0])):
        with file.writing() as db:
            stored.put(db, number + 1, [_on_disk(p) for p in talk])
    file.close()
    read = time.process_time() - began
    file = IndexFile(path, stored.SCHEMA, 1)
    began = time.process_time()
    with file.reading() as db:
        stored_search.search(db, "warm up the cache")
        first = (time.process_time() - began) * 1e3
        asked = median_ms(lambda q: stored_search.search(db, q), 1)
    file.close()
    print(
        f"{'on disk':>17}: {asked:.2f} ms a question (in memory {own:.2f} ms, ratio {asked / own:.2f}), "
        f"read in {read:.2f} s (in memory {build:.2f}), first question after a restart {first:.1f} ms"
    )


def _on_disk(passage: Passage) -> stored.StoredPassage:
    speaker, _, text = passage.text.partition(": ")
    return stored.StoredPassage(passage.id, text, passage.time, speaker)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="*", type=Path, default=[])
    parser.add_argument("--levers", action="store_true")
    parser.add_argument("--embed", type=Path)
    options = parser.parse_args()
    for path in options.data:
        corpora = load(path)
        rankers = [("rank-bm25 on blanks", baseline), ("ranker", ours)]
        if options.embed:
            rankers.append(("ranker with vectors", by_meaning_too(options.embed)))
        for name, ranker in rankers:
            passages, sessions = recall(corpora, ranker)
            print(f"{path.name}: {name:20} R@10 {passages:.4f}  sessions R@5 {sessions:.4f}")
        folds(corpora)
        if options.levers:
            levers(corpora)
    if not options.data:
        precision()
        for size in (600, 50_000):
            speed(size)


if __name__ == "__main__":
    main()
