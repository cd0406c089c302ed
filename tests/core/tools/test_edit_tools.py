"""The tools that change files, beyond what a whole turn shows: formats by model, several files, new files' style."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from chatls_core.config import load
from chatls_core.memory import Memory
from chatls_core.sessions import SessionStore
from chatls_core.store import system_clock
from chatls_core.tools.base import Tool, ToolContext, ToolError, TurnFiles
from chatls_core.tools.catalogue import tools_for
from chatls_core.tools.edit_tools import DeleteFile, FormattedEdit, MoveFile, WriteFile
from chatls_core.tools.insight import Outline
from tests.fakes.host import FakeHost


async def use(tool: Tool[Any], host: FakeHost, **arguments: object) -> str:
    context = ToolContext(
        host, load({}, ("test", {"edits": {"review": "auto"}})).settings, "coder", "c1", TurnFiles(), lambda event: None
    )
    return (await tool.run(tool.parse(arguments), context)).text


@pytest.mark.parametrize(
    ("model", "setting", "offered"),
    [
        ("claude-sonnet-4-6", "auto", None),
        ("gpt-5.4", "auto", "apply_patch"),
        ("gpt-4o", "auto", "search_replace"),
        ("claude-sonnet-4-6", "udiff", "apply_diff"),
    ],
)
def test_the_edit_format_follows_the_model_unless_set(
    tmp_path: Path, model: str, setting: str, offered: str | None
) -> None:
    settings = load({}, ("test", {"edits": {"format": setting}})).settings
    memory = Memory(tmp_path / "m", settings=settings.memory, clock=system_clock)
    sessions = SessionStore(tmp_path / "s", clock=system_clock, settings=settings.sessions)
    names = tools_for("coder", settings, memory, sessions, model).names()
    assert {"edit_file", "write_file", "read_file", "search"} <= set(names)
    assert list(names) == sorted(names)
    assert {"apply_patch", "search_replace", "apply_diff"} & set(names) == ({offered} if offered else set())
    definitions = tools_for("coder", settings, memory, sessions, model).definitions()
    assert all(json.dumps(d.input_schema) for d in definitions)


async def test_one_patch_changes_adds_moves_and_deletes(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    (tmp_path / "b.txt").write_text("gone\n")
    (tmp_path / "c.txt").write_text("moved\n")
    patch = (
        "*** Begin Patch\n*** Update File: a.txt\n@@\n one\n-two\n+2\n*** Add File: d.txt\n+new\n"
        "*** Delete File: b.txt\n*** Update File: c.txt\n*** Move to: e.txt\n@@\n-moved\n+there\n*** End Patch\n"
    )
    host = FakeHost(tmp_path)
    await use(FormattedEdit("apply_patch"), host, edit=patch)
    assert len(host.changes) == 1
    assert host.buffers == {
        host.uri("a.txt"): "one\n2\n",
        host.uri("d.txt"): "new\n",
        host.uri("e.txt"): "there\n",
    }
    assert not (tmp_path / "b.txt").exists()
    assert not (tmp_path / "c.txt").exists()


async def test_a_patch_that_fits_nowhere_changes_nothing_and_teaches(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    (tmp_path / "b.txt").write_text("one\n")
    patch = (
        "*** Begin Patch\n*** Update File: b.txt\n@@\n-one\n+1\n*** Update File: a.txt\n@@\n-three\n+3\n*** End Patch\n"
    )
    host = FakeHost(tmp_path)
    with pytest.raises(ToolError, match=r"a\.txt"):
        await use(FormattedEdit("apply_patch"), host, edit=patch)
    assert host.changes == []


async def test_new_files_follow_the_workspaces_style(tmp_path: Path) -> None:
    (tmp_path / ".editorconfig").write_text("root = true\n[*.bat]\nend_of_line = crlf\ninsert_final_newline = true\n")
    host = FakeHost(tmp_path)
    await use(WriteFile(), host, path="sub/run.bat", content="echo a\necho b")
    assert host.buffers[host.uri("sub/run.bat")] == "echo a\r\necho b\r\n"


async def test_placeholders_for_omitted_code_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    with pytest.raises(ToolError, match="rest of"):
        await use(WriteFile(), FakeHost(tmp_path), path="b.py", content="def f():\n    # ... rest of the code ...\n")


async def test_moving_and_deleting(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\n")
    (tmp_path / "b.txt").write_text("two\n")
    host = FakeHost(tmp_path)
    with pytest.raises(ToolError, match="exists already"):
        await use(MoveFile(), host, path="a.txt", new_path="b.txt")
    told = await use(MoveFile(), host, path="a.txt", new_path="c.txt")
    assert told == "Moved a.txt to c.txt."  # the names the model uses, not addresses
    assert host.buffers == {host.uri("c.txt"): "one\n"}
    await use(DeleteFile(), host, path="b.txt")
    assert not (tmp_path / "b.txt").exists()


async def test_an_outline_names_definitions_with_their_lines(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("class A:\n    def f(self):\n        pass\n\n\ndef g():\n    pass\n")
    assert (await use(Outline(), FakeHost(tmp_path), path="a.py")).splitlines() == [
        "1–3 class A",
        "  2–3 method f",
        "6–7 function g",
    ]
