"""Somebody always answers, nobody twice: retries, cool-downs and the fallback chain."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatls_core.config import Settings
from chatls_core.llm.backend import Listed
from chatls_core.llm.chain import Candidate, ChainModel, CoolDowns, RetryRules
from chatls_core.llm.errors import VendorError
from chatls_core.llm.events import Answering, ErrorKind, ModelError, ModelEvent, Stopped, TextDelta, Usage, UsageReport
from chatls_core.llm.messages import ModelRequest
from chatls_core.llm.model import ModelInfo
from chatls_core.llm.models import Models
from tests.core.llm.rig import BY_PROVIDER, ask, collect, environment, no_wait
from tests.fakes.model_server import ErrorReply, ModelServer, Reply

KINDS: tuple[ErrorKind, ...] = (
    "auth",
    "rate_limit",
    "overloaded",
    "timeout",
    "network",
    "context_overflow",
    "model_not_found",
    "bad_request",
    "refused",
    "server",
)
BLAMED = {"auth", "rate_limit", "overloaded", "timeout", "network", "server", "model_not_found"}
MOVES_ON = BLAMED
RETRIED = {"rate_limit", "overloaded", "timeout", "network", "server"}
BASE, LONGEST = 30.0, 300.0


@dataclass(frozen=True)
class Try:
    """What one attempt does: fail with ``kind`` (before or after some output), or answer."""

    kind: ErrorKind | None = None
    visible: bool = False
    retry_after: float | None = None


@dataclass
class Scripted:
    """A backend that follows a schedule; after its end it answers."""

    name: str
    tries: list[Try] = field(default_factory=list)
    asked: int = 0

    async def stream(self, request: ModelRequest, model: str, info: ModelInfo) -> AsyncGenerator[ModelEvent, None]:
        step = self.tries[self.asked] if self.asked < len(self.tries) else Try()
        self.asked += 1
        if step.kind is None:
            yield TextDelta(f"{self.name}#{self.asked}")
            yield UsageReport(Usage(model=model, provider=self.name))
            yield Stopped("end")
            return
        if step.visible:
            yield TextDelta(f"{self.name}#{self.asked}")
        raise VendorError(step.kind, "it failed", provider=self.name, retry_after=step.retry_after)

    async def count_tokens(self, request: ModelRequest, model: str, info: ModelInfo) -> int | None:
        return None

    async def list_models(self) -> Sequence[Listed]:
        return ()

    async def aclose(self) -> None:
        return None


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds


def chain(backends: Sequence[Scripted], clock: Clock, cooldowns: CoolDowns, attempts: int = 3) -> ChainModel:
    info = ModelInfo(window=1000)
    candidates = [Candidate(b.name, f"model-{b.name}", backend=lambda b=b: b, info=lambda: info) for b in backends]
    return ChainModel(
        candidates, rules=RetryRules(attempts, 1.0), cooldowns=cooldowns, sleep=clock.sleep, jitter=lambda: 1.0
    )


tries = st.builds(Try, st.sampled_from((None, *KINDS)), st.booleans(), st.sampled_from([None, None, 0.0, 2.0, 100.0]))
schedules = st.lists(st.lists(tries, max_size=5), min_size=3, max_size=3)


@settings(max_examples=100, deadline=None)
@given(schedules, st.integers(1, 4), st.integers(1, 4))
def test_one_answer_or_one_error_for_any_schedule(plan: list[list[Try]], attempts: int, turns: int) -> None:
    clock = Clock()
    cooldowns = CoolDowns(BASE, LONGEST, clock)
    backends = [Scripted(name, steps) for name, steps in zip("abc", plan, strict=True)]
    model = chain(backends, clock, cooldowns, attempts)
    failures = dict.fromkeys("abc", 0)

    async def run() -> None:
        for _ in range(turns):
            asked_before = [b.asked for b in backends]
            outcome = await collect(model, ask())
            texts = [e.text for e in outcome.events if isinstance(e, TextDelta)]
            stops = [e for e in outcome.events if isinstance(e, Stopped)]
            assert len(texts) <= 1, "output is never duplicated"
            assert isinstance(outcome.events[0], Answering)
            assert (outcome.error is None) == (len(stops) == 1)
            if outcome.error is None:
                assert isinstance(outcome.events[-1], Stopped)
                winner = outcome.usage.provider
                assert [e.provider for e in outcome.events if isinstance(e, Answering)][-1] == winner
                assert cooldowns.remaining(winner) == 0
                failures[winner] = 0
            for backend, before in zip(backends, asked_before, strict=True):
                assert backend.asked - before <= attempts
                done = [backend.tries[i] for i in range(before, backend.asked) if i < len(backend.tries)]
                assert all(t.kind in RETRIED and not t.visible for t in done[:-1]), "only what may help is tried again"
                if done and done[-1].kind is not None and backend.asked - before == len(done):
                    last = done[-1]
                    if last.kind in BLAMED:
                        failures[backend.name] += 1
                        grown = min(LONGEST, BASE * 2 ** (failures[backend.name] - 1))
                        expected = LONGEST if last.kind == "auth" else grown
                        rested = max(expected, min(last.retry_after or 0, LONGEST))
                        slack = 1e-6 + 2 * 40.0  # later candidates' waits pass on the same clock
                        assert rested - slack <= cooldowns.remaining(backend.name) <= rested + 1e-6
            if outcome.error is not None and outcome.error.kind in MOVES_ON and not texts:
                everyone = zip(backends, asked_before, strict=True)
                assert all(backend.asked > before for backend, before in everyone), "everyone was asked"

    asyncio.run(run())


async def test_cooldowns_grow_and_end() -> None:
    clock = Clock()
    downs = CoolDowns(BASE, LONGEST, clock)
    rests = []
    for _ in range(6):
        downs.failed("a", ModelError("server", "x"))
        rests.append(downs.remaining("a"))
    assert rests == [30, 60, 120, 240, 300, 300]
    clock.now += 300
    assert downs.remaining("a") == 0
    downs.failed("b", ModelError("auth", "x"))
    assert downs.remaining("b") == 300
    downs.succeeded("b")
    assert downs.remaining("b") == 0


async def test_nobody_waits_long_while_another_is_ready() -> None:
    clock = Clock()
    backends = [Scripted("a", [Try("rate_limit", retry_after=20.0)]), Scripted("b")]
    outcome = await collect(chain(backends, clock, CoolDowns(BASE, LONGEST, clock)), ask())
    assert outcome.text == "b#1"
    assert clock.now == 1000.0


async def test_silence_is_borne_twice() -> None:
    clock = Clock()
    backend = Scripted("a", [Try("timeout")] * 9)
    await collect(chain([backend], clock, CoolDowns(BASE, LONGEST, clock), attempts=9), ask())
    assert backend.asked == 2


async def test_when_nobody_can_the_first_says_why_and_the_others_are_named() -> None:
    clock = Clock()
    backends = [Scripted("a", [Try("auth")]), Scripted("b", [Try("model_not_found")])]
    outcome = await collect(chain(backends, clock, CoolDowns(BASE, LONGEST, clock)), ask())
    assert outcome.error is not None
    assert (outcome.error.kind, outcome.error.provider) == ("auth", "a")
    assert "b" in str(outcome.error).split()


async def test_a_backend_that_breaks_is_replaced_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    class Broken(Scripted):
        async def stream(self, request: ModelRequest, model: str, info: ModelInfo) -> AsyncGenerator[ModelEvent, None]:
            raise KeyError("surprise")
            yield Stopped("end")

    clock = Clock()
    outcome = await collect(chain([Broken("a"), Scripted("b")], clock, CoolDowns(BASE, LONGEST, clock)), ask())
    assert outcome.text == "b#1"
    assert "surprise" in caplog.text


@pytest.mark.parametrize("kind", ["context_overflow", "bad_request", "refused"])
async def test_failures_of_the_request_blame_nobody(kind: ErrorKind) -> None:
    clock = Clock()
    downs = CoolDowns(BASE, LONGEST, clock)
    backends = [Scripted("a", [Try(kind)]), Scripted("b")]
    outcome = await collect(chain(backends, clock, downs), ask())
    assert outcome.error is not None
    assert outcome.error.kind == kind
    assert downs.remaining("a") == 0
    assert backends[1].asked == 0


async def test_an_overfull_context_goes_to_a_larger_window() -> None:
    clock = Clock()
    small, large = Scripted("small", [Try("context_overflow")]), Scripted("large")
    candidates = [
        Candidate("small", "s", lambda: small, lambda: ModelInfo(window=1000)),
        Candidate("large", "l", lambda: large, lambda: ModelInfo(window=9000)),
    ]
    model = ChainModel(candidates, rules=RetryRules(), cooldowns=CoolDowns(clock=clock), sleep=clock.sleep)
    outcome = await collect(model, ask())
    assert outcome.text == "large#1"


async def test_the_user_sees_who_answers_and_why() -> None:
    clock = Clock()
    backends = [Scripted("a", [Try("auth")]), Scripted("b")]
    model = chain(backends, clock, CoolDowns(BASE, LONGEST, clock))
    first = await collect(model, ask())
    answering = [e for e in first.events if isinstance(e, Answering)]
    assert [(e.provider, e.model) for e in answering] == [("a", "model-a"), ("b", "model-b")]
    assert "it failed" in answering[1].because
    second = await collect(model, ask())
    (only,) = [e for e in second.events if isinstance(e, Answering)]
    assert only.provider == "b"
    assert "it failed" in only.because
    clock.now += LONGEST
    assert [e.provider for e in (await collect(model, ask())).events if isinstance(e, Answering)] == ["a"]


async def test_waits_double_with_jitter_and_stay_bounded() -> None:
    waits: list[float] = []
    backend = Scripted("a", [Try("server")] * 20)

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    model = ChainModel(
        [Candidate("a", "m", lambda: backend, lambda: ModelInfo(window=1))],
        rules=RetryRules(attempts=20, initial=0.5),
        cooldowns=CoolDowns(),
        sleep=sleep,
        jitter=lambda: 0.5,
    )
    outcome = await collect(model, ask())
    assert outcome.error is not None
    assert waits == [0.375, 0.75, 1.5, 3.0]
    assert sum(waits) <= 8


async def test_cancelling_during_a_wait_ends_it() -> None:
    backend = Scripted("a", [Try("server")])
    waiting = asyncio.Event()

    async def sleep(seconds: float) -> None:
        waiting.set()
        await asyncio.Event().wait()

    model = ChainModel(
        [Candidate("a", "m", lambda: backend, lambda: ModelInfo(window=1))],
        rules=RetryRules(),
        cooldowns=CoolDowns(),
        sleep=sleep,
    )
    task = asyncio.ensure_future(collect(model, ask()))
    await waiting.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert backend.asked == 1


async def test_a_real_chain_over_the_wire() -> None:
    async with ModelServer() as first, ModelServer() as second:
        first.script(ErrorReply(401, "no"), Reply(text="back again"))
        second.script(Reply(text="stand-in"))
        variables = environment(BY_PROVIDER["anthropic"], first.url) | environment(BY_PROVIDER["openai"], second.url)
        variables["CHATCLI_FALLBACK_MODEL_OPENAI"] = "gpt-5-mini"
        settings = Settings.model_validate({"fallback": {"providers": ["OPENAI", "nonsense", "CLAUDEAI"]}})
        models = Models(settings, variables, sleep=no_wait)
        outcome = await collect(models.select(), ask())
        assert outcome.text == "stand-in"
        assert second.requests[0].model == "gpt-5-mini"
        assert [e.provider for e in outcome.events if isinstance(e, Answering)] == ["anthropic", "openai"]
        models.configure(settings)  # a new key, perhaps: everyone is awake again
        assert (await collect(models.select(), ask())).text == "back again"
        await models.aclose()


async def test_a_service_on_this_machine_that_refuses_is_not_asked_again() -> None:
    async with ModelServer() as server:
        url = server.url
    models = Models(Settings(), environment(BY_PROVIDER["openai"], url), sleep=no_wait)
    outcome = await collect(models.select("openai"), ask())
    assert outcome.error is not None
    assert outcome.error.kind == "network"
    assert "refused" in str(outcome.error)
