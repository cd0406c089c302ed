"""The files of a workspace, for "how many files does this pattern match?", and the folders worth watching.

``.gitignore`` files (read by pathspec, nested ones too), noise folders and links are left out. A listing is bounded and
says when it is not complete.
"""

from __future__ import annotations

import logging
import os
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

from chatls_core.instructions import pathtext
from chatls_core.instructions.disk import FileTable, FileText
from chatls_core.instructions.folders import NOISE

log = logging.getLogger(__name__)

MOST_FILES = 50_000
MOST_FOLDERS = 20_000
MAX_AGE_SECONDS = 20.0
"""How long a listing is good for: it serves counts shown to a person, never what the model is told."""


class _IgnoreSpec(Protocol):
    def check_file(self, file: str) -> object: ...


@dataclass(frozen=True, slots=True)
class _Ignore:
    """The ``.gitignore`` of one folder, for paths below it."""

    prefix: str
    spec: _IgnoreSpec

    def verdict(self, relative: str) -> bool | None:
        """True: ignored, False: explicitly not, None: nothing said."""
        result = self.spec.check_file(relative[len(self.prefix) :])
        verdict: bool | None = getattr(result, "include", None)
        return verdict


@dataclass(frozen=True, slots=True)
class Listing:
    """Slash-separated files relative to the folder, sorted within each folder; ``complete`` unless a bound was met."""

    files: tuple[str, ...]
    complete: bool


def walk(
    root: str, start: str = "", *, always: frozenset[str] = frozenset()
) -> Iterator[tuple[str, list[str], list[str]]]:
    """Folders of ``root`` from ``start`` on, breadth first: slash-separated path ("" first), folders and files.

    What is ignored is left out, ``start`` itself included; folders named in ``always`` and what is in them are not.
    """
    ignores: tuple[_Ignore, ...] = ()
    above = ""
    for part in start.split("/") if start else ():
        ignores = _with_ignores_of(root, above, ignores)
        above = f"{above}/{part}" if above else part
        if part in always:
            ignores = ()
        elif part in NOISE or _ignored(above + "/", ignores):
            return
    queue: deque[tuple[str, tuple[_Ignore, ...]]] = deque([(start, ignores)])
    while queue:
        below, ignores = queue.popleft()
        ignores = _with_ignores_of(root, below, ignores)
        names = _scan(_full(root, below))
        prefix = below + "/" if below else ""
        folders = [
            name
            for name, is_folder in names
            if is_folder and name not in NOISE and (name in always or not _ignored(f"{prefix}{name}/", ignores))
        ]
        files = [name for name, is_folder in names if not is_folder and not _ignored(prefix + name, ignores)]
        queue.extend((prefix + name, () if name in always else ignores) for name in folders)
        yield below, folders, files


def _full(root: str, below: str) -> str:
    return pathtext.join(root, below.replace("/", pathtext.SEP)) if below else root


def _with_ignores_of(root: str, below: str, ignores: tuple[_Ignore, ...]) -> tuple[_Ignore, ...]:
    """``ignores`` and those of the folder ``below``."""
    spec = _ignore_spec(pathtext.join(_full(root, below), ".gitignore"))
    return (*ignores, _Ignore(below + "/" if below else "", spec)) if spec is not None else ignores


def _scan(folder: str) -> list[tuple[str, bool]]:
    names: list[tuple[str, bool]] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_symlink():
                    continue
                if entry.is_dir(follow_symlinks=False):
                    names.append((entry.name, True))
                elif entry.is_file(follow_symlinks=False):
                    names.append((entry.name, False))
    except OSError as error:
        log.debug("cannot list %s: %s", folder, error)
    names.sort()
    return names


def _ignore_spec(path: str) -> _IgnoreSpec | None:
    content = FileTable().text(path)
    if not isinstance(content, FileText):
        return None
    from pathspec import GitIgnoreSpec

    try:
        return GitIgnoreSpec.from_lines(content.text.splitlines())
    except ValueError as error:
        log.warning("%s has a pattern that cannot be read and is left out: %s", path, error)
        return None


def _ignored(relative: str, ignores: tuple[_Ignore, ...]) -> bool:
    for ignore in reversed(ignores):
        verdict = ignore.verdict(relative)
        if verdict is not None:
            return verdict
    return False


def list_files(root: str) -> Listing:
    """All files of ``root`` up to :data:`MOST_FILES`."""
    files: list[str] = []
    for count, (below, _, names) in enumerate(walk(root), 1):
        prefix = below + "/" if below else ""
        files.extend(prefix + name for name in names)
        if len(files) > MOST_FILES or count > MOST_FOLDERS:
            return Listing(tuple(files[:MOST_FILES]), False)
    return Listing(tuple(files), True)


@dataclass(slots=True)
class FileIndex:
    """Listings by folder, made on demand and renewed when older than :data:`MAX_AGE_SECONDS`. Not thread-safe."""

    clock: Callable[[], float] = time.monotonic
    _listings: dict[str, tuple[float, Listing]] = field(default_factory=dict)

    def files(self, root: str) -> Listing:
        """The files of ``root``."""
        now = self.clock()
        known = self._listings.get(root)
        if known is not None and now - known[0] < MAX_AGE_SECONDS:
            return known[1]
        listing = list_files(root)
        self._listings[root] = (now, listing)
        return listing

    def forget(self) -> None:
        """Make the next question look at the disk."""
        self._listings.clear()
