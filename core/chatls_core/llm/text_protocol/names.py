"""Which of our tools a written call means: ChatCLI's ``@coder`` commands and the names other agents teach.

The table is documented in docs/providers.md.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

from chatls_core.llm.text_protocol.invocation import Invocation

OTHER_NAMES: Final[Mapping[str, str]] = {
    "read": "read_file", "view": "read_file", "cat": "read_file",
    "write": "write_file", "create_file": "write_file",
    "edit": "edit_file", "patch": "edit_file", "str_replace": "edit_file",
    "exec": "run_command", "bash": "run_command", "shell": "run_command", "execute_command": "run_command",
    "glob": "find_files", "search_files": "search", "grep": "search",
    "list_directory": "list_dir", "list_files": "list_dir", "ls": "list_dir", "tree": "list_dir",
}  # fmt: skip

_COMMANDS: Final[Mapping[str, tuple[str, Mapping[str, str]]]] = {
    "read": ("read_file", {"file": "path", "start": "start_line", "end": "end_line", "head": "end_line"}),
    "write": ("write_file", {"file": "path"}),
    "patch": ("edit_file", {"file": "path", "search": "old_text", "replace": "new_text"}),
    "multipatch": ("edit_file", {}),
    "tree": ("list_dir", {"dir": "path", "max-depth": "depth"}),
    "search": ("search", {"term": "query", "dir": "path", "case-sensitive": "case_sensitive"}),
    "exec": ("run_command", {"cmd": "command", "dir": "cwd", "timeout": "timeout_seconds"}),
    "test": ("run_command", {"cmd": "command", "dir": "cwd", "timeout": "timeout_seconds"}),
    "git-status": ("git_status", {}),
    "git-changed": ("git_status", {}),
    "git-branch": ("git_status", {}),
    "git-diff": ("git_diff", {}),
    "git-log": ("git_log", {}),
}
CODER_COMMANDS: Final[frozenset[str]] = frozenset(_COMMANDS) | {"rollback", "clean", "delegate"}
_FIRST: Final[Mapping[str, str]] = {"read": "path", "search": "query", "tree": "path", "exec": "command"}


@dataclass(frozen=True, slots=True)
class NamedCall:
    """A call of one of our tools, or of a name nobody has; ``error`` says why its arguments cannot be used."""

    name: str
    arguments: Mapping[str, Any]
    error: str = ""


def tool_name(name: str, offered: Collection[str]) -> str | None:
    """The offered tool that ``name`` means, ``coder`` for ChatCLI's tool of that name, ``None`` for neither."""
    plain = name.strip().lstrip("@").replace("-", "_").lower()
    if plain in offered:
        return plain
    if plain == "coder":
        return plain
    other = OTHER_NAMES.get(plain)
    return other if other in offered else None


def coder_calls(invocation: Invocation, offered: Collection[str]) -> tuple[NamedCall, ...]:
    """Our calls for one ``@coder`` invocation: several for several files or edits."""
    command = invocation.command.strip().lower().replace("_", "-")
    if command not in _COMMANDS:
        known = ", ".join(sorted(_COMMANDS))
        return (NamedCall("coder", {}, f"There is no command {invocation.command!r}; there are: {known}."),)
    tool, renamed = _COMMANDS[command]
    options = dict(invocation.options)
    if refused := _refused(command, options):
        return (NamedCall(tool, {}, refused),)
    if command == "multipatch":
        return _many_edits(options.get("edits"), renamed=_COMMANDS["patch"][1])
    if command == "patch" and "diff" in options:
        return (NamedCall("apply_diff", {"edit": options["diff"]}),)
    # The longer word of a pair (command for cmd) means the same.
    arguments = {renamed.get(key, key): value for key, value in options.items()}
    if isinstance(value := arguments.get("glob"), list):
        arguments["glob"] = "{" + ",".join(map(str, value)) + "}"
    files = [*_listed(arguments.pop("path", None)), *invocation.positional] if command == "read" else []
    if files:
        return tuple(NamedCall(tool, {**arguments, "path": file}) for file in files)
    first = _FIRST.get(command)
    if first and first not in arguments and invocation.positional:
        arguments[first] = " ".join(invocation.positional)
    return (NamedCall(tool, arguments),)


def _refused(command: str, options: Mapping[str, Any]) -> str:
    if str(options.get("encoding", "text")).lower() == "base64" or str(options.get("diff-encoding", "")) == "base64":
        return "Base64 is not taken; send the text itself."
    if options.get("append"):
        return "append is not taken: it would replace the file. Use edit_file with the last lines as old_text."
    if command == "read" and "tail" in options:
        return "tail is not taken; use start_line and end_line."
    return ""


def _many_edits(edits: Any, renamed: Mapping[str, str]) -> tuple[NamedCall, ...]:
    if isinstance(edits, str):
        try:
            edits = json.loads(edits)
        except ValueError:
            edits = None
    if not isinstance(edits, list) or not edits or not all(isinstance(e, dict) for e in edits):
        return (NamedCall("edit_file", {}, "edits must be a list of {file, search, replace}."),)
    return tuple(
        NamedCall("edit_file", {renamed.get(k, k): v for k, v in edit.items()}, _refused("patch", edit))
        for edit in edits
    )


def _listed(value: Any) -> list[str]:
    if value is None:
        return []
    return [str(v) for v in value] if isinstance(value, list) else [str(value)]
