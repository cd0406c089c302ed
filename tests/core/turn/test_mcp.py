"""Remote tools in a conversation: offered, asked for, called, fenced; their bytes hold while nothing changes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from chatls_core.events import Notice, ToolEnd
from chatls_core.host import ApprovalAnswer
from chatls_core.turn.agent import Agent
from tests.core.turn.conftest import Desk
from tests.fakes.mcp_rig import calls, entry, write_servers
from tests.fakes.model_server import Call, Reply

pytestmark = pytest.mark.timeout(120)

ON = {"enabled": True, "waitSeconds": 60}


def use(desk: Desk, *entries: dict[str, Any], **settings: Any) -> Agent:
    """An agent whose configuration has these servers."""
    write_servers(desk.home / "mcp_servers.json", *entries)
    desk.agent = desk.make_agent(mcp={**ON, **settings.pop("mcp", {})}, **settings)
    return desk.agent


def record(desk: Desk, name: str = "fake") -> Path:
    return desk.home.parent / f"{name}.jsonl"


def fake(desk: Desk, name: str = "fake", **more: Any) -> dict[str, Any]:
    return entry(name, record(desk, name), **more)


def tools(body: Any) -> list[Any]:
    return body.get("tools", [])


def system(body: Any) -> str:
    return "".join(part["text"] for part in body["system"])


def results(body: Any) -> str:
    content = body["messages"][-1]["content"]
    return "\n".join(str(p.get("content", "")) for p in content if p["type"] == "tool_result")


async def test_a_remote_tool_is_offered_called_and_its_answer_fenced(desk: Desk) -> None:
    agent = use(desk, fake(desk))
    desk.models.script(Reply(tool_calls=(Call("mcp_echo", {"text": "hello"}),)), Reply(text="It said hello."))
    result, _ = await desk.ask("say hello", mode="agent")
    assert result.text.endswith("It said hello.")
    first, second = desk.models.requests[0].json, desk.models.requests[1].json
    (offered,) = [t for t in tools(first) if t["name"] == "mcp_echo"]
    assert offered["input_schema"]["required"] == ["text"]
    assert "Say it again." in offered["description"]
    assert [t["name"] for t in tools(first)] == sorted(t["name"] for t in tools(first))
    fenced = results(second)
    assert re.search(r'<data-\w+ source="MCP server fake, tool echo">\s*echo: hello\s*</data-\w+>', fenced)
    (asked,) = desk.host.approvals
    assert "fake" in asked.title
    assert '"hello"' in asked.preview
    assert (await agent.session("s")).conversation.state["external"] is True


async def test_what_the_user_refuses_is_not_sent_and_rules_decide(desk: Desk) -> None:
    agent = use(desk, fake(desk))
    call = Reply(tool_calls=(Call("mcp_echo", {"text": "secret plans"}),))
    desk.host.answer = ApprovalAnswer("deny")
    desk.models.script(call, Reply(text="No."))
    await desk.ask("say", mode="agent")
    assert calls(record(desk), "echo") == []
    desk.host.answer = ApprovalAnswer("always")
    desk.models.script(call, Reply(text="Yes."))
    await desk.ask("say", mode="agent")
    desk.host.approvals.clear()
    desk.models.script(call, Reply(text="Again."))
    await desk.ask("say", mode="agent")
    assert desk.host.approvals == [], "always was said for this tool of this server"
    assert len(calls(record(desk), "echo")) == 2
    agent.services.policy.set_rule("mcp_echo", "deny")
    desk.models.script(call, Reply(text="Forbidden."))
    await desk.ask("say", mode="agent")
    assert "Not allowed" in results(desk.models.requests[-1].json)
    assert len(calls(record(desk), "echo")) == 2


async def test_tools_allowed_beforehand_are_not_asked_about(desk: Desk) -> None:
    use(desk, fake(desk, autoApprove=["echo"]))
    desk.models.script(Reply(tool_calls=(Call("mcp_echo", {"text": "x"}),)), Reply(text="ok"))
    await desk.ask("say", mode="coder")
    assert desk.host.approvals == []
    assert len(calls(record(desk), "echo")) == 1


async def test_two_servers_with_one_tool_keep_their_names_apart_and_forbidden(desk: Desk) -> None:
    agent = use(desk, fake(desk, "a", enabledTools=["echo"]), fake(desk, "b", enabledTools=["echo", "slow"]))
    agent.services.policy.set_rule("mcp_echo", "deny")
    desk.models.script(Reply(tool_calls=(Call("mcp_b_echo", {"text": "x"}),)), Reply(text="ok"))
    await desk.ask("say", mode="agent")
    names = [t["name"] for t in tools(desk.models.requests[0].json) if t["name"].startswith("mcp_")]
    assert names == ["mcp_a_echo", "mcp_b_echo", "mcp_slow"]
    assert "Not allowed" in results(desk.models.requests[-1].json), "a rule against the tool holds for its other name"


async def test_chat_lists_names_and_the_recovery_call_tells_the_rest(desk: Desk) -> None:
    use(desk, fake(desk, enabledTools=["echo", "essay"]))
    desk.models.script(
        Reply(tool_calls=(Call("context_pull", {"kind": "MCP_Tools", "name": "again"}),)), Reply(text="It can echo.")
    )
    await desk.ask("what can you do?")
    body = desk.models.requests[0].json
    assert "MCP tools of connected servers: 2." in system(body)
    assert "mcp_echo, mcp_essay" in system(body)
    assert "Say it again." not in system(body)
    assert not [t for t in tools(body) if t["name"].startswith("mcp_")]
    told = results(desk.models.requests[1].json)
    assert "1 of 2" in told
    assert "mcp_echo: Say it again." in told
    assert "essay" not in told


async def test_without_the_recovery_call_chat_has_the_descriptions(desk: Desk) -> None:
    use(desk, fake(desk, enabledTools=["echo"]), prompt={"contextPull": False})
    await desk.ask("what can you do?")
    body = desk.models.requests[0].json
    assert "mcp_echo: Say it again." in system(body)
    assert "context_pull" not in json.dumps(body)


async def test_without_servers_the_prompt_is_the_same_byte_for_byte(desk: Desk) -> None:
    await desk.ask("hi", session="off", mode="agent")
    use(desk)
    await desk.ask("hi", session="on", mode="agent")
    without, with_none = (r.json for r in desk.models.requests[:2])
    assert (without["system"], without["tools"]) == (with_none["system"], with_none["tools"])


async def test_a_long_answer_is_cut_with_the_call_that_returns_the_whole(desk: Desk) -> None:
    use(desk, fake(desk, autoApprove=["essay"]), agent={"toolResultMaxChars": 2000})
    desk.models.script(Reply(tool_calls=(Call("mcp_essay", {"words": 3000}),)), Reply(text="Long."))
    await desk.ask("write", mode="agent")
    shown = results(desk.models.requests[-1].json)
    assert len(shown) < 3000
    assert "word1500" not in shown
    key = re.search(r'recall_archive \{"key": "(\w+)"\}', shown)
    assert key
    arguments = {"key": key[1], "grep": "word1500"}
    desk.models.script(Reply(tool_calls=(Call("recall_archive", arguments),)), Reply(text="Found."))
    await desk.ask("look", mode="agent")
    assert "word1500" in results(desk.models.requests[-1].json) or "characters" in results(
        desk.models.requests[-1].json
    )


async def test_tool_bytes_hold_over_a_restart_and_a_server_that_is_away(desk: Desk) -> None:
    use(desk, fake(desk))
    await desk.ask("one", mode="agent")
    await desk.agent.close()
    broken = {**fake(desk), "args": ["-c", "raise SystemExit('out of order')"]}
    use(desk, broken)
    desk.models.script(Reply(tool_calls=(Call("mcp_echo", {"text": "x"}),)), Reply(text="It is away."))
    _, events = await desk.ask("two", mode="agent")
    first, second = desk.models.requests[0].json, desk.models.requests[1].json
    assert first["tools"] == second["tools"]
    assert first["system"] == second["system"]
    assert "not connected" in results(desk.models.requests[2].json)
    assert any(isinstance(e, Notice) and "fake" in e.text and "out of order" in e.text for e in events)


async def test_a_server_that_goes_for_good_takes_its_tools_along(desk: Desk) -> None:
    use(desk, fake(desk, "a", enabledTools=["echo"]), fake(desk, "b", enabledTools=["slow"]))
    await desk.ask("one", mode="agent")
    write_servers(desk.home / "mcp_servers.json", fake(desk, "a", enabledTools=["echo"]))
    await desk.ask("two", mode="agent")
    names = [t["name"] for t in tools(desk.models.requests[-1].json) if t["name"].startswith("mcp_")]
    assert names == ["mcp_echo"]


async def test_an_empty_call_gets_the_schema_and_a_dead_server_one_sentence(desk: Desk) -> None:
    use(desk, fake(desk, autoApprove=["echo", "die"]))
    desk.models.script(
        Reply(tool_calls=(Call("mcp_echo", {}),)), Reply(tool_calls=(Call("mcp_die", {}),)), Reply(text="Hm.")
    )
    _, events = await desk.ask("go", mode="agent")
    assert '"required"' in results(desk.models.requests[1].json)
    assert "ended" in results(desk.models.requests[2].json) or "closed" in results(desk.models.requests[2].json)
    assert [e.status for e in events if isinstance(e, ToolEnd)] == ["failed", "failed"]


async def test_an_untrusted_workspace_runs_no_server(desk: Desk) -> None:
    agent = use(desk, fake(desk))
    agent.set_workspace((desk.host.root,), False)
    await desk.ask("hi", mode="agent")
    assert not [t for t in tools(desk.models.requests[-1].json) if t["name"].startswith("mcp_")]
    assert calls(record(desk)) == []
