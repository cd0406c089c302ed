"""What waits to be remembered, accepted and rejected from an editor."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.fakes.lsp_client import PLAIN, LspClient, ResponseError

pytestmark = pytest.mark.timeout(180)  # the test starts a real server; a busy machine takes its time


def waiting(content: str, number: int) -> dict[str, object]:
    time = f"2026-03-0{number}T10:00:00Z"
    return {
        "id": f"item{number}",
        "kind": "fact",
        "fields": {"content": content, "category": "project"},
        "origin": {"kind": "extraction", "session": "s", "message": f"m{number}", "time": time},
        "created_at": time,
    }


async def test_accepting_remembers_and_rejecting_drops(tmp_path: Path) -> None:
    memory = tmp_path / "home" / ".chatcli" / "memory"
    memory.mkdir(parents=True)
    root = tmp_path / "ws"
    root.mkdir()
    items = [waiting("Billing runs on port 7001", 1), waiting("The moon is made of cheese", 2)]
    (memory / "memory_review.json").write_text(json.dumps({"items": {i["id"]: i for i in items}}))
    async with LspClient(home=tmp_path / "home", root=root, capabilities=PLAIN) as editor:
        shown = await editor.command("chatls.memory.pending")
        assert [i["text"] for i in shown["data"]["items"]] == [
            "Billing runs on port 7001",
            "The moon is made of cheese",
        ]
        await editor.command("chatls.memory.accept", {"ids": ["item1"]})
        await editor.command("chatls.memory.reject", {"ids": ["item2"]})
        facts = (await editor.command("chatls.memory.facts"))["data"]["facts"]
        assert [(f["content"], f["sources"][0]["message"]) for f in facts] == [("Billing runs on port 7001", "m1")]
        assert "Nothing waits" in (await editor.command("chatls.memory.pending"))["markdown"]


async def test_the_chat_box_shows_what_waits_and_takes_the_answer(tmp_path: Path) -> None:
    memory = tmp_path / "home" / ".chatcli" / "memory"
    memory.mkdir(parents=True)
    root = tmp_path / "ws"
    root.mkdir()
    items = [waiting(text, n) for n, text in enumerate(("Billing runs on *7001*", "Cheese", "Tea at four"), 1)]
    (memory / "memory_review.json").write_text(json.dumps({"items": {i["id"]: i for i in items}}))
    async with LspClient(home=tmp_path / "home", root=root, capabilities=PLAIN) as editor:

        async def say(text: str) -> str:
            return str((await editor.request("chatls/chat", {"text": text}))["text"])

        assert "- `item1` Billing runs on \\*7001\\* (project, 2026-03-01)" in await say("/memory pending")
        with pytest.raises(ResponseError, match="name what is meant"):
            await say("/memory accept")
        assert "Dropped 1 item." in await say("/memory reject `item2`")
        assert "Remembered 2 items." in await say("/memory accept all")
        assert "Nothing waits" in await say("/memory pending")
