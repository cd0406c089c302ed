"""What the editor and other language servers make of an edit reaches the model unasked, bounded and once."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from chatls_core.host import Diagnostic, DiagnosticReport, HostCapabilities, Position, Range
from chatls_core.tools import aftermath
from tests.core.turn.conftest import Desk
from tests.core.turn.test_results import last_result
from tests.fakes.model_server import Call, Reply

HEARS = HostCapabilities(edits_buffers=True, approves=True, saves=True, diagnostics=True)


def lint(uri: str, text: str) -> Sequence[Diagnostic]:
    return [
        Diagnostic(uri, Range(Position(n, 0), Position(n, 1)), severity, message, "lint")
        for n, line in enumerate(text.splitlines())
        for word, severity, message in (("bad", "error", f"{line} is bad"), ("note", "hint", "never told"))
        if word in line
    ]


def edit(old: str, new: str) -> Reply:
    return Reply(tool_calls=(Call("edit_file", {"path": "a.py", "old_text": old, "new_text": new}),))


@pytest.fixture
def hearing(desk: Desk) -> Desk:
    desk.host.capabilities = HEARS
    desk.host.linter = lint
    (desk.host.root / "a.py").write_text("bad from before\none\ntwo\n")
    return desk


async def test_findings_that_an_edit_brought_are_in_its_result(hearing: Desk) -> None:
    hearing.models.script(edit("one", "new line\nbad new\nnote"), Reply(text="ok"))
    await hearing.ask("go", mode="coder")
    result = last_result(hearing)
    assert "a.py:3: error: bad new is bad [lint]" in result
    assert "from before" not in result
    assert "never told" not in result


async def test_a_finding_is_told_once_and_late_ones_with_the_next_result(hearing: Desk) -> None:
    late: list[str] = []
    hearing.host.linter = lambda uri, text: [*lint(uri, text), *(lint(uri, "bad late") if late else [])]

    def format_(text: str) -> str:
        late.append(text)
        return text

    hearing.host.formatter = format_
    command = Reply(tool_calls=(Call("run_command", {"command": "cat a.py"}),))
    hearing.models.script(edit("one", "bad new"), command, Reply(text="ok"))
    await hearing.ask("go", mode="coder")
    first, second = [
        block["content"]
        for message in hearing.models.requests[-1].json["messages"]
        for block in message["content"]
        if isinstance(block, dict) and block["type"] == "tool_result"
    ]
    assert "bad new is bad" in str(first)
    assert "bad late is bad" in str(second)
    assert "bad new is bad" not in str(second)


async def test_many_findings_are_cut(hearing: Desk) -> None:
    hearing.models.script(edit("one", "\n".join(f"bad {n} {'x' * 900}" for n in range(100))), Reply(text="ok"))
    await hearing.ask("go", mode="coder")
    assert "80 more: diagnostics shows them" in last_result(hearing)
    assert len(last_result(hearing)) < 9000


async def test_what_a_formatter_changed_on_saving_is_shown_and_counts_as_read(hearing: Desk) -> None:
    hearing.host.formatter = lambda text: text.replace("x=1", "x = 1")
    hearing.models.script(
        edit("one", "x=1"),
        Reply(tool_calls=(Call("run_command", {"command": "cat a.py"}),)),
        edit("x = 1", "x = 2"),
        Reply(text="ok"),
    )
    await hearing.ask("go", mode="coder")
    told = str(hearing.models.requests[2].json["messages"][-1])
    assert "a.py changed while it was saved" in told
    assert "-x=1" in told
    assert "+x = 1" in told
    assert hearing.host.buffers[hearing.host.uri("a.py")] == "bad from before\nx = 2\ntwo\n"


async def test_a_formatters_large_change_is_only_counted(hearing: Desk) -> None:
    hearing.agent = hearing.make_agent(edits={"review": "auto", "save": "always"})
    (hearing.host.root / "a.py").write_text("one\n" + "  x\n" * 500)
    hearing.host.formatter = lambda text: text.replace("  x", "\tx")
    hearing.models.script(edit("one", "1"), Reply(text="ok"))
    await hearing.ask("go", mode="coder")
    assert "1001 lines while it was saved" in last_result(hearing)
    assert len(last_result(hearing)) < 500


async def test_an_editor_without_the_capability_is_not_asked(hearing: Desk) -> None:
    hearing.host.capabilities = HostCapabilities(edits_buffers=True, approves=True)
    hearing.models.script(edit("one", "bad new"), Reply(text="ok"))
    await hearing.ask("go", mode="coder")
    assert hearing.host.asked_findings == []
    assert "is bad" not in last_result(hearing)


async def test_an_editor_that_keeps_silent_is_asked_once(hearing: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aftermath, "PATIENCE_SECONDS", 0.05)
    asked = []

    async def silent(uris: Sequence[str], settle_ms: int) -> DiagnosticReport:
        asked.append(uris)
        return await asyncio.get_running_loop().create_future()

    monkeypatch.setattr(hearing.host, "diagnostics", silent)
    hearing.models.script(edit("one", "1"), edit("two", "2"), Reply(text="ok"))
    result, _ = await hearing.ask("go", mode="coder")
    assert [e.applied for e in result.edits] == [True, True]
    assert len(asked) == 1


async def test_a_turn_that_edits_nothing_asks_nobody(hearing: Desk) -> None:
    hearing.models.script(Reply(tool_calls=(Call("read_file", {"path": "a.py"}),)), Reply(text="ok"))
    await hearing.ask("go", mode="coder")
    assert hearing.host.asked_findings == []
