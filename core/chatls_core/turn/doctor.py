"""What is configured, who would answer, what is wrong and how to mend it. Spends no tokens."""

from __future__ import annotations

import asyncio
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from chatls_core.llm.events import ModelError
from chatls_core.llm.models import Models
from chatls_core.mcp import McpServers
from chatls_core.memory.external import Provider

State = Literal["ok", "warning", "error"]
SERVER_SECONDS = 20.0
"""Longest wait for MCP servers that are starting."""

_MARK: dict[State, str] = {"ok": "✓", "warning": "!", "error": "✗"}


@dataclass(frozen=True, slots=True)
class Check:
    """One finding; ``mend`` says what to do about it."""

    name: str
    state: State
    text: str
    mend: str = ""


@dataclass(frozen=True, slots=True)
class DoctorReport:
    """All findings; ``healthy`` is False when chat cannot work."""

    checks: tuple[Check, ...]

    @property
    def healthy(self) -> bool:
        """Whether a question would be answered."""
        return all(check.state != "error" for check in self.checks)

    @property
    def markdown(self) -> str:
        """The findings, one line each."""
        return "\n".join(
            f"- {_MARK[c.state]} **{c.name}**: {c.text}{f' → {c.mend}' if c.mend else ''}" for c in self.checks
        )

    @property
    def text(self) -> str:
        """The findings for a terminal."""
        return "\n".join(
            f"{_MARK[c.state]} {c.name}: {c.text}" + (f"\n    {c.mend}" if c.mend else "") for c in self.checks
        )


async def diagnose(
    home: Path,
    models: Models,
    version: str,
    *,
    roots: Sequence[Path] = (),
    trusted: bool = True,
    warnings: Sequence[str] = (),
    servers: McpServers | None = None,
    provider: Provider | None = None,
    memory: Sequence[str] | None = None,
) -> DoctorReport:
    """Look at everything chat depends on. ``servers`` are started where they may run; ``provider`` is the external
    memory service; ``memory`` says what is wrong with the files of memory, ``None`` where nobody looked."""
    checks = [Check("ChatLS", "ok", f"{version}, Python {platform.python_version()}, {sys.platform}")]
    checks.append(await asyncio.to_thread(_writable, "Data folder", home, "error"))
    for root in roots:
        checks.append(await asyncio.to_thread(_writable, "Workspace folder", root, "warning"))
    if roots:
        text = "trusted" if trusted else "not trusted: instruction files are read as data, nothing runs"
        checks.append(Check("Workspace trust", "ok" if trusted else "warning", text))
    await models.refresh()
    checks += [*_providers(models), *_meaning(models)]
    if memory is not None:
        checks += [Check("Memory", "warning", problem) for problem in memory] or [
            Check("Memory", "ok", "every file can be opened")
        ]
    rg = shutil.which("rg")
    checks.append(
        Check("ripgrep", "ok", rg)
        if rg
        else Check("ripgrep", "warning", "not found, search is slower", "Install ripgrep.")
    )
    if servers is not None:
        checks += await _servers(servers)
        if provider is not None:
            checks.append(_memory_service(servers, provider))
    checks += [Check("Setting", "warning", warning) for warning in warnings]
    return DoctorReport(tuple(checks))


def _providers(models: Models) -> list[Check]:
    checks: list[Check] = []
    try:
        model = models.select()
        known = "" if model.info.known else ", not in the catalogue: default window"
        checks.append(Check("Model", "ok", f"{model.provider} {model.model} ({model.info.window:,} tokens{known})"))
    except ModelError as error:
        checks.append(Check("Model", "error", str(error), error.hint))
    for status in models.list():
        if status.available:
            checks.append(Check(status.title, "ok", f"{status.model} at {status.host} ({status.reason})"))
    missing = [status.title for status in models.list() if not status.available]
    if missing:
        checks.append(Check("Not configured", "ok", ", ".join(missing)))
    return checks


def _meaning(models: Models) -> list[Check]:
    """Who turns texts into vectors, where somebody is named for it."""
    try:
        embedder = models.embedder()
    except ModelError as error:
        return [Check("Search by meaning", "warning", str(error), error.hint or "See docs/memory.md.")]
    if embedder is None:
        return []
    where = "on this machine" if embedder.here else "elsewhere: sensitive facts are not sent"
    return [Check("Search by meaning", "ok", f"{embedder.name} ({where})")]


async def _servers(servers: McpServers) -> list[Check]:
    await servers.ready(SERVER_SECONDS)
    checks = [Check("MCP servers", "warning", problem, "Correct the file.") for problem in servers.problems]
    found = servers.status()
    if found and not servers.enabled:
        names = ", ".join(s.name for s in found)
        return [*checks, Check("MCP servers", "ok", f"{names}: not started, they are switched off or not trusted")]
    for server in found:
        name = f"MCP server {server.name}"
        if server.state == "failed":
            checks.append(Check(name, "warning", server.error, f"Correct its entry in {server.origin}."))
        else:
            tools = f", {len(server.tools)} tools" if server.state == "ready" else ""
            checks.append(Check(name, "ok", f"{server.state}{tools}"))
    return checks


def _memory_service(servers: McpServers, provider: Provider) -> Check:
    name = "Memory service"
    offered = {tool.name for tool in servers.tools() if tool.server == provider.server}
    missing = {"memory_recall", "memory_store"} - offered
    if not servers.enabled:
        return Check(
            name, "warning", f"{provider.server} is not started", "Set chatls.mcp.enabled and trust the folder."
        )
    if missing:
        lacks = f"{provider.server} offers no {' and no '.join(sorted(missing))}" if offered else "it is not connected"
        return Check(name, "warning", lacks, "Correct chatls.memory.provider, or the server's entry.")
    return Check(name, "ok", f"{provider.server}{', in place of our own recall' if provider.only else ''}")


def _writable(name: str, folder: Path, otherwise: State) -> Check:
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        return Check(name, otherwise, f"{folder} is not writable ({error.strerror})", "Give yourself write permission.")
    free = shutil.disk_usage(folder).free
    if free < 50 << 20:
        return Check(name, "warning", f"{folder} has only {free >> 20} MiB free", "Make room on the disk.")
    return Check(
        name, "ok", f"{folder}{' (not yours)' if hasattr(os, 'getuid') and folder.stat().st_uid != os.getuid() else ''}"
    )
