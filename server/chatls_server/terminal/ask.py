"""``chatls ask``: one turn in the terminal, through the same core as the editor."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from chatls_core.events import Edit, Notice, Text, ToolStart, usage_payload
from chatls_core.llm.events import ModelError
from chatls_core.turn.agent import Agent
from chatls_core.turn.exchange import ChatRequest, ChatResult, TurnFailedError
from chatls_server.lsp.workspace import Workspace
from chatls_server.terminal.host import TerminalHost

EXIT_CODES: Mapping[str, int] = {
    "no_provider": 3,
    "auth": 4,
    "rate_limit": 5,
    "overloaded": 5,
    "timeout": 6,
    "network": 6,
    "budget": 7,
    "refused": 8,
}
"""Exit code by failure (0: answered, 1: other failure, 2: usage, 9: the answer was cut, 130: interrupted)."""

MAX_PIPED_CHARS = 400_000
INTERRUPTED = 130


def parser() -> argparse.ArgumentParser:
    """The options of ``chatls ask``."""
    options = argparse.ArgumentParser(prog="chatls ask", description="Ask one question, or do one task.")
    options.add_argument("text", nargs="*", help="the question; text piped in is added as context")
    options.add_argument("--mode", choices=["chat", "agent", "coder"], default="chat")
    options.add_argument("--session", help="continue this session (default: a new one)")
    options.add_argument("--provider", default="", help="who answers")
    options.add_argument("--model", default="", help="which model")
    options.add_argument("--folder", type=Path, default=Path(), help="the workspace folder (default: this one)")
    options.add_argument("--yes", action="store_true", help="apply edits without asking (commands still ask)")
    options.add_argument("--json", action="store_true", help="print one JSON object instead of streaming")
    return options


def main(arguments: list[str], environment: Mapping[str, str]) -> int:
    """Run the command; returns the exit code. A reader that goes away (``| head``) ends it quietly."""
    try:
        return _main(arguments, environment)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nothing is left to flush at the end
        return 0


def _main(arguments: list[str], environment: Mapping[str, str]) -> int:
    options = parser().parse_args(arguments)
    piped = "" if sys.stdin.isatty() else sys.stdin.read(MAX_PIPED_CHARS)
    text = " ".join(options.text).strip()
    if not text and not piped.strip():
        parser().print_usage(sys.stderr)
        return 2
    return asyncio.run(_run(options, text, piped, environment))


class _Stop:
    """What Ctrl+C does: end the task until there is a turn, then the turn."""

    def __init__(self) -> None:
        task = asyncio.current_task()
        assert task is not None
        self.to: Callable[[], object] = task.cancel
        if sys.platform != "win32":
            asyncio.get_running_loop().add_signal_handler(signal.SIGINT, lambda: self.to())


async def _run(options: argparse.Namespace, text: str, piped: str, environment: Mapping[str, str]) -> int:
    stop = _Stop()
    try:
        return await _ask(options, text, piped, environment, stop)
    except asyncio.CancelledError:
        return _failed(options.json, "interrupted", "Stopped.", "", INTERRUPTED)


async def _ask(options: argparse.Namespace, text: str, piped: str, environment: Mapping[str, str], stop: _Stop) -> int:
    workspace = Workspace(environment)
    settings: dict[str, Any] = {"edits": {"review": "auto"}} if options.yes else {}
    folder = options.folder.resolve()
    for warning in workspace.initialize({"rootUri": folder.as_uri(), "initializationOptions": {"settings": settings}}):
        sys.stderr.write(f"warning: {warning}\n")
    agent = await asyncio.to_thread(Agent, workspace.home, workspace.settings, workspace.environment)
    agent.set_workspace(workspace.roots, workspace.trusted)
    if options.provider or options.model:
        agent.prefer(options.provider, options.model)
    host = TerminalHost(
        folder, workspace.home, workspace.environment, interactive=sys.stdin.isatty() and sys.stderr.isatty()
    )
    request = ChatRequest(_with_piped(text, piped), options.session, options.mode)
    try:
        turn = await agent.submit(request, host)
        stop.to = turn.cancel
        async for numbered in turn.events():
            _show(numbered.event, quiet=options.json)
        result = await turn.outcome
    except asyncio.CancelledError:
        return _failed(options.json, "interrupted", "The turn was stopped.", "", INTERRUPTED)
    except ModelError as error:
        return _failed(options.json, error.kind, str(error), error.hint, EXIT_CODES.get(error.kind, 1))
    except TurnFailedError as error:
        return _failed(options.json, "internal", str(error), "", 1)
    finally:
        await agent.close()
    if options.json:
        sys.stdout.write(json.dumps(_payload(result), ensure_ascii=False) + "\n")
    elif not result.text.endswith("\n"):
        sys.stdout.write("\n")
    return 0 if result.stop_reason == "end" else 9


def _with_piped(text: str, piped: str) -> str:
    if not piped.strip():
        return text
    from chatls_core.text.fence import fence

    return f"{text}\n\n{fence('standard input', piped)}" if text else piped


def _show(event: object, *, quiet: bool) -> None:
    match event:
        case Text(delta) if not quiet:
            sys.stdout.write(delta)
            sys.stdout.flush()
        case ToolStart():
            sys.stderr.write(f"▸ {event.label}\n")
        case Edit(uri=uri, status=status, reason=reason):
            sys.stderr.write(f"▸ edit {uri}: {status}{f' ({reason})' if reason else ''}\n")
        case Notice(level, text):
            sys.stderr.write(f"{level}: {text}\n")
        case _:
            pass


def _failed(as_json: bool, kind: str, message: str, hint: str, code: int) -> int:
    if as_json:
        sys.stdout.write(json.dumps({"error": {"kind": kind, "message": message, "hint": hint}}) + "\n")
    else:
        sentence = message if message.endswith((".", "!", "?")) or not hint else f"{message}."
        sys.stderr.write(f"\nerror: {sentence}{f' {hint}' if hint else ''}\n")
    return code


def _payload(result: ChatResult) -> dict[str, Any]:
    return {
        "sessionId": result.session_id,
        "turnId": result.turn_id,
        "text": result.text,
        "stopReason": result.stop_reason,
        "usage": usage_payload(result.usage),
        "edits": [{"uri": e.uri, "applied": e.applied, "reason": e.reason} for e in result.edits],
    }
