"""Commands that only look, and only inside the opened folders: they need no question (spec/agent.md §5.1 step 4).

The list is short on purpose: a program that can run another one, write a file or reach the network is not on it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

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
KEY_SUFFIXES = frozenset({".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".p8", ".der"})


def only_reads(command: Command, roots: Sequence[Path], folder: Path | None) -> bool:
    """Whether a command of a line, run in ``folder`` (``None``: nobody knows where), can only show what stands inside
    ``roots``. Symlinks are resolved, so this reads the disk."""
    if folder is None or command.dynamic or command.writes or command.wrappers or not command.words:
        return False
    name, *rest = command.words
    unsafe = _UNSAFE_OF.get(name)
    if any(_UNSAFE.match(word) or (unsafe is not None and unsafe.match(word)) for word in rest):
        return False
    if not all(_inside(word, roots, folder) for word in (*rest, *command.reads)):
        return False
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


def _inside(word: str, roots: Sequence[Path], folder: Path) -> bool:
    """Whether a word names nothing outside, nothing that holds a key, or no path at all."""
    if word.startswith("-"):
        head, equals, word = word.partition("=")
        if not equals:
            slash = head.find("/")
            if slash < 0:
                return True
            word = head[slash:]  # -I/usr/include
    if word.startswith("~") or ".." in word.split("/") or Path(word).suffix.lower() in KEY_SUFFIXES:
        return False
    if "\0" in word:
        return False
    real = Path(os.path.realpath(folder / word))
    return real.suffix.lower() not in KEY_SUFFIXES and any(real.is_relative_to(root) for root in roots)
