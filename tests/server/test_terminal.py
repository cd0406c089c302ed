"""The program in a terminal: ``ask``, ``doctor``, ``local``, ``--version``; exit codes, pipes, JSON, Ctrl+C."""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
import sys
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.model_server import Call, ErrorReply, ModelServer, Reply

pytestmark = pytest.mark.timeout(120)

KEY = "sk-ant-terminal-0123456789abcdef"


@dataclass(frozen=True)
class Ended:
    """How the program ended."""

    code: int
    output: str
    errors: str

    @property
    def json(self) -> Any:
        """Standard output, which must be one JSON object on one line."""
        (line,) = self.output.splitlines()
        return json.loads(line)


class Terminal:
    """A shell in a workspace folder, with a home of its own and, unless left out, a key for the fake model."""

    def __init__(self, folder: Path, models: ModelServer) -> None:
        self.workspace = folder / "ws"
        self.home = folder / "home"
        self.workspace.mkdir()
        self.home.mkdir()
        self.keyless = {"PATH": "/usr/bin:/bin", "HOME": str(self.home)}
        self.environment = {**self.keyless, "ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": models.url}

    @contextlib.asynccontextmanager
    async def start(
        self, *arguments: str, environment: Mapping[str, str] | None = None
    ) -> AsyncIterator[asyncio.subprocess.Process]:
        """The running program, with a pipe at each end."""
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "chatls_server.cli",
            *arguments,
            cwd=self.workspace,
            env=dict(self.environment if environment is None else environment),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            yield process
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()

    async def run(self, *arguments: str, piped: str = "", environment: Mapping[str, str] | None = None) -> Ended:
        """Run the program to its end."""
        async with self.start(*arguments, environment=environment) as process:
            output, errors = await process.communicate(piped.encode())
            assert process.returncode is not None
            return Ended(process.returncode, output.decode(), errors.decode())


@pytest.fixture
async def models() -> AsyncIterator[ModelServer]:
    """The model vendor."""
    async with ModelServer() as server:
        yield server


@pytest.fixture
def terminal(tmp_path: Path, models: ModelServer) -> Terminal:
    """The terminal."""
    return Terminal(tmp_path, models)


async def test_the_answer_is_printed_while_it_is_written_and_what_is_piped_in_rides_along(
    terminal: Terminal, models: ModelServer
) -> None:
    models.script(Reply(deltas=("First, ", "last."), hold=(1,)))
    async with terminal.start("ask", "what", "is", "this?") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"diff --git a b\n+telling line\n")
        process.stdin.close()
        assert await process.stdout.readexactly(7) == b"First, "
        models.release()
        assert await process.stdout.read() == b"last.\n"
        assert await process.wait() == 0
    asked = models.requests[0].last_user_text
    assert "what is this?" in asked
    assert "+telling line" in asked


async def test_a_pipe_alone_is_the_question(terminal: Terminal, models: ModelServer) -> None:
    ended = await terminal.run("ask", piped="Why is the sky blue?")
    assert ended.code == 0
    assert "Why is the sky blue?" in models.requests[0].last_user_text


async def test_json_is_one_object_and_a_session_goes_on(terminal: Terminal, models: ModelServer) -> None:
    models.script(Reply(text="Forty-two."), Reply(text="Still."))
    first = await terminal.run("ask", "--json", "the number?")
    assert first.code == 0
    answer = first.json
    assert answer["text"] == "Forty-two."
    assert answer["stopReason"] == "end"
    assert answer["edits"] == []
    assert answer["usage"]["provider"] == "anthropic"
    assert answer["usage"]["outputTokens"] > 0
    again = await terminal.run("ask", "--json", "--session", answer["sessionId"], "sure?")
    assert again.json["sessionId"] == answer["sessionId"]
    assert "Forty-two." in str(models.requests[1].messages)


async def test_without_a_key_it_says_what_to_do(terminal: Terminal) -> None:
    environment = {**terminal.keyless, "LLM_PROVIDER": "ANTHROPIC"}
    ended = await terminal.run("ask", "hi", environment=environment)
    assert ended.code in (3, 4)
    assert ended.output == ""
    assert "ANTHROPIC_API_KEY" in ended.errors
    told = await terminal.run("ask", "--json", "hi", environment=environment)
    assert told.code == ended.code
    assert told.json["error"]["kind"] in ("no_provider", "auth")
    assert "ANTHROPIC_API_KEY" in json.dumps(told.json)


async def test_a_wrong_key_has_its_exit_code_and_is_not_printed(terminal: Terminal, models: ModelServer) -> None:
    models.script(ErrorReply(401, message="invalid x-api-key", code="authentication_error"))
    ended = await terminal.run("ask", "hi")
    assert ended.code == 4
    assert "invalid x-api-key" in ended.errors
    assert KEY not in ended.output + ended.errors
    files = [path for path in terminal.home.rglob("*") if path.is_file()]
    assert not any(KEY.encode() in path.read_bytes() for path in files)


async def test_an_answer_that_was_cut_is_printed_and_has_its_exit_code(terminal: Terminal, models: ModelServer) -> None:
    models.script(Reply(text="Once upon a", stop="max_tokens"))
    ended = await terminal.run("ask", "a story")
    assert ended.code == 9
    assert ended.output == "Once upon a\n"


@pytest.mark.skipif(sys.platform == "win32", reason="there are no signals")
async def test_ctrl_c_stops_the_model_and_keeps_what_came(terminal: Terminal, models: ModelServer) -> None:
    models.script(Reply(deltas=("Half of ", "the answer."), hold=(1,)))
    async with terminal.start("ask", "hi") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.close()
        await process.stdout.readexactly(len("Half of "))
        await models.wait_held()
        process.send_signal(signal.SIGINT)
        assert await asyncio.wait_for(process.wait(), 5) == 130
        assert b"Traceback" not in await process.stderr.read()
    await asyncio.wait_for(models.requests[0].closed.wait(), 5)


async def test_edits_need_a_person_or_a_yes(terminal: Terminal, models: ModelServer) -> None:
    file = terminal.workspace / "app.py"
    file.write_bytes(b"def add(a, b):\r\n    return a - b\r\n")
    edit = Call("edit_file", {"path": "app.py", "old_text": "a - b", "new_text": "a + b"})
    models.script(Reply(tool_calls=(edit,)), Reply(text="Nobody agreed."))
    refused = await terminal.run("ask", "--mode", "coder", "fix add")
    assert refused.code == 0
    assert "a - b" in file.read_text()
    assert "nobody" in refused.errors
    models.script(Reply(tool_calls=(edit,)), Reply(text="Fixed."))
    agreed = await terminal.run("ask", "--mode", "coder", "--yes", "--json", "fix add")
    assert agreed.code == 0
    assert file.read_bytes() == b"def add(a, b):\r\n    return a + b\r\n"
    (told,) = agreed.json["edits"]
    assert told["applied"] is True
    assert told["uri"].endswith("/app.py")


async def test_wrong_usage_is_exit_code_two(terminal: Terminal, models: ModelServer) -> None:
    for arguments in (["ask"], ["ask", "--mode", "poet", "hi"], ["local", "remove"], ["doctor", "--fast"], []):
        ended = await terminal.run(*arguments)
        assert ended.code == 2, arguments
        assert "usage" in ended.errors
        assert ended.output == ""
    assert models.requests == []


async def test_doctor_says_who_would_answer_without_asking(terminal: Terminal, models: ModelServer) -> None:
    ended = await terminal.run("doctor")
    assert ended.code == 0, ended.output
    assert "anthropic" in ended.output.lower()
    assert str(terminal.workspace) in ended.output
    told = await terminal.run("doctor", "--json")
    assert told.json["healthy"] is True
    assert {"name", "state", "text", "mend"} <= set(told.json["checks"][0])
    assert KEY not in ended.output + ended.errors + told.output + told.errors
    assert models.requests == []


async def test_doctor_fails_where_chat_cannot_work_and_says_how_to_mend_it(terminal: Terminal) -> None:
    environment = {**terminal.keyless, "LLM_PROVIDER": "ANTHROPIC"}
    ended = await terminal.run("doctor", environment=environment)
    assert ended.code == 1
    assert "ANTHROPIC_API_KEY" in ended.output
    told = await terminal.run("doctor", "--json", environment=environment)
    assert told.code == 1
    assert told.json["healthy"] is False
    assert any(check["state"] == "error" and check["mend"] for check in told.json["checks"])


async def test_version_and_the_local_model(terminal: Terminal) -> None:
    version = await terminal.run("--version")
    assert version.code == 0
    name, number = version.output.split()
    assert name == "chatls"
    assert number[0].isdigit()
    status = await terminal.run("local", "status")
    assert status.code == 1
    assert status.output == "not installed\n"
    assert not (terminal.home / ".chatcli" / "models").exists(), "asking brings nothing"
