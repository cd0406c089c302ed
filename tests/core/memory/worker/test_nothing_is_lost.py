"""Whatever fails, restarts, jumps or is killed: each message is learned once, or still queued (spec/memory.md §10)."""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from chatls_core.llm.events import ErrorKind, ModelError
from chatls_core.llm.messages import Message, ModelRequest
from chatls_core.memory.worker import Segment
from tests.core.memory.worker.rig import QuickFileSystem, Rig, Script, asked
from tests.fakes.file_system import Crash, FailingFileSystem

OUTAGES: tuple[ErrorKind, ...] = (
    "no_provider",
    "auth",
    "rate_limit",
    "overloaded",
    "timeout",
    "network",
    "model_not_found",
    "server",
    "budget",
    "internal",
    "bad_request",
)
"""Every failure that is no answer about the segment itself."""

EVENTS = st.lists(
    st.one_of(
        st.tuples(st.just("say"), st.integers(0, 2), st.integers(1, 5)),
        st.tuples(st.just("run"), st.sampled_from(["ok", *OUTAGES]), st.just(0)),
        st.tuples(st.just("clock"), st.integers(-50, 20), st.just(0)),
        st.tuples(st.just("restart"), st.booleans(), st.just(0)),
        st.tuples(st.just("again"), st.integers(0, 2), st.just(0)),
    ),
    max_size=25,
)


@given(events=EVENTS)
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_each_message_is_learned_once_or_still_queued(
    tmp_path_factory: pytest.TempPathFactory, events: list[tuple[str, object, int]]
) -> None:
    rig = Rig(tmp_path_factory.mktemp("life"))
    learned: Counter[str] = Counter()
    talks: dict[str, list[Message]] = {}
    said = 0

    def answer(request: ModelRequest) -> str:
        learned.update(re.findall(r"\bword\d+\b", asked(request)))
        return "NOTHING_NEW"

    def failing(kind: ErrorKind) -> Script:
        def fail(_: ModelRequest) -> str:
            raise ModelError(kind, "No answer.")

        return fail

    scripts: dict[str, Script] = {"ok": answer, **{kind: failing(kind) for kind in OUTAGES}}
    for kind, what, count in events:
        if kind == "say":
            texts = [f"word{said + n}" for n in range(count)]
            said += count
            talks.setdefault(f"s{what}", []).extend(rig.said(*texts))
        if kind in ("say", "again"):
            talk = talks.get(f"s{what}", [])
            rig.learner.offer(Segment.of(talk, session=f"s{what}", now=rig.clock.now))
        elif kind == "run":
            rig.model.script = scripts[str(what)]
            rig.clock.seconds += 130
            await rig.learner.run_once(drain=bool(said % 2))
        elif kind == "clock":
            rig.clock.now += timedelta(hours=int(str(what)))
        elif kind == "restart":
            rig.restart()
    rig.model.script = answer
    while rig.queued:
        rig.clock.advance(minutes=30)
        assert (await rig.learner.run_once(drain=True)).messages
    assert learned == Counter(f"word{n}" for n in range(said))


KILLS = st.lists(
    st.one_of(
        st.tuples(st.just("say"), st.integers(0, 1), st.integers(1, 5)),
        st.tuples(st.just("run"), st.booleans(), st.just(0)),
        st.tuples(st.just("clock"), st.integers(-50, 20), st.just(0)),
        st.tuples(st.just("kill"), st.sampled_from(["replace", "delete", "create"]), st.integers(0, 25)),
    ),
    max_size=12,
)


@given(events=KILLS)
@example(events=[("say", 0, 1), ("clock", -10, 0), ("say", 0, 1), ("run", False, 0)])
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_killed_at_any_instant_each_message_is_stored_once(
    tmp_path_factory: pytest.TempPathFactory, events: list[tuple[str, object, int]]
) -> None:
    rig = Rig(tmp_path_factory.mktemp("kills"))
    talks: dict[str, list[Message]] = {}
    said = 0

    def answer(request: ModelRequest) -> str:
        words = re.findall(r"<word\d+>", asked(request))
        return "## DAILY\n" + "\n".join(f"- heard {word}" for word in words)

    def say(session: str, count: int) -> None:
        nonlocal said
        talks.setdefault(session, []).extend(rig.said(*(f"<word{said + n}>" for n in range(count))))
        said += count

    def offer() -> None:
        for session, messages in talks.items():
            rig.learner.offer(Segment.of(messages, session=session, now=rig.clock.now))

    rig.model.script = answer
    for kind, what, count in events:
        if kind == "say":
            say(f"s{what}", count)
            offer()
        elif kind == "run":
            rig.clock.seconds += 130
            await rig.learner.run_once(drain=bool(what))
        elif kind == "clock":
            rig.clock.now += timedelta(hours=int(str(what)))
        elif kind == "kill":
            failing = FailingFileSystem()
            failing.fail(str(what), Crash(), after=count)
            rig.restart(failing)
            say("s0", 2)
            with contextlib.suppress(Crash):
                offer()
                await rig.learner.run_once(drain=True)
            rig.restart()
    rig.restart(QuickFileSystem())
    offer()
    for _ in range(100):
        rig.clock.advance(minutes=30)
        await rig.learner.run_once(drain=True)
        if not rig.queued:
            break
    notes = "".join(p.read_text() for p in (rig.home / "memory").glob("20*/*.md"))
    assert Counter(re.findall(r"<word\d+>", notes)) == Counter(f"<word{n}>" for n in range(said))
