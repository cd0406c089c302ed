"""Reading, listing, finding and searching: the user's text, bounded, confined."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from chatls_core.config import load
from chatls_core.host import Document, HostError, HostErrorKind
from chatls_core.tools.base import Tool, ToolContext, ToolError, TurnFiles
from chatls_core.tools.files import FindFiles, ListDir, ReadFile
from chatls_core.tools.search import Search
from tests.fakes.host import FakeHost


async def use(tool: Tool[Any], host: FakeHost, **arguments: object) -> str:
    context = ToolContext(host, load({}).settings, "coder", "c1", TurnFiles(), lambda event: None)
    return (await tool.run(tool.parse(arguments), context)).text


@pytest.fixture(params=["ripgrep", "own"])
def searcher(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Search:
    if request.param == "own":
        monkeypatch.setattr(shutil, "which", lambda name: None)
    elif shutil.which("rg") is None:
        pytest.fail("ripgrep is needed to test both ways of searching")
    return Search()


async def test_a_range_of_lines_is_read_with_numbers(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("".join(f"line {n}\n" for n in range(1, 3001)))
    text = await use(ReadFile(), FakeHost(tmp_path), path="a.txt", start_line=2990, end_line=2992)
    assert "2990\tline 2990" in text
    assert "2993" not in text
    whole = await use(ReadFile(), FakeHost(tmp_path), path="a.txt")
    assert "start_line=2001" in whole


async def test_lines_split_as_the_editor_splits_them(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes("one\ftwo\u2028three\rfour\r\nfive".encode())
    text = await use(ReadFile(), FakeHost(tmp_path), path="a.txt")
    assert "(3 lines)" in text


@pytest.mark.parametrize(("path", "says"), [("none.txt", "does not exist"), (".", "folder"), ("../x", "outside")])
async def test_what_cannot_be_read_says_which(tmp_path: Path, path: str, says: str) -> None:
    with pytest.raises(ToolError, match=says):
        await use(ReadFile(), FakeHost(tmp_path), path=path)


async def test_search_is_literal_and_finds_nothing_politely(tmp_path: Path, searcher: Search) -> None:
    (tmp_path / "a.py").write_text("x = f(1)\ny = F(2)\n--flag\n")
    assert "a.py:1: x = f(1)" in await use(searcher, FakeHost(tmp_path), query="f(")
    assert "a.py:2" in await use(searcher, FakeHost(tmp_path), query="f(")
    assert "a.py:2" not in await use(searcher, FakeHost(tmp_path), query="f(", case_sensitive=True)
    assert "a.py:3" in await use(searcher, FakeHost(tmp_path), query="--flag")
    assert "0 matches" in await use(searcher, FakeHost(tmp_path), query="absent")


async def test_search_sees_the_unsaved_text_only(tmp_path: Path, searcher: Search) -> None:
    (tmp_path / "a.py").write_text("alpha\n")
    host = FakeHost(tmp_path)
    host.type("a.py", "beta\n")
    assert "0 matches" in await use(searcher, host, query="alpha")
    assert "a.py:1: beta" in await use(searcher, host, query="beta")


async def test_search_respects_ignores_globs_and_the_cap(tmp_path: Path, searcher: Search) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("out/\n")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "a.py").write_text("needle\n")
    (tmp_path / "b.py").write_text("needle\n" * 300)
    (tmp_path / "c.md").write_text("needle\n")
    text = await use(searcher, FakeHost(tmp_path), query="needle")
    assert "out/a.py" not in text
    assert "narrow the query" in text
    only = await use(searcher, FakeHost(tmp_path), query="needle", glob="*.md")
    assert "c.md:1" in only
    assert "b.py" not in only


async def test_a_wrong_regular_expression_teaches(tmp_path: Path, searcher: Search) -> None:
    with pytest.raises(ToolError, match=r"regular expression|regex"):
        await use(searcher, FakeHost(tmp_path), query="(", regex=True)


async def test_links_out_of_the_workspace_are_not_followed(tmp_path: Path, searcher: Search) -> None:
    root, outside = tmp_path / "ws", tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    (outside / "secret.txt").write_text("needle\n")
    (root / "link.txt").symlink_to(outside / "secret.txt")
    (root / "folder").symlink_to(outside)
    assert "0 matches" in await use(searcher, FakeHost(root), query="needle")


async def test_a_search_of_a_folder_shows_no_keys(tmp_path: Path, searcher: Search) -> None:
    (tmp_path / ".env").write_text("API_KEY=topsecret\n")
    (tmp_path / ".env.example").write_text("API_KEY=\n")
    host = FakeHost(tmp_path)
    host.type(".env.local", "API_KEY=unsaved\n")
    text = await use(searcher, host, query="api_key")
    assert "topsecret" not in text and "unsaved" not in text
    assert ".env.example:1" in text
    assert ".env, .env.local" in text and "read_file" in text
    assert "topsecret" in await use(searcher, host, query="api_key", path=".env")


async def test_finding_and_listing(tmp_path: Path) -> None:
    for name in ("src/app.py", "src/lib/util.py", "node_modules/x/index.js", "README.md"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    host = FakeHost(tmp_path)
    assert (await use(FindFiles(), host, pattern="**/*.py")).splitlines() == ["src/app.py", "src/lib/util.py"]
    assert await use(FindFiles(), host, pattern="util") == "src/lib/util.py"
    assert "0 files" in await use(FindFiles(), host, pattern="*.rs")
    listed = await use(ListDir(), host, depth=2)
    assert "src/" in listed
    assert "  app.py" in listed
    assert "node_modules" not in listed
    with pytest.raises(ToolError, match="cannot be used"):
        await use(FindFiles(), host, pattern="{a,b}" * 40)


async def test_a_range_of_a_file_too_large_to_be_read_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "big.log").write_text("".join(f"entry {n}\n" for n in range(1, 5001)))
    host = FakeHost(tmp_path)

    async def too_large(uri: str) -> Document:
        raise HostError(HostErrorKind.TOO_LARGE, "big.log is too large.")

    monkeypatch.setattr(host, "read", too_large)
    text = await use(ReadFile(), host, path="big.log", start_line=4000, end_line=4002)
    assert "4002\tentry 4002" in text
    assert "entry 4003" not in text
    assert "start_line=2001" in await use(ReadFile(), host, path="big.log")
    with pytest.raises(ToolError, match="ends before"):
        await use(ReadFile(), host, path="big.log", start_line=9000)
