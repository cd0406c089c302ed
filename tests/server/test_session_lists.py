"""Lists of conversations as a person reads them, and a deleted one that comes back."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.fakes import markdown
from tests.fakes.lsp_client import PLAIN, LspClient, ResponseError

pytestmark = pytest.mark.timeout(180)  # the test starts a real server; a busy machine takes its time

QUESTION = "Why does <b>login</b> fail? | *see* [here](command:x)"


async def test_conversations_are_listed_found_deleted_and_brought_back(tmp_path: Path) -> None:
    folder = tmp_path / "home" / ".chatcli" / "sessions"
    folder.mkdir(parents=True)
    history = [{"role": "user", "content": QUESTION}, {"role": "assistant", "content": "It is the proxy."}]
    said = datetime.now(UTC).replace(hour=1, minute=30) - timedelta(days=3)  # still the day before in São Paulo
    day, name = f"{said - timedelta(days=1):%Y-%m-%d}", f"chatls-{said:%Y%m%d-%H%M%S}-abcdef"
    (folder / f"{name}.json").write_text(json.dumps({"version": 2, "chat_history": history}))
    root = tmp_path / "ws"
    root.mkdir()
    zone = {"TZ": "America/Sao_Paulo"}
    async with LspClient(home=tmp_path / "home", root=root, capabilities=PLAIN, environment=zone) as editor:
        listed = await editor.command("chatls.session.list")
        (row,) = markdown.lines(listed["markdown"])
        assert row == f"{QUESTION} — `{name}`, 2 messages, {day}"
        found = markdown.lines((await editor.command("chatls.session.search", {"query": "login"}))["markdown"])
        assert QUESTION in found[0] and day in found[0] and QUESTION in found[1]
        session = listed["data"]["sessions"][0]["sessionId"]
        deleted = await editor.command("chatls.session.delete", {"sessionId": session})
        assert (await editor.command("chatls.session.list"))["data"]["total"] == 0
        back = {"undoToken": deleted["data"]["undoToken"]}
        assert "is back." in (await editor.command("chatls.session.undelete", back))["markdown"]
        assert (await editor.command("chatls.session.list"))["data"]["total"] == 1
        with pytest.raises(ResponseError, match="it can no longer be brought back"):
            await editor.command("chatls.session.undelete", back)
