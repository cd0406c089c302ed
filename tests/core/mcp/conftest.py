"""Servers in their own processes, and a configuration file that names them."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from chatls_core.config import Mcp
from chatls_core.mcp import McpServers
from tests.fakes.mcp_rig import entry, write_servers


@dataclass
class Rig:
    """A data folder with a configuration, and the manager that reads it."""

    home: Path
    workspace: Path
    environment: dict[str, str]
    now: float = 0.0
    made: list[McpServers] = field(default_factory=list)

    def entry(self, name: str, **more: Any) -> dict[str, Any]:
        return entry(name, self.record(name), **more)

    def record(self, name: str) -> Path:
        return self.home.parent / f"{name}.jsonl"

    def write(self, *entries: dict[str, Any], file: Path | None = None) -> None:
        write_servers(file or self.home / "mcp_servers.json", *entries)

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
