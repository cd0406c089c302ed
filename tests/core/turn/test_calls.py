"""The calls of one message: reads side by side, the rest in order, failures alone; and a model that goes in circles."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from chatls_core.events import Notice, ToolEnd
from chatls_core.host import Document
from tests.core.turn.conftest import Desk
from tests.fakes.model_server import Call, Reply


def read(path: str) -> Call:
    return Call("read_file", {"path": path})


def edit(old: str, new: str) -> Call:
    return Call("edit_file", {"path": "a.txt", "old_text": old, "new_text": new})


def results(desk: Desk) -> list[str]:
    last = desk.models.requests[-1].json["messages"][-1]["content"]
    return [str(block["content"]) for block in last if block["type"] == "tool_result"]


async def test_one_failing_call_drops_none_of_its_siblings(desk: Desk) -> None:
    (desk.host.root / "a.txt").write_text("one\ntwo\n")
    calls = (read("none.txt"), read("a.txt"), edit("three", "3"), Call("nothing", {}), edit("two", "2"))
    desk.models.script(Reply(tool_calls=calls), Reply(text="ok"))
    _, events = await desk.ask("go", mode="coder")
    ended = sorted(e.status for e in events if isinstance(e, ToolEnd))
    assert ended == ["completed", "completed", "failed", "failed", "failed"]
    told = results(desk)
    assert len(told) == 5
    assert "does not exist" in told[0]
    assert "one" in told[1]
    assert "not found" in told[2]
    assert "There is no tool" in told[3]
    assert desk.host.buffers[desk.host.uri("a.txt")] == "one\n2\n"


async def test_independent_reads_run_side_by_side(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    together = asyncio.Barrier(3)

    async def meet(uri: str) -> Document:
        await asyncio.wait_for(together.wait(), 10)
        return Document(uri, f"text of {uri}")

    monkeypatch.setattr(desk.host, "read", meet)
    desk.models.script(Reply(tool_calls=(read("a.txt"), read("b.txt"), read("c.txt"))), Reply(text="ok"))
    await desk.ask("go", mode="coder")
    assert [f"{name}.txt" in text for name, text in zip("abc", results(desk), strict=True)] == [True] * 3


async def test_the_same_step_in_another_order_and_spacing_is_a_repetition(desk: Desk) -> None:
    (desk.host.root / "a.txt").write_text("x\n")
    first, second = Call("search", {"query": "x  y"}), read("a.txt")
    again = Call("search", {"query": "x y"})
    desk.models.script(*(Reply(tool_calls=c) for c in ((first, second), (second, again), (again, second))))
    result, events = await desk.ask("go", mode="coder")
    assert result.stop_reason == "stalled"
    assert any(isinstance(e, Notice) and "repeated" in e.text for e in events)


@pytest.mark.parametrize(("settings", "asked"), [({"stallTurns": 5}, 5), ({"stopWhenStalled": False}, 7)])
async def test_how_often_is_too_often_can_be_set(desk: Desk, settings: dict[str, Any], asked: int) -> None:
    desk.agent = desk.make_agent(agent=settings)
    (desk.host.root / "a.txt").write_text("x\n")
    desk.models.script(*[Reply(tool_calls=(read("a.txt"),)) for _ in range(6)], Reply(text="ok"))
    await desk.ask("go", mode="coder")
    assert len(desk.models.requests) == asked


async def test_a_call_that_keeps_failing_is_advised_about(desk: Desk) -> None:
    (desk.host.root / "a.txt").write_text("one\n")
    steps = [edit("x", "y"), read("a.txt"), edit("x", "y"), edit("z", "y"), edit("one", "1"), edit("x", "y")]
    desk.models.script(*[Reply(tool_calls=(step,)) for step in steps], Reply(text="ok"))
    await desk.ask("go", mode="coder")
    told = [
        str(block["content"])
        for message in desk.models.requests[-1].json["messages"]
        for block in message["content"]
        if isinstance(block, dict) and block["type"] == "tool_result"
    ]
    assert ["[" in text and "failed" in text for text in told] == [False, False, True, True, False, True]
    assert "This very call failed 2 times" in told[2]
    assert "edit_file failed 3 times" in told[3]
