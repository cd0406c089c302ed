"""Who said it, in which conversation and message, and when: in every list a plain editor shows, in both languages."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from chatls_core import config
from chatls_core.memory import Memory, Source
from tests.fakes.lsp_client import PLAIN, LspClient

pytestmark = pytest.mark.timeout(180)

WHERE = "learned in session monday, message m7, 2026-03-09"


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        (("Backups go to Oslo", "Moved the backups", "backups", "atlas", "learn Norwegian"), "where do backups go?"),
        (
            ("As cópias vão para Oslo", "Mudou as cópias", "cópias", "atlas", "aprender norueguês"),
            "onde ficam as cópias?",
        ),
    ],
)
async def test_every_list_says_where_its_items_come_from(tmp_path: Path, said: tuple[str, ...], asked: str) -> None:
    fact, done, topic, project, goal = said
    folder = tmp_path / "home" / ".chatcli" / "memory"
    memory = Memory(folder, settings=config.Memory(), clock=lambda: datetime(2026, 4, 1, 12, tzinfo=UTC))
    source = Source("extraction", session="monday", message="m7", time=datetime(2026, 3, 9, 12, tzinfo=UTC))
    memory.remember(fact, source=source)
    memory.record_episode(done, source=source)
    memory.record_topics({topic: ""}, source=source)
    memory.record_project({"name": project}, source=source)
    memory.profile({"goals": goal}, source=source)
    async with LspClient(home=tmp_path / "home", capabilities=PLAIN) as editor:
        for command, item in (
            ("facts", fact),
            ("timeline", done),
            ("topics", topic),
            ("projects", project),
            ("profile", goal),
        ):
            shown = (await editor.command(f"chatls.memory.{command}", {}))["markdown"]
            assert WHERE in next(line for line in shown.splitlines() if item in line)
        recalled = (await editor.command("chatls.memory.recall", {"query": asked}))["markdown"]
        assert fact in recalled and WHERE in recalled
        forgotten = (await editor.command("chatls.memory.forget", {"match": said[4].split()[1]}))["markdown"]
        assert goal in forgotten
