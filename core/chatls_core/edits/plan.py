"""The plan of an edit: what the files will hold, and how sure each place was found. A plan is applied whole or not."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from enum import IntEnum

from chatls_core.edits.errors import EditError, EditErrorKind


class Rung(IntEnum):
    """How a text was found, from certain to tolerant; each one counts only when the place is the only one."""

    EXACT = 0
    LINE_ENDINGS = 1
    TRAILING_BLANKS = 2
    INDENTATION = 3
    ANY_INDENTATION = 4
    TYPOGRAPHY = 5
    BLANK_LINES = 6
    SIMILAR = 7

    @property
    def words(self) -> str:
        """What was overlooked, in words (for reports)."""
        return {
            Rung.EXACT: "exact",
            Rung.LINE_ENDINGS: "apart from line endings",
            Rung.TRAILING_BLANKS: "apart from blanks at line ends",
            Rung.INDENTATION: "apart from a uniform indentation",
            Rung.ANY_INDENTATION: "apart from indentation (in no uniform way, so the new text is put as sent)",
            Rung.TYPOGRAPHY: "apart from typographic characters and spacing",
            Rung.BLANK_LINES: "apart from empty lines",
            Rung.SIMILAR: "apart from a typing mistake",
        }[self]


@dataclass(frozen=True, slots=True)
class Place:
    """One place that was changed: 1-based first line in the text as it was before this step, and how it was found."""

    line: int
    rung: Rung


@dataclass(frozen=True, slots=True)
class FileReport:
    """What happens to one file. ``rung`` is the most tolerant one among its places."""

    path: str
    places: tuple[Place, ...] = ()

    @property
    def rung(self) -> Rung:
        """The weakest match in this file; exact where nothing had to be found."""
        return max((place.rung for place in self.places), default=Rung.EXACT)


@dataclass(frozen=True, slots=True)
class EditPlan:
    """The outcome of :func:`chatls_core.edits.preview`.

    ``after`` holds the final text of every file the edit touches (``None``: deleted), under the caller's own keys.
    ``renames`` maps old to new paths (both are in ``after`` too: the old one as ``None``). ``notes`` are sentences for
    the model and the user: tolerances used, files overwritten.
    """

    after: Mapping[str, str | None]
    renames: Mapping[str, str] = field(default_factory=dict)
    reports: tuple[FileReport, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def rung(self) -> Rung:
        """The weakest match of the whole edit."""
        return max((report.rung for report in self.reports), default=Rung.EXACT)


_ABSOLUTE = re.compile(r"/|[A-Za-z]:")
_MARK = "\ufeff"


class Draft:
    """A plan in the making: the files as they stand after the steps taken so far."""

    def __init__(self, files: Mapping[str, str], plain: Mapping[str, Mapping[int, str]] | None = None) -> None:
        # A byte-order mark is no part of the first line; it is put back in the plan.
        self._marked = {path for path, text in files.items() if text.startswith(_MARK)}
        self._before = {path: text.removeprefix(_MARK) for path, text in files.items()}
        self._after: dict[str, str | None] = {}
        self._renames: dict[str, str] = {}
        self._places: dict[str, list[Place]] = {}
        self._notes: list[str] = []
        self._plain = plain or {}
        self.slips: dict[str, dict[int, str]] = {}
        """Per file, the typographic characters that stand in the edit for plain ones of the file (:meth:`curled`)."""

    def __contains__(self, path: str) -> bool:
        return self.get(path) is not None

    def get(self, path: str) -> str | None:
        """The text of ``path`` now, ``None`` when there is no such file (any more)."""
        if path in self._after:
            return self._after[path]
        return self._before.get(path)

    def paths(self) -> Iterator[str]:
        """The files that exist now."""
        for path in {**dict.fromkeys(self._before), **dict.fromkeys(self._after)}:
            if path in self:
                yield path

    def find_exact(self, path: str) -> str | None:
        """The key of the existing file at exactly this path, however its separators are spelled."""
        if path in self:
            return path
        wanted = normal(path)
        return next((key for key in self.paths() if normal(key) == wanted), None)

    def find(self, path: str) -> str | None:
        """The key of an existing file for a path as a model writes it.

        Tried in turn: the path itself; without ``./`` and with ``/`` for ``\\``; the one file whose path ends with it,
        or that it ends with (models give absolute paths for relative ones and the other way round). A name alone is
        what an absolute path ends with, not one in another folder.
        """
        exact = self.find_exact(path)
        if exact is not None:
            return exact
        wanted = normal(path)
        by_normal = {normal(key): key for key in self.paths()}
        tails = [
            key
            for spelled, key in by_normal.items()
            if wanted
            and spelled
            and (
                f"/{spelled}".endswith(f"/{wanted.lstrip('/')}")
                or (wanted.endswith(f"/{spelled}") and ("/" in spelled or _ABSOLUTE.match(wanted)))
            )
        ]
        return tails[0] if len(tails) == 1 else None

    def require(self, path: str, *, exact: bool = False) -> str:
        """Like :meth:`find`, but raises :class:`EditError` that names files with similar names.

        ``exact`` takes the path by its full spelling only (for deletions).
        """
        key = self.find_exact(path) if exact else self.find(path)
        if key is not None:
            if normal(key) != normal(path):
                self.note(f"{path}: taken to mean {key}.")
            return key
        known = sorted(self.paths())
        close = get_close_matches(normal(path), known[:500], n=3, cutoff=0.6)
        hint = f" Did you mean {' or '.join(close)}?" if close else " Check the path, or create the file first."
        raise EditError(EditErrorKind.NO_SUCH_FILE, f"There is no file {path}.{hint}", path)

    def place_for_new(self, path: str) -> str:
        """The key for a file to create: its path in normal form (or the caller's key when the file is known)."""
        if path in self._before or path in self._after:
            return path
        wanted = normal(path)
        if not wanted:
            raise EditError(EditErrorKind.MALFORMED, "The path of the new file is empty: name the file.", path)
        return next((key for key in (*self._before, *self._after) if normal(key) == wanted), wanted)

    def write(self, path: str, text: str) -> None:
        """Set the text of ``path``."""
        self._after[path] = text

    def require_change(self) -> None:
        """Raise :class:`EditError` when every file would be as it was before the edit."""
        if all(text == self._before.get(path) for path, text in self._after.items()):
            raise EditError(
                EditErrorKind.NO_CHANGE,
                "The edit leaves every file as it is: it adds what it removes. Say what the text should become.",
            )

    def delete(self, path: str) -> None:
        """Delete ``path``."""
        self._after[path] = None

    def rename(self, old: str, new: str) -> None:
        """Move ``old`` to ``new``; a file that stands there is overwritten, which is noted."""
        if old == new:
            return
        text = self.get(old)
        if new in self:
            self.note(f"{new}: the file that stood there is overwritten by the move of {old}.")
        self._after[old] = None
        self._after[new] = text
        origin = next((source for source, target in self._renames.items() if target == old), old)
        self._renames[origin] = new
        self._places.setdefault(new, []).extend(self._places.pop(old, []))

    def curled(self, path: str, table: Mapping[int, str]) -> None:
        """Note that the edit writes the characters of ``table`` where the file has plain ones."""
        if table:
            self.slips.setdefault(path, {}).update(table)

    def plain(self, path: str, new: str) -> str:
        """``new`` as it was meant, given the slips that a first reading of the edit found."""
        table = self._plain.get(path)
        return new if not table or new.isascii() else new.translate(table)

    def report(self, path: str, line: int, rung: Rung) -> None:
        """Note that a place was found at 1-based ``line`` by ``rung``."""
        self._places.setdefault(path, []).append(Place(line, rung))
        if rung >= Rung.INDENTATION:
            self.note(f"{path}:{line}: matched {rung.words}.")

    def note(self, sentence: str) -> None:
        """Add a sentence to the plan's notes, once."""
        if sentence not in self._notes:
            self._notes.append(sentence)

    def plan(self) -> EditPlan:
        """The finished plan."""
        after: dict[str, str | None] = {}
        sources = {target: source for source, target in self._renames.items()}
        for path, text in self._after.items():
            if text is None:
                if path in self._before:
                    after[path] = None
            else:
                after[path] = _MARK + text if sources.get(path, path) in self._marked else text
        reports = tuple(FileReport(path, tuple(self._places.get(path, ()))) for path in after)
        return EditPlan(after, dict(self._renames), reports, tuple(self._notes))


def normal(path: str) -> str:
    """A path in normal form: ``/`` between parts, no ``./``, no doubled or trailing slash, no blanks around it."""
    parts = path.strip().replace("\\", "/").split("/")
    rooted = parts[0] == "" and len(parts) > 1
    kept = [part for part in parts if part not in ("", ".")]
    return ("/" if rooted else "") + "/".join(kept)
