"""The opened folders, the repositories around them, and where a path belongs (spec/memory.md §1.8).

A repository's root is marked by a ``.git`` folder, the ``.git`` file of a worktree or submodule, or an ``.agent`` folder.
Parents that belong to somebody else are not searched: on a shared machine anyone may put a repository into ``/tmp``.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from chatls_core.instructions.boundary import Boundary, is_within
from chatls_core.instructions.disk import FileTable, Unreadable

_MARKS = (".git", ".agent")
DEEPEST = 64
"""Folders between an opened folder and a file (or its repository's root) that are looked into."""


@dataclass(frozen=True, slots=True)
class Root:
    """An opened folder. ``parents`` are the folders above it up to its repository's root, outermost first.

    ``label`` is "" for the first folder; others carry their name, numbered where two are alike.
    """

    path: str
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
        best: Root | None = None
        for root in self.roots:
            if is_within(path, root.path) and (best is None or len(root.path) > len(best.path)):
                best = root
        if best is None:
            return None
        relative = path[len(best.path) :].strip(os.sep)
        return best, relative.replace(os.sep, "/")


def survey_roots(table: FileTable, roots: Sequence[str], global_folder: str, *, trusted: bool) -> Workspace:
    """Find the repositories around ``roots``. Untrusted workspaces and the global folder may not import each other."""
    looked_at: set[str] = set()
    labels = _labels(roots)
    found = tuple(
        Root(path, label, _parents(table, path, looked_at)) for path, label in zip(roots, labels, strict=True)
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
        name = os.path.basename(path) or "root"  # noqa: PTH119
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
        above = os.path.dirname(folder)  # noqa: PTH120
        if above == folder or not _same_owner(path, above):
            return ()
        folder = above
        parents.append(folder)
    return ()


def _same_owner(opened: str, above: str) -> bool:
    if os.name != "posix":
        return True
    try:
        owner = os.stat(above).st_uid
        return owner in (os.geteuid(), os.stat(opened).st_uid)
    except OSError:
        return False


def _is_repository(table: FileTable, folder: str, looked_at: set[str]) -> bool:
    looked_at.add(folder)
    present = table.present(folder, _MARKS)
    for mark in present:
        full = os.path.join(folder, mark)  # noqa: PTH118
        looked_at.add(full)
        if table.is_folder(full):
            return True
        if mark == ".git":
            content = table.text(full)
            if not isinstance(content, Unreadable) and content.text.startswith("gitdir:"):
                return True
    return False
