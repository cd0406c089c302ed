"""Servers in their own processes, and a configuration file that names them."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from chatls_core.config import Mcp
from chatls_core.mcp import McpServers

ROOT = Path(__file__).parents[3]


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


@dataclass
class Rig:
    """A data folder with a configuration, and the manager that reads it."""

    home: Path
    workspace: Path
    environment: dict[str, str]
    now: float = 0.0
    servers: dict[str, dict[str, Any]] = field(default_factory=dict)
    made: list[McpServers] = field(default_factory=list)

    def entry(self, name: str, **more: Any) -> dict[str, Any]:
        """A fake server's entry; ``env`` is added to what it needs."""
        env = {"PYTHONPATH": str(ROOT), **more.pop("env", {})}
        args = ["-m", "tests.fakes.mcp_server", "--record", str(self.record(name))]
        return {"name": name, "command": sys.executable, "args": args, "env": env, "initTimeout": 30, **more}

    def record(self, name: str) -> Path:
        return self.home.parent / f"{name}.jsonl"

    def write(self, *entries: dict[str, Any], file: Path | None = None) -> None:
        """The configuration file, as ChatCLI writes it."""
        file = file or self.home / "mcp_servers.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps({"mcpServers": list(entries)}))

    def manager(self, *, trusted: bool = True, **settings: Any) -> McpServers:
        chosen = Mcp(**{"enabled": True, "wait_seconds": 60, **settings})
        made = McpServers(self.home, self.environment, lambda: chosen, monotonic=lambda: self.now)
        made.set_workspace((self.workspace,), trusted)
        self.made.append(made)
        return made


@pytest.fixture
async def rig(tmp_path: Path) -> AsyncIterator[Rig]:
    home, workspace = tmp_path / "home", tmp_path / "ws"
    home.mkdir()
    workspace.mkdir()
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "OPENAI_API_KEY": "sk-not-for-servers"}
    rig = Rig(home, workspace, environment)
    yield rig
    for manager in rig.made:
        await manager.close()


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
