"""Servers of the configuration file: started, asked, followed, ended; what fails is shown and harms nothing else."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from chatls_core.mcp import McpError, McpServers, ServerStatus
from tests.core.mcp.conftest import Rig
from tests.fakes.mcp_rig import alive, calls, http_server, until

pytestmark = pytest.mark.timeout(120)


def standing(manager: McpServers) -> dict[str, ServerStatus]:
    return {status.name: status for status in manager.status()}


async def test_a_server_on_stdio_is_started_asked_and_ended(rig: Rig) -> None:
    rig.write(rig.entry("fake"))
    manager = rig.manager()
    await manager.ready()
    assert standing(manager)["fake"].state == "ready"
    assert "echo" in {t.name for t in manager.tools()}
    reply = await manager.call("fake", "echo", {"text": "olá"})
    assert (reply.text, reply.is_error) == ("echo: olá", False)
    (started,) = calls(rig.record("fake"), "start")
    assert alive(started["pid"])
    await manager.close()
    assert not alive(started["pid"])


async def test_a_server_over_http_with_a_token(rig: Rig) -> None:
    record = rig.record("web")
    async with http_server(record, MCP_FAKE_TOKEN="open-sesame") as url:
        rig.environment["WEB_TOKEN"] = "open-sesame"
        rig.write(
            {"name": "web", "transport": "http", "url": url, "auth": {"type": "bearer", "token": "${WEB_TOKEN}"}},
            {"name": "wrong", "url": url, "headers": {"Authorization": "Bearer nonsense"}},
        )
        manager = rig.manager()
        await manager.ready()
        assert standing(manager)["web"].state == "ready"
        assert standing(manager)["wrong"].state == "failed"
        assert standing(manager)["wrong"].error
        assert (await manager.call("web", "echo", {"text": "hi"})).text == "echo: hi"
        assert "sesame" not in repr(manager.status())


async def test_a_web_server_that_went_away_is_found_again(rig: Rig) -> None:
    async with http_server(rig.record("web")) as url:
        rig.write({"name": "web", "url": url})
        manager = rig.manager()
        await manager.ready()
        assert (await manager.call("web", "echo", {"text": "hi"})).text == "echo: hi"
    with pytest.raises(McpError) as failure:
        await manager.call("web", "echo", {"text": "anybody?"})
    assert failure.value.code == "lost"
    assert standing(manager)["web"].state == "failed"
    async with http_server(rig.record("web"), MCP_FAKE_PORT=url.split(":")[2].split("/")[0]):
        rig.now += 10
        await manager.ready()
        assert (await manager.call("web", "echo", {"text": "back"})).text == "echo: back"


async def test_a_server_over_the_older_web_transport(rig: Rig) -> None:
    async with http_server(rig.record("old"), MCP_FAKE_SSE="1") as url:
        rig.write({"name": "old", "transport": "sse", "url": url})
        manager = rig.manager()
        await manager.ready()
        assert standing(manager)["old"].state == "ready", standing(manager)["old"].error
        assert (await manager.call("old", "echo", {"text": "hi"})).text == "echo: hi"


async def test_one_failing_server_is_shown_and_the_others_work(rig: Rig) -> None:
    rig.write(
        rig.entry("good"),
        {"name": "gone", "command": "no-such-program-anywhere"},
        {"name": "empty", "command": ""},
        {"name": "plain", "url": "http://example.invalid/mcp"},
        {"name": "unset", "command": "x", "env": {"A": "${NOT_SET_ANYWHERE}"}},
        {"name": "odd", "command": "x", "timeout": "soon"},
        {"name": "later", "command": "x", "enabled": False},
        {"name": "dying", "command": "sh", "args": ["-c", "echo 'no config found' >&2; exit 4"]},
    )
    manager = rig.manager()
    await manager.ready()
    found = standing(manager)
    assert found["good"].state == "ready"
    assert {n: s.state for n, s in found.items() if n != "good"} == {
        "gone": "failed", "empty": "failed", "plain": "failed", "unset": "failed", "later": "disabled",
        "dying": "failed",
    }  # fmt: skip
    assert "no-such-program-anywhere" in found["gone"].error
    assert "https" in found["plain"].error
    assert "NOT_SET_ANYWHERE" in found["unset"].error
    assert "no config found" in found["dying"].error
    assert any("odd" in problem and "timeout" in problem for problem in manager.problems)


async def test_a_file_that_is_no_json_is_a_problem_and_nothing_more(rig: Rig) -> None:
    (rig.home / "mcp_servers.json").write_text('{"mcpServers": [')
    manager = rig.manager()
    await manager.ready()
    assert manager.status() == ()
    assert "mcp_servers.json" in manager.problems[0]


async def test_an_object_of_servers_by_name_is_read_as_well(rig: Rig) -> None:
    entry = rig.entry("fake")
    del entry["name"]
    (rig.home / "mcp_servers.json").write_text(__import__("json").dumps({"mcpServers": {"fake": entry}}))
    manager = rig.manager()
    await manager.ready()
    assert standing(manager)["fake"].state == "ready"


async def test_a_server_gets_no_secret_that_is_not_meant_for_it(rig: Rig) -> None:
    rig.environment |= {"SERVICE_TOKEN": "t-123", "EDITOR": "vi"}
    rig.write(rig.entry("fake", env={"MINE": "${SERVICE_TOKEN}", "API_TOKEN": "plain-words-1"}))
    manager = rig.manager()
    await manager.ready()

    async def value(name: str) -> str:
        return (await manager.call("fake", "environment", {"name": name})).text

    assert await value("OPENAI_API_KEY") == "(not set)"
    assert await value("SERVICE_TOKEN") == "(not set)"
    assert await value("MINE") == "t-123"
    assert await value("API_TOKEN") == "[REDACTED]", "what it was entrusted with does not come back to the model"
    assert await value("EDITOR") == "vi"


async def test_the_workspace_may_add_servers_when_trusted_and_replace_none(rig: Rig) -> None:
    rig.write(rig.entry("mine"))
    rig.environment["SERVICE_TOKEN"] = "t-123"
    folder = rig.workspace / ".chatcli" / "mcp_servers.json"
    rig.write(
        {"name": "mine", "command": "sh", "args": ["-c", "exit 1"]},
        rig.entry("theirs", autoApprove=["echo"]),
        rig.entry("greedy", env={"LOOT": "${SERVICE_TOKEN}"}),
        file=folder,
    )
    manager = rig.manager()
    await manager.ready()
    found = standing(manager)
    assert found["mine"].state == found["theirs"].state == "ready"
    assert found["greedy"].state == "failed"
    assert not manager.approved("theirs", "echo")
    manager.set_workspace((rig.workspace,), False)
    await manager.ready()
    assert manager.tools() == ()
    untrusted = rig.manager(trusted=False)
    await untrusted.ready()
    assert untrusted.tools() == ()


async def test_switched_off_nothing_is_started(rig: Rig) -> None:
    rig.write(rig.entry("fake"))
    manager = rig.manager(enabled=False)
    await manager.ready()
    assert manager.tools() == ()
    assert standing(manager)["fake"].state == "stopped"
    assert calls(rig.record("fake")) == []


async def test_waiting_for_a_server_is_bounded_and_it_is_there_later(rig: Rig) -> None:
    rig.write(rig.entry("fake"), rig.entry("mute", env={"MCP_FAKE_SILENT": "1"}, initTimeout="3s"))
    manager = rig.manager(wait_seconds=0.1)
    began = time.monotonic()
    await manager.ready()
    assert time.monotonic() - began < 5
    assert standing(manager)["mute"].state == "starting"
    await manager.ready(60)
    assert standing(manager)["fake"].state == "ready"
    assert standing(manager)["mute"].state == "failed"
    assert "did not answer" in standing(manager)["mute"].error


async def test_a_slow_call_ends_at_its_time_limit_and_the_server_goes_on(rig: Rig) -> None:
    rig.write(rig.entry("fake", timeout="500ms"))
    manager = rig.manager()
    await manager.ready()
    with pytest.raises(McpError) as failure:
        await manager.call("fake", "slow", {"seconds": 30})
    assert failure.value.code == "timeout"
    assert (await manager.call("fake", "echo", {"text": "still"}, seconds=20)).text == "echo: still"


async def test_a_cancelled_call_leaves_the_server_usable(rig: Rig) -> None:
    rig.write(rig.entry("fake"))
    manager = rig.manager()
    await manager.ready()
    call = asyncio.create_task(manager.call("fake", "slow", {"seconds": 30}))
    await until(lambda: bool(calls(rig.record("fake"), "slow")))
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert (await manager.call("fake", "echo", {"text": "on"})).text == "echo: on"


async def test_a_tool_that_fails_is_no_failure_of_the_server(rig: Rig) -> None:
    rig.write(rig.entry("fake"))
    manager = rig.manager()
    await manager.ready()
    reply = await manager.call("fake", "fail", {"why": "the moon is full"})
    assert reply.is_error
    assert "moon" in reply.text
    assert standing(manager)["fake"].state == "ready"


async def test_a_server_that_dies_is_noticed_and_started_again_later(rig: Rig) -> None:
    rig.write(rig.entry("fake"))
    manager = rig.manager()
    await manager.ready()
    with pytest.raises(McpError) as failure:
        await manager.call("fake", "die", {})
    assert failure.value.code == "lost"
    await until(lambda: standing(manager)["fake"].state == "failed")
    assert "I am dying" in standing(manager)["fake"].error
    assert "abcdefgh" not in standing(manager)["fake"].error
    assert manager.expected() == {"fake"}
    await manager.ready()
    assert standing(manager)["fake"].state == "failed", "not at once, or a server that cannot live would spin"
    rig.now += 10
    await manager.ready()
    assert (await manager.call("fake", "echo", {"text": "again"})).text == "echo: again"


async def test_a_changed_file_is_followed(rig: Rig) -> None:
    rig.write(rig.entry("one"))
    manager = rig.manager()
    await manager.ready()
    (first,) = calls(rig.record("one"), "start")
    rig.write(rig.entry("one"), rig.entry("two"))
    await manager.ready()
    assert {n: s.state for n, s in standing(manager).items()} == {"one": "ready", "two": "ready"}
    assert alive(first["pid"]), "what did not change is left alone"
    rig.write(rig.entry("two"))
    await manager.ready()
    assert set(standing(manager)) == {"two"}
    await until(lambda: not alive(first["pid"]))
    second = calls(rig.record("two"), "start")
    (rig.home / "mcp_servers.json").write_text('{"mcpServers": [{"na')
    await manager.ready()
    assert standing(manager)["two"].state == "ready", "a file in the middle of being written ends nothing"
    assert calls(rig.record("two"), "start") == second


async def test_stop_holds_until_restart(rig: Rig) -> None:
    rig.write(rig.entry("fake"))
    manager = rig.manager()
    await manager.ready()
    await manager.stop("fake")
    await manager.ready()
    assert standing(manager)["fake"].state == "stopped"
    with pytest.raises(McpError, match="stopped"):
        await manager.call("fake", "echo", {"text": "x"})
    await manager.restart("fake")
    assert standing(manager)["fake"].state == "ready"
    with pytest.raises(KeyError):
        await manager.restart("nobody")


@pytest.mark.parametrize("transport", ["stdio", "http"])
async def test_a_tool_that_appears_is_noticed(rig: Rig, transport: str) -> None:
    async def check(entry: dict[str, Any]) -> None:
        rig.write(entry)
        manager = rig.manager()
        await manager.ready()
        assert "grown" not in {t.name for t in manager.tools()}
        await manager.call("fake", "grow", {})
        await until(lambda: "grown" in {t.name for t in manager.tools()})

    if transport == "stdio":
        await check(rig.entry("fake"))
    else:
        async with http_server(rig.record("fake")) as url:
            await check({"name": "fake", "url": url})


async def test_the_user_chooses_which_tools_are_seen(rig: Rig) -> None:
    rig.write(rig.entry("few", enabledTools=["echo"]), rig.entry("fewer", disabledTools=["die", "fail"]))
    manager = rig.manager()
    await manager.ready()
    assert standing(manager)["few"].tools == ("echo",)
    assert not {"die", "fail"} & set(standing(manager)["fewer"].tools)


async def test_a_server_that_is_still_starting_does_not_hold_up_the_end(rig: Rig) -> None:
    rig.write(rig.entry("mute", env={"MCP_FAKE_SILENT": "1"}, initTimeout=300))
    manager = rig.manager()
    await manager.refresh()
    await until(lambda: bool(standing(manager)))
    async with asyncio.timeout(20):
        await manager.close()


async def test_an_older_server_that_does_not_know_the_new_greeting(rig: Rig) -> None:
    entry = rig.entry("old")
    rig.write({**entry, "args": ["-m", "tests.fakes.old_mcp_server"], "initTimeout": 5})
    manager = rig.manager()
    await manager.ready()
    assert standing(manager)["old"].state == "ready", standing(manager)["old"].error
    assert (await manager.call("old", "greet", {})).text == "good day"
