"""Agent mode's ``execute:`` blocks: commands in the answer's text, through the policy like every other."""

from __future__ import annotations

import pytest

from chatls_core.events import ToolEnd, ToolStart
from chatls_core.host import ApprovalAnswer
from tests.core.turn.conftest import Desk
from tests.fakes.model_server import Call, Reply


async def test_a_block_runs_when_it_is_allowed_and_the_model_gets_its_output(desk: Desk) -> None:
    desk.models.script(
        Reply(text="I look.\n\n```execute:shell\necho one > made.txt\ncat made.txt\n```\n"), Reply(text="It is there.")
    )
    result, events = await desk.ask("make it", mode="agent")
    assert [a.title for a in desk.host.approvals] == ["Run echo one > made.txt\ncat made.txt"]
    assert [(e.name, e.tool_kind) for e in events if isinstance(e, ToolStart)] == [("run_command", "execute")]
    assert [e.status for e in events if isinstance(e, ToolEnd)] == ["completed"]
    assert "one\n[exit code 0]" in str(desk.models.requests[-1].json["messages"][-1]).replace("\\n", "\n")
    assert result.text.endswith("It is there.")


async def test_reading_needs_no_question_and_danger_asks_whatever_is_allowed(desk: Desk) -> None:
    desk.agent.services.policy.set_rule("run_command", "allow")
    desk.host.answer = ApprovalAnswer("deny")
    (desk.host.root / "keep").mkdir()
    desk.models.script(
        Reply(text="```execute:git\ngit status\n```\nand\n```execute:shell\ntrue && rm -rf keep\n```"), Reply(text="ok")
    )
    _, events = await desk.ask("clean", mode="agent")
    assert [e.status for e in events if isinstance(e, ToolEnd)][1] == "denied"
    assert [a.preview for a in desk.host.approvals] == ["true && rm -rf keep"]
    assert (desk.host.root / "keep").exists()


async def test_a_denied_command_is_never_run(desk: Desk) -> None:
    desk.agent.services.policy.set_rule("run_command npm", "deny")
    desk.models.script(Reply(text="```execute:shell\ntouch x; npm publish\n```"), Reply(text="ok"))
    await desk.ask("go", mode="agent")
    assert desk.host.approvals == []
    assert not (desk.host.root / "x").exists()
    assert "Not allowed" in str(desk.models.requests[-1].json["messages"][-1])


async def test_a_block_beside_a_call_runs_too(desk: Desk) -> None:
    (desk.host.root / "a.txt").write_text("inside\n")
    desk.models.script(
        Reply(text="```execute:shell\necho here\n```", tool_calls=(Call("read_file", {"path": "a.txt"}),)),
        Reply(text="ok"),
    )
    await desk.ask("go", mode="agent")
    told = str(desk.models.requests[-1].json["messages"][-1])
    assert "inside" in told
    assert "here" in told


@pytest.mark.parametrize(
    ("mode", "text", "says"),
    [
        ("coder", "```execute:shell\ntouch x\n```", "run_command call"),
        ("agent", "```execute:python\ntouch x\n```", "no execute:python"),
        ("agent", "```execute:shell\n\n```", "empty"),
    ],
)
async def test_what_is_not_run_is_told(desk: Desk, mode: str, text: str, says: str) -> None:
    desk.models.script(Reply(text=text), Reply(text="ok"))
    await desk.ask("go", mode=mode)
    assert says in str(desk.models.requests[-1].json["messages"][-1])
    assert not (desk.host.root / "x").exists()


@pytest.mark.parametrize(
    ("mode", "text"),
    [
        ("chat", "```execute:shell\ntouch x\n```"),
        ("agent", "```shell\ntouch x\n```"),
        ("agent", "```execute:shell\ntouch x\n"),
    ],
)
async def test_what_is_only_text_ends_the_turn(desk: Desk, mode: str, text: str) -> None:
    desk.models.script(Reply(text=text))
    result, _ = await desk.ask("go", mode=mode)
    assert result.stop_reason == "end"
    assert len(desk.models.requests) == 1
    assert not (desk.host.root / "x").exists()
