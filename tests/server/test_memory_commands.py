"""Every ``/memory`` subcommand of spec/memory.md §13.1, typed into the chat box of a real server."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.fakes.lsp_client import PLAIN, LspClient, ResponseError

pytestmark = pytest.mark.timeout(180)  # the tests start a real server; a busy machine takes its time

YESTERDAY = datetime.now().astimezone() - timedelta(days=1)


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    """A memory with one item of each kind."""
    folder = tmp_path / "home" / ".chatcli" / "memory"
    for name in ("weekly", "monthly", f"{YESTERDAY:%Y%m}"):
        (folder / name).mkdir(parents=True)
    now = datetime.now(UTC).isoformat()
    episode = {
        "id": "ep_0123456789abcdef01234567",
        "date": "2026-04-12T10:00:00Z",
        "project": "/w/atlas",
        "summary": "Fixed the login bug",
        "outcome": "merged",
        "created_at": "2026-04-12T10:00:00Z",
    }
    topic = {"name": "caching", "mentions": 3, "summary": "what is kept in Redis", "first_seen": now, "last_seen": now}
    project = {"name": "atlas", "path": "/w/atlas", "status": "active", "technologies": ["Go"], "last_active": now}
    stores = {"episodes": [episode], "topics": [topic], "projects": [project]}
    for name, records in stores.items():
        (folder / f"{name}.json").write_text(json.dumps(records))
    (folder / "weekly" / "2026-W15.md").write_text("# Week 2026-W15 (2026-04-06 – 2026-04-12)\n\n- fixed the login\n")
    (folder / "monthly" / "2026-04.md").write_text("# Month 2026-04\n\n- a quiet month\n")
    (folder / f"{YESTERDAY:%Y%m}" / f"{YESTERDAY:%Y%m%d}.md").write_text("\n## 10:00\n\n- tried the new build\n")
    return folder


@pytest.fixture
async def editor(tmp_path: Path, memory: Path) -> AsyncIterator[LspClient]:
    root = tmp_path / "ws"
    root.mkdir()
    async with LspClient(home=tmp_path / "home", root=root, capabilities=PLAIN) as client:
        yield client


async def test_every_subcommand_answers_in_readable_markdown(editor: LspClient, memory: Path, tmp_path: Path) -> None:
    session = ""

    async def say(text: str) -> str:
        nonlocal session
        asked = {"text": text, **({"sessionId": session} if session else {})}
        done = await editor.request("chatls/chat", asked)
        session = str(done["sessionId"])
        return str(done["text"])

    assert "Remembered [gotcha]: Port 8080 is taken" in await say("/memory remember [gotcha] Port 8080 is taken")
    assert "There is no note for" in await say("/memory")
    assert "There is no note for" in await say("/memory today")
    assert "- tried the new build" in await say("/memory yesterday")
    assert f"# {YESTERDAY:%Y-%m-%d}" in await say("/memory week")
    for written in ("%Y-%m-%d", "%Y%m%d", "%d/%m/%Y"):
        assert "- tried the new build" in await say(f"/memory {YESTERDAY:{written}}")
    loaded = await say("/memory load yesterday")
    assert loaded.startswith(f"[MEMORY CONTEXT — loaded from {YESTERDAY:%Y-%m-%d}]") and "Port 8080" in loaded
    for word in ("longterm", "long-term", "lt"):
        assert "## Gotcha\n\n- Port 8080 is taken" in await say(f"/memory {word}")
    files = await say("/memory list")
    assert "| episodes.json | 1 |" in files and f"Daily notes (1): {YESTERDAY:%Y-%m-%d}." in files
    changed = await say("/memory profile set name=Ana")
    assert "Changed: name." in changed
    assert "took away 1 item." in await say(changed.rsplit("`", 2)[1])
    assert "| name |" not in await say("/memory profile")
    assert "Changed: name." in await say("/memory profile name=Ana")
    assert "| role | tester = lead |" in await say("/memory profile set role: tester = lead")
    assert "| name | Ana |" in await say("/memory profile")
    assert "| goals | ship v2 |" in await say("/memory profile set goals=ship v2, write docs")
    cleared = await say("/memory profile set goals_replace=")  # memory.md §18.1 row 24
    assert "Changed: goals." in cleared and "ship v2" not in cleared
    table = await say("/memory facts gotcha")
    assert "| # | fact | category | score | confidence | used | age | source |" in table and "Port 8080" in table
    assert "No facts in category personal." in await say("/memory facts personal")
    assert "| caching | 3 | what is kept in Redis |" in await say("/memory topics")
    assert "| atlas | active |" in await say("/memory projects")
    assert "- facts: 1 of at most 500 (gotcha 1)" in await say("/memory stats")
    assert "- 2026-04-12 [atlas] Fixed the login bug — merged" in await say("/memory timeline")
    assert "## Timeline (1 episode, 2026-04-01 → 2026-04-30)" in await say("/memory timeline login in April 2026")
    digests = await say("/memory digests")
    assert digests.index("## 2026-04 (2026-04-01 – 2026-04-30)") < digests.index("## 2026-W15")
    assert "- a quiet month" not in await say("/memory digests weekly/2026-W15")
    recalled = await say("/memory recall is port 8080 taken?")
    assert "**[gotcha]** Port 8080 is taken" in recalled and "Rides along with such a message unasked" in recalled
    assert "Port 8080" in await say("/memory which port is taken?")
    assert "Nothing waits to be remembered." in await say("/memory pending")
    assert "archived 0 facts; removed 0 daily notes." in await say("/memory compact")
    exported = tmp_path / "out.jsonl"
    assert f"to `{exported}`" in await say(f"/memory export {exported}")
    kinds = [json.loads(line)["kind"] for line in exported.read_text().splitlines()]
    assert kinds[0] == "header" and {"profile", "fact", "episode", "topic", "project"} <= set(kinds)
    assert exported.stat().st_mode & 0o777 == 0o600
    forgotten = await say("/memory forget port 8080")
    assert "Forgotten 1 item:" in forgotten
    back = forgotten.rsplit("`", 2)[1]
    assert back.startswith("/memory undo ") and "brought back 1 item." in await say(back)
    await say("/memory forget login bug")
    assert f"from `{exported}`" in await say(f"/memory import {exported}")
    assert "Exported" in await say("/memory export")
    assert list((memory.parent / "exports").glob("memory-*.jsonl"))


async def test_what_cannot_be_opened_is_not_taken_for_forgotten(tmp_path: Path) -> None:
    root = tmp_path / "ws"
    root.mkdir()

    def editor_with(key: str) -> LspClient:
        environment = {"CHATCLI_ENCRYPTION_KEY": key}
        return LspClient(home=tmp_path / "sealed", root=root, capabilities=PLAIN, environment=environment)

    async with editor_with("first key") as client:
        await client.command("chatls.memory.remember", {"content": "The zanzibar cluster is in Oslo"})
        assert "⚠" not in (await client.command("chatls.memory.facts"))["markdown"]
    async with editor_with("another key") as client:
        for command, arguments in (
            ("facts", {}), ("recall", {"query": "zanzibar"}), ("forget", {"match": "zanzibar"}), ("profile", {}),
            ("timeline", {}), ("longterm", {}),
        ):  # fmt: skip
            shown = (await client.command(f"chatls.memory.{command}", arguments))["markdown"]
            assert "⚠ memory_index.json is encrypted with another key" in shown, command


async def test_brackets_that_name_no_category_are_words(editor: LspClient) -> None:
    for typed, category, content in (
        ("/remember [WIP] branches are squashed", "general", "[WIP] branches are squashed"),
        ("/memory remember [GOTCHA] Port 9001 is taken", "gotcha", "Port 9001 is taken"),
    ):
        assert (await editor.request("chatls/chat", {"text": typed}))["text"] == f"Remembered [{category}]: {content}"


@pytest.mark.parametrize("typed", ["/memory neighbors", "/memory import", "/memory undo", "/memory forget", "/forget"])
async def test_a_subcommand_without_its_words_says_what_it_needs(editor: LspClient, typed: str) -> None:
    with pytest.raises(ResponseError, match=r": (?:name|give) "):
        await editor.request("chatls/chat", {"text": typed})


async def test_an_unknown_id_and_an_unreadable_import_are_told_in_a_sentence(editor: LspClient, tmp_path: Path) -> None:
    with pytest.raises(ResponseError, match="Nothing is remembered under the id 0f0f"):
        await editor.command("chatls.memory.pin", {"id": "0f0f"})
    with pytest.raises(ResponseError, match=r"cannot be read \(No such file or directory\)\. Nothing was imported"):
        await editor.command("chatls.memory.import", {"path": str(tmp_path / "none.jsonl")})
