"""The opened folders, the repositories around them, and where a path belongs (spec/memory.md §1.8).

A repository's root is marked by a ``.git`` folder, the ``.git`` file of a worktree or submodule, or an ``.agent``
folder. Parents that belong to somebody else are not searched: on a shared machine anyone may put a repository into
a folder that all may write.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from chatls_core.instructions import pathtext
from chatls_core.instructions.boundary import Boundary
from chatls_core.instructions.disk import FileTable, Unreadable
from chatls_core.instructions.pathtext import is_within

_MARKS = (".git", ".agent")
DEEPEST = 64
"""Folders between an opened folder and a file (or its repository's root) that are looked into."""


@dataclass(frozen=True, slots=True)
class Root:
    """An opened folder. ``parents`` are the folders above it up to its repository's root, outermost first.

    ``label`` is "" for the first folder; others carry their name, numbered where two are alike.
    """

    path: str
    real: str
    label: str
    parents: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Workspace:
    """All opened folders with what they may read; ``looked_at`` are the paths this rests on."""

    roots: tuple[Root, ...]
    boundary: Boundary
    global_boundary: Boundary
    looked_at: frozenset[str]

    def locate(self, path: str) -> tuple[Root, str] | None:
        """The innermost opened folder that holds ``path``, and the slash-separated rest; ``None`` outside of all."""
        best: tuple[Root, str] | None = None
        for root in self.roots:
            for folder in (root.path, root.real):
                if is_within(path, folder) and (best is None or len(folder) > len(best[1])):
                    best = root, folder
        return (best[0], pathtext.below(path, best[1])) if best else None


def survey_roots(table: FileTable, roots: Sequence[str], global_folder: str, *, trusted: bool) -> Workspace:
    """Find the repositories around ``roots``. Untrusted workspaces and the global folder may not import each other."""
    looked_at: set[str] = set()
    found = tuple(
        Root(path, pathtext.real(path), label, _parents(table, path, looked_at))
        for path, label in zip(roots, _labels(roots), strict=True)
    )
    inside = [folder for root in found for folder in (root.path, *root.parents)]
    return Workspace(
        found,
        Boundary.of([*inside, global_folder] if trusted else inside),
        Boundary.of([global_folder, *inside] if trusted else [global_folder]),
        frozenset(looked_at),
    )


def _labels(roots: Sequence[str]) -> list[str]:
    labels: list[str] = []
    for number, path in enumerate(roots):
        name = pathtext.base(path) or "root"
        label, count = ("" if number == 0 else name), 2
        while label in labels:
            label, count = f"{name}-{count}", count + 1
        labels.append(label)
    return labels


def _parents(table: FileTable, path: str, looked_at: set[str]) -> tuple[str, ...]:
    parents: list[str] = []
    folder = path
    for _ in range(DEEPEST):
        if _is_repository(table, folder, looked_at):
            return tuple(reversed(parents))
        above = pathtext.parent(folder)
        if above == folder or not _same_owner(path, above):
            return ()
        folder = above
        parents.append(folder)
    return ()


def _same_owner(opened: str, above: str) -> bool:
    if os.name != "posix":
        return True
    try:
        owner = pathtext.stat(above).st_uid
        return owner in (os.geteuid(), pathtext.stat(opened).st_uid)
    except OSError:
        return False


def _is_repository(table: FileTable, folder: str, looked_at: set[str]) -> bool:
    looked_at.add(folder)
    present = table.present(folder, _MARKS)
    for mark in present:
        full = pathtext.join(folder, mark)
        looked_at.add(full)
        if table.is_folder(full):
            return True
        if mark == ".git":
            content = table.text(full)
            if not isinstance(content, Unreadable) and content.text.startswith("gitdir:"):
                return True
    return False
