"""Writers that fill every store of one memory folder at once, by a clock that jumps, and tell what was acknowledged."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from multiprocessing import get_context
from pathlib import Path
from random import Random

from chatls_core import config
from chatls_core.memory import Memory, Source
from chatls_core.memory.worker import digests

START = datetime(2026, 11, 1, 5, 30, tzinfo=UTC)
"""Half an hour before New York sets its clocks back."""
JUMPS = tuple(timedelta(hours=h) for h in (0, 1, 0, -1, 24, 0, -24))
NAMES = [a + b + c + d for a in "bdfglmnrst" for b in "aiou" for c in "kvz" for d in ("lim", "run", "sto", "tev")]
KINDS = (
    "fact", "port", "episode", "topic", "project", "goal", "preference",
    "note", "use", "forgotten", "undone", "archived", "pinned", "digest",
)  # fmt: skip
SHARED_TOPIC = "shared topic"


def opened(folder: Path, clock: Callable[[], datetime] = lambda: START) -> Memory:
    """The memory of a folder, with room for everything."""
    return Memory(folder, settings=config.Memory(max_facts=100_000), clock=clock)


def statement(writer: int, number: int) -> str:
    """A fact of its own."""
    one, other = NAMES[number % len(NAMES)], NAMES[number // len(NAMES) % len(NAMES)]
    return f"Component {one} of writer {writer} owns queue {other}"


@dataclass(slots=True)
class Told:
    """What was acknowledged, by kind, in order."""

    by_kind: dict[str, list[str]] = field(default_factory=dict)

    def add(self, kind: str, text: str) -> None:
        """One acknowledged write."""
        self.by_kind.setdefault(kind, []).append(text)

    def of(self, *kinds: str) -> list[str]:
        """All texts of some kinds."""
        return [text for kind in kinds for text in self.by_kind.get(kind, ())]


def write(folder: Path, writer: int, numbers: Sequence[int], acknowledge: Callable[[str], None]) -> None:
    """Write one item per number, of each kind in turn, and acknowledge each."""
    number = numbers[0]

    def clock() -> datetime:
        return (START + timedelta(seconds=30 * number) + JUMPS[number // 5 % len(JUMPS)]).astimezone()

    memory = opened(folder, clock)
    user = Source("user", session=f"w{writer}")
    for number in numbers:
        kind = KINDS[number % len(KINDS)]
        text = _one(memory, kind, writer, number, user)
        acknowledge(json.dumps([number, kind, text]))


def _one(memory: Memory, kind: str, writer: int, number: int, user: Source) -> str:
    """One write, finished; returns what to look for."""
    text = statement(writer, number)
    match kind:
        case "port":
            text = f"Service writer{writer} listens on port {2000 + number}"
            memory.remember(text, source=user)
        case "episode":
            text = f"Finished task {number} of writer {writer}"
            memory.record_episode(text, source=user)
        case "topic":
            text = f"topic {writer}-{number}"
            memory.record_topics({text: "", SHARED_TOPIC: ""}, source=user)
        case "project":
            text = f"project {writer}-{number}"
            memory.record_project({"name": text, "technologies": "Go"}, source=user)
        case "goal":
            text = f"goal {number} of writer {writer}"
            memory.profile({"goals": text}, source=user)
        case "preference":
            text = f"pref_{writer}_{number}"
            memory.profile({text: "yes"}, source=user)
        case "note":
            text = f"entry {writer}-{number}"
            memory.note(text, time=memory.clock())
        case "use":
            memory.record_use(messages=1, feature="chat", hour=number % 24)
        case "digest":
            text = f"- digest {writer}-{number}"
            digests.write(memory.stores, digests.week_of(START.date() - timedelta(weeks=number % 20)), text)
        case _:
            item = memory.remember(text, "project", source=user)
            if kind == "pinned":
                memory.pin(item.id)
            elif kind == "archived":
                memory.consolidate((), [item.id])
            elif kind in ("forgotten", "undone"):
                token = memory.forget(ids=[item.id]).undo_token
                if kind == "undone":
                    memory.undo(token)
    return text


def _child(folder: Path, writer: int, numbers: Sequence[int], descriptor: int) -> None:
    os.environ["TZ"] = "America/New_York"
    time.tzset()
    write(folder, writer, numbers, lambda line: _send(descriptor, line))


def _send(descriptor: int, line: str) -> None:
    os.write(descriptor, line.encode() + b"\n")


def run(folder: Path, rounds: Sequence[Sequence[int]], *, writers: int, kills: int, seed: int) -> Iterator[Told]:
    """Let ``writers`` processes write the numbers of each round at once, each killed about ``kills`` times in all.

    Yields after each round what was acknowledged so far.
    """
    told, rng = Told(), Random(seed)
    every = max(2, sum(map(len, rounds)) // (kills + 1))
    for numbers in rounds:
        slots = [_Slot(folder, writer, list(numbers), every, rng) for writer in range(writers)]
        under_way = slots
        while under_way:
            under_way = [slot for slot in under_way if slot.step(told)]
        yield told


class _Slot:
    """One writer, started anew where it was killed."""

    def __init__(self, folder: Path, writer: int, numbers: list[int], every: int, rng: Random) -> None:
        self._folder, self._writer, self._left, self._every, self._rng = folder, writer, numbers, every, rng
        self._start()

    def _start(self) -> None:
        self._reader, descriptor = os.pipe()
        context = get_context("fork")
        self._process = context.Process(target=_child, args=(self._folder, self._writer, self._left, descriptor))
        self._process.start()
        os.close(descriptor)
        self._lines = os.fdopen(self._reader, "rb")
        self._until_kill = self._rng.randint(1, 2 * self._every)

    def step(self, told: Told) -> bool:
        """Take in one acknowledgement; ``False`` once all is written."""
        if not self._left:
            return False
        line = self._lines.readline()
        if line:
            self._take(line, told)
            self._until_kill -= 1
        if line and (self._until_kill or not self._left):
            return True
        if line and self._process.pid is not None:
            time.sleep(self._rng.random() * 0.02)  # die anywhere in the next write
            with contextlib.suppress(ProcessLookupError):  # it was ahead of what was read of it, and is done
                os.kill(self._process.pid, signal.SIGKILL)
            for line in self._lines:
                self._take(line, told)
        self._process.join(60)
        if not line and self._process.exitcode != 0:
            raise AssertionError(f"Writer {self._writer} failed before {self._left[:1]}")
        if self._left:
            self._left = self._left[1:]  # what was under way may have happened or not
        if self._left:
            self._start()
        return bool(self._left)

    def _take(self, line: bytes, told: Told) -> None:
        number, kind, text = json.loads(line)
        told.add(kind, text)
        self._left = self._left[self._left.index(number) + 1 :]


def lost(folder: Path, told: Told) -> Mapping[str, list[str]]:
    """What was acknowledged and is not there, and what was forgotten and is, by kind."""
    memory = opened(folder)
    facts = {f.content for f in memory.facts(limit=1_000_000).facts}
    past = {e.fact.content for e in memory.stores.history.read().entries}
    profile = {(f.key, f.value) for f in memory.profile().fields}
    notes = "".join(p.read_text(encoding="utf-8") for p in folder.glob("??????/*.md"))
    pinned = {f.content for f in memory.facts(limit=1_000_000).facts if f.pinned}
    topics = {t.name: t.mentions for t in memory.topics().topics}
    there: dict[str, Callable[[str], bool]] = {
        "fact": facts.__contains__,
        "undone": facts.__contains__,
        "port": lambda text: text in facts or text in past,
        "pinned": pinned.__contains__,
        "forgotten": lambda text: text not in facts and text not in past,
        "archived": {f.content for f in memory.stores.archive.read()}.__contains__,
        "episode": {e.summary for e in memory.timeline(limit=1_000_000).episodes}.__contains__,
        "topic": topics.__contains__,
        "project": {p.name for p in memory.projects().projects}.__contains__,
        "goal": lambda text: ("goals", text) in profile,
        "preference": lambda text: (text, "yes") in profile,
        "note": lambda text: f"\n{text}\n" in notes,
    }
    missing = {kind: [t for t in told.of(kind) if not is_there(t)] for kind, is_there in there.items()}
    if (used := memory.stores.usage.read().total_messages) < len(told.of("use")):
        missing["use"] = [f"{used} of {len(told.of('use'))} counted"]
    if (mentions := topics.get(SHARED_TOPIC, 0)) < len(told.of("topic")):
        missing["shared topic"] = [f"{mentions} of {len(told.of('topic'))} mentions"]
    ports = [f for f in facts if " listens on port " in f]
    doubled = [name for name, count in Counter(p.split()[1] for p in ports).items() if count > 1]
    return {kind: texts for kind, texts in (missing | {"two ports at a time": doubled}).items() if texts}


def damaged(folder: Path) -> list[str]:
    """Files that do not parse, were set aside, or were left half made."""
    found = [p.name for p in folder.rglob("*.corrupt*")]
    for path in folder.glob("*.json"):
        try:
            json.loads(path.read_text(encoding="utf-8"))
        except ValueError:
            found.append(path.name)
    found += [p.name for p in folder.rglob("*.md") if not p.read_text(encoding="utf-8").endswith("\n")]
    return found
