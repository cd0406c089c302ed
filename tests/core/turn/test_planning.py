"""Agent mode plans before it changes anything, and its plan tells the truth when the turn is over."""

from __future__ import annotations

import json

import pytest

from chatls_core.events import Notice, Plan, Text, ToolEnd, TurnEvent
from chatls_core.turn.exchange import ChatRequest
from tests.core.turn.conftest import Desk
from tests.fakes.model_server import Call, Reply

EDIT = Call("edit_file", {"path": "a.txt", "old_text": "one", "new_text": "two"})
STEPS = {"entries": [{"text": "change it", "status": "in_progress"}, {"text": "check it", "status": "pending"}]}
PLAN = Call("update_plan", STEPS)


@pytest.fixture(autouse=True)
def _file(desk: Desk) -> None:
    (desk.host.root / "a.txt").write_text("one\n")


def text(desk: Desk) -> str:
    """The file as its editor shows it."""
    on_disk = (desk.host.root / "a.txt").read_text()
    return desk.host.buffers.get(desk.host.uri("a.txt"), on_disk)


def told(desk: Desk, request: int = -1) -> str:
    return str(desk.models.requests[request].json["messages"][-1])


def statuses(events: list[TurnEvent]) -> list[str]:
    return [e.status for e in events if isinstance(e, ToolEnd)]


def plans(events: list[TurnEvent]) -> list[list[tuple[str, str]]]:
    return [[(entry.text, entry.status) for entry in e.entries] for e in events if isinstance(e, Plan)]


async def test_a_change_before_the_plan_is_answered_with_the_call_to_make(desk: Desk) -> None:
    desk.models.script(Reply(tool_calls=(EDIT,)), Reply(tool_calls=(PLAN,)), Reply(tool_calls=(EDIT,)), Reply(text="k"))
    _, events = await desk.ask("change it", mode="agent")
    assert "update_plan" in told(desk, 1)
    assert '"entries"' in told(desk, 1).replace('\\"', '"')
    assert statuses(events) == ["failed", "completed", "completed"]
    assert text(desk) == "two\n"
    assert "update_plan" not in told(desk)


@pytest.mark.parametrize(
    "call",
    [
        EDIT,
        Call("write_file", {"path": "b.txt", "content": "new\n"}),
        Call("delete_file", {"path": "a.txt"}),
        Call("move_file", {"path": "a.txt", "new_path": "b.txt"}),
        Call("run_command", {"command": "echo new > a.txt"}),
    ],
    ids=lambda call: call.name,
)
async def test_nothing_is_changed_or_asked_before_the_plan(desk: Desk, call: Call) -> None:
    desk.models.script(Reply(tool_calls=(call,)), Reply(text="I stop."))
    _, events = await desk.ask("change it", mode="agent")
    assert statuses(events) == ["failed"]
    assert desk.host.approvals == []
    assert [path.name for path in desk.host.root.iterdir()] == ["a.txt"]
    assert desk.host.buffers == {}
    assert text(desk) == "one\n"


async def test_looking_asking_and_planning_need_no_plan(desk: Desk) -> None:
    calls = (
        Call("read_file", {"path": "a.txt"}),
        Call("run_command", {"command": "cat a.txt && git status"}),
        Call("search", {"pattern": "one"}),
        PLAN,
        EDIT,
    )
    desk.models.script(Reply(tool_calls=calls), Reply(text="ok"))
    _, events = await desk.ask("change it", mode="agent")
    assert statuses(events) == ["completed"] * 5
    assert text(desk) == "two\n"


async def test_other_modes_need_no_plan(desk: Desk) -> None:
    desk.models.script(Reply(tool_calls=(EDIT,)), Reply(text="ok"))
    await desk.ask("change it", mode="coder")
    assert text(desk) == "two\n"


async def test_a_plan_that_was_wrong_is_no_plan(desk: Desk) -> None:
    desk.models.script(Reply(tool_calls=(Call("update_plan", {"entries": []}), EDIT)), Reply(text="ok"))
    await desk.ask("change it", mode="agent")
    assert text(desk) == "one\n"


async def test_every_turn_has_its_own_plan(desk: Desk) -> None:
    desk.models.script(Reply(tool_calls=(PLAN,)), Reply(text="planned"), Reply(tool_calls=(EDIT,)), Reply(text="ok"))
    await desk.ask("plan it", mode="agent")
    await desk.ask("now something else", mode="agent")
    assert text(desk) == "one\n"


async def test_a_model_that_will_not_plan_is_told_twice_and_then_works(desk: Desk) -> None:
    other = Call("run_command", {"command": "touch b.txt"})
    desk.models.script(*[Reply(tool_calls=(EDIT, other))] * 3, Reply(tool_calls=(other,)), Reply(text="ok"))
    result, events = await desk.ask("change it", mode="agent")
    assert statuses(events) == ["failed"] * 4 + ["completed"] * 3
    assert result.stop_reason == "end"
    assert text(desk) == "two\n"
    assert told(desk, 3).count("without a plan") == 1
    assert "without a plan" not in told(desk, 4)
    assert [e.text for e in events if isinstance(e, Notice)] == ["The model works without a plan."]


async def test_execute_blocks_wait_for_the_plan_too(desk: Desk) -> None:
    block = "```execute:shell\ntouch made.txt\n```"
    desk.models.script(Reply(text=block), Reply(tool_calls=(PLAN,)), Reply(text=block), Reply(text="ok"))
    await desk.ask("make it", mode="agent")
    assert "update_plan" in told(desk, 1)
    assert len(desk.host.approvals) == 1
    assert (desk.host.root / "made.txt").exists()


async def test_calls_written_as_text_wait_for_the_plan_too(desk: Desk) -> None:
    written = (
        '<tool_call name="edit_file" args=\'{"path": "a.txt", "old_text": "one", "new_text": "two"}\'/>',
        f"<tool_call name=\"update_plan\" args='{json.dumps(STEPS)}'/>",
    )
    desk.models.script(Reply(text=written[0]), Reply(text=written[1]), Reply(text=written[0]), Reply(text="ok"))
    _, events = await desk.ask("change it", mode="agent")
    assert statuses(events) == ["failed", "completed", "completed"]
    assert text(desk) == "two\n"


async def test_a_step_in_progress_is_open_again_when_the_turn_is_over(desk: Desk) -> None:
    desk.models.script(Reply(tool_calls=(PLAN,)), Reply(text="I leave it at that."))
    _, events = await desk.ask("change it", mode="agent")
    assert plans(events) == [
        [("change it", "in_progress"), ("check it", "pending")],
        [("change it", "pending"), ("check it", "pending")],
    ]


async def test_a_plan_without_a_step_in_progress_is_not_repeated(desk: Desk) -> None:
    done = Call("update_plan", {"entries": [{"text": "change it", "status": "completed"}, {"text": "check it"}]})
    desk.models.script(Reply(tool_calls=(done,)), Reply(text="ok"))
    _, events = await desk.ask("change it", mode="agent")
    assert len(plans(events)) == 1


async def test_a_step_in_progress_is_open_again_when_the_turn_is_stopped(desk: Desk) -> None:
    desk.models.script(Reply(tool_calls=(PLAN,)), Reply(text="I begin and begin", stall_after=2))
    turn = await desk.agent.submit(ChatRequest("change it", "s", mode="agent"), desk.host)
    seen = []
    async for numbered in turn.events():
        seen.append(numbered.event)
        if isinstance(numbered.event, Text):
            turn.cancel()
    assert plans(seen)[-1] == [("change it", "pending"), ("check it", "pending")]
