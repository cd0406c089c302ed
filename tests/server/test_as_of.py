"""A day is over at its end: "as of" and "until" a date count what was said on it, in every command and tool."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from chatls_core import config
from chatls_core.memory import Memory, Source
from tests.core.sessions.helpers import Clock, open_store, saved, user
from tests.fakes.lsp_client import LspClient
from tests.fakes.model_server import Call, ModelServer, Reply
from tests.server.test_main_job import client, models, workspace

__all__ = ["models", "workspace"]

pytestmark = pytest.mark.timeout(180)


def on(day: int, hour: int = 10) -> datetime:
    """A moment of March 2026, local time."""
    return datetime(2026, 3, day, hour).astimezone()


@pytest.fixture
async def editor(tmp_path: Path, workspace: Path, models: ModelServer) -> AsyncIterator[LspClient]:
    home = tmp_path / "home" / ".chatcli"
    memory = Memory(home / "memory", settings=config.Memory(), clock=lambda: on(10))
    memory.remember("Deploy branch is main", source=Source("user", time=on(10)))
    memory.remember("Deploy branch is release", source=Source("user", time=on(20, 18)))
    memory.record_episode("Moved the deploys", source=Source("user", time=on(20, 18)))
    store = open_store(home, Clock(on(28)))
    saved(store, user("The deploy branch was main for years", on(10)), name="early")
    saved(store, user("The deploy branch is release from now on", on(20, 18)), name="late")
    async with client(tmp_path, workspace, models) as started:
        yield started


async def found(editor: LspClient, name: str, arguments: dict[str, Any]) -> str:
    return str((await editor.command(f"chatls.{name}", arguments, seconds=60))["markdown"])


@pytest.mark.parametrize(
    ("as_of", "branch", "other"), [("2026-03-19", "main", "release"), ("2026-03-20", "release", "main")]
)
@pytest.mark.parametrize("question", ["which deploy branch?", "qual a branch de deploy?"])
async def test_what_held_at_the_end_of_a_day_is_recalled(
    editor: LspClient, question: str, as_of: str, branch: str, other: str
) -> None:
    answer = await found(editor, "memory.recall", {"query": question, "asOf": as_of})
    assert f"Deploy branch is {branch}" in answer
    assert f"Deploy branch is {other}" not in answer


async def test_conversations_until_a_day_include_that_day(editor: LspClient) -> None:
    question = {"query": "deploy branch"}
    for edge in ("to", "asOf"):
        until = await found(editor, "session.search", {**question, edge: "2026-03-20"})
        assert "early" in until and "late" in until
        before = await found(editor, "session.search", {**question, edge: "2026-03-19"})
        assert "early" in before and "late" not in before
    assert "late" in await found(editor, "session.search", {"query": "deploy branch", "from": "2026-03-20"})


async def test_the_models_tools_know_the_same_edges(editor: LspClient, models: ModelServer) -> None:
    calls = (
        Call("session", {"command": "search", "query": "deploy branch", "as_of": "2026-03-19"}),
        Call("session", {"command": "search", "query": "deploy branch", "to": "2026-03-20"}),
        Call("memory", {"command": "recall", "query": "deploy branch", "as_of": "2026-03-19"}),
        Call("memory", {"command": "timeline", "from": "2026-03-20", "to": "2026-03-20"}),
        Call("memory", {"command": "timeline", "query": "yesterday", "as_of": "2026-03-21"}),
        Call("session", {"command": "search", "query": "deploy branch", "as_of": "spring"}),
    )
    models.script(Reply(tool_calls=calls), Reply(text="ok"))
    await editor.request("chatls/chat", {"text": "what was the deploy branch?", "sessionId": "s"}, seconds=60)
    results = [part["content"] for part in models.requests[-1].json["messages"][-1]["content"]]
    texts = [text if isinstance(text, str) else json.dumps(text) for text in results]
    assert "early" in texts[0] and "late" not in texts[0]
    assert "early" in texts[1] and "late" in texts[1]
    assert "Deploy branch is main" in texts[2] and "is release" not in texts[2]
    assert "Moved the deploys" in texts[3] and "Moved the deploys" in texts[4]
    assert texts[5] == "as_of 'spring' is no date such as 2026-03-31 or yesterday."
