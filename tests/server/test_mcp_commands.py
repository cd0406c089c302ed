"""MCP servers as an editor sees them: the commands, the doctor, what is left when the editor is gone."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.lsp_client import LspClient, ResponseError
from tests.fakes.mcp_rig import alive, calls, entry, until, write_servers
from tests.fakes.model_server import Call, ModelServer, Reply

pytestmark = pytest.mark.timeout(180)


@pytest.fixture
async def models() -> AsyncIterator[ModelServer]:
    async with ModelServer() as server:
        yield server


def editor(tmp_path: Path, models: ModelServer, **more: Any) -> LspClient:
    root = tmp_path / "ws"
    root.mkdir(exist_ok=True)
    environment = {
        "ANTHROPIC_API_KEY": "sk-test",
        "ANTHROPIC_BASE_URL": models.url,
        "MAX_RETRIES": "1",
        "CHATCLI_MCP_ENABLED": "true",
        **more.pop("environment", {}),
    }
    settings = {"mcp": {"waitSeconds": 60}}
    return LspClient(home=tmp_path / "home", root=root, environment=environment, settings=settings, **more)


async def run(client: LspClient, command: str, /, **arguments: Any) -> Any:
    return await client.command(f"chatls.{command}", arguments, seconds=90)


def states(result: Any) -> dict[str, str]:
    return {s["name"]: s["state"] for s in result["data"]["servers"]}


async def test_list_stop_restart_and_the_doctor(tmp_path: Path, models: ModelServer) -> None:
    record = tmp_path / "fake.jsonl"
    write_servers(
        tmp_path / "home" / ".chatcli" / "mcp_servers.json",
        entry("fake", record, enabledTools=["echo", "memory_recall", "memory_store"]),
        {"name": "gone", "command": "no-such-program"},
    )
    async with editor(tmp_path, models, environment={"CHATCLI_MEMORY_PROVIDER": "mcp:fake"}) as client:
        report = await run(client, "doctor.show")
        checks = {c["name"]: c for c in report["data"]["checks"]}
        assert checks["MCP server fake"]["state"] == "ok"
        assert (checks["Memory service"]["state"], checks["Memory service"]["text"]) == ("ok", "fake")
        assert "no-such-program" in checks["MCP server gone"]["text"]
        assert "mcp_servers.json" in checks["MCP server gone"]["mend"]
        assert report["data"]["healthy"], "a missing server keeps nobody from chatting"

        listed = await run(client, "mcp.list")
        assert states(listed) == {"fake": "ready", "gone": "failed"}
        assert "echo" in listed["markdown"]
        assert "no-such-program" in listed["markdown"]
        assert states(await run(client, "mcp.stop", name="fake"))["fake"] == "stopped"
        assert states(await run(client, "mcp.list"))["fake"] == "stopped"
        assert states(await run(client, "mcp.start", name="fake"))["fake"] == "ready"
        assert states(await run(client, "mcp.restart"))["fake"] == "ready"
        assert len(calls(record, "start")) == 3
        with pytest.raises(ResponseError) as refused:
            await run(client, "mcp.restart", name="nobody")
        assert refused.value.code == -32602
        assert "fake" in refused.value.message
    assert not any(alive(c["pid"]) for c in calls(record, "start"))


async def test_a_call_is_approved_in_the_editor_and_streams_like_any_other(tmp_path: Path, models: ModelServer) -> None:
    record = tmp_path / "fake.jsonl"
    write_servers(tmp_path / "home" / ".chatcli" / "mcp_servers.json", entry("fake", record))
    models.script(Reply(tool_calls=(Call("mcp_echo", {"text": "hi"}),)), Reply(text="Done."))
    asked: list[Any] = []

    def approve(params: Any) -> dict[str, str]:
        asked.append(params)
        return {"decision": "allow"}

    async with editor(tmp_path, models) as client:
        client.handlers["chatls/approve"] = approve
        params = {"text": "echo", "mode": "agent", "partialResultToken": "t"}
        result = await client.request("chatls/chat", params, seconds=90)
        assert result["text"].endswith("Done.")
        kinds = [v["kind"] for v in client.progress("t") if v["kind"].startswith("tool_")]
        assert kinds == ["tool_start", "tool_end"]
    assert len(asked) == 1
    assert "echo" in str(asked[0])


async def test_switched_off_it_says_so_and_starts_nothing(tmp_path: Path, models: ModelServer) -> None:
    record = tmp_path / "fake.jsonl"
    write_servers(tmp_path / "home" / ".chatcli" / "mcp_servers.json", entry("fake", record))
    async with editor(tmp_path, models, environment={"CHATCLI_MCP_ENABLED": "false"}) as client:
        listed = await run(client, "mcp.list")
        assert states(listed) == {"fake": "stopped"}
        assert "chatls.mcp.enabled" in listed["markdown"]
        await client.request("chatls/chat", {"text": "hi", "mode": "agent"}, seconds=90)
    assert calls(record) == []


async def test_withdrawn_trust_ends_the_servers(tmp_path: Path, models: ModelServer) -> None:
    record = tmp_path / "fake.jsonl"
    write_servers(tmp_path / "home" / ".chatcli" / "mcp_servers.json", entry("fake", record))
    async with editor(tmp_path, models) as client:
        await client.request("chatls/chat", {"text": "hi", "mode": "agent"}, seconds=90)
        (started,) = calls(record, "start")
        assert alive(started["pid"])
        client.notify("chatls/trustChanged", {"trusted": False})
        await until(lambda: not alive(started["pid"]))


async def test_a_server_that_ignores_the_end_of_its_input_does_not_outlive_the_editor(
    tmp_path: Path, models: ModelServer
) -> None:
    record = tmp_path / "fake.jsonl"
    stubborn = entry("fake", record, env={"MCP_FAKE_STUBBORN": "1"})
    write_servers(tmp_path / "home" / ".chatcli" / "mcp_servers.json", stubborn)
    client = editor(tmp_path, models)
    async with client:
        await client.request("chatls/chat", {"text": "hi", "mode": "agent"}, seconds=90)
        (started,) = calls(record, "start")
        client.process.stdin.close()
        await client.wait_exit(20)
    await until(lambda: not alive(started["pid"]))
