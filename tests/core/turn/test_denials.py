"""What the user keeps refusing is not asked for ever (spec/agent.md §5.3)."""

from __future__ import annotations

from typing import Any

from chatls_core.events import ToolEnd
from chatls_core.host import Approval, ApprovalAnswer
from tests.core.turn.conftest import Desk
from tests.fakes.model_server import Call, Reply


def commands(*lines: str) -> list[Reply]:
    return [*(Reply(tool_calls=(Call("run_command", {"command": line}),)) for line in lines), Reply(text="ok")]


async def statuses(desk: Desk, *replies: Reply) -> list[str]:
    desk.models.script(*replies)
    _, events = await desk.ask("go", mode="coder")
    return [e.status for e in events if isinstance(e, ToolEnd)]


async def test_three_refusals_in_a_row_end_the_asking_for_that_command_only(desk: Desk) -> None:
    desk.host.answer = ApprovalAnswer("deny")
    lines = ["npm test a", "npm test b", "npm test c", "npm test d", "npm publish"]
    assert await statuses(desk, *commands(*lines)) == ["denied"] * 5
    assert [a.preview for a in desk.host.approvals] == ["npm test a", "npm test b", "npm test c", "npm publish"]
    assert "refused this several times" in str(desk.models.requests[-1].json["messages"])


async def test_a_yes_begins_the_count_anew(desk: Desk, monkeypatch: Any) -> None:
    answers = iter([*["deny"] * 2, "allow", *["deny"] * 3])

    async def answer(approval: Approval) -> ApprovalAnswer:
        desk.host.approvals.append(approval)
        return ApprovalAnswer(next(answers))  # type: ignore[arg-type]

    monkeypatch.setattr(desk.host, "approve", answer)
    await statuses(desk, *commands(*(f"npm test {n}" for n in range(7))))
    assert len(desk.host.approvals) == 6


async def test_after_many_refusals_every_call_is_asked_about(desk: Desk) -> None:
    desk.agent = desk.make_agent(agent={"maxDenials": 2})
    (desk.host.root / "a.txt").write_text("x\n")
    read = Call("read_file", {"path": "a.txt"})
    desk.host.answer = ApprovalAnswer("deny")
    assert await statuses(desk, Reply(tool_calls=(read,)), *commands("touch a", "mkdir b")) == [
        "completed", "denied", "denied",
    ]  # fmt: skip
    desk.host.answer = ApprovalAnswer("allow")
    assert await statuses(desk, Reply(tool_calls=(read,)), Reply(text="ok")) == ["completed"]
    assert len(desk.host.approvals) == 3
