"""``chatls doctor``: what is configured, who would answer, what is wrong and how to mend it."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Mapping
from pathlib import Path

from chatls_core.llm.keychain import SystemKeychain
from chatls_core.llm.models import Models
from chatls_core.mcp import McpServers
from chatls_core.memory.external import provider_of
from chatls_core.memory.stores import Stores
from chatls_core.store import codec_for
from chatls_core.turn.doctor import DoctorReport, diagnose
from chatls_server import __version__
from chatls_server.lsp.results import to_json
from chatls_server.lsp.workspace import Workspace


def main(arguments: list[str], environment: Mapping[str, str]) -> int:
    """Print the findings; exit code 1 when chat cannot work."""
    options = argparse.ArgumentParser(prog="chatls doctor", description="Look at everything chat depends on.")
    options.add_argument("--json", action="store_true", help="print one JSON object")
    chosen = options.parse_args(arguments)
    report = asyncio.run(_report(environment))
    if chosen.json:
        sys.stdout.write(json.dumps({"healthy": report.healthy, **to_json(report)}, ensure_ascii=False) + "\n")
    else:
        sys.stdout.write(report.text + "\n")
    return 0 if report.healthy else 1


async def _report(environment: Mapping[str, str]) -> DoctorReport:
    workspace = Workspace(environment)
    workspace.initialize({"rootUri": Path.cwd().as_uri()})
    models = Models(workspace.settings, workspace.environment, home=workspace.home, keychain=SystemKeychain())
    settings = workspace.settings
    servers = McpServers(
        workspace.home, workspace.environment, lambda: settings.mcp, allow_http=lambda: settings.allow_http
    )
    servers.set_workspace(workspace.roots, trusted=True)
    try:
        return await diagnose(
            workspace.home,
            models,
            __version__,
            roots=workspace.roots,
            warnings=workspace.warnings,
            servers=servers,
            provider=provider_of(settings.memory),
            memory=Stores(workspace.home / "memory", codec=codec_for(workspace.environment)).faults(),
        )
    finally:
        await servers.close()
        await models.aclose()
