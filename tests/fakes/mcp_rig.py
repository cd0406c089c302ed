"""Configuration entries for the fake MCP server, and what it recorded."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


def entry(name: str, record: Path, **more: Any) -> dict[str, Any]:
    """A fake server's entry; ``env`` is added to what it needs."""
    env = {"PYTHONPATH": str(ROOT), **more.pop("env", {})}
    args = ["-m", "tests.fakes.mcp_server", "--record", str(record)]
    return {"name": name, "command": sys.executable, "args": args, "env": env, "initTimeout": 60, **more}


def write_servers(file: Path, *entries: dict[str, Any]) -> None:
    """The configuration file, as ChatCLI writes it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"mcpServers": list(entries)}))


def calls(record: Path, tool: str = "") -> list[dict[str, Any]]:
    """What a fake server was asked, oldest first."""
    rows = [json.loads(line) for line in record.read_text().splitlines()] if record.exists() else []
    return [row for row in rows if tool in ("", row["tool"])]


def alive(pid: int) -> bool:
    """Whether a process runs."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2][:3] if Path("/proc").exists() else True


async def until(condition: Callable[[], bool], seconds: float = 20) -> None:
    """Wait for something another process does."""
    for _ in range(int(seconds / 0.02)):
        if condition():
            return
        await asyncio.sleep(0.02)
    raise AssertionError("it did not happen")


@contextlib.asynccontextmanager
async def http_server(record: Path, **environment: str) -> AsyncIterator[str]:
    """A fake server over HTTP; gives its address."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.fakes.mcp_server", "--http", "--record", str(record),
        cwd=ROOT, env={**os.environ, **environment}, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        yield (await process.stdout.readline()).decode().strip()
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
