"""Commands that only look, and only inside the opened folders: they need no question (spec/agent.md §5.1 step 4).

The list is short on purpose: a program that can run another one, write a file or reach the network is not on it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from chatls_core.tools.secret_files import is_dotenv, may_hold_secrets
from chatls_core.tools.shell_words import Command

_PROGRAMS = frozenset([
    "ls", "cat", "head", "tail", "wc", "pwd", "echo", "grep", "egrep", "fgrep", "rg", "which", "file", "stat", "cut",
    "tr", "true", "false", "test", "basename", "dirname", "realpath", "readlink", "diff", "cmp", "tree", "du", "df",
    "nl", "tac", "column", "whoami", "uname", "date", "printf",
])  # fmt: skip
_GIT = frozenset(["status", "diff", "log", "show", "rev-parse", "ls-files", "describe", "shortlog", "blame"])
_UNSAFE = re.compile(r"^(--output|-o|--pre\b|--ext-diff|--textconv|--exec|--config|-c$|--hostname-bin|--compile)")
_UNSAFE_OF = {
    "grep": re.compile(r"^(-\w*R|--dereference-recursive)"),
    "rg": re.compile(r"^(-\w*L|--follow)"),
    "tree": re.compile(r"^-\w*l"),
    "du": re.compile(r"^(-\w*[LD]|--dereference)"),
    "find": re.compile(r"^(-(exec|ok|delete|fprint|fls|follow|files0)|-[LH]$)"),
    "date": re.compile(r"^(-\w*[sfr]|--set|--file|--reference)"),
    "file": re.compile(r"^-\w*[Cf]"),
    "git": re.compile(r"^(-\w*O|--no-index)"),
}  # links that are followed lead out of the folders; the others write, or read what they name
_SEARCHERS = frozenset(["grep", "egrep", "fgrep", "rg", "diff"])
"""Programs that show what stands in the files of a folder."""


def only_reads(command: Command, roots: Sequence[Path], folder: Path | None) -> bool:
    """Whether a command of a line, run in ``folder`` (``None``: nobody knows where), can only show what stands inside
    ``roots`` and is no secret. Symlinks are resolved, so this reads the disk."""
    if folder is None or command.dynamic or command.writes or command.wrappers or not command.words:
        return False
    name, *rest = command.words
    unsafe = _UNSAFE_OF.get(name)
    if any(_UNSAFE.match(word) or (unsafe is not None and unsafe.match(word)) for word in rest):
        return False
    user_home = Path(os.path.realpath(os.path.expanduser("~")))  # noqa: PTH111 - never raises, unlike Path.home

    def is_secret(path: Path) -> bool:
        return may_hold_secrets(path, user_home) or is_dotenv(path)

    if not all(_inside(word, roots, folder, is_secret) for word in (*rest, *command.reads)):
        return False
    if name in _SEARCHERS:
        searched = (folder, *(folder / word for word in rest if not word.startswith("-")))
        if any(user_home.is_relative_to(os.path.realpath(place)) for place in searched):
            return False  # somewhere below are the user's keys
    match name:
        case "git":
            return bool(rest) and rest[0] in _GIT
        case "cd":
            return len(rest) == 1 and not rest[0].startswith("-")
        case "uniq":
            return sum(not word.startswith("-") for word in rest) < 2  # the second one is written to
        case "find":
            return True  # it runs and writes nothing without the options above
    return name in _PROGRAMS


def _inside(word: str, roots: Sequence[Path], folder: Path, is_secret: Callable[[Path], bool]) -> bool:
    """Whether a word names nothing outside, nothing that holds a secret, or no path at all."""
    if word.startswith("-"):
        head, equals, word = word.partition("=")
        if not equals:
            slash = head.find("/")
            if slash < 0:
                return True
            word = head[slash:]  # -I/usr/include
    if word.startswith("~") or ".." in word.split("/") or "\0" in word:
        return False
    real = Path(os.path.realpath(folder / word))
    if is_secret(real) or is_secret(folder / word):
        return False
    return any(real.is_relative_to(root) for root in roots)
