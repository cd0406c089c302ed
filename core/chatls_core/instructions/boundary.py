"""Where instruction files may come from: the workspace's folders, their repositories, the global folder.

A path is judged twice: as written, before the disk is touched (an import of ``/etc/…`` or of a network share must not
even be looked at), and again with every symbolic link resolved (spec/memory.md §1.5 "Trust boundary").
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from chatls_core.instructions import pathtext


@dataclass(frozen=True, slots=True)
class Boundary:
    """Folders files may come from; ``written`` as the editor names them, ``real`` with links resolved."""

    written: tuple[str, ...]
    real: tuple[str, ...]

    @classmethod
    def of(cls, folders: Iterable[str]) -> Boundary:
        """The boundary around ``folders``."""
        unique = tuple(dict.fromkeys(folders))
        return cls(unique, tuple(dict.fromkeys(pathtext.real(f) for f in unique)))

    def admits_as_written(self, path: str) -> bool:
        """Whether normalised ``path`` lies inside, without looking at the disk."""
        return any(pathtext.is_within(path, folder) for folder in (*self.written, *self.real))

    def admits(self, real: str) -> bool:
        """Whether the link-free path ``real`` lies inside."""
        return any(pathtext.is_within(real, f) for f in self.real)
