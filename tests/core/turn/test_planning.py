"""Agent mode shows a plan before it changes anything, and its plan tells the truth when the turn is over."""

from __future__ import annotations

import pytest

from chatls_core.events import Plan, Text, ToolStart, TurnEvent
from chatls_core.host import ApprovalAnswer
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


def plans(events: list[TurnEvent]) -> list[list[tuple[str, str]]]:
    return [[(entry.text, entry.status) for entry in e.entries] for e in events if isinstance(e, Plan)]


@pytest.mark.parametrize(
    ("call", "shown"),
    [
        (EDIT, "edit a.txt"),
        (Call("write_file", {"path": "b.txt", "content": "new\n"}), "write b.txt"),
        (Call("delete_file", {"path": "a.txt"}), "delete a.txt"),
        (Call("move_file", {"path": "a.txt", "new_path": "b.txt"}), "move a.txt"),
        (Call("run_command", {"command": "echo new > a.txt"}), "echo new > a.txt"),
    ],
    ids=lambda part: part.name if isinstance(part, Call) else "",
)
async def test_a_change_without_a_plan_is_shown_as_the_plan_before_it_happens(
    desk: Desk, call: Call, shown: str
) -> None:
    desk.models.script(Reply(tool_calls=(call,)), Reply(text="ok"))
    _, events = await desk.ask("change it", mode="agent")
    kinds = [type(e) for e in events if isinstance(e, (Plan, ToolStart))]
    assert kinds[:2] == [Plan, ToolStart]
    (first, status), *_ = plans(events)[0]
    assert shown in first.lower() and status == "in_progress"
    assert plans(events)[-1] == [(first, "completed")]
    assert told(desk).count("update_plan") == 1


async def test_changes_follow_each_other_in_that_plan_and_the_model_is_told_once(desk: Desk) -> None:
    second = Call("edit_file", {"path": "a.txt", "old_text": "two", "new_text": "three"})
    wrong = Call("edit_file", {"path": "a.txt", "old_text": "nowhere", "new_text": "x"})
    desk.models.script(
        Reply(tool_calls=(EDIT,)), Reply(tool_calls=(second,)), Reply(tool_calls=(wrong,)), Reply(text="ok")
    )
    _, events = await desk.ask("change it", mode="agent")
    assert [status for _, status in plans(events)[-1]] == ["completed", "completed", "pending"]
    assert text(desk) == "three\n"
    assert str(desk.models.requests[-1].json["messages"]).count("with update_plan now") == 1


async def test_the_models_own_plan_takes_its_place(desk: Desk) -> None:
    second = Call("edit_file", {"path": "a.txt", "old_text": "two", "new_text": "three"})
    desk.models.script(
        Reply(tool_calls=(EDIT,)), Reply(tool_calls=(PLAN,)), Reply(tool_calls=(second,)), Reply(text="k")
    )
    _, events = await desk.ask("change it", mode="agent")
    assert plans(events)[2:] == [
        [("change it", "in_progress"), ("check it", "pending")],
        [("change it", "pending"), ("check it", "pending")],
    ]


async def test_a_denied_change_is_open_in_the_plan(desk: Desk) -> None:
    desk.host.answer = ApprovalAnswer("deny")
    desk.models.script(Reply(tool_calls=(Call("run_command", {"command": "touch b.txt"}),)), Reply(text="ok"))
    _, events = await desk.ask("change it", mode="agent")
    assert [status for _, status in plans(events)[-1]] == ["pending"]


async def test_looking_asking_and_planning_show_no_other_plan(desk: Desk) -> None:
    calls = (
        Call("read_file", {"path": "a.txt"}),
        Call("run_command", {"command": "cat a.txt && git status"}),
        Call("search", {"pattern": "one"}),
    )
    desk.models.script(Reply(tool_calls=calls), Reply(tool_calls=(PLAN, EDIT)), Reply(text="ok"))
    _, events = await desk.ask("change it", mode="agent")
    assert plans(events)[0] == [("change it", "in_progress"), ("check it", "pending")]
    assert "with update_plan now" not in str(desk.models.requests[-1].json["messages"])
    assert text(desk) == "two\n"


async def test_other_modes_show_no_plan(desk: Desk) -> None:
    desk.models.script(Reply(tool_calls=(EDIT,)), Reply(text="ok"))
    _, events = await desk.ask("change it", mode="coder")
    assert plans(events) == []
    assert text(desk) == "two\n"


async def test_every_turn_has_its_own_plan(desk: Desk) -> None:
    desk.models.script(Reply(tool_calls=(PLAN,)), Reply(text="planned"), Reply(tool_calls=(EDIT,)), Reply(text="ok"))
    await desk.ask("plan it", mode="agent")
    _, events = await desk.ask("now something else", mode="agent")
    assert len(plans(events)[0]) == 1


async def test_execute_blocks_are_shown_as_a_plan_too(desk: Desk) -> None:
    block = "```execute:shell\ntouch made.txt\n```"
    desk.models.script(Reply(text=block), Reply(text="ok"))
    _, events = await desk.ask("make it", mode="agent")
    assert [status for _, status in plans(events)[-1]] == ["completed"]
    assert (desk.host.root / "made.txt").exists()


async def test_calls_written_as_text_are_shown_as_a_plan_too(desk: Desk) -> None:
    written = '<tool_call name="edit_file" args=\'{"path": "a.txt", "old_text": "one", "new_text": "two"}\'/>'
    desk.models.script(Reply(text=written), Reply(text="ok"))
    _, events = await desk.ask("change it", mode="agent")
    assert [status for _, status in plans(events)[-1]] == ["completed"]
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
