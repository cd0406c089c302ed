"""A workspace on disk, built file by file, and the instructions loaded from it."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from chatls_core.config import Instructions as Settings
from chatls_core.instructions import Instructions, render_item, render_stable


@dataclass
class Tree:
    """``root`` is a repository, ``home`` the global folder; both real folders of their own."""

    base: Path
    _loaded: Instructions | None = field(default=None, repr=False)

    @property
    def root(self) -> Path:
        return self.base / "repo"

    @property
    def home(self) -> Path:
        return self.base / "home"

    def write(self, path: str, text: str | bytes) -> Path:
        """Write below the base folder: ``repo/AGENTS.md``, ``home/SOUL.md``."""
        full = self.base / path
        full.parent.mkdir(parents=True, exist_ok=True)
        full.write_bytes(text if isinstance(text, bytes) else text.encode())
        return full

    def remove(self, path: str) -> None:
        (self.base / path).unlink()

    def age(self, seconds: float = 3600) -> None:
        """Make every file look old, so that nothing hangs on fresh times."""
        for folder, _, names in os.walk(self.base):
            for name in names:
                os.utime(Path(folder) / name, (1_700_000_000 - seconds,) * 2)

    def open(self, *roots: str, trusted: bool = True, **settings: object) -> Instructions:
        """Load anew, from the folders given below the base (default: the repository)."""
        folders = [self.base / name for name in roots or ("repo",)]
        self._loaded = Instructions(folders, self.home, settings=Settings.model_validate(settings), trusted=trusted)
        return self._loaded

    @property
    def loaded(self) -> Instructions:
        return self._loaded or self.open()

    def system(self) -> str:
        """The system text of what is loaded."""
        return render_stable(self.loaded.stable())

    def turn(self, active: str | None = None, *touched: str) -> str:
        """The turn's text for paths below the base."""
        items = self.loaded.for_paths(self.base / active if active else None, [self.base / t for t in touched])
        return "\n\n".join(render_item(item) for item in items)


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    """A repository without instruction files and an empty global folder."""
    made = Tree(tmp_path)
    (made.root / ".git").mkdir(parents=True)
    made.home.mkdir()
    return made
