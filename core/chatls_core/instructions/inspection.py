"""Instruction files under the editor's eyes: one object that answers about a buffer."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from chatls_core.instructions import completion, names, pathtext
from chatls_core.instructions.anatomy import Anatomy, dissect
from chatls_core.instructions.files import FileIndex
from chatls_core.instructions.findings import Finding, findings
from chatls_core.instructions.rules import RULE_FOLDERS
from chatls_core.instructions.standing import (
    Matches,
    Standing,
    count,
    in_the_way,
    pattern_folders,
    reach_folders,
    standing,
    unmatched,
)

if TYPE_CHECKING:
    from chatls_core.instructions.loader import Instructions


@dataclass(frozen=True, slots=True)
class Inspection:
    """A buffer's parts and what is to be said about them."""

    anatomy: Anatomy
    findings: tuple[Finding, ...]


class Inspector:
    """Answers questions about buffers of instruction files. Synchronous, thread-safe, meant for a worker thread."""

    def __init__(self, instructions: Instructions) -> None:
        self._instructions = instructions
        self._index = FileIndex()
        self._index_lock = threading.Lock()

    def concerns(self, path: Path) -> bool:
        """Whether ``path`` is an instruction file, or would be one under another name or in another place."""
        text = pathtext.absolute(path)
        return self._instructions.enabled and (
            self._instructions.is_instruction_file(path)
            or names.right_name(text) is not None
            or names.right_rule_path(text) is not None
        )

    def anatomy(self, path: Path, text: str) -> Anatomy:
        """The parts of the buffer ``text`` of ``path``."""
        with self._instructions.locked() as (library, _):
            full = pathtext.absolute(path)
            boundary = library.boundary(
                library.global_folder if pathtext.is_within(full, library.global_folder) else pathtext.parent(full)
            )
            return dissect(full, text, boundary, self._wiki_folders(), library.global_folder)

    def inspect(self, path: Path, text: str) -> Inspection:
        """The parts of the buffer with every finding, in order of place."""
        anatomy = self.anatomy(path, text)
        stable = self._instructions.stable()
        with self._instructions.locked() as (library, _):
            found = [
                *findings(anatomy, library.global_folder, scan=library.scan),
                *in_the_way(anatomy, library, stable),
            ]
            folders = pattern_folders(anatomy, library)
        with self._index_lock:
            found.extend(unmatched(anatomy, self._index, folders))
        found.sort(key=lambda f: (f.line, f.start, f.code))
        return Inspection(anatomy, tuple(found))

    def standing(self, path: Path, text: str) -> Standing:
        """What the file applies to and where it stands in the prompt."""
        anatomy = self.anatomy(path, text)
        stable = self._instructions.stable()
        with self._instructions.locked() as (library, _):
            folders = reach_folders(anatomy, library)
        with self._index_lock:
            # Listing a large workspace takes a second, and no turn may wait for that: it is done outside the lock.
            for folder in folders:
                self._index.files(folder)
            with self._instructions.locked() as (library, selection):
                return standing(anatomy, library, selection, stable, self._index)

    def matches(self, anatomy: Anatomy, pattern: str) -> Matches:
        """How many files the pattern of the buffer's rule matches."""
        with self._instructions.locked() as (library, _):
            folders = pattern_folders(anatomy, library)
        with self._index_lock:
            return count(self._index, folders, (pattern,))

    def complete(self, path: Path, text: str, line: int, column: int) -> list[completion.Completion]:
        """Proposals for a place of the buffer."""
        anatomy = self.anatomy(path, text)
        with self._instructions.locked() as (library, _):
            boundary = library.boundary(
                library.global_folder if pathtext.is_within(str(anatomy.path), library.global_folder) else ""
            )
            folders = pattern_folders(anatomy, library)
        with self._index_lock:
            return completion.complete(anatomy, line, column, boundary, self._index, folders, self._wiki_folders())

    def forget_files(self) -> None:
        """Count files anew at the next question (files were created or deleted)."""
        with self._index_lock:
            self._index.forget()

    def _wiki_folders(self) -> tuple[str, ...]:
        with self._instructions.locked() as (library, _):
            roots = [root.path for root in library.workspace.roots]
            rules = [pathtext.join(root, home, below) for root in roots for home, below, _, _ in reversed(RULE_FOLDERS)]
            return (*roots, *rules, library.global_folder, pathtext.join(library.global_folder, "rules"))
