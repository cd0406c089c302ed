"""Identities and titles of items, and which file names are instruction files."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Literal

from chatls_core.instructions import caps, pathtext
from chatls_core.instructions.folders import AGENTS_NAMES, LOCAL_NAMES
from chatls_core.instructions.model import BOOTSTRAP_NAMES, InstructionItem
from chatls_core.instructions.rules import GLOBAL_RULES, RULE_FOLDERS, Dialect
from chatls_core.instructions.workspace import Root

_NAMES = frozenset({*AGENTS_NAMES, *LOCAL_NAMES, *BOOTSTRAP_NAMES})

WATCH_GLOBS = (
    "**/{" + ",".join((*AGENTS_NAMES, *LOCAL_NAMES, *BOOTSTRAP_NAMES)) + "}",
    *(f"**/{home}/{below}/**/*{ending}" for home, below, _, ending in RULE_FOLDERS),
)
"""What a client is asked to watch in every opened folder."""

MOST_IMPORT_GLOBS = 128
"""Imported files a client is asked to watch one by one."""

_IMPORTABLE_GLOB = "**/*.{md,mdx,markdown,txt,MD,TXT}"

_GLOB_SYNTAX = re.compile(r"[\[\]{}*?!,\\]")


def import_globs(paths: Iterable[str], roots: Sequence[str], global_folder: str) -> tuple[str, ...]:
    """Globs for those of ``paths`` that lie below ``roots`` and that :data:`WATCH_GLOBS` leave out, sorted.

    A glob may match more: characters of its syntax stand as ``?``, which every client understands.
    """
    found: set[str] = set()
    for path in paths:
        if is_instruction_name(path, global_folder) and path.endswith((".md", ".mdc")):
            continue
        root = next((root for root in roots if pathtext.is_within(path, root)), None)
        if root is not None:
            found.add("**/" + _GLOB_SYNTAX.sub("?", pathtext.below(path, root)))
    return tuple(sorted(found)) if len(found) <= MOST_IMPORT_GLOBS else (_IMPORTABLE_GLOB,)


def _labelled(root: Root, relative: str) -> str:
    return "/".join(part for part in (root.label, relative) if part)


def agents_item(root: Root | None, folder: str, path: str, *, trusted: bool) -> InstructionItem:
    """The item of an AGENTS file, without its text."""
    base = pathtext.base(path)
    if root is None:
        return InstructionItem(
            "agents://global",
            "agents",
            f"{base} (global)",
            Path(path),
            "",
            "",
            comment=f"global {base}",
            trusted=trusted,
        )
    relative = pathtext.relative(folder, root.path)
    title = caps.shown("/".join(part for part in (_labelled(root, relative), base) if part))
    label = f"{root.label}//" if root.label else ""
    return InstructionItem(
        f"agents:{label}{relative or '.'}",
        "agents",
        title,
        Path(path),
        "",
        "",
        folder=caps.shown(_labelled(root, relative)) if relative and not relative.startswith("..") else "",
        comment=title if relative or root.label else "",
        trusted=trusted,
    )


def bootstrap_item(root: Root | None, name: str, path: str, *, trusted: bool) -> InstructionItem:
    """The item of SOUL.md, USER.md, IDENTITY.md or RULES.md, without its text."""
    label = root.label if root is not None else ""
    title = caps.shown(f"{label}/{name}" if label else name)
    return InstructionItem(
        f"bootstrap:{label + '//' if label else ''}{name}", "bootstrap", title, Path(path), "", "", trusted=trusted
    )


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
    return InstructionItem(
        identity, "rule", title, Path(path), "", "", patterns=tuple(patterns), folder=caps.shown(where), trusted=trusted
    )


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


def role(path: str, global_folder: str) -> Literal["agents", "bootstrap", "rule", "import"]:
    """What kind of instruction file ``path`` is by its name and place; anything else counts as imported."""
    name = pathtext.base(path)
    if is_rule(path, global_folder):
        return "rule"
    if name in BOOTSTRAP_NAMES:
        return "bootstrap"
    return "agents" if name in AGENTS_NAMES or name in LOCAL_NAMES else "import"


@dataclass(frozen=True, slots=True)
class RulePlace:
    """Where a rule file stands: the folder its patterns are relative to, its dialect and its name."""

    folder: str
    dialect: Dialect
    name: str


def rule_place(path: str, global_folder: str) -> RulePlace | None:
    """The place of the rule file ``path``; ``None`` when it is none."""
    rules = pathtext.join(global_folder, GLOBAL_RULES[0])
    if pathtext.is_within(path, rules) and path.lower().endswith(GLOBAL_RULES[1]):
        return RulePlace(global_folder, "global", pathtext.below(path, rules)[: -len(GLOBAL_RULES[1])])
    parts = path.replace(pathtext.SEP, "/").split("/")
    for home, below, dialect, ending in RULE_FOLDERS:
        for at in range(len(parts) - 3, -1, -1):
            if parts[at] == home and parts[at + 1] == below and path.lower().endswith(ending):
                folder = pathtext.SEP.join(parts[:at]) or pathtext.SEP
                return RulePlace(folder, dialect, "/".join(parts[at + 2 :])[: -len(ending)])
    return None


def right_name(path: str) -> str | None:
    """The name ``path`` should have to be read, where only letter case keeps it from that."""
    name = pathtext.base(path)
    return next((right for right in sorted(_NAMES) if name != right and name.lower() == right.lower()), None)


def right_rule_path(path: str) -> str | None:
    """Where a rule that no tool would read from ``path`` belongs: a bare ``rules`` folder, ``.chatcli`` itself, …"""
    parts = path.replace(pathtext.SEP, "/").split("/")
    name = parts[-1]
    if not name.lower().endswith(".md") or len(parts) < 3:
        return None
    stem = name[:-3]
    if parts[-3:-1] == [".cursor", "rules"]:
        return pathtext.SEP.join([*parts[:-1], stem + ".mdc"])
    if parts[-3:-1] == [".github", "instructions"] and not name.endswith(".instructions.md"):
        return pathtext.SEP.join([*parts[:-1], stem + ".instructions.md"])
    if parts[-2] == "rules" and parts[-3] not in (".chatcli", ".claude"):
        return pathtext.SEP.join([*parts[:-2], ".chatcli", "rules", name])
    if parts[-2] == ".chatcli" and name not in _NAMES:
        return pathtext.SEP.join([*parts[:-1], "rules", name])
    return None
