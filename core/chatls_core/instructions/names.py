"""Identities and titles of items, and which file names are instruction files."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from chatls_core.instructions import caps, pathtext
from chatls_core.instructions.folders import AGENTS_NAMES, LOCAL_NAMES
from chatls_core.instructions.model import BOOTSTRAP_NAMES, InstructionItem
from chatls_core.instructions.rules import RULE_FOLDERS
from chatls_core.instructions.workspace import Root

_NAMES = frozenset({*AGENTS_NAMES, *LOCAL_NAMES, *BOOTSTRAP_NAMES})

WATCH_GLOBS = (
    "**/{" + ",".join((*AGENTS_NAMES, *LOCAL_NAMES, *BOOTSTRAP_NAMES)) + "}",
    *(f"**/{home}/{below}/**/*{ending}" for home, below, _, ending in RULE_FOLDERS),
)
"""What a client is asked to watch in every opened folder."""


def _labelled(root: Root, relative: str) -> str:
    return "/".join(part for part in (root.label, relative) if part)


def agents_item(root: Root | None, folder: str, path: str, *, trusted: bool) -> InstructionItem:
    """The item of an AGENTS file, without its text."""
    base = pathtext.base(path)
    if root is None:
        return InstructionItem("agents://global", "agents", f"{base} (global)", Path(path), "", "",
                               comment=f"global {base}", trusted=trusted)
    relative = pathtext.relative(folder, root.path)
    title = caps.shown("/".join(part for part in (_labelled(root, relative), base) if part))
    label = f"{root.label}//" if root.label else ""
    return InstructionItem(
        f"agents:{label}{relative or '.'}", "agents", title, Path(path), "", "",
        folder=caps.shown(_labelled(root, relative)) if relative and not relative.startswith("..") else "",
        comment=title if relative or root.label else "", trusted=trusted,
    )


def bootstrap_item(root: Root | None, name: str, path: str, *, trusted: bool) -> InstructionItem:
    """The item of SOUL.md, USER.md, IDENTITY.md or RULES.md, without its text."""
    label = root.label if root is not None else ""
    title = caps.shown(f"{label}/{name}" if label else name)
    return InstructionItem(f"bootstrap:{label + '//' if label else ''}{name}", "bootstrap", title, Path(path), "", "",
                           trusted=trusted)


def rule_item(
    root: Root | None, folder: str, name: str, path: str, patterns: Sequence[str], *, trusted: bool
) -> InstructionItem:
    """The item of a rule, without its text."""
    if root is None:
        identity, where = f"rule://global/{name}", ""
    else:
        relative = pathtext.relative(folder, root.path)
        where = _labelled(root, relative)
        identity = f"rule:{root.label}//{relative}//{name}" if where else f"rule:{name}"
    notes = [f"in {where}"] if where else []
    if patterns:
        notes.append("paths: " + ", ".join(patterns))
    title = caps.shown(f"Rule: {name}" + (f" ({'; '.join(notes)})" if notes else ""))
    return InstructionItem(identity, "rule", title, Path(path), "", "", patterns=tuple(patterns),
                           folder=caps.shown(where), trusted=trusted)


def sized(item: InstructionItem, size_bytes: int, full_bytes: int) -> InstructionItem:
    """``item`` with its size on disk and the size of its whole text."""
    return dataclasses.replace(item, size_bytes=size_bytes, full_bytes=full_bytes)


def is_rule(path: str, global_folder: str) -> bool:
    """Whether ``path`` is a rule file by its name and place."""
    if path.lower().endswith(".md") and pathtext.is_within(path, pathtext.join(global_folder, "rules")):
        return True
    parts = path.replace(pathtext.SEP, "/").split("/")
    return any(
        path.lower().endswith(ending) and (home, below) in pairwise(parts[:-1])
        for home, below, _, ending in RULE_FOLDERS
    )


def is_instruction_name(path: str, global_folder: str) -> bool:
    """Whether ``path`` is an instruction file by its name and place."""
    return pathtext.base(path) in _NAMES or is_rule(path, global_folder)
