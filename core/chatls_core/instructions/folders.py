"""What one folder contributes: its AGENTS file and companion, the other bootstrap files, its rules.

Which file is chosen: ``AGENTS.override.md``, else ``AGENTS.md``, ``CHATCLI.md``, ``CLAUDE.md``, the first that can be
read and is not blank (spec/memory.md §1.3). A blank file hides nothing; a file of comments only is empty on purpose.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from chatls_core.instructions import pathtext
from chatls_core.instructions.boundary import Boundary
from chatls_core.instructions.disk import FileTable, Unreadable
from chatls_core.instructions.documents import admitted
from chatls_core.instructions.imports import is_blank
from chatls_core.instructions.model import BOOTSTRAP_NAMES, ReportStatus
from chatls_core.instructions.rules import GLOBAL_RULES, RULE_DEPTH, RULE_FOLDERS, Dialect, rule_name

OVERRIDE = "AGENTS.override.md"
AGENTS_NAMES = (OVERRIDE, "AGENTS.md", "CHATCLI.md", "CLAUDE.md")
"""Candidates per folder, strongest first."""

LOCAL_NAMES = ("AGENTS.local.md", "CHATCLI.local.md", "CLAUDE.local.md")
"""Companions that stay on one machine, appended to their file."""

_RULE_HOMES = tuple(dict.fromkeys(home for home, _, _, _ in RULE_FOLDERS))
_PROBED = (*AGENTS_NAMES, *LOCAL_NAMES, *_RULE_HOMES, *BOOTSTRAP_NAMES)

NOISE = frozenset(
    {
        ".git",
        ".hg",
        ".svn",
        ".venv",
        "venv",
        "node_modules",
        "bower_components",
        "site-packages",
        "__pycache__",
        ".tox",
        ".nox",
        ".mypy_cache",
        ".ruff_cache",
        ".pytest_cache",
        ".gradle",
        ".terraform",
        ".next",
        ".nuxt",
        ".cache",
        ".idea",
    }
)
"""Folders whose files the people of this workspace did not write: no instructions come from them."""


@dataclass(frozen=True, slots=True)
class RuleFile:
    """A rule file: ``name`` is what shadowing goes by."""

    path: str
    name: str
    dialect: Dialect


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that exists but does not take part: ``kind`` and the reason."""

    path: str
    kind: ReportStatus
    reason: str


@dataclass(frozen=True, slots=True)
class Folder:
    """The instruction files of one folder, rules weakest dialect first; ``looked_at`` are the paths this rests on."""

    path: str
    agents: str | None
    local: str | None
    bootstrap: tuple[tuple[str, str], ...]
    rules: tuple[RuleFile, ...]
    skipped: tuple[Skipped, ...]
    looked_at: frozenset[str]


def survey(table: FileTable, path: str, boundary: Boundary, *, bootstrap: bool, global_folder: str = "") -> Folder:
    """Look into the folder ``path``; ``bootstrap`` also looks for SOUL.md and companions."""
    looked_at = {path}
    skipped: list[Skipped] = []
    present = table.present(path, _PROBED)

    def readable(name: str) -> str | None:
        """The path of ``name`` if it has text; what stands in the way is noted."""
        full = pathtext.join(path, name)
        looked_at.add(full)
        content = admitted(table, full, boundary)
        if isinstance(content, Unreadable):
            kind: ReportStatus = "refused" if content.kind == "refused" else "unreadable"
            skipped.append(Skipped(full, kind, content.reason))
            return None
        if is_blank(content.text):
            skipped.append(Skipped(full, "empty", "it is blank; write a comment into it to hide others on purpose"))
            return None
        return full

    agents: str | None = None
    chosen = ""
    for name in AGENTS_NAMES:
        if name not in present:
            continue
        full = pathtext.join(path, name)
        if agents is not None:
            skipped.append(Skipped(full, "shadowed", f"{chosen} stands in its place"))
        elif (agents := readable(name)) is not None:
            chosen = name
    companion = "AGENTS.local.md" if chosen in ("", OVERRIDE) else chosen.removesuffix(".md") + ".local.md"
    local = None
    for name in LOCAL_NAMES:
        if name not in present:
            continue
        full = pathtext.join(path, name)
        if name == companion or (not chosen and local is None):
            local = local or readable(name)
        else:
            partner = name.removesuffix(".local.md") + ".md"
            skipped.append(Skipped(full, "shadowed", f"it goes with {partner}, which is not used"))
    others = [(name, readable(name)) for name in BOOTSTRAP_NAMES if bootstrap and name in present]
    found = tuple((name, other) for name, other in others if other is not None)
    rules = tuple(_rules(table, path, present, boundary, skipped, looked_at, global_folder))
    return Folder(path, agents, local, found, rules, tuple(skipped), frozenset(looked_at))


def _rules(
    table: FileTable,
    path: str,
    present: frozenset[str],
    boundary: Boundary,
    skipped: list[Skipped],
    looked_at: set[str],
    global_folder: str,
) -> Iterator[RuleFile]:
    places: list[tuple[str, Dialect, str]] = []
    if path == global_folder:
        places.append((pathtext.join(path, GLOBAL_RULES[0]), "global", GLOBAL_RULES[1]))
    else:
        for home, below, dialect, ending in RULE_FOLDERS:
            if home in present:
                folder = pathtext.join(path, home)
                looked_at.add(folder)
                if global_folder and table.real(folder) == pathtext.real(global_folder):
                    continue
                if below in table.present(folder, (below,)):
                    places.append((pathtext.join(folder, below), dialect, ending))
    for folder, dialect, ending in places:
        for relative in _rule_files(table, folder, boundary, ending, looked_at, skipped):
            yield RuleFile(pathtext.join(folder, relative), rule_name(relative, ending), dialect)


def _rule_files(
    table: FileTable, folder: str, boundary: Boundary, ending: str, looked_at: set[str], skipped: list[Skipped]
) -> Iterator[str]:
    seen: set[str] = set()

    def walk(below: str, depth: int) -> Iterator[str]:
        full = pathtext.join(folder, below) if below else folder
        looked_at.add(full)
        real = table.real(full)
        if real in seen or not table.is_folder(full):
            return
        if not boundary.admits(real):
            skipped.append(Skipped(full, "refused", "it is a link that leaves the workspace"))
            return
        seen.add(real)
        for name in table.listing(full):
            if name.endswith("/"):
                if depth < RULE_DEPTH and name[:-1] not in NOISE:
                    yield from walk(below + name, depth + 1)
            elif name.lower().endswith(ending) and len(name) > len(ending):
                yield below + name

    yield from walk("", 0)
