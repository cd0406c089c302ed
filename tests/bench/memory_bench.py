"""How fast memory reads and rides along, and how precise it is: ``python -m tests.bench.memory_bench [sizes …]``.

Prints the sizes it ran at, median and 95th percentile in milliseconds of processor time (a busy machine does not
count), and each figure's ratio to a plain scan of the same facts for the question's words, measured in the same run.
"""

from __future__ import annotations

import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from chatls_core import config
from chatls_core.memory import Memory, Source
from tests.core.memory.people import MEASURING, TUNING

NOW = datetime(2026, 6, 1, tzinfo=UTC)
SIZES = (500, 10_000, 100_000)
ROUNDS = 25

STATED = (
    "The payroll export runs every night at 2 am",
    "User keeps bees on the roof",
    "Schema migrations are written by hand in db/migrate",
    "The gateway rejects bodies above 8 MB",
    "User writes British English",
    "Screenshots in docs are made with make shots",
    "The mobile team owns the push service",
    "Invoices are rounded half to even",
    "Translations come from Crowdin every Monday",
    "O relatório fiscal usa o fuso de Brasília",
    "User's sister is called Marta",
    "The parser keeps comments as trivia nodes",
)
ASKED = (
    ("when does the payroll export run?", 0),
    ("do I keep any animals like bees?", 1),
    ("how are schema migrations written?", 2),
    ("what body size does the gateway reject?", 3),
    ("should I write British or American English here?", 4),
    ("how do I update the screenshots in the docs?", 5),
    ("which team owns the push service?", 6),
    ("how are invoices rounded?", 7),
    ("where do translations come from?", 8),
    ("qual fuso usa o relatório fiscal?", 9),
    ("what is my sister called?", 10),
    ("what does the parser do with comments?", 11),
)
UNRELATED = (
    "good morning", "why?", "go on", "explain closures in JavaScript", "write a limerick about rain",
    "convert this loop to a comprehension", "what does HTTP 418 mean?", "add type hints", "revert that",
    "how tall is Mount Everest?", "obrigado", "crie uma função que soma dois números", "is this O(n)?",
    "which sorting algorithm is stable?", "open the file again", "what's the difference between a list and a tuple?",
    "print the first ten primes", "can you make the button red?", "is there a newer version of this library?",
    "how do I exit vim?",
)  # fmt: skip


def timed(rounds: int, call: Callable[[int], object]) -> list[float]:
    """Milliseconds of processor time of each call."""
    taken = []
    for number in range(rounds):
        start = time.process_time()
        call(number)
        taken.append((time.process_time() - start) * 1e3)
    return taken


def opened(folder: Path, cap: int) -> Memory:
    return Memory(folder, settings=config.Memory(max_facts=cap), clock=lambda: NOW)


def stock(folder: Path, size: int) -> list[str]:
    """A memory of ``size`` facts written as a file, as a long-used one would be found."""
    rng = random.Random(size)
    vocabulary = ["".join(rng.choice("bdfgklmnprstvz") + rng.choice("aeiou") for _ in range(3)) for _ in range(4000)]
    texts = [
        "Service {} stores {} for {} with {} and {}".format(*(rng.choice(vocabulary) for _ in range(5)))
        for _ in range(size)
    ]
    facts = [
        {"id": f"{n:024x}", "content": text, "category": "project", "created_at": NOW.isoformat(),
         "last_accessed": NOW.isoformat(), "access_count": 1, "score": 1.0, "confidence": 0.6}
        for n, text in enumerate(texts)
    ]  # fmt: skip
    folder.mkdir(parents=True)
    (folder / "memory_index.json").write_text(json.dumps(facts), encoding="utf-8")
    origin = {"kind": "extraction", "session": "s1", "message": "m1", "time": NOW.isoformat()}
    details = {fact["id"]: {"valid_from": NOW.isoformat(), "sources": [origin]} for fact in facts}
    (folder / "memory_details.json").write_text(json.dumps({"items": details}), encoding="utf-8")
    return texts


def speed(size: int) -> None:
    with tempfile.TemporaryDirectory() as root:
        folder = Path(root) / "memory"
        texts = stock(folder, size)
        rng = random.Random(1)
        questions = [rng.choice(texts).replace("Service", "what does") + "?" for _ in range(ROUNDS)]

        def scan(number: int) -> object:
            words = questions[number].lower().split()
            return sorted(texts, key=lambda text: -sum(word in text.lower() for word in words))[:3]

        baseline = statistics.median(timed(min(ROUNDS, 5), scan))
        memory = opened(folder, size * 2)
        first = timed(1, lambda _: memory.auto_recall(questions[0]))[0]
        print(f"{size:>7} facts   first question after a start {first:8.1f} ms   plain scan {baseline:.2f} ms")
        for name, call in (
            ("read 50 facts", lambda _: memory.facts()),
            ("digest + card", lambda _: (memory.index_digest(), memory.card())),
            ("auto-recall", lambda n: memory.auto_recall(questions[n])),
            ("recall", lambda n: memory.recall(questions[n])),
            ("remember", lambda n: memory.remember(f"Crate {n} of the zebra pipeline is blue", source=Source("user"))),
        ):
            taken = sorted(timed(ROUNDS, call))
            median, high = statistics.median(taken), taken[int(len(taken) * 0.95)]
            print(f"          {name:<14} median {median:7.2f} ms   p95 {high:7.2f} ms   {median / baseline:.2f} scans")


def precision() -> None:
    with tempfile.TemporaryDirectory() as root:
        memory = opened(Path(root) / "memory", 500)
        ids = [memory.remember(text, source=Source("user")).id for text in STATED]
        found = extra = 0
        for question, wanted in ASKED:
            shown = memory.auto_recall(question).ids
            found += ids[wanted] in shown
            extra += len(set(shown) - {ids[wanted]})
        wrong = [q for q in UNRELATED if memory.auto_recall(q).ids]
        print(
            f"auto-recall on {len(STATED)} facts: {found}/{len(ASKED)} questions answered, {extra} facts too many, "
            f"{len(wrong)}/{len(UNRELATED)} unrelated messages disturbed {wrong or ''}"
        )


def people() -> None:
    """What rides along with the messages of invented people, those the weights were fitted to first."""
    for group, chosen in (("fitted to", TUNING), ("measured on", MEASURING)):
        met = asked = more = disturbed = unrelated = 0
        for person in chosen:
            with tempfile.TemporaryDirectory() as root:
                memory = opened(Path(root) / "memory", 500)
                for fact in person.facts:
                    memory.remember(fact, source=Source("user"))
                for message, wanted in person.answered:
                    shown = {item.text for item in memory.auto_recall(message).items}
                    asked, met, more = asked + 1, met + bool(shown & wanted), more + bool(shown - wanted)
                for message in person.unrelated:
                    unrelated, disturbed = unrelated + 1, disturbed + bool(memory.auto_recall(message).ids)
        print(
            f"auto-recall, {len(chosen)} people {group}: {met}/{asked} messages get their fact, {more} another one, "
            f"{disturbed}/{unrelated} unrelated messages are disturbed"
        )


def main() -> None:
    precision()
    people()
    for size in [int(a) for a in sys.argv[1:]] or SIZES:
        speed(size)


if __name__ == "__main__":
    main()
