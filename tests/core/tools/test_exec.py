"""Commands: output, exit code, time limits, clean environments, and no child left behind."""

from __future__ import annotations

import asyncio
import os
import select
import sys
from pathlib import Path

import pytest

from chatls_core.config import load
from chatls_core.tools.base import ToolContext, ToolError, TurnFiles
from chatls_core.tools.exec import CommandArguments, RunCommand, clean_environment, run_shell
from chatls_core.tools.git import GitDiff, GitDiffArguments
from tests.fakes.host import FakeHost

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="commands are POSIX shell here")


def context(host: FakeHost, **settings: object) -> ToolContext:
    loaded = load({}, ("test", {"agent": settings}))
    return ToolContext(host, loaded.settings, "coder", "c1", TurnFiles(), lambda event: None)


async def test_output_and_exit_code(tmp_path: Path) -> None:
    outcome = await RunCommand().run(
        CommandArguments(command="echo out; echo err >&2; exit 3"), context(FakeHost(tmp_path))
    )
    assert "out" in outcome.text
    assert "err" in outcome.text
    assert "[exit code 3]" in outcome.text


async def test_a_time_out_kills_the_whole_group(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    command = f"sleep 300 & echo $! > {pid_file}; wait"
    with pytest.raises(ToolError, match="stopped after"):
        await RunCommand().run(CommandArguments(command=command, timeout_seconds=1), context(FakeHost(tmp_path)))
    assert await ends(int(pid_file.read_text()))


async def test_cancelling_kills_the_whole_group(tmp_path: Path) -> None:
    pipe = tmp_path / "ready"
    os.mkfifo(pipe)
    command = f"sleep 300 & echo $! > {pipe}; wait"
    task = asyncio.create_task(RunCommand().run(CommandArguments(command=command), context(FakeHost(tmp_path))))
    pid = int(await asyncio.to_thread(pipe.read_text))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await ends(pid)


async def test_what_a_command_leaves_behind_is_ended_with_it(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    command = f"(sleep 300 >/dev/null 2>&1 & echo $! > {pid_file})"
    await RunCommand().run(CommandArguments(command=command), context(FakeHost(tmp_path)))
    assert await ends(int(pid_file.read_text()))


async def test_huge_output_keeps_its_beginning_and_end(tmp_path: Path) -> None:
    text, code = await run_shell("echo first; seq 1 200000; echo last", tmp_path, dict(os.environ), 60, 4000)
    assert code == 0
    assert text.startswith("first")
    assert text.rstrip().endswith("last")
    assert "bytes left out" in text
    assert len(text) < 5000


async def test_secrets_are_not_handed_to_commands(tmp_path: Path) -> None:
    cleaned = clean_environment(
        {"PATH": "/bin", "ANTHROPIC_API_KEY": "x", "GITHUB_TOKEN": "x", "DB_PASSWORD": "x", "LANG": "C"}
    )
    assert {"PATH", "LANG"} <= set(cleaned)
    assert not {"ANTHROPIC_API_KEY", "GITHUB_TOKEN", "DB_PASSWORD"} & set(cleaned)


async def test_what_the_agent_edited_is_saved_before_a_command_reads_it(tmp_path: Path) -> None:
    host = FakeHost(tmp_path)
    (tmp_path / "a.txt").write_text("old\n")
    host.type("a.txt", "new\n")
    host.type("b.txt", "the user's own\n")
    made = context(host)
    made.files.agent_edited.add(host.uri("a.txt"))
    outcome = await RunCommand().run(CommandArguments(command="cat a.txt"), made)
    assert outcome.text.startswith("new")
    assert "b.txt" in outcome.text
    assert not (tmp_path / "b.txt").exists()


async def test_the_folder_must_be_inside(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="outside"):
        await RunCommand().run(CommandArguments(command="ls", cwd="../.."), context(FakeHost(tmp_path)))


async def test_git_shows_changes_and_runs_nothing_of_the_repository(tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    setup = (
        "git init -q . && git config user.email a@b && git config user.name n && echo one > a.txt && git add . "
        f"&& git commit -qm first && echo two > a.txt && git config diff.external 'touch {trap}' "
        f"&& git config core.fsmonitor 'touch {trap}'"
    )
    _, code = await run_shell(setup, tmp_path, dict(os.environ), 60, 4000)
    assert code == 0
    outcome = await GitDiff().run(GitDiffArguments(), context(FakeHost(tmp_path)))
    assert "+two" in outcome.text
    assert not trap.exists()


async def ends(pid: int) -> bool:
    """Whether a process is over, or is within a few seconds (a killed one takes a moment to go)."""

    def wait() -> bool:
        try:
            descriptor = os.pidfd_open(pid)
        except ProcessLookupError:
            return True
        try:
            return bool(select.select([descriptor], [], [], 5)[0])
        finally:
            os.close(descriptor)

    return await asyncio.to_thread(wait)


def test_policy_and_user_see_the_folder_a_command_runs_in() -> None:
    assert RunCommand().subject(CommandArguments(command="npm test", cwd="my app")) == "cd 'my app' && npm test"
    assert RunCommand().subject(CommandArguments(command="npm test")) == "npm test"
