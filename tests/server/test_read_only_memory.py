"""A memory folder that may be read but not written, or not even looked into: everything but remembering goes on."""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from chatls_core import config
from chatls_core.memory import Memory, Source
from tests.fakes.lsp_client import LspClient, ResponseError
from tests.fakes.model_server import Call, ModelServer, Reply
from tests.server.test_main_job import client, models, workspace

__all__ = ["models", "workspace"]

pytestmark = [
    pytest.mark.timeout(180),
    pytest.mark.skipif(os.name == "nt", reason="modes of folders mean something else there"),
    pytest.mark.skipif(
        os.name != "nt" and os.geteuid() == 0 and shutil.which("setpriv") is None,
        reason="root may write everywhere, and nothing here takes that away",
    ),
]

_CAPABILITIES = "-dac_override,-dac_read_search,-fowner"
_AS_ANYBODY = (
    "-c",
    "import os, sys; serve = [sys.executable, '-m', 'chatls_server.cli', 'serve'];"
    f"plain = ['setpriv', '--bounding-set={_CAPABILITIES}'] if os.geteuid() == 0 else [];"
    "os.execvp((plain + serve)[0], plain + serve)",
)
"""The server as one to whom modes apply."""


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A memory of one fact; can be removed again after the test."""
    place = tmp_path / "home" / ".chatcli" / "memory"
    memory = Memory(place, settings=config.Memory(), clock=lambda: datetime(2026, 5, 1, tzinfo=UTC))
    memory.remember("The orders database is Postgres 16", "project", source=Source("user"))
    memory.write_longterm()
    yield place
    place.chmod(0o755)


@pytest.fixture
def closed(folder: Path, request: pytest.FixtureRequest) -> Path:
    """The folder once it may not be written, or with mode 0 not be looked into."""
    for path in folder.rglob("*"):
        path.chmod(0o444)
    folder.chmod(getattr(request, "param", 0o555))
    return folder


@pytest.fixture
async def editor(closed: Path, tmp_path: Path, workspace: Path, models: ModelServer) -> AsyncIterator[LspClient]:
    """An editor whose server is one of those to whom the folder is closed."""
    async with client(tmp_path, workspace, models, arguments=_AS_ANYBODY) as started:
        yield started


def everything(folder: Path) -> dict[str, bytes]:
    """The folder's files."""
    folder.chmod(0o755)
    return {path.name: path.read_bytes() for path in folder.iterdir()}


async def refused(editor: LspClient, name: str, arguments: dict[str, Any]) -> str:
    with pytest.raises(ResponseError) as failure:
        await editor.command(name, arguments, seconds=60)
    return failure.value.message


async def asked(editor: LspClient, text: str) -> tuple[str, list[str]]:
    """An answer, and the notices on the way to it."""
    done = await editor.request("chatls/chat", {"text": text, "sessionId": "s", "partialResultToken": text}, seconds=60)
    return done["text"], [v["text"] for v in editor.progress(text) if v["kind"] == "notice"]


async def test_what_can_be_read_is_used_and_what_cannot_be_written_is_told_in_one_sentence(
    editor: LspClient, folder: Path, models: ModelServer
) -> None:
    told = f"Memory cannot be written: {folder} is read-only here. Nothing is lost; make it writable and try again."
    for name, arguments in (
        ("remember", {"content": "Lint runs first"}),
        ("forget", {"match": "Postgres"}),
        ("profile", {"set": {"role": "tester"}}),
        ("compact", {}),
    ):
        assert await refused(editor, f"chatls.memory.{name}", arguments) == told
    assert "Memory cannot be written" in (await editor.command("chatls.memory.stats"))["markdown"]
    models.default = lambda request: Reply(text="Postgres 16" if "Postgres 16" in request.last_user_text else "no idea")
    answer, notices = await asked(editor, "what is the orders database?")
    assert answer == "Postgres 16"
    assert notices == [
        f"Memory cannot be written: {folder} is read-only here. Nothing new is remembered until it is not."
    ]
    for question in ("and the second?", "and the third?"):
        assert (await asked(editor, question))[1] == []
    call = Call("memory", {"command": "remember", "content": "CI runs on Fridays"})
    models.script(Reply(tool_calls=(call,)), Reply(text="I could not."))
    await asked(editor, "remember that CI runs on Fridays")
    assert f"{told} Tell the user." in str(models.requests[-1].json["messages"][-1])
    log = (folder.parent / "logs" / "chatls.log").read_text(encoding="utf-8")
    assert "Traceback" not in log
    assert log.count("could not be queued for learning") == 1
    assert set(everything(folder)) == {
        *("MEMORY.md", "memory_details.json", "memory_details.json.lock", "memory_index.json", "memory_index.json.lock")
    }


@pytest.mark.parametrize("closed", [0], indirect=True)
async def test_a_folder_that_may_not_be_looked_into_costs_memory_and_not_the_chat(
    editor: LspClient, folder: Path
) -> None:
    answer, notices = await asked(editor, "what is the orders database?")
    assert "Postgres 16" not in answer
    assert len(notices) == 1
    assert notices[0].startswith(f"Memory cannot be written: {folder}")
    found = await editor.command("chatls.memory.recall", {"query": "orders database"})
    assert "memory_index.json cannot be read: Permission denied" in found["markdown"]
    assert "cannot be written" in await refused(editor, "chatls.memory.remember", {"content": "Lint runs first"})
    assert b"Postgres 16" in everything(folder)["memory_index.json"]
