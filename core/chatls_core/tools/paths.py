"""Where files are: paths of URIs, walking a workspace without its noise."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

from chatls_core.instructions.globs import PatternSet, normalise, problem
from chatls_core.tools.base import ToolContext, ToolError

NOISE = frozenset(
    {
        ".git", ".hg", ".svn", "node_modules", ".venv", "venv", "__pycache__", ".mypy_cache", ".pytest_cache",
        ".ruff_cache", ".tox", ".nox", ".idea", ".gradle", ".cache", "dist", "build", "target", "vendor", ".next",
        ".terraform", "site-packages",
    }
)  # fmt: skip
MAX_FILES = 200_000


def ignored(name: str) -> bool:
    """Whether a folder or file name is noise nobody asks about."""
    return name in NOISE


def path_of(uri: str) -> Path | None:
    """The path of a ``file:`` URI, ``None`` for others."""
    parts = urlsplit(uri)
    if parts.scheme != "file":
        return None
    path = unquote(parts.path)
    if os.name == "nt" and len(path) > 2 and path[0] == "/" and path[2] == ":":
        path = path[1:]
    return Path(path)


def display(path: Path, context: ToolContext) -> str:
    """A path as the model is shown it: relative to the workspace folder that holds it."""
    for root in context.host.roots:
        if path.is_relative_to(root):
            relative = path.relative_to(root).as_posix()
            return relative if len(context.host.roots) == 1 else f"{root.name}/{relative}"
    return path.as_posix()


def path_filter(pattern: str) -> PatternSet:
    """The files a model's glob admits, by slash-separated relative path. Raises :class:`ToolError` for a bad glob."""
    if why := problem(pattern):
        raise ToolError(f"The glob {pattern!r} cannot be used: {why}.")
    return PatternSet((normalise(pattern),))


def walk(folder: Path) -> Iterator[Path]:
    """Files below ``folder``, symlinks that lead out of it not followed, noise and ``.gitignore``d entries left out."""
    from pathspec import GitIgnoreSpec

    folder = folder.resolve()
    count = 0
    stack: list[tuple[Path, list[tuple[Path, GitIgnoreSpec]]]] = [(folder, [])]
    while stack:
        current, specs = stack.pop()
        ignore = current / ".gitignore"
        if ignore.is_file():
            try:
                lines = ignore.read_text("utf-8", errors="replace").splitlines()
                specs = [*specs, (current, GitIgnoreSpec.from_lines(lines))]
            except (OSError, ValueError):
                specs = list(specs)  # an unreadable .gitignore ignores nothing
        try:
            with os.scandir(current) as found:
                entries = sorted(found, key=lambda e: e.name)
        except OSError:
            continue  # a folder that vanished or may not be read holds nothing for us
        for entry in entries:
            if ignored(entry.name):
                continue
            path = Path(entry.path)
            is_dir = entry.is_dir(follow_symlinks=False)
            if any(
                spec.match_file(path.relative_to(base).as_posix() + ("/" if is_dir else "")) for base, spec in specs
            ):
                continue
            if is_dir:
                stack.append((path, specs))
            elif entry.is_file() and (not entry.is_symlink() or path.resolve().is_relative_to(folder)):
                count += 1
                if count > MAX_FILES:
                    return
                yield path
