"""A change to whatever an instruction file imports is told at once, by the editor's watcher or by our own.

Imported files have names of their own, so no fixed list of globs covers them: what is watched follows what is loaded.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from wcmatch import glob

from tests.fakes.lsp_client import EDITOR, PLAIN, LspClient, uri_of
from tests.fakes.model_server import ModelServer

pytestmark = pytest.mark.timeout(180)  # each test starts a real server; a busy machine takes its time


class Watcher:
    """The editor's own file watcher: tells what a registered glob matches, and nothing else."""

    def __init__(self, editor: LspClient, root: Path) -> None:
        self._editor = editor
        self._root = root
        self._news = asyncio.Condition()
        self.registered: dict[str, list[str]] = {}
        editor.handlers["client/registerCapability"] = self._register
        editor.handlers["client/unregisterCapability"] = self._unregister

    async def _register(self, params: Any) -> None:
        async with self._news:
            for one in params["registrations"]:
                if one["method"] == "workspace/didChangeWatchedFiles":
                    globs = [w["globPattern"] for w in one["registerOptions"]["watchers"]]
                    self.registered[one["id"]] = globs
            self._news.notify_all()

    async def _unregister(self, params: Any) -> None:
        async with self._news:
            for one in params["unregisterations"]:
                del self.registered[one["id"]]
            self._news.notify_all()

    def watches(self, path: Path) -> bool:
        relative = str(path.relative_to(self._root))
        flags = glob.GLOBSTAR | glob.BRACE | glob.DOTGLOB
        return any(glob.globmatch(relative, one, flags=flags) for globs in self.registered.values() for one in globs)

    async def until(self, path: Path, *, watched: bool) -> None:
        async with self._news:
            await asyncio.wait_for(self._news.wait_for(lambda: self.watches(path) is watched), 20)

    def write(self, path: Path, text: str) -> None:
        """Another program writes ``path``."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        if path.is_relative_to(self._root) and self.watches(path):
            self._editor.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": uri_of(path), "type": 2}]})


@pytest.fixture
async def models() -> AsyncIterator[ModelServer]:
    async with ModelServer() as server:
        yield server


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "repo" / "opened"
    folder.mkdir(parents=True)
    (tmp_path / "repo" / ".git").mkdir()
    return folder


def client(tmp_path: Path, root: Path, models: ModelServer, capabilities: Any = EDITOR) -> LspClient:
    environment = {"ANTHROPIC_API_KEY": "sk-test", "ANTHROPIC_BASE_URL": models.url, "MAX_RETRIES": "1"}
    return LspClient(home=tmp_path / "home", root=root, environment=environment, capabilities=capabilities)


async def ask(editor: LspClient, text: str) -> None:
    await editor.request("chatls/chat", {"text": text, "sessionId": "s"}, seconds=60)


def save(path: Path, text: str) -> None:
    path.write_text(text)


async def write_until_told(editor: LspClient, written: Path, path: Path) -> None:
    """Write ``written`` until the client hears of ``path``: when our own watch has begun nobody outside can see."""
    for number in range(40):
        since = len(editor.received)
        save(written, f"version {number}\n")
        try:
            return await told(editor, path, since, seconds=0.5)
        except AssertionError:
            continue
    raise AssertionError(f"{path} was not told; stderr: {editor.stderr[-2000:]}")


async def told(editor: LspClient, path: Path, since: int = 0, seconds: float = 20) -> None:
    """The client hears that ``path`` changed."""
    await editor.wait_for(
        lambda m: m.get("method") == "chatls/instructionsChanged" and uri_of(path) in m["params"]["changed"],
        since=since,
        seconds=seconds,
    )


def last_words(models: ModelServer) -> str:
    return str(models.requests[-1].json["messages"][-1])


async def test_editor_is_asked_to_watch_what_is_imported_and_no_longer_what_is_not(
    tmp_path: Path, root: Path, models: ModelServer
) -> None:
    style = root / "docs" / "[house] style.txt"
    other = root / "docs" / "other.markdown"
    style.parent.mkdir()
    style.write_text("Use tabs.\n")
    other.write_text("Use semicolons.\n")
    (root / "AGENTS.md").write_text("@<docs/[house] style.txt>\n")
    editor = client(tmp_path, root, models)
    watcher = Watcher(editor, root)
    async with editor:
        await ask(editor, "one")
        await watcher.until(style, watched=True)
        assert not watcher.watches(other)

        watcher.write(style, "Use spaces.\n")
        await told(editor, style)
        await ask(editor, "two")
        assert "Use spaces." in last_words(models)

        watcher.write(root / "AGENTS.md", "@docs/other.markdown\n")
        await watcher.until(other, watched=True)
        await watcher.until(style, watched=False)


async def test_import_that_is_missing_is_told_when_it_appears(tmp_path: Path, root: Path, models: ModelServer) -> None:
    (root / "AGENTS.md").write_text("@docs/later.txt\n")
    editor = client(tmp_path, root, models)
    watcher = Watcher(editor, root)
    async with editor:
        await ask(editor, "one")
        await watcher.until(root / "docs" / "later.txt", watched=True)
        watcher.write(root / "docs" / "later.txt", "Here I am.\n")
        await told(editor, root / "docs" / "later.txt")


async def test_more_imports_than_an_editor_should_watch_one_by_one_are_watched_by_their_endings(
    tmp_path: Path, root: Path, models: ModelServer
) -> None:
    docs = root / "docs"
    docs.mkdir()
    for number in range(400):
        (docs / f"{number}.txt").write_text("x\n")
    (root / "AGENTS.md").write_text("".join(f"@docs/{number}.txt\n" for number in range(400)))
    editor = client(tmp_path, root, models)
    watcher = Watcher(editor, root)
    async with editor:
        await ask(editor, "one")
        await watcher.until(docs / "399.txt", watched=True)
        assert sum(map(len, watcher.registered.values())) < 20
        watcher.write(docs / "399.txt", "y\n")
        await told(editor, docs / "399.txt")


async def test_import_from_above_the_opened_folder_is_watched_by_ourselves(
    tmp_path: Path, root: Path, models: ModelServer
) -> None:
    shared = root.parent / "shared" / "style.md"
    shared.parent.mkdir()
    shared.write_text("Use tabs.\n")
    (root / "AGENTS.md").write_text("@../shared/style.md\n")
    editor = client(tmp_path, root, models)
    Watcher(editor, root)
    async with editor:
        await ask(editor, "one")
        assert "Use tabs." in str(models.requests[-1].json["system"])
        await write_until_told(editor, shared, shared)


@pytest.mark.parametrize("name", ["build/notes.txt", "docs/linked.md"])
async def test_without_the_editors_watcher_imports_of_ignored_and_linked_files_are_told(
    tmp_path: Path, root: Path, models: ModelServer, name: str
) -> None:
    (root / ".gitignore").write_text("build/\n")
    (root / "build").mkdir()
    (root / "docs").mkdir()
    (root / "build" / "notes.txt").write_text("old\n")
    (root / "docs" / "linked.md").symlink_to(root / "build" / "notes.txt")
    (root / "AGENTS.md").write_text(f"@{name}\n")
    editor = client(tmp_path, root, models, PLAIN)
    async with editor:
        await ask(editor, "one")
        await write_until_told(editor, root / "build" / "notes.txt", root / name)


async def test_import_saved_in_the_editor_is_told(tmp_path: Path, root: Path, models: ModelServer) -> None:
    (root / "style.txt").write_text("old\n")
    (root / "AGENTS.md").write_text("@style.txt\n")
    editor = client(tmp_path, root, models)
    Watcher(editor, root)
    async with editor:
        await ask(editor, "one")
        buffer = editor.open(root / "style.txt")
        editor.type(buffer, "new ", line=0, character=0)
        editor.save(buffer)
        await told(editor, root / "style.txt")


async def test_a_file_that_only_an_unsaved_import_waits_for_mends_its_finding(
    tmp_path: Path, root: Path, models: ModelServer
) -> None:
    (root / "AGENTS.md").write_text("Be kind.\n")
    editor = client(tmp_path, root, models)
    Watcher(editor, root)

    def findings(count: int) -> Any:
        return lambda m: (
            m.get("method") == "textDocument/publishDiagnostics" and len(m["params"]["diagnostics"]) == count
        )

    async with editor:
        buffer = editor.open(root / "AGENTS.md", language_id="markdown")
        editor.type(buffer, "@later.md\n", line=0, character=0)
        await editor.wait_for(findings(1), seconds=20)
        since = len(editor.received)
        save(root / "later.md", "Here.\n")
        editor.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": uri_of(root / "later.md"), "type": 1}]})
        await editor.wait_for(findings(0), since=since, seconds=20)
