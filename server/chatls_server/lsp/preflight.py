"""Whether a change can succeed at all, found out before the first byte moves.

Editors apply half of a change and then report failure, or report success for a file that cannot be saved; so every file
is looked at first: where it lies, what it holds now, whether it can be written.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from chatls_core.host import Document, FileChange, FileChangeResult, HostError, HostErrorKind
from chatls_server.lsp import reading
from chatls_server.lsp.assumed import Assumptions
from chatls_server.lsp.confinement import Confinement
from chatls_server.lsp.documents import Documents, OpenDocument
from chatls_server.lsp.uris import document_key, path_of, uri_of

Kind = Literal["edit", "create", "delete", "rename"]


@dataclass(frozen=True, slots=True)
class Planned:
    """One file of a change that passed: its real path and what it holds now (``current`` is ``None`` for a new one)."""

    change: FileChange
    kind: Kind
    uri: str
    path: Path | None
    current: Document | None
    opened: OpenDocument | None
    target: Path | None = None
    target_uri: str = ""

    @property
    def final_uri(self) -> str:
        """Where the text is afterwards."""
        return self.target_uri or self.uri


class Preflight:
    """Looks at files: buffers on the loop, the disk in threads."""

    def __init__(self, confinement: Confinement, documents: Documents, assumptions: Assumptions) -> None:
        self._confinement = confinement
        self._documents = documents
        self._assumptions = assumptions

    async def check(self, files: Sequence[FileChange]) -> list[Planned | FileChangeResult]:
        """Every file as planned, or the result that says why it cannot be changed."""
        seen: set[str] = set()
        checked: list[Planned | FileChangeResult] = []
        for change in files:
            keys = {document_key(change.uri), document_key(change.new_uri or change.uri)}
            if keys & seen:
                checked.append(_failed(change, "the same file is named twice in one change"))
                continue
            seen |= keys
            try:
                checked.append(await self._check(change))
            except HostError as error:
                checked.append(_failed(change, str(error)))
        return checked

    async def _check(self, change: FileChange) -> Planned | FileChangeResult:
        path = path_of(change.uri)
        opened = self._documents.get(change.uri)
        if opened is not None and opened.notebook:
            raise HostError(HostErrorKind.UNSUPPORTED, f"{change.uri} is a notebook's cell; notebooks are not edited.")
        if self._documents.notebook(change.uri) is not None or change.uri.lower().endswith(".ipynb"):
            raise HostError(HostErrorKind.UNSUPPORTED, f"{change.uri} is a notebook; notebooks are not edited.")
        if path is None:
            if opened is None:
                raise HostError(HostErrorKind.NOT_OPEN, f"{change.uri} is not open in the editor and is no file.")
            if change.after is None or change.new_uri is not None:
                raise HostError(HostErrorKind.UNSUPPORTED, f"{change.uri} is no file: it cannot be deleted or moved.")
            return self._compare(change, "edit", opened.uri, None, reading.from_buffer(opened), opened)
        real = await asyncio.to_thread(self._real, path, opened)
        opened = opened or self._documents.get(uri_of(real))
        uri = opened.uri if opened is not None else uri_of(real)
        current = await self._current(uri, real, opened)
        if change.before is None:
            return await asyncio.to_thread(self._new, change, uri, real, current, opened)
        if current is None:
            return _failed(change, f"{path} does not exist any more")
        kind: Kind = "delete" if change.after is None else "rename" if change.new_uri is not None else "edit"
        await asyncio.to_thread(_writable, real, replaces=kind == "edit")
        planned = self._compare(change, kind, uri, real, current, opened)
        if kind == "rename" and isinstance(planned, Planned):
            return await asyncio.to_thread(self._move, planned)
        return planned

    def _real(self, path: Path, opened: OpenDocument | None) -> Path:
        if opened is not None and not self._confinement.has_roots:
            # A single file without a folder: what the user has open is what may be edited.
            if self._confinement.is_sensitive(path):
                raise HostError(HostErrorKind.SENSITIVE, f"{path} may hold secrets and is never changed.")
            return Path(os.path.realpath(path))
        return self._confinement.check(path, write=True)

    async def _current(self, uri: str, real: Path, opened: OpenDocument | None) -> Document | None:
        assumed = self._assumptions.get(uri)
        if assumed is not None:
            return assumed
        if opened is not None:
            return reading.from_buffer(opened)
        try:
            return await asyncio.to_thread(reading.from_disk, uri, real)
        except HostError as error:
            if error.kind is HostErrorKind.NOT_FOUND:
                return None
            raise

    def _new(
        self, change: FileChange, uri: str, real: Path, current: Document | None, opened: OpenDocument | None
    ) -> Planned | FileChangeResult:
        if change.after is None:
            return _failed(change, f"{real} is neither to be made nor to be deleted")
        if current is not None and (opened is None or os.path.lexists(real) or current.text):
            return FileChangeResult(change.uri, "stale", f"{real} exists already", current.text)
        _writable(real, replaces=False)
        return Planned(change, "create", uri, real, None, opened)

    def _compare(
        self,
        change: FileChange,
        kind: Kind,
        uri: str,
        path: Path | None,
        current: Document,
        opened: OpenDocument | None,
    ) -> Planned | FileChangeResult:
        if current.text != change.before:
            return FileChangeResult(change.uri, "stale", "its text has changed since", current.text)
        return Planned(change, kind, uri, path, current, opened)

    def _move(self, planned: Planned) -> Planned | FileChangeResult:
        change = planned.change
        target = path_of(change.new_uri or "")
        if target is None:
            return _failed(change, f"{change.new_uri} names no file")
        real = self._confinement.check(target, write=True)
        if os.path.lexists(real) and not _same_file(real, planned.path):
            return _failed(change, f"{real} exists already")
        _writable(real, replaces=False)
        return Planned(change, "rename", planned.uri, planned.path, planned.current, planned.opened, real, uri_of(real))


def _same_file(one: Path, other: Path | None) -> bool:
    """A change of case only, on a file system that does not tell cases apart."""
    return other is not None and one != other and one.exists() and other.exists() and one.samefile(other)


def _writable(path: Path, *, replaces: bool) -> None:
    """Raise ``PERMISSION`` when the file, or the nearest folder that exists, cannot be written."""
    if replaces and path.exists():
        # A file without any write permission was made read-only on purpose, even for the superuser.
        if not os.access(path, os.W_OK) or not path.stat().st_mode & 0o222:
            raise HostError(HostErrorKind.PERMISSION, f"{path} is read-only")
        return
    folder = path.parent
    while not folder.exists():
        folder = folder.parent
    if not folder.is_dir():
        raise HostError(HostErrorKind.NOT_FOUND, f"{folder} is a file, so {path} cannot be made below it")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise HostError(HostErrorKind.PERMISSION, f"the folder {folder} may not be written to")


def _failed(change: FileChange, reason: str) -> FileChangeResult:
    return FileChangeResult(change.uri, "failed", reason)
