"""Running commands: own process group, killed whole on time-out and cancel; output capped, secrets kept out.

Before a command runs, what the agent edited is saved, so that a test run never judges old code (PROTOCOL.md
``chatls/save``).
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shlex
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from pydantic import Field

from chatls_core.text import cut
from chatls_core.text.redaction import without_secrets
from chatls_core.tools.aftermath import save_files
from chatls_core.tools.base import Tool, ToolArguments, ToolContext, ToolError, ToolOutcome
from chatls_core.tools.paths import display, path_of

GRACE_SECONDS = 2.0
MAX_KEPT_BYTES = 8 << 20
"""Bytes of output that can be read again; of more, the middle is lost and the text says so."""


class CommandArguments(ToolArguments):
    command: str = Field(min_length=1, description="Shell command line.")
    cwd: str = Field(".", description="Folder to run in, inside the workspace.")
    timeout_seconds: float | None = Field(None, gt=0, description="Seconds to wait before it is stopped.")


class RunCommand(Tool[CommandArguments]):
    name = "run_command"
    description = (
        "Run a shell command in the workspace and get its output and exit code. Files you edited are saved first. "
        "The user may be asked. No interactive programs; servers must be started in the background by other means."
    )
    kind = "execute"
    arguments = CommandArguments
    aliases: ClassVar[dict[str, str]] = {"cmd": "command", "dir": "cwd", "workdir": "cwd", "timeout": "timeout_seconds"}

    def subject(self, arguments: CommandArguments) -> str:
        """The line as it would be typed: policy and user see where it runs."""
        if arguments.cwd in ("", ".", "./"):
            return arguments.command
        return f"cd {shlex.quote(arguments.cwd)} && {arguments.command}"

    def label(self, arguments: CommandArguments) -> str:
        return f"run {cut.by_chars(' '.join(arguments.command.split()), 80)}"

    async def run(self, arguments: CommandArguments, context: ToolContext) -> ToolOutcome:
        folder = path_of(context.resolve(arguments.cwd))
        if folder is None or not await asyncio.to_thread(folder.is_dir):
            raise ToolError(f"{arguments.cwd} is no folder.")
        note = await save_edited(context)
        limit = context.settings.agent.command_timeout_seconds
        seconds = min(arguments.timeout_seconds or limit, limit)
        output, code = await run_shell(
            arguments.command, folder, clean_environment(os.environ), seconds, MAX_KEPT_BYTES
        )
        text = output.rstrip("\n") or "(no output)"
        if code is None:
            raise ToolError(f"{text}\n[stopped after {seconds:g} s; its process group was killed]{note}")
        most = context.settings.agent.max_command_output
        return ToolOutcome(f"{text}\n[exit code {code}]{note}", f"exit {code}", max_chars=most)


async def save_edited(context: ToolContext) -> str:
    """Save what the agent edited before something reads the disk; says which buffers still differ from it,
    and what the editor changed while saving."""
    edited = sorted(context.files.agent_edited & context.host.dirty_documents().keys())
    changed = ""
    if context.settings.edits.save != "never" and edited:
        changed = await save_files(context, edited)
    names = [
        display(document.path, context)
        for document in context.host.dirty_documents().values()
        if document.path is not None
    ]
    unseen = f"\n[unsaved in the editor, so not seen by this command: {', '.join(sorted(names))}]" if names else ""
    return unseen + changed


def clean_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment without anything that looks like a secret, for programs that nobody sits in front of."""
    return {
        **without_secrets(environment),
        "GIT_PAGER": "cat",
        "PAGER": "cat",
        "GIT_TERMINAL_PROMPT": "0",
        "TERM": "dumb",
    }


async def run_shell(
    command: str, folder: Path, environment: Mapping[str, str], seconds: float, max_bytes: int
) -> tuple[str, int | None]:
    """:func:`run_process` for a shell's command line."""
    shell = ["cmd", "/c", command] if sys.platform == "win32" else ["/bin/sh", "-c", command]
    return await run_process(shell, folder, environment, seconds, max_bytes)


async def run_process(
    arguments: Sequence[str], folder: Path, environment: Mapping[str, str], seconds: float, max_bytes: int
) -> tuple[str, int | None]:
    """Output (both streams, middle cut beyond ``max_bytes``) and exit code; ``None`` when the time ran out.

    The whole process group dies with a time-out or cancellation. Raises :class:`ToolError` when it cannot start.
    """
    starting = asyncio.ensure_future(
        asyncio.create_subprocess_exec(
            *arguments,
            cwd=folder,
            env=dict(environment),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=sys.platform != "win32",
        )
    )
    try:
        process = await asyncio.shield(starting)
    except asyncio.CancelledError:
        # The child may run already, and have children: a cancelled start would end only the child itself.
        await kill_group(await starting)
        raise
    except OSError as error:
        raise ToolError(f"{arguments[0]} could not be started: {error.strerror or error}") from error
    assert process.stdout is not None
    head, tail = bytearray(), bytearray()
    dropped = 0

    async def collect(stream: asyncio.StreamReader) -> None:
        nonlocal dropped
        while chunk := await stream.read(65536):
            room = max(0, max_bytes // 2 - len(head))
            head.extend(chunk[:room])
            tail.extend(chunk[room:])
            if (extra := len(tail) - max_bytes // 2) > 0:
                del tail[:extra]
                dropped += extra

    timed_out = False
    try:
        async with asyncio.timeout(seconds):
            await collect(process.stdout)
            await process.wait()
    except TimeoutError:
        timed_out = True
    finally:
        await kill_group(process)
    middle = f"\n[{dropped} bytes left out for good; to read them, write the output to a file]\n".encode()
    text = await asyncio.to_thread(bytes(head + (middle if dropped else b"") + tail).decode, "utf-8", "replace")
    return text, None if timed_out else process.returncode


async def kill_group(process: asyncio.subprocess.Process) -> None:
    """End a process and all it started: SIGTERM, then SIGKILL after two seconds."""
    if sys.platform == "win32":
        if process.returncode is None:
            process.kill()
            await process.wait()
        return
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGTERM)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(asyncio.shield(process.wait()), GRACE_SECONDS)
    # Also after a normal exit: what the command left in its group must not outlive it.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    if process.returncode is None:
        await process.wait()
