"""``allowed-tools`` of a skill or template the user called: in that turn the model uses these and no others
(spec/agent.md §9.3, §9.5).

It only tightens: the list of tools that is sent stays as it is, a call of another one is answered with an error, and
what is left passes policy and user as ever. Nothing that is named here runs unasked for being named.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path, PurePath

from chatls_core.instructions.globs import PatternSet
from chatls_core.prompt.tool_names import ALWAYS, ours
from chatls_core.tools.shell_words import Command, UnreadableCommandError, commands

_ENTRY = re.compile(r"@coder\s+[\w-]+|@?[\w*.:-]+(?:\([^()]*(?:\([^()]*\)[^()]*)*\))?")
_LINES: Mapping[str, str] = {"git_status": "git status", "git_diff": "git diff", "git_log": "git log"}
"""Tools that do what a command line does."""
_BY_PATH = frozenset({"read_file", "list_dir", "outline", "diagnostics", "edit_file", "write_file"})
"""Tools whose subject is the one path they act on."""
_UNWRITTEN = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr"})


@dataclass(frozen=True, slots=True)
class AllowedTools:
    """The ``words`` of the head of what was called; ``by`` is its name as the user writes it."""

    by: str
    words: tuple[str, ...]

    @property
    def note(self) -> str:
        """What the model is told before it works."""
        return f"{self.by} names the tools for this turn: {self._named}. Calls of others are refused."

    def refusal(self, tool: str, also: Sequence[str], subject: str, roots: Sequence[Path]) -> str:
        """Why a call may not run; empty where it may. ``also`` are further names of the tool, ``subject`` the path or
        command line it acts on, ``roots`` the folders relative paths start in."""
        if tool in ALWAYS or any(_grants(word, (tool, *also), subject, roots) for word in self.words):
            return ""
        if lines := [pattern for pattern in map(_line_pattern, self.words) if pattern]:
            asked = subject if tool == "run_command" else _LINES.get(tool)
            if asked and _covered(asked, lines):
                return ""
        return f"Not run: {self.by} allows these tools only: {self._named}. Use one of them, or finish without."

    @property
    def _named(self) -> str:
        shown = dict.fromkeys(name for word in self.words for name in _shown(word))
        return ", ".join(shown) if shown else "none"


def allowed_words(value: object) -> tuple[str, ...] | None:
    """The entries of a head's ``allowed-tools``, between commas, blanks or as a list; ``None`` where all tools are."""
    if value is None or (isinstance(value, str) and value.strip().lower() in ("", "*", "all")):
        return None
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    found = tuple(" ".join(match.split()) for match in _ENTRY.findall(text))
    return None if "*" in found else found


def _parts(word: str) -> tuple[str, str]:
    """An entry's name and the pattern in its parentheses."""
    name, _, pattern = word.partition("(")
    return name.strip(), pattern.rstrip(")").strip()


def _shown(word: str) -> list[str]:
    name, pattern = _parts(word)
    return [f"{tool} ({pattern})" if pattern else tool for tool in ours(name)]


def _grants(word: str, names: Sequence[str], subject: str, roots: Sequence[Path]) -> bool:
    """Whether an entry allows a call, command lines with a pattern aside."""
    name, pattern = _parts(word)
    meant = ours(name.replace("__", "_") if name.lower().startswith("mcp__") else name)
    if not any(fnmatchcase(given.lower(), wanted.lower()) for given in names for wanted in _with_server(name, meant)):
        return False
    if pattern in ("", "*", "**"):
        return True
    return names[0] in _BY_PATH and _inside(subject, pattern, roots)


def _with_server(name: str, meant: Sequence[str]) -> tuple[str, ...]:
    """``mcp__server`` without a tool means all tools of that server."""
    whole = name.lower().startswith("mcp__") and name.count("__") == 1
    return tuple(f"{tool}_*" for tool in meant) if whole else tuple(meant)


def _inside(subject: str, pattern: str, roots: Sequence[Path]) -> bool:
    path = PurePath(subject.replace("\\", "/"))
    if ".." in path.parts or not subject:
        return False
    if path.is_absolute():
        below = [path.relative_to(root) for root in roots if path.is_relative_to(root)]
        return any(PatternSet((pattern,)).matches(each.as_posix()) for each in below)
    return PatternSet((pattern.removeprefix("./"),)).matches(path.as_posix())


def _line_pattern(word: str) -> str:
    """The pattern of command lines an entry allows, ``*`` for all; empty where it is about something else."""
    name, pattern = _parts(word)
    return (pattern or "*") if "run_command" in ours(name) else ""


def _covered(line: str, patterns: Sequence[str]) -> bool:
    """Whether every command of a line is one of those that are named; what is written by redirect is not."""
    if "*" in patterns:
        return True
    try:
        found = commands(line)
    except UnreadableCommandError:
        return False
    return bool(found) and all(_named_command(command, patterns) for command in found)


def _named_command(command: Command, patterns: Sequence[str]) -> bool:
    if any(target not in _UNWRITTEN for target in command.writes):
        return False
    text = " ".join((*command.wrappers, *command.words))
    return any(_matches(text, pattern) for pattern in patterns)


def _matches(text: str, pattern: str) -> bool:
    """``git add:*`` and ``git add *`` mean the command with any arguments, a pattern without a star only itself."""
    start = pattern.removesuffix(":*").removesuffix(" *").strip()
    if start != pattern and "*" not in start:
        return text == start or text.startswith(f"{start} ")
    return fnmatchcase(text, pattern)
