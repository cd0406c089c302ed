"""Forget any kind of item in one server and take it back in another, in both languages, from outside."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from chatls_core import config
from chatls_core.memory import Memory, Source
from tests.fakes.lsp_client import PLAIN, LspClient

pytestmark = pytest.mark.timeout(180)

ITEMS = {
    "en": {
        "facts": "The ferry leaves at nine",
        "timeline": "Booked the cabin",
        "topics": "knitting",
        "projects": "lighthouse",
        "profile": "learn to sail",
    },
    "pt": {
        "facts": "A balsa sai às nove",
        "timeline": "Reservou a cabana no litoral",
        "topics": "tricô à mão",
        "projects": "farol são joão",
        "profile": "aprender navegação",
    },
}
KINDS = {"facts": "fact", "timeline": "episode", "topics": "topic", "projects": "project", "profile": "profile"}
WORDS = {
    "en": {"facts": "ferry", "timeline": "cabin", "topics": "knitting", "projects": "lighthouse", "profile": "sail"},
    "pt": {
        "facts": "balsa",
        "timeline": "cabana",
        "topics": "trico a mao",
        "projects": "SÃO JOÃO",
        "profile": "navegacao",
    },
}


async def shown(editor: LspClient, command: str) -> str:
    return str((await editor.command(f"chatls.memory.{command}", {}, seconds=60))["markdown"])


@pytest.mark.parametrize("language", ["en", "pt"])
async def test_what_one_server_forgets_the_other_brings_back(tmp_path: Path, language: str) -> None:
    home, items = tmp_path / "home", ITEMS[language]
    memory = Memory(home / ".chatcli" / "memory", settings=config.Memory(), clock=lambda: datetime.now(UTC))
    user = Source("user", session="s")
    memory.remember(items["facts"], source=user)
    memory.record_episode(items["timeline"], source=user)
    memory.record_topics({items["topics"]: ""}, source=user)
    memory.record_project({"name": items["projects"]}, source=user)
    memory.profile({"goals": items["profile"]}, source=user)
    async with LspClient(home=home, capabilities=PLAIN) as one, LspClient(home=home, capabilities=PLAIN) as other:
        for command, text in items.items():
            assert text in await shown(other, command)
            tried = await one.command("chatls.memory.forget", {"match": WORDS[language][command], "dryRun": True})
            assert f"[{KINDS[command]}]" in tried["markdown"] and text in await shown(one, command)
            gone = await one.command("chatls.memory.forget", {"match": WORDS[language][command]})
            assert f"[{KINDS[command]}]" in gone["markdown"] and text in gone["markdown"]
            assert text not in await shown(other, command)
            back = await other.command("chatls.memory.undo", {"undoToken": gone["data"]["undoToken"]})
            assert "brought back" in back["markdown"]
            assert text in await shown(one, command)
            again = await one.command("chatls.memory.undo", {"undoToken": gone["data"]["undoToken"]})
            assert "nothing to undo" in again["markdown"]
