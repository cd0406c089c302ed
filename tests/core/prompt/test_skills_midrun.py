"""Skills that become relevant while a run works, and let go when they are old (spec/agent.md §1.10)."""

from __future__ import annotations

import json
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest

from chatls_core.events import ContextAdded
from chatls_core.turn.exchange import ChatRequest
from tests.core.prompt.test_skills import write
from tests.core.prompt.test_stability import blocks
from tests.core.turn.conftest import Desk
from tests.fakes.model_server import Call, Reply


def read(*paths: str) -> Reply:
    return Reply(text="Looking.", tool_calls=tuple(Call("read_file", {"path": path}) for path in paths))


def told(body: dict[str, Any], text: str) -> list[int]:
    """Indices of the messages that hold ``text``."""
    return [n for n, m in enumerate(body["messages"]) if text in json.dumps(m, ensure_ascii=False)]


@pytest.fixture
def stocked(desk: Desk) -> Desk:
    skills = desk.host.root / ".chatcli/skills"
    for number in range(5):
        write(skills, f"python{number}", "paths: '**/*.py'", f"Python rule {number}.")
    write(skills, "sql", "paths: '**/*.sql'\ntriggers: schema", "Never drop a column.")
    for name in ("a.py", "b.sql", "c.txt", "d.txt"):
        (desk.host.root / name).write_text(f"-- {name}\n")
    return desk


async def test_a_file_that_a_run_touches_brings_its_skill_once_and_history_only_grows(stocked: Desk) -> None:
    desk = stocked
    desk.models.script(read("c.txt"), read("b.sql"), read("b.sql"), Reply(text="Done."))
    _, events = await desk.ask("Look at the files.", mode="coder")
    bodies = [dict(r.json) for r in desk.models.requests[-4:]]
    assert [len(told(b, "Never drop a column.")) for b in bodies] == [0, 0, 1, 1]
    assert bodies[3]["system"] == bodies[0]["system"]
    for before, after in pairwise(map(blocks, bodies)):
        assert after[: len(before)] == before
    assert "sql" in [s.title for e in events if isinstance(e, ContextAdded) for s in e.skills]


async def test_a_step_brings_three_new_skills_at_most(stocked: Desk) -> None:
    desk = stocked
    desk.models.script(read("a.py"), read("c.txt"), Reply(text="Done."))
    await desk.ask("Look at the files.", mode="coder")
    first, second = (json.dumps(r.json["messages"]) for r in desk.models.requests[-2:])
    assert [f"Python rule {n}." in first for n in range(5)] == [True, True, True, False, False]
    assert all(f"Python rule {n}." in second for n in range(5))


async def test_what_the_user_says_in_mid_run_is_matched_too(stocked: Desk) -> None:
    desk = stocked
    desk.models.script(Reply(text="Looking.", hold=(0,)), Reply(text="Done."))
    turn = await desk.agent.submit(ChatRequest("Look at the files.", "s", mode="coder"), desk.host)
    await desk.models.wait_held()
    await desk.agent.submit(ChatRequest("and mind the schema", "s", steer=True), desk.host)
    desk.models.release()
    await turn.outcome
    assert len(told(desk.models.requests[-1].json, "Never drop a column.")) == 1


async def test_switched_off_a_run_brings_none(stocked: Desk) -> None:
    desk = stocked
    desk.agent = desk.make_agent(prompt={"skillRescan": False})
    desk.models.script(read("b.sql"), Reply(text="Done."))
    await desk.ask("Look at the files.", mode="coder")
    assert told(desk.models.requests[-1].json, "Never drop a column.") == []


async def test_an_old_skill_of_a_run_leaves_when_the_prefix_is_written_anew_and_its_call_brings_it(
    stocked: Desk,
) -> None:
    desk = stocked
    desk.models.script(read("b.sql"), *[read("c.txt"), read("d.txt")] * 3, Reply(text="Done."))
    await desk.ask("Look at the files.", mode="coder")
    await desk.ask("Anything else?", mode="coder")
    assert told(desk.models.requests[-1].json, "Never drop a column.")  # a warm prefix is not rewritten
    desk.clock.now += timedelta(hours=2)
    await desk.ask("And now?", mode="coder")
    body = desk.models.requests[-1].json
    assert not told(body, "Never drop a column.")
    (index,) = told(body, "its text, told here earlier")
    text = next(b["text"] for b in body["messages"][index]["content"] if "told here" in b.get("text", ""))
    call = json.loads(text[text.index("read_file ") + len("read_file ") :])
    desk.models.script(Reply(tool_calls=(Call("read_file", call),)), Reply(text="Done."))
    await desk.ask("Read it again.", mode="coder")
    assert told(desk.models.requests[-1].json, "Never drop a column.")


async def test_a_full_window_lets_old_skills_go_before_it_summarises(stocked: Desk) -> None:
    desk = stocked
    desk.agent = desk.make_agent(contextWindow=17_000)
    write(desk.host.root / ".chatcli/skills", "sql", "paths: '**/*.sql'", "Never drop a column. " * 800)
    (desk.host.root / "big.txt").write_text("a line of the log\n" * 650)
    desk.models.script(read("b.sql"), *[read("c.txt"), read("d.txt")] * 3, read("big.txt"), Reply(text="Done."))
    await desk.ask("Look at the files.", mode="coder")
    body = desk.models.requests[-1].json
    assert not told(body, "Never drop a column.")
    assert told(body, "told here earlier")
    assert not told(body, "Structured summary")


async def test_with_recovery_off_nothing_is_let_go(stocked: Desk) -> None:
    desk = stocked
    desk.agent = desk.make_agent(prompt={"contextPull": False})
    desk.models.script(read("b.sql"), *[read("c.txt"), read("d.txt")] * 3, Reply(text="Done."))
    await desk.ask("Look at the files.", mode="coder")
    desk.clock.now += timedelta(hours=2)
    await desk.ask("And now?", mode="coder")
    assert told(desk.models.requests[-1].json, "Never drop a column.")
