"""Where instruction files may come from: the workspace's folders, their repositories, the global folder.

A path is judged twice: as written, before the disk is touched (an import of ``/etc/…`` or of a network share must not
even be looked at), and again with every symbolic link resolved (spec/memory.md §1.5 "Trust boundary").
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass


def is_within(path: str, folder: str) -> bool:
    """Whether absolute ``path`` is ``folder`` or lies below it; a name that merely starts with dots is no escape."""
    path, folder = os.path.normcase(path), os.path.normcase(folder)
    return path == folder or path.startswith(folder if folder.endswith(os.sep) else folder + os.sep)


@dataclass(frozen=True, slots=True)
class Boundary:
    """Folders files may come from; ``written`` as the editor names them, ``real`` with links resolved."""

    written: tuple[str, ...]
    real: tuple[str, ...]

    @classmethod
    def of(cls, folders: Iterable[str]) -> Boundary:
        """The boundary around ``folders``."""
        unique = tuple(dict.fromkeys(folders))
        return cls(unique, tuple(dict.fromkeys(os.path.realpath(f) for f in unique)))

    def admits_as_written(self, path: str) -> bool:
        """Whether normalised ``path`` lies inside, without looking at the disk."""
        return any(is_within(path, f) for f in self.written) or any(is_within(path, f) for f in self.real)

    def admits(self, real: str) -> bool:
        """Whether the link-free path ``real`` lies inside."""
        return any(is_within(real, f) for f in self.real)
