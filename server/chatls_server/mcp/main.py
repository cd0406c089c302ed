"""``chatls mcp``: the command line."""

from __future__ import annotations

import argparse
import logging
import logging.handlers
import secrets
import sys
from collections.abc import Mapping
from pathlib import Path

from chatls_core.config import OFF_WORDS
from chatls_core.memory import Memory
from chatls_core.sessions import SessionStore
from chatls_core.store import system_clock
from chatls_server.logs import FILES, MAX_BYTES, RedactingFormatter, SharedRotatingFile, log_file
from chatls_server.lsp.workspace import Workspace

TOKEN_VARIABLE = "CHATLS_MCP_TOKEN"


def parser() -> argparse.ArgumentParser:
    """The options of ``chatls mcp``."""
    options = argparse.ArgumentParser(prog="chatls mcp", description="Share the memory with other agents over MCP.")
    options.add_argument("--http", type=int, nargs="?", const=0, metavar="PORT", help="loopback HTTP instead of stdio")
    options.add_argument("--folder", type=Path, help="the project facts belong to (default: none)")
    options.add_argument("--read-only", action="store_true", help="leave out what writes")
    return options


def main(arguments: list[str], environment: Mapping[str, str]) -> int:
    """Serve until the client is gone; returns the exit code."""
    chosen = parser().parse_args(arguments)
    workspace = Workspace(environment)
    workspace.initialize({})
    _log(workspace.home, workspace.settings.log_level)
    # After the logging is set up: the SDK would otherwise write to the terminal.
    from chatls_server.mcp.server import build, serve_http
    from chatls_server.mcp.shared import SharedMemory

    settings = workspace.settings
    if not settings.memory.enabled:
        sys.stderr.write("error: memory is switched off (CHATCLI_MEMORY_ENABLED).\n")
        return 1
    memory = Memory(
        workspace.home / "memory", settings=settings.memory, clock=system_clock, environment=workspace.environment
    )
    sessions = SessionStore(workspace.home / "sessions", clock=system_clock, settings=settings.sessions)
    shared = SharedMemory(memory, sessions, chosen.folder.resolve() if chosen.folder else None)
    resources = workspace.environment.get("CHATCLI_MCP_RESOURCES", "").strip().lower() not in OFF_WORDS
    server = build(shared, read_only=chosen.read_only, resources=resources)
    try:
        if chosen.http is None:
            server.run("stdio")
        else:
            token = workspace.environment.get(TOKEN_VARIABLE, "").strip() or secrets.token_urlsafe(24)
            serve_http(server, chosen.http, token)
    except KeyboardInterrupt:
        return 130
    except OSError as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    finally:
        sessions.close()
    return 0


def _log(home: Path, level: str) -> None:
    """Log to the shared file; standard output belongs to the protocol."""
    handler: logging.Handler
    try:
        path = log_file(home)
        path.parent.mkdir(parents=True, exist_ok=True)
        handler = SharedRotatingFile(path, maxBytes=MAX_BYTES, backupCount=FILES - 1, delay=True)
    except OSError as error:
        sys.stderr.write(f"chatls: the log cannot be written: {error}\n")
        handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(RedactingFormatter("%(asctime)s %(process)d %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=level.upper(), handlers=[handler])
    for name in ("mcp", "uvicorn", "asyncio"):
        logging.getLogger(name).setLevel(logging.WARNING)
