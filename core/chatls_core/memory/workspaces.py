"""When are two folders one project, and how is another project named? (spec/memory.md §1.8, §8.5)"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path


@lru_cache(maxsize=512)
def main_checkout(folder: str) -> str:
    """The main checkout of a git worktree; the folder itself when it is none."""
    git = Path(folder) / ".git"
    try:
        if git.is_file():
            pointer = git.read_text(encoding="utf-8", errors="replace").strip()
            if pointer.startswith("gitdir:"):
                target = Path(folder, pointer.removeprefix("gitdir:").strip()).resolve()
                if target.parent.name == "worktrees" and target.parent.parent.name == ".git":
                    return str(target.parent.parent.parent)
    except OSError:
        return folder
    return folder


def same_project(a: str, b: str) -> bool:
    """Whether two project paths are one project: equal, nested, or a worktree and its main checkout."""
    if not a or not b:
        return False
    if a.casefold() == b.casefold():
        return True
    if "/" not in a + b and "\\" not in a + b:
        return False
    first, second = Path(main_checkout(a)), Path(main_checkout(b))
    return first == second or first in second.parents or second in first.parents


def label(project: str) -> str:
    """A short name for a project: ``~/path`` under home, else the last part."""
    if not project:
        return ""
    path = Path(project)
    try:
        return "~/" + path.relative_to(Path.home()).as_posix()
    except ValueError:
        return path.name or project
