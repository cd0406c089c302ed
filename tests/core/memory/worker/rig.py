"""A worker with a scripted model, a clock the test moves and messages with ids."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from chatls_core import config
from chatls_core.llm.events import Answering, ModelError, ModelEvent, Stopped, TextDelta, Usage, UsageReport
from chatls_core.llm.messages import Message, ModelRequest, TextPart
from chatls_core.llm.model import ModelInfo
from chatls_core.memory import Memory
from chatls_core.memory.worker import Learner, Segment
from chatls_core.memory.worker.housekeeping import Housekeeper
from chatls_core.store import REAL, FileSystem
from chatls_core.store.file_system import RealFileSystem

Script = Callable[[ModelRequest], str]


@dataclass
class Clock:
    now: datetime = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
    seconds: float = 0.0

    def __call__(self) -> datetime:
        return self.now

    def monotonic(self) -> float:
        return self.seconds

    def advance(self, **span: float) -> None:
        step = timedelta(**span)
        self.now += step
        self.seconds += step.total_seconds()


@dataclass
class ScriptedModel:
    """Answers by a script; an error it raises is the provider's failure."""

    script: Script
    info: ModelInfo = field(default_factory=lambda: ModelInfo(window=128_000))
    provider: str = "scripted"
    model: str = "small"
    stop: str = "end"
    requests: list[ModelRequest] = field(default_factory=list)

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        self.requests.append(request)
        yield Answering("scripted", "small")
        text = self.script(request)
        yield TextDelta(text)
        yield UsageReport(Usage(input_tokens=100, output_tokens=10, cost_usd=0.001))
        yield Stopped("max_tokens" if self.stop == "max_tokens" else "end")

    async def count_tokens(self, request: ModelRequest) -> int | None:
        return None


def asked(request: ModelRequest) -> str:
    """What the segment of a request says."""
    return request.messages[-1].text


def outage(_: ModelRequest) -> str:
    raise ModelError("overloaded", "The service is overloaded.")


class QuickFileSystem(RealFileSystem):
    """The real one without waiting for the disk, for a test of a whole year."""

    def create(self, path: Path, data: bytes, mode: int) -> None:
        path.write_bytes(data)

    def replace(self, source: Path, target: Path) -> None:
        source.replace(target)


class Rig:
    """One data folder; :meth:`restart` is a new process on it."""

    def __init__(self, home: Path, script: Script = lambda _: "NOTHING_NEW", **settings: object) -> None:
        self.home = home
        self.clock = Clock()
        self.model = ScriptedModel(script)
        self.settings = config.Memory.model_validate(settings)
        self.environment: dict[str, str] = {}
        self.ids = (f"m{n:04d}" for n in range(1_000_000))
        self.restart()

    def restart(self, fs: FileSystem = REAL) -> None:
        self.memory = Memory(
            self.home / "memory", settings=self.settings, clock=self.clock, fs=fs, environment=self.environment
        )
        self.learner = self.make_learner()
        self.housekeeper = Housekeeper(
            self.memory, clock=self.clock, settings=lambda: self.settings, model=lambda: self.model
        )
        self.clock.advance(seconds=130)

    def make_learner(self) -> Learner:
        return Learner(
            self.memory,
            self.home / "memory" / "pending",
            clock=self.clock,
            settings=lambda: self.settings,
            model=lambda: self.model,
            monotonic=self.clock.monotonic,
        )

    def said(self, *texts: str, role: str = "") -> list[Message]:
        """Messages, the user's and the model's in turn, a second apart."""
        return list(self._said(texts, role))

    def _said(self, texts: tuple[str, ...], role: str) -> Iterator[Message]:
        for number, text in enumerate(texts):
            self.clock.advance(seconds=1)
            who = role or ("user" if number % 2 == 0 else "assistant")
            yield Message(
                "assistant" if who == "assistant" else "user", (TextPart(text),), id=next(self.ids), time=self.clock.now
            )

    def offer(self, *texts: str, session: str = "s", external: bool = False, workspace: str = "/ws") -> list[Message]:
        messages = self.said(*texts)
        self.learner.offer(
            Segment.of(messages, session=session, workspace=workspace, external=external, now=self.clock.now)
        )
        return messages

    @property
    def facts(self) -> list[str]:
        return [f.content for f in self.memory.facts(limit=1000).facts]

    @property
    def queued(self) -> list[Path]:
        return sorted((self.home / "memory" / "pending").glob("seg-*.json"))
