"""How fast saved conversations are found, saved and replayed, at the sizes a heavy user reaches.

Run: ``python -m tests.bench.sessions_bench [--sessions 10000] [--messages 12]``. Prints milliseconds of processor time,
with reading one session's file beside them as the base. The corpus is made up with a fixed seed: words by Zipf's law,
so that common words are as common as in real text. Questions are made of words below the fifty most common ones, which
stand for the stop words a real question loses.
"""

from __future__ import annotations

import argparse
import itertools
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from chatls_core.config import Sessions
from chatls_core.llm.messages import Message, TextPart
from chatls_core.sessions import Conversation, Journal, SessionStore
from chatls_core.sessions.document import Ours, Renderer, SessionDocument

NOW = datetime(2026, 11, 1, tzinfo=UTC)
VOCABULARY = 30_000
STOP_WORDS = 50


def main() -> None:
    """Make a store, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=10_000)
    parser.add_argument("--messages", type=int, default=12)
    options = parser.parse_args()
    chance = random.Random(7)
    words = [_word(chance) for _ in range(VOCABULARY)]
    weights = list(itertools.accumulate(1 / (rank + 3) for rank in range(VOCABULARY)))
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        size = _fill(root / "sessions", chance, words, weights, options.sessions, options.messages)
        print(f"{options.sessions} sessions, {options.messages} messages each, {size / 1e6:.0f} MB")
        store = SessionStore(root / "sessions", clock=lambda: NOW, settings=Sessions())
        print(f"list, first time         {_once(lambda: store.list()):9.1f} ms")
        print(f"index, first time        {_once(store.index_all):9.1f} ms")
        store.close()
        store = SessionStore(root / "sessions", clock=lambda: NOW, settings=Sessions())
        print(f"first search of a server {_once(lambda: store.search(_question(chance, words, weights))):9.1f} ms")
        _report("read one session (base)", lambda: store.load(f"s{chance.randrange(options.sessions)}"))
        _report("list a page", lambda: store.list(limit=50))
        _report("search", lambda: store.search(_question(chance, words, weights)))
        _report(
            "search in a month",
            lambda: store.search(_question(chance, words, weights), date_from=NOW - timedelta(30), date_to=NOW),
        )
        _report(
            "recall block",
            lambda: store.recall_block(_question(chance, words, weights), exclude="s1", now=NOW),
        )
        conversation = store.load("s1")
        _report("save after a step", lambda: _step(store, conversation, chance, words, weights))
        journal = Journal(root / "journal")
        numbers = iter(range(1, 1_000_000))
        _report(
            "journal one event",
            lambda: journal.append("s1", {"turnId": "t", "seq": next(numbers), "kind": "text", "delta": "word "}),
            runs=2000,
        )
        store.close()
        journal.close()


def _word(chance: random.Random) -> str:
    return "".join(chance.choice("bcdfglmnprst") + chance.choice("aeiou") for _ in range(chance.randint(2, 4)))


def _text(chance: random.Random, words: list[str], weights: list[float], length: int) -> str:
    return " ".join(chance.choices(words, cum_weights=weights, k=length))


def _question(chance: random.Random, words: list[str], weights: list[float]) -> str:
    picked = [w for w in chance.choices(range(VOCABULARY), cum_weights=weights, k=20) if w >= STOP_WORDS]
    return " ".join(words[w] for w in picked[:5])


def _fill(
    folder: Path, chance: random.Random, words: list[str], weights: list[float], sessions: int, messages: int
) -> int:
    """Write the files themselves: saving ten thousand sessions one by one is not what is measured."""
    folder.mkdir(parents=True)
    size = 0
    for number in range(sessions):
        begun = NOW - timedelta(hours=2 * number)
        said = tuple(
            Message(
                "user" if place % 2 == 0 else "assistant",
                (TextPart(_text(chance, words, weights, 25 if place % 2 == 0 else 120)),),
                id=f"m{place}",
                time=begun + timedelta(minutes=place),
            )
            for place in range(messages)
        )
        document = SessionDocument(f"Session {number}", said, Ours(id=f"s{number}", created=begun, updated=begun))
        data = Renderer().render(document)
        (folder / f"s{number}.json").write_bytes(data)
        size += len(data)
    return size


def _step(
    store: SessionStore, conversation: Conversation, chance: random.Random, words: list[str], weights: list[float]
) -> None:
    conversation.messages.append(Message("assistant", (TextPart(_text(chance, words, weights, 100)),)))
    store.save(conversation)


def _once(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return (time.process_time() - start) * 1e3


def _report(name: str, work: Callable[[], object], runs: int = 60) -> None:
    times = sorted(_once(work) for _ in range(runs))
    print(f"{name:<24} {statistics.median(times):9.2f} ms   p95 {times[int(len(times) * 0.95)]:9.2f} ms")


if __name__ == "__main__":
    main()
