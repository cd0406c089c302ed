"""The folder of session files: reading, setting damaged ones aside, deleting so that it can be taken back."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path

from chatls_core.sessions import names
from chatls_core.sessions.conversation import SessionError
from chatls_core.sessions.document import NotASessionError, SessionDocument, parse
from chatls_core.store import PLAIN, FileSystem, Signature, UnopenableError, atomic_write_bytes
from chatls_core.store.lenient_json import read_leniently

logger = logging.getLogger(__name__)

_LOCK_TIMEOUT_SECONDS = 30.0


class DamagedError(Exception):
    """A session's file does not parse."""


class SessionFiles:
    """Session files by name (the file's stem). ``own`` is a hidden folder of ours for what is no session."""

    def __init__(self, folder: Path, fs: FileSystem) -> None:
        self.folder = folder
        self.own = folder / ".chatls"
        self.fs = fs
        self._last: tuple[str, Signature, SessionDocument] | None = None

    def path(self, name: str) -> Path:
        """The file of a session."""
        return self.folder / f"{name}.json"

    def signature(self, name: str) -> Signature | None:
        """The state of a session's file; ``None`` when there is none."""
        return self.fs.signature(self.path(name))

    def lock(self) -> AbstractContextManager[None]:
        """The lock under which session files are written, between processes. Makes the folders."""
        self.fs.make_folder(self.own)
        return self.fs.lock(self.own / "sessions.lock", _LOCK_TIMEOUT_SECONDS)

    def scan(self) -> Iterator[tuple[str, Signature]]:
        """Names and states of all session files. Reads only the folder, so that ten thousand cost milliseconds."""
        try:
            with os.scandir(self.folder) as entries:
                for entry in entries:
                    name, suffix = entry.name[:-5], entry.name[-5:]
                    if suffix == ".json" and names.is_valid(name):
                        try:
                            stat = entry.stat()
                        except FileNotFoundError:
                            continue  # deleted since the folder was read
                        yield name, Signature(stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns)
        except FileNotFoundError:
            return

    def read(self, name: str) -> tuple[SessionDocument | None, Signature | None]:
        """The document and the state of the file it was read from; nothing where there is no file.

        Raises :class:`SessionError` for a file that cannot be opened, :class:`DamagedError` for one that does not
        parse.
        """
        path = self.path(name)
        try:
            signature = self.fs.signature(path)
            if signature is None:
                return None, None
            if self._last is not None and self._last[:2] == (name, signature):
                return self._last[2], signature
            document = parse(PLAIN.decode(path.name, self.fs.read(path)))
            # Looking a session up and loading it read the same file in a row; documents never change.
            self._last = (name, signature, document)
            return document, signature
        except FileNotFoundError:
            return None, None
        except (UnopenableError, NotASessionError) as error:
            raise SessionError(f"The session {name!r} cannot be opened: {error}") from error
        except (ValueError, RecursionError) as error:
            raise DamagedError(str(error)) from error
        except OSError as error:
            raise SessionError(f"The session {name!r} cannot be read: {error}") from error

    def peek(self, name: str) -> SessionDocument | None:
        """The document, or none where it cannot be read; the file stays as it is."""
        try:
            return self.read(name)[0]
        except (SessionError, DamagedError) as error:
            logger.info("The session file of %s is left out: %s", name, error)
            return None

    def read_or_set_aside(self, name: str) -> tuple[SessionDocument | None, Signature | None]:
        """Like :meth:`read`; a damaged file is renamed to ``.corrupt``, and what can be read of it takes its place.
        Where nothing can it counts as none. Only under the lock."""
        try:
            return self.read(name)
        except DamagedError as error:
            path = self.path(name)
            keep = self._free(path.with_name(path.name + ".corrupt"))
            readable = _readable(self.fs.read(path))
            self.fs.replace(path, keep)
            logger.warning("The session file %s does not parse (%s); it is kept as %s", path.name, error, keep.name)
            if readable is None:
                return None, None
            atomic_write_bytes(path, readable, fs=self.fs)
            return self.read(name)

    def read_safely(self, name: str) -> tuple[SessionDocument | None, Signature | None]:
        """Like :meth:`read_or_set_aside`, taking the lock only for a damaged file."""
        try:
            return self.read(name)
        except DamagedError:
            with self.lock():
                return self.read_or_set_aside(name)

    def free_name(self, stem: str) -> str:
        """``stem``, or it with a number where a file of that name exists (upper and lower case alike)."""
        taken = {name.casefold() for name, _ in self.scan()}
        candidate = stem
        number = 2
        while candidate.casefold() in taken:
            candidate = f"{stem}-{number}"
            number += 1
        return candidate

    def discard(self, name: str, now: datetime) -> str:
        """Move a session's file to our trash and return its name there. Only under the lock."""
        trash = self.own / "trash"
        self.fs.make_folder(trash)
        keep = self._free(trash / f"{name}.json.deleted-{now.astimezone(UTC):%Y%m%d%H%M%S}")
        self.fs.replace(self.path(name), keep)
        return keep.name

    def empty_trash(self, before: datetime) -> int:
        """Delete for good what was discarded before a moment; says how many files. Only under the lock."""
        limit = f"{before.astimezone(UTC):%Y%m%d%H%M%S}"
        old = [
            path
            for path in self.fs.list(self.own / "trash")
            if (stamp := path.name.rpartition(".json.deleted-")[2][:14]).isdigit() and stamp < limit
        ]
        for path in old:
            self.fs.delete(path)
        return len(old)

    def bring_back(self, discarded: str) -> str:
        """Move a file out of the trash under its old name (or that with a number); only under the lock.

        Raises :class:`SessionError` when it is not there.
        """
        source = self.own / "trash" / Path(discarded).name
        stem = source.name.rpartition(".json.deleted-")[0]
        if not names.is_valid(stem) or self.fs.signature(source) is None:
            raise SessionError("That deleted session is gone; it can no longer be brought back.")
        name = self.free_name(stem)
        self.fs.replace(source, self.path(name))
        return name

    def _free(self, path: Path) -> Path:
        candidate = path
        number = 1
        while self.fs.signature(candidate) is not None:
            candidate = path.with_name(f"{path.name}-{number}")
            number += 1
        return candidate


def _readable(damaged: bytes) -> bytes | None:
    """A session's file made of what can be read of a damaged one; nothing where no message can."""
    try:
        tree = read_leniently(damaged.removeprefix(b"\xef\xbb\xbf"), half_texts=True)
        rescued = json.dumps(tree, ensure_ascii=False).encode()
        return rescued if parse(rescued).messages else None
    except (ValueError, RecursionError):
        return None
