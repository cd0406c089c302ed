"""The process: it starts on little, ends with its editor within two seconds and leaves nobody behind."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from pathlib import Path

import pytest

from tests.fakes.lsp_client import LspClient, ResponseError

PROBE = ("-m", "tests.server.probe")


def alive(process_id: int) -> bool:
    """Whether a process runs; a zombie does not."""
    try:
        state = Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def seconds_until_dead(process_id: int) -> float:
    """For a process whose output nobody reads, so that asyncio does not notice its end."""
    began = time.monotonic()
    while alive(process_id) and time.monotonic() - began < 5:
        time.sleep(0.02)
    return time.monotonic() - began


async def ends_within(client: LspClient, seconds: float) -> float:
    began = time.monotonic()
    await client.wait_exit(seconds + 5)
    took = time.monotonic() - began
    assert took < seconds, client.stderr
    return took


async def test_end_of_input_ends_an_idle_server(tmp_path: Path) -> None:
    async with LspClient(home=tmp_path, arguments=PROBE) as client:
        assert client.process.stdin is not None
        client.process.stdin.close()
        await ends_within(client, 2)
        assert (tmp_path / ".chatcli" / "ended").read_text() == "yes"


async def test_end_of_input_ends_a_server_whose_threads_are_busy_and_whose_hooks_hang(tmp_path: Path) -> None:
    async with LspClient(home=tmp_path, arguments=PROBE, environment={"PROBE_HANG_AT_EXIT": "1"}) as client:
        await client.request("chatls/test/busy", {"seconds": 20})
        assert client.process.stdin is not None
        client.process.stdin.close()
        await ends_within(client, 2.2)


async def test_end_of_input_ends_a_server_whose_loop_is_stuck(tmp_path: Path) -> None:
    async with LspClient(home=tmp_path, arguments=PROBE) as client:
        await client.request("chatls/test/busy", {"seconds": -20})
        await asyncio.sleep(0.1)
        assert client.process.stdin is not None
        client.process.stdin.close()
        await ends_within(client, 2.2)


async def test_children_and_their_children_end_with_the_server(tmp_path: Path) -> None:
    async with LspClient(home=tmp_path, arguments=PROBE) as client:
        pids = (await client.request("chatls/test/child"))["pids"]
        assert all(alive(pid) for pid in pids)
        assert client.process.stdin is not None
        client.process.stdin.close()
        await ends_within(client, 2)
        assert not any(alive(pid) for pid in pids)


async def test_a_client_that_stops_reading_does_not_hide_its_end(tmp_path: Path) -> None:
    async with LspClient(home=tmp_path, arguments=PROBE) as client:
        assert client.process.stdin is not None
        transport = client.process.stdout._transport  # type: ignore[union-attr]
        transport.pause_reading()
        client.send_request("chatls/test/flood", {"size": 5000})
        client.send_request("chatls/test/echo", {})
        await asyncio.sleep(0.3)
        client.process.stdin.close()
        assert await asyncio.to_thread(seconds_until_dead, client.process.pid) < 2.2
        transport.resume_reading()


async def test_a_slow_reader_gets_everything_and_the_server_keeps_answering(tmp_path: Path) -> None:
    async with LspClient(home=tmp_path, arguments=PROBE) as client:
        await client.request("chatls/test/flood", {"size": 5000})
        await client.wait_for(lambda m: m.get("method") == "$/progress" and m["params"]["value"]["number"] == 4999)
        numbers = [value["number"] for value in client.progress("flood")]
        assert numbers == list(range(5000))


async def test_the_death_of_the_editor_named_by_process_id_ends_the_server(tmp_path: Path) -> None:
    editor = await asyncio.create_subprocess_exec(sys.executable, "-c", "import time; time.sleep(600)")
    async with LspClient(home=tmp_path, arguments=PROBE, process_id=editor.pid) as client:
        editor.kill()
        await ends_within(client, 2)
    await editor.wait()


async def test_a_process_id_of_another_machine_does_not_end_the_server(tmp_path: Path) -> None:
    gone = await asyncio.create_subprocess_exec(sys.executable, "-c", "pass")
    await gone.wait()
    async with LspClient(home=tmp_path, arguments=PROBE, process_id=gone.pid) as client:
        assert await client.request("chatls/test/sleep", {"seconds": 0.7}) == {"slept": True}


async def test_shutdown_answers_what_runs_and_exit_tells_by_its_code(tmp_path: Path) -> None:
    async with LspClient(home=tmp_path, arguments=PROBE) as client:
        running = client.send_request("chatls/test/sleep", {})
        await client.wait_for("chatls/test/sleeping")
        assert await client.request("shutdown") is None
        with pytest.raises(ResponseError) as given_up:
            await client.result(running)
        assert given_up.value.code == -32802
        with pytest.raises(ResponseError) as refused:
            await client.request("chatls/test/echo", {})
        assert refused.value.code == -32600
        client.notify("exit")
        assert await client.wait_exit() == 0


async def test_exit_without_shutdown_is_code_one(tmp_path: Path) -> None:
    async with LspClient(home=tmp_path, arguments=PROBE) as client:
        client.notify("exit")
        assert await client.wait_exit() == 1


async def test_requests_before_initialize_are_answered_and_a_second_initialize_is_refused(tmp_path: Path) -> None:
    async with LspClient(home=tmp_path, arguments=PROBE, initialize=False) as client:
        with pytest.raises(ResponseError) as early:
            await client.request("chatls/test/echo", {})
        assert early.value.code == -32002
        with pytest.raises(ResponseError) as malformed:
            await client.request("workspace/executeCommand", None)
        assert malformed.value.code == -32002
        await client.initialize()
        with pytest.raises(ResponseError) as twice:
            await client.initialize()
        assert twice.value.code == -32600


async def test_the_port_is_loopback_and_wants_the_token(tmp_path: Path) -> None:
    environment = {**os.environ, "HOME": str(tmp_path), "CHATLS_HOME": str(tmp_path / "c")}
    process = await asyncio.create_subprocess_exec(
        sys.executable, *PROBE, "--tcp", "0", stderr=asyncio.subprocess.PIPE, env=environment
    )
    assert process.stderr is not None
    try:
        line = (await process.stderr.readline()).decode().split()
        host, port = line[line.index("on") + 1].split(":")
        token = line[line.index("token") + 1]
        assert host == "127.0.0.1"
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(b"wrong\n")
        assert await reader.read() == b""
        writer.close()
        reader, writer = await asyncio.open_connection(host, int(port))
        body = json.dumps(
            {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"processId": None, "capabilities": {}}}
        ).encode()
        writer.write(token.encode() + b"\nContent-Length: %d\r\n\r\n" % len(body) + body)
        length = int((await reader.readline()).split(b":")[1])
        await reader.readline()
        assert json.loads(await reader.readexactly(length))["result"]["serverInfo"]["name"] == "chatls"
        writer.close()
        await asyncio.wait_for(process.wait(), 2)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def test_only_light_modules_are_imported_before_initialize_is_answered(tmp_path: Path) -> None:
    script = tmp_path / "modules.py"
    script.write_text(
        "import sys, json\n"
        "from chatls_server.lsp.lifecycle import Lifecycle\n"
        "answer = Lifecycle.initialize\n"
        "def initialize(self, params):\n"
        "    result = answer(self, params)\n"
        "    result['modules'] = sorted(sys.modules)\n"
        "    return result\n"
        "Lifecycle.initialize = initialize\n"
        "from chatls_server.cli import main\n"
        "sys.exit(main(['serve', '--stdio', '--clientProcessId=1']))\n"
    )
    async with LspClient(home=tmp_path / "home", arguments=(str(script),)) as client:
        modules = set(client.initialize_result["modules"])
    heavy = {
        "anthropic", "openai", "httpx", "numpy", "rank_bm25", "bm25s", "networkx", "tree_sitter", "watchdog", "mcp",
        "genai_prices", "dateparser", "keyring", "typer", "rich", "cryptography", "snowballstemmer",
        "chatls_core.memory", "chatls_core.turn.agent", "chatls_core.prompt", "chatls_core.edits", "dotenv",
        "chatls_server.lsp.protocol.commands", "chatls_server.lsp.host",
    }  # fmt: skip
    assert modules & heavy == set()


async def test_version_and_usage(tmp_path: Path) -> None:
    async def run(*arguments: str) -> tuple[int | None, bytes, bytes]:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "chatls_server.cli",
            *arguments,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        output, problems = await process.communicate()
        return process.returncode, output, problems

    code, output, _ = await run("--version")
    assert (code, output.split()[0]) == (0, b"chatls")
    code, _, problems = await run("no-such-command")
    assert code != 0
    assert b"no-such-command" in problems or b"usage" in problems.lower()
