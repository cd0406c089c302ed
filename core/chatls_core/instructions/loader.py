"""The instruction files of a workspace: what the model is told, and what changed (spec/memory.md §1, §2)."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from chatls_core.config import Instructions as Settings
from chatls_core.instructions import names, pathtext
from chatls_core.instructions.library import Library
from chatls_core.instructions.model import InstructionChanges, InstructionItem, InstructionReport
from chatls_core.instructions.report import report
from chatls_core.instructions.selection import Selected, Selection

if TYPE_CHECKING:
    from chatls_core.instructions.inspection import Inspector


class Instructions:
    """Instruction files of the opened folders and the global folder.

    All methods are synchronous, safe to call from several threads, and meant to be called in one. Files are read from
    disk as saved. Between two calls of :meth:`refresh` what was loaded does not change.
    """

    def __init__(self, roots: Sequence[Path], global_folder: Path, *, settings: Settings, trusted: bool) -> None:
        """``roots`` are the opened folders in the editor's order. Nothing is read yet.

        ``settings.global_folder``, when set, stands in place of ``global_folder``.
        """
        self._enabled = settings.enabled
        place = pathtext.absolute(pathtext.expand_home(settings.global_folder.strip() or str(global_folder)))
        folders = tuple(dict.fromkeys(pathtext.absolute(root) for root in roots)) if self._enabled else ()
        self._library = Library(folders, place, trusted, settings.scan)
        self._selection = Selection(self._library)
        self._stable: Selected | None = None
        self._inspector: Inspector | None = None
        self._lock = threading.RLock()

    @property
    def enabled(self) -> bool:
        """Whether instruction files are read at all; when not, the disk is never looked at."""
        return self._enabled

    @property
    def roots(self) -> tuple[Path, ...]:
        """The opened folders."""
        return tuple(Path(root) for root in self._library.roots)

    @property
    def trusted(self) -> bool:
        """Whether the workspace's files speak as instructions; otherwise they are shown to the model as data."""
        return self._library.trusted

    def refresh(self) -> InstructionChanges:
        """Compare everything loaded, and the places where a file could appear, with the disk.

        One ``stat`` each; only what differs is read again. Call it at the start of each turn.
        """
        if not self._enabled:
            return InstructionChanges()
        with self._lock:
            outcome = self._library.refresh()
            if outcome is None:
                return InstructionChanges()
            self._stable = None
        before, after = outcome
        changed = sorted(p for p, digest in after.items() if before.get(p, digest) != digest)
        added = sorted(set(after) - set(before))
        removed = sorted(set(before) - set(after))
        different = [*changed, *added, *removed]
        rules = sum(1 for p in different if names.is_rule(p, self._library.global_folder))
        return InstructionChanges(
            tuple(map(Path, changed)),
            tuple(map(Path, added)),
            tuple(map(Path, removed)),
            len(different) - rules,
            rules,
        )

    def stable(self) -> tuple[InstructionItem, ...]:
        """What does not depend on the question: the same files give the same items, byte for byte.

        Global AGENTS file, each opened folder's chain from its repository's root, the other bootstrap files, rules that
        always apply.
        """
        if not self._enabled:
            return ()
        with self._lock:
            return self._stable_selection().items

    def for_paths(self, active: Path | None, touched: Sequence[Path]) -> tuple[InstructionItem, ...]:
        """What the active document and the touched paths bring in beyond :meth:`stable`.

        Nested AGENTS files, nearest last and the active document's after the others', then matching rules. Relative
        paths count from the first opened folder; paths outside the opened folders bring nothing.
        """
        if not self._enabled:
            return ()
        with self._lock:
            return self._selection.for_paths(active, touched).items

    def show(self, path: Path | None) -> InstructionReport:
        """Which files, imports and rules apply to ``path`` (``None``: to any), in order, what was cut and why."""
        if not self._enabled:
            return InstructionReport(path, False, self.trusted, markdown="Instruction files are switched off.\n")
        with self._lock:
            around = self._selection.for_paths(path, ()) if path is not None else Selected(())
            return report(self._library, self._selection, self._stable_selection(), around, path)

    def is_instruction_file(self, path: Path) -> bool:
        """Whether saving ``path`` may change what the model is told: by its name, or because something imports it."""
        if not self._enabled:
            return False
        text = pathtext.absolute(path)
        if names.is_instruction_name(text, self._library.global_folder):
            return True
        return text in self.rests_on()

    def rests_on(self) -> frozenset[str]:
        """Every file whose change would change what was loaded: imported ones (missing ones too), ends of links.

        The same object as long as nothing else is loaded.
        """
        with self._lock:
            return self._library.rests_on()

    def is_loaded(self, path: Path) -> bool:
        """Whether the text of ``path`` is part of what was loaded; False for a file that is gone or shadowed now."""
        with self._lock:
            return self._library.uses(pathtext.absolute(path))

    def watch_globs(self) -> tuple[str, ...]:
        """Globs relative to each opened folder for ``workspace/didChangeWatchedFiles``, whatever is loaded."""
        return names.WATCH_GLOBS

    def import_globs(self) -> tuple[str, ...]:
        """Globs for what else is loaded from the opened folders, sorted; few ones by endings when it is a lot."""
        return names.import_globs(self.rests_on(), self._library.roots, self._library.global_folder)

    @property
    def inspector(self) -> Inspector:
        """Answers about buffers of instruction files, for editor features."""
        from chatls_core.instructions.inspection import Inspector

        with self._lock:
            if self._inspector is None:
                self._inspector = Inspector(self)
            return self._inspector

    @contextmanager
    def locked(self) -> Iterator[tuple[Library, Selection]]:
        """What is loaded, for the duration of the block (editor features look deeper than the prompt does)."""
        with self._lock:
            yield self._library, self._selection

    def _stable_selection(self) -> Selected:
        if self._stable is None:
            self._stable = self._selection.stable()
        return self._stable
