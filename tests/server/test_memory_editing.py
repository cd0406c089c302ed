"""A topic, a project and an episode are corrected by a command, in two servers at once, and the correction undone."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from chatls_core import config
from chatls_core.memory import Memory, Source
from chatls_core.store import system_clock
from tests.fakes.lsp_client import PLAIN, LspClient, ResponseError

pytestmark = pytest.mark.timeout(180)  # the tests start a real server; a busy machine takes its time

SAID = Source("extraction", session="talk", message="m7")


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    """A memory that was filled in conversations, as another process has it open."""
    memory = Memory(tmp_path / "home" / ".chatcli" / "memory", settings=config.Memory(), clock=system_clock)
    memory.record_topics({"Caching": "what is kept in Redis"}, source=SAID)
    memory.record_project({"name": "atlas", "path": "/w/atlas", "description": "maps"}, source=SAID)
    memory.record_episode("Fixed the login bug", outcome="merged", project="/w/atlas", source=SAID)
    return memory


@pytest.fixture
async def editor(tmp_path: Path, memory: Memory) -> AsyncIterator[LspClient]:
    async with LspClient(home=tmp_path / "home", capabilities=PLAIN) as client:
        yield client


async def ask(editor: LspClient, command: str, **arguments: Any) -> Any:
    return (await editor.command(f"chatls.memory.{command}", arguments))["data"]


async def shown(editor: LspClient) -> dict[str, dict[str, str]]:
    """What can be edited of each item, as the view reads it."""
    (episode,) = (await ask(editor, "timeline"))["episodes"]
    (topic,) = (await ask(editor, "topics"))["topics"]
    ids = (f"topic:{topic['name']}", "project:atlas", episode["id"])
    return {item["kind"]: item["fields"] for item in [await ask(editor, "why", id=i) for i in ids]}


BEFORE = {
    "topic": {"summary": "what is kept in Redis", "name": "Caching"},
    "project": {"description": "maps", "status": "active"},
    "episode": {"summary": "Fixed the login bug", "outcome": "merged"},
}


async def test_every_field_is_edited_said_to_be_the_users_and_undone(editor: LspClient) -> None:
    assert await shown(editor) == BEFORE
    (episode,) = (await ask(editor, "timeline"))["episodes"]
    edits = [
        ("topic:Caching", "summary", "what Redis holds for a day"),
        ("topic:Caching", "name", "Redis"),
        ("project:atlas", "description", "o servidor de mapas"),
        ("project:atlas", "status", "pausado"),
        (episode["id"], "summary", "Fixed the login bug for good"),
        (episode["id"], "outcome", "in produção"),
    ]
    done = [await ask(editor, "edit", id=i, field=field, content=text) for i, field, text in edits]
    assert await shown(editor) == {
        "topic": {"summary": "what Redis holds for a day", "name": "Redis"},
        "project": {"description": "o servidor de mapas", "status": "paused"},
        "episode": {"summary": "Fixed the login bug for good", "outcome": "in produção"},
    }
    assert [d["id"] for d in done] == ["topic:Caching", "topic:Redis", *(i for i, _, _ in edits[2:])]
    for item_id in ("topic:Redis", "project:atlas", episode["id"]):
        details = await editor.command("chatls.memory.why", {"id": item_id})
        assert "said by learned in session talk, message m7" in details["markdown"]  # the conversation is not lost
        assert details["markdown"].count("said by you, 2") == 2, item_id
    (topic,) = (await ask(editor, "topics"))["topics"]
    assert topic["source"]["kind"] == "correction"
    found = await ask(editor, "recall", query="what do we know of the login for good?")
    assert "Fixed the login bug for good → in produção" in [i["text"] for i in found["items"]]
    for edit in reversed(done):
        assert "brought back 1 item" in (await undone(editor, edit))["markdown"]
    assert await shown(editor) == BEFORE
    assert "nothing to undo" in (await undone(editor, done[0]))["markdown"]
    details = await editor.command("chatls.memory.why", {"id": "topic:Caching"})
    assert "said by you" not in details["markdown"]


async def undone(editor: LspClient, done: Any) -> Any:
    return await editor.command("chatls.memory.undo", {"undoToken": done["undoToken"]})


async def test_a_field_may_be_cleared_and_one_that_is_needed_may_not(editor: LspClient) -> None:
    (episode,) = (await ask(editor, "timeline"))["episodes"]
    cleared = await editor.command("chatls.memory.edit", {"id": episode["id"], "field": "outcome", "content": " "})
    assert cleared["markdown"] == "The outcome is empty now."
    assert (await shown(editor))["episode"]["outcome"] == ""
    for arguments, why in (
        ({"id": episode["id"], "content": " "}, "The summary of an episode cannot be empty"),
        ({"id": "topic:Caching", "field": "name", "content": "-"}, "A topic needs a name"),
        ({"id": "project:atlas", "field": "name", "content": "x"}, "description and status can"),
        ({"id": "topic:gone", "content": "x"}, "It may have been changed or forgotten elsewhere"),
        ({"id": "topic:Caching"}, "The new text is missing"),
        ({"id": "profile:name", "field": "summary", "content": "x"}, "edited whole"),
    ):
        with pytest.raises(ResponseError, match=why):
            await ask(editor, "edit", **arguments)
    same = await ask(editor, "edit", id="topic:Caching", content="what is kept in Redis")
    assert not same.get("undoToken")


async def test_what_two_servers_and_a_conversation_say_at_once_is_kept(
    editor: LspClient, memory: Memory, tmp_path: Path
) -> None:
    async with LspClient(home=tmp_path / "home", capabilities=PLAIN) as other:
        summary = await ask(editor, "edit", id="topic:Caching", content="what Redis holds")
        name = await ask(other, "edit", id="topic:Caching", field="name", content="Redis")
        memory.record_topics({"caching": "some cache"}, source=SAID)
        for one in (editor, other):
            (topic,) = (await ask(one, "topics"))["topics"]
            assert (topic["name"], topic["summary"], topic["mentions"]) == ("Redis", "what Redis holds", 2)
        await undone(other, summary)
        await undone(editor, name)
        (topic,) = (await ask(other, "topics"))["topics"]
        assert (topic["name"], topic["summary"], topic["mentions"]) == ("Caching", "what is kept in Redis", 2)
