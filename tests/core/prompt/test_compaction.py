"""Compaction: what becomes shorter, what stays whole, how everything comes back."""

from __future__ import annotations

import asyncio
import itertools
import json
import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chatls_core.config import Mcp
from chatls_core.llm.events import ModelError
from chatls_core.llm.messages import ImagePart, Message, ReasoningPart, TextPart, ToolResultPart
from chatls_core.mcp import McpServers
from chatls_core.prompt.compaction import Compacted, CompactionError, Compactor
from chatls_core.prompt.compaction_archive import Archive
from chatls_core.prompt.compaction_split import call_spans, total_chars
from chatls_core.prompt.compaction_summary import SECTIONS
from chatls_core.prompt.curation import Curation
from chatls_core.sessions.conversation import Conversation
from chatls_core.tools.base import ToolSet
from tests.core.prompt.helpers import NOW, StubModel, call, conversation, message, result

KEY = re.compile(r'recall_archive (\{"key": "[0-9a-f]{16}"\})')


def keys_in(text: str) -> list[str]:
    return [json.loads(found)["key"] for found in KEY.findall(text)]


def texts(messages: list[Message]) -> list[str]:
    parts = [p for m in messages for p in m.parts]
    said = [p.text for p in parts if isinstance(p, TextPart | ToolResultPart | ReasoningPart)]
    return said + [str(v) for m in messages for c in m.tool_calls for v in c.arguments.values()]


def words(messages: list[Message]) -> str:
    return "\n".join(texts(messages))


async def compact(
    archive: Archive, talk: Conversation, model: StubModel, budget: int, keep: int = 4, **more: Any
) -> Compacted:
    ids = itertools.count()
    compactor = Compactor(archive, lambda: NOW, lambda: f"new{next(ids)}")
    return await compactor.run(talk, model, budget_chars=budget, keep=keep, ratio=4.0, **more)


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    return Archive(tmp_path / "archive", clock=lambda: NOW)


def long_talk(turns: int = 12, size: int = 3000) -> list[Message]:
    talk = []
    for n in range(turns):
        talk += [message("user", f"question {n}", turn=f"t{n}"), message("assistant", f"answer {n} " + "w" * size)]
    return talk


async def test_an_old_large_result_becomes_short_and_comes_back_whole(archive: Archive) -> None:
    log = "".join(f"line {n}\n" for n in range(5000))
    talk = conversation(
        [
            message("user", "run the tests"),
            message("assistant", call("a")),
            message("user", result("a", log), kind="tool_result"),
            *long_talk(3, 10),
        ]
    )
    model = StubModel()
    done = await compact(archive, talk, model, 20_000)
    assert done.level == 1
    assert model.requests == []
    shown = words(talk.messages[:3])
    assert len(shown) < 3000
    assert shown.count("line 0\n") == 1 and "line 4999" in shown
    (key,) = keys_in(shown)
    assert archive.get(key) == log
    assert talk.system == ()


async def test_the_users_words_and_recalled_text_stay_whole(archive: Archive) -> None:
    pasted = "p" * 9000
    talk = conversation(
        [
            message("user", pasted),
            message("assistant", call("a", "recall_archive", key="x"), call("b")),
            message("user", result("a", "r" * 9000, "recall_archive"), result("b", "s" * 90_000), kind="tool_result"),
            *long_talk(3, 10),
        ]
    )
    done = await compact(archive, talk, StubModel(), 40_000)
    assert done.level == 1
    assert pasted in words(talk.messages) and "r" * 9000 in words(talk.messages)
    assert "s" * 9000 not in words(talk.messages)


async def test_old_messages_become_one_summary_with_the_six_sections_asked_for(archive: Archive) -> None:
    talk = conversation(long_talk())
    whole = list(talk.messages)
    model = StubModel("## Files Read\n- src/app.py")
    done = await compact(archive, talk, model, 20_000)
    assert done.level == 2
    first = talk.messages[0]
    assert (first.role, first.kind) == ("user", "summary")
    assert "src/app.py" in first.text and f"{len(whole) - len(talk.messages) + 1} earlier messages" in first.text
    assert talk.messages[1:] == whole[-len(talk.messages) + 1 :]
    asked = model.requests[0]
    places = [asked.system[0].index(name) for name in SECTIONS]
    assert places == sorted(places)
    assert not asked.tools
    (key,) = keys_in(first.text)
    kept = archive.get(key)
    assert kept is not None
    for old in whole[: done.messages_before - done.messages_after + 1]:
        assert old.text in kept


async def test_a_second_summary_is_made_from_the_whole_first_one(archive: Archive) -> None:
    talk = conversation(long_talk())
    fact = "the port is 7411; " + "x" * 4000 + " and the host is heron"
    await compact(archive, talk, StubModel(fact), 20_000)
    talk.messages += long_talk()
    model = StubModel("second")
    await compact(archive, talk, model, 20_000)
    assert fact in model.requests[0].messages[0].text
    assert sum(m.kind == "summary" for m in talk.messages) == 1


async def test_without_a_summary_the_old_messages_are_left_out_but_can_be_looked_up(archive: Archive) -> None:
    talk = conversation(long_talk())
    done = await compact(archive, talk, StubModel(ModelError("overloaded", "busy")), 20_000)
    assert (done.level, done.problem) == (3, "busy")
    assert done.chars_after <= 20_000
    (key, *_) = keys_in(talk.messages[0].text)
    assert "question 0" in (archive.get(key) or "")


async def test_the_running_question_and_its_context_survive_a_long_run(archive: Archive) -> None:
    run = [
        message("user", "[TURN CONTEXT]\nrule", kind="turn_context", turn="now", carries=["rule:1"]),
        message("user", "rename the class", turn="now"),
    ]
    for n in range(20):
        run += [
            message("assistant", f"step {n} " + "w" * 2000, call(f"c{n}"), turn="now"),
            message("user", result(f"c{n}", "ok " * 300), kind="tool_result", turn="now"),
        ]
    talk = conversation([*long_talk(2), *run])
    talk.carried = {"rule:1": "d"}
    done = await compact(archive, talk, StubModel(), 20_000, turn_id="now")
    assert done.level == 2
    assert [m.kind for m in talk.messages[:3]] == ["summary", "turn_context", "text"]
    assert talk.messages[2].text == "rename the class"
    assert talk.carried == {"rule:1": "d"}


async def test_what_only_a_cut_context_told_is_told_again(archive: Archive) -> None:
    old = message("user", "[TURN CONTEXT]\n" + "fact", kind="turn_context", carries=["fact:1", "fact:2"])
    new = message("user", "[TURN CONTEXT]\n" + "fact", kind="turn_context", carries=["fact:2", "fact:3"])
    talk = conversation([old, *long_talk(), new, message("user", "last")])
    talk.carried = {"fact:1": "1", "fact:2": "1", "fact:3": "1"}
    await compact(archive, talk, StubModel(), 20_000)
    assert set(talk.carried) == {"fact:2", "fact:3"}


async def test_a_guided_summary_asks_for_what_the_user_wants_kept(archive: Archive) -> None:
    talk = conversation(long_talk(3, 50))
    model = StubModel()
    done = await compact(archive, talk, model, 100_000, keep=2, instruction="keep the schema decisions")
    assert done.level == 2
    assert "keep the schema decisions" in model.requests[0].messages[0].text


async def test_a_short_conversation_is_not_compacted_on_request(archive: Archive) -> None:
    talk = conversation(long_talk(1))
    whole = list(talk.messages)
    with pytest.raises(CompactionError, match="too short"):
        await compact(archive, talk, StubModel(), 100_000, instruction="")
    assert talk.messages == whole


async def test_a_failed_request_of_the_user_changes_nothing(archive: Archive) -> None:
    talk = conversation(long_talk())
    whole = list(talk.messages)
    with pytest.raises(CompactionError, match="busy"):
        await compact(archive, talk, StubModel(ModelError("overloaded", "busy")), 20_000, instruction="")
    assert talk.messages == whole and talk.system == ("system",)


async def test_the_summary_has_a_limit_of_its_own_and_falls_through(archive: Archive) -> None:
    class Silent(StubModel):
        async def stream(self, request):  # type: ignore[no-untyped-def]  # as in StubModel
            await asyncio.Event().wait()
            yield

    talk = conversation(long_talk())
    compactor = Compactor(archive, lambda: NOW, lambda: "n", limit_seconds=0.01)
    done = await compactor.run(talk, Silent(), budget_chars=20_000, keep=4, ratio=4.0)
    assert done.level == 3 and done.chars_after <= 20_000


async def test_cancelling_leaves_the_conversation_as_it_was(archive: Archive) -> None:
    asked = asyncio.Event()

    class Silent(StubModel):
        async def stream(self, request):  # type: ignore[no-untyped-def]  # as in StubModel
            asked.set()
            await asyncio.Event().wait()
            yield

    talk = conversation(long_talk())
    whole = list(talk.messages)
    task = asyncio.ensure_future(compact(archive, talk, Silent(), 20_000))
    await asked.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert talk.messages == whole and talk.system == ("system",)


async def test_what_is_said_while_the_summary_is_written_stays(archive: Archive) -> None:
    talk = conversation(long_talk())
    late = message("user", "and one more thing")

    class Talking(StubModel):
        async def stream(self, request):  # type: ignore[no-untyped-def]  # as in StubModel
            talk.messages.append(late)
            async for event in super().stream(request):
                yield event

    await compact(archive, talk, Talking(), 20_000)
    assert talk.messages[-1] is late
    assert talk.messages[0].kind == "summary"


async def test_the_call_that_recovers_is_offered_once_something_was_cut(tmp_path: Path) -> None:
    curation = Curation(tmp_path, lambda: NOW, McpServers(tmp_path, {}, Mcp))
    talk = conversation(long_talk())
    assert curation.tools(ToolSet(()), talk, "chat").names() == ()
    await compact(curation.archive, talk, StubModel(), 20_000)
    assert curation.tools(ToolSet(()), talk, "chat").names() == ("recall_archive",)


def test_the_archive_forgets_what_is_old_and_what_is_too_much(tmp_path: Path) -> None:
    now = [NOW]
    archive = Archive(tmp_path, clock=lambda: now[0], max_bytes=1000, max_age=timedelta(days=7))
    old = archive.put("old" * 10)
    now[0] += timedelta(days=5)
    used = archive.put("used" * 10)
    assert archive.get(old) == "old" * 10
    now[0] += timedelta(days=6)
    assert archive.get(used) == "used" * 10
    now[0] += timedelta(days=3)
    archive = Archive(tmp_path, clock=lambda: now[0], max_bytes=1000, max_age=timedelta(days=7))
    newest = archive.put("n" * 990)
    assert archive.get(old) is None
    assert archive.get(newest) == "n" * 990
    assert archive.get(used) is None  # 990 + 40 bytes are above the cap, and it is older


def test_a_damaged_or_unknown_text_is_not_returned(tmp_path: Path) -> None:
    archive = Archive(tmp_path, clock=lambda: NOW)
    key = archive.put("text")
    (tmp_path / f"{key}.txt").write_text("other")
    assert archive.get(key) is None
    assert archive.get("../../etc/passwd") is None


PARTS = st.sampled_from(["", "hello", "x" * 700, "y" * 6000, "é🙂" * 4000, "\ud800"])


@st.composite
def histories(draw: st.DrawFn) -> list[Message]:
    """Conversations with calls whose ids repeat, contexts, images and thoughts."""
    talk: list[Message] = []
    for n in range(draw(st.integers(0, 12))):
        turn = f"t{n}"
        if draw(st.booleans()):
            talk.append(message("user", "[TURN CONTEXT]\n" + draw(PARTS), kind="turn_context", turn=turn))
        talk.append(message("user", draw(PARTS) or "q", turn=turn))
        for _ in range(draw(st.integers(0, 3))):
            ids = [f"c{i}" for i in range(draw(st.integers(1, 3)))]
            thought = (ReasoningPart(draw(PARTS), "p", {"s": 1}),) if draw(st.booleans()) else ()
            talk.append(message("assistant", *thought, *(call(i, path=draw(PARTS)) for i in ids), turn=turn))
            talk.append(message("user", *(result(i, draw(PARTS)) for i in ids), kind="tool_result", turn=turn))
        talk.append(message("assistant", draw(PARTS) or "a", turn=turn))
        if draw(st.booleans()):
            talk.append(message("user", ImagePart("aGk=", "image/png"), "look", turn=turn))
    return talk


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(talk=histories(), budget=st.integers(500, 30_000), keep=st.integers(1, 10), attempt=st.integers(0, 3))
async def test_calls_keep_their_results_and_every_cut_comes_back(
    tmp_path: Path, talk: list[Message], budget: int, keep: int, attempt: int
) -> None:
    archive = Archive(tmp_path / "archive", clock=lambda: NOW)
    subject = conversation(talk)
    turn = talk[-1].turn_id if talk else ""
    try:
        done = await compact(archive, subject, StubModel(), budget, keep, turn_id=turn, attempt=attempt)
    except CompactionError:
        assert subject.messages == talk
        return
    assert done.chars_after == total_chars(subject.messages)
    calls = [c for m in subject.messages for c in m.tool_calls]
    results = [p for m in subject.messages for p in m.parts if isinstance(p, ToolResultPart)]
    assert len(call_spans(subject.messages)) == len(calls) == len(results)
    asked = [m for m in talk if m.turn_id == turn and m.role == "user" and m.kind == "text"]
    if done.level < 3:
        assert all(m in subject.messages for m in asked)
    assert all(m.parts for m in subject.messages)
    originals = set(texts(talk))
    for key in keys_in("\n".join(texts(subject.messages))):
        kept = archive.get(key)
        assert kept is not None
        assert kept in originals or kept.startswith("### 1 (")
