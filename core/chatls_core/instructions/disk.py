"""What was read from disk, and whether it is still so (spec/memory.md §1.6 and §18.1 row 31).

Every file, folder and missing place the loader looked at is remembered with its stat signature. :meth:`FileTable.check`
compares with one ``stat`` each and reads again only where something differs: a newer or an *older* time, another
inode, size or change time. A file touched so recently that the clock of its file system could not tell a second write
apart is read again until it has aged, so an edit within one clock tick is seen too.
"""

from __future__ import annotations

import errno
import hashlib
import logging
import os
import stat
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from chatls_core.instructions import pathtext

log = logging.getLogger(__name__)

READ_LIMIT = 128 * 1024
"""Bytes read of one file; every cap is far below, and the size is known from ``stat``."""

LISTING_LIMIT = 2000
"""Entries read of one folder of rules."""

Encoding = Literal["utf-8", "utf-8-bom", "utf-16", "broken"]
Signature = tuple[int, int, int, int, int]

_FINE_TICK_NS = 100_000_000
_COARSE_TICK_NS = 2_100_000_000


@dataclass(frozen=True, slots=True)
class FileText:
    """A regular file's text, ``\\n`` line endings, no byte-order mark.

    ``size_bytes`` is the size on disk, ``truncated`` says that only the first :data:`READ_LIMIT` bytes were read,
    ``identity`` is the same for every name of one file, ``digest`` fingerprints the bytes read.
    """

    real: str
    text: str
    size_bytes: int
    digest: str
    identity: tuple[int, int]
    encoding: Encoding = "utf-8"
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Why there is no text: ``missing``, or something that is no readable text file."""

    kind: Literal["missing", "special", "folder", "binary", "denied", "refused"]
    reason: str


@dataclass(slots=True)
class _Entry:
    path: str
    signature: Signature | None
    racy: bool
    real: str
    content: FileText | Unreadable | None = None
    probed: dict[str, bool] | None = None
    listed: tuple[str, ...] | None = None
    folder: bool | None = None


@dataclass(slots=True)
class FileTable:
    """Everything looked at, by path. Not thread-safe: its owner holds a lock."""

    _entries: dict[str, _Entry] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self._entries)

    def real(self, path: str) -> str:
        """``path`` with every symbolic link resolved, as of when it was looked at."""
        return self._entry(path).real

    def text(self, path: str) -> FileText | Unreadable:
        """The text of the regular file at ``path``, or why there is none. Never blocks on a FIFO or device."""
        entry = self._entry(path)
        if entry.content is None:
            self._load(entry)
        assert entry.content is not None
        return entry.content

    def present(self, folder: str, names: Iterable[str]) -> frozenset[str]:
        """Those of ``names`` that exist in ``folder`` (dangling links included)."""
        entry = self._entry(folder)
        if entry.probed is None:
            entry.probed = {}
        for name in names:
            if name not in entry.probed:
                entry.probed[name] = _exists(folder, name)
        return frozenset(name for name in names if entry.probed[name])

    def listing(self, folder: str) -> tuple[str, ...]:
        """Names in ``folder``, sorted, folders ending in a slash; empty when it is no readable folder."""
        entry = self._entry(folder)
        if entry.listed is None:
            entry.listed = _list(folder)
        return entry.listed

    def is_folder(self, path: str) -> bool:
        """Whether ``path`` is a folder, links followed."""
        entry = self._entry(path)
        if entry.folder is None:
            entry.folder = _is_folder(path)
        return entry.folder

    def check(self) -> set[str]:
        """Look at everything again; the paths whose content, presence or entries differ."""
        dirty: set[str] = set()
        os_stat = pathtext.stat
        for path, entry in self._entries.items():
            try:
                s = os_stat(path)
                signature = (s.st_mtime_ns, s.st_ctime_ns, s.st_size, s.st_ino, s.st_dev)
            except (OSError, ValueError):
                if entry.signature is None:
                    continue
                signature = None
            if signature == entry.signature and not entry.racy:
                continue
            if self._differs(entry):
                dirty.add(path)
        return dirty

    def retain(self, live: set[str]) -> None:
        """Forget every path that is not in ``live``."""
        if len(live) < len(self._entries):
            self._entries = {path: entry for path, entry in self._entries.items() if path in live}

    def _entry(self, path: str) -> _Entry:
        entry = self._entries.get(path)
        if entry is None:
            signature = _signature(path)
            entry = _Entry(path, signature, _is_racy(signature), pathtext.real(path) if signature else path)
            self._entries[path] = entry
        return entry

    def _load(self, entry: _Entry) -> None:
        entry.content, signature = _read(entry.path, entry.real)
        if signature is not None and signature != entry.signature:
            entry.signature, entry.racy = signature, True

    def _differs(self, entry: _Entry) -> bool:
        """Bring ``entry`` up to date; whether anything the loader used is different now."""
        before = _used(entry)
        entry.signature = _signature(entry.path)
        entry.racy = _is_racy(entry.signature)
        entry.real = pathtext.real(entry.path) if entry.signature else entry.path
        if entry.content is not None:
            self._load(entry)
        if entry.probed is not None:
            entry.probed = {name: _exists(entry.path, name) for name in entry.probed}
        if entry.listed is not None:
            entry.listed = _list(entry.path)
        if entry.folder is not None:
            entry.folder = _is_folder(entry.path)
        return before != _used(entry)


def _used(entry: _Entry) -> tuple[object, ...]:
    """Everything of ``entry`` a result may rest on."""
    content = _fingerprint(entry.content)
    return entry.real, content, entry.probed, entry.listed, entry.folder, entry.signature is None


def _fingerprint(content: FileText | Unreadable | None) -> object:
    if isinstance(content, FileText):
        return content.digest, content.size_bytes, content.identity
    return content


def _signature(path: str) -> Signature | None:
    try:
        s = pathtext.stat(path)
    except (OSError, ValueError):
        return None
    return s.st_mtime_ns, s.st_ctime_ns, s.st_size, s.st_ino, s.st_dev


def _is_racy(signature: Signature | None) -> bool:
    """Whether a write after this look could leave the signature unchanged, for want of clock resolution."""
    if signature is None:
        return False
    stamp = signature[1] if os.name == "posix" else signature[0]
    tick = _COARSE_TICK_NS if stamp % 1_000_000_000 == 0 else _FINE_TICK_NS
    return abs(time.time_ns() - stamp) < tick


def _exists(folder: str, name: str) -> bool:
    try:
        pathtext.lstat(pathtext.join(folder, name))
    except (OSError, ValueError):
        return False
    return True


def _is_folder(path: str) -> bool:
    try:
        return stat.S_ISDIR(pathtext.stat(path).st_mode)
    except (OSError, ValueError):
        return False


def _list(folder: str) -> tuple[str, ...]:
    names: list[str] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                try:
                    names.append(entry.name + "/" if entry.is_dir() else entry.name)
                except OSError as error:
                    log.debug("cannot look at %s: %s", entry.path, error)
    except (OSError, ValueError) as error:
        log.debug("cannot list %s: %s", folder, error)
    names.sort()
    if len(names) > LISTING_LIMIT:
        log.warning("%s holds %d entries; only the first %d are read as rules", folder, len(names), LISTING_LIMIT)
    return tuple(names[:LISTING_LIMIT])


def _read(path: str, real: str) -> tuple[FileText | Unreadable, Signature | None]:
    """Read the file behind ``real``. The signature is taken before the bytes, so a later write always shows."""
    try:
        mode = pathtext.stat(real).st_mode
        if stat.S_ISDIR(mode):
            return Unreadable("folder", "it is a folder"), None
        if not stat.S_ISREG(mode):
            return Unreadable("special", "it is a device, pipe or socket"), None
        # Between the check and the open the file may have become a pipe: O_NONBLOCK keeps open() from waiting for it.
        descriptor = os.open(
            real,
            os.O_RDONLY
            | getattr(os, "O_NONBLOCK", 0)
            | getattr(os, "O_NOFOLLOW", 0)
            | getattr(os, "O_BINARY", 0)
            | getattr(os, "O_CLOEXEC", 0),
        )
    except (OSError, ValueError) as error:
        return _why(error), None
    try:
        s = os.fstat(descriptor)
        if not stat.S_ISREG(s.st_mode):
            return Unreadable("special", "it is a device, pipe or socket"), None
        data = _read_bytes(descriptor)
    except OSError as error:
        return _why(error), None
    finally:
        os.close(descriptor)
    signature = (s.st_mtime_ns, s.st_ctime_ns, s.st_size, s.st_ino, s.st_dev)
    truncated = len(data) > READ_LIMIT
    decoded = _decode(data[:READ_LIMIT], truncated)
    if decoded is None:
        return Unreadable("binary", "it is not a text file"), signature
    text, encoding = decoded
    digest = hashlib.blake2b(data, digest_size=16).hexdigest()
    size = max(s.st_size, len(data))
    return FileText(real, text, size, digest, (s.st_dev, s.st_ino), encoding, truncated), signature


def _read_bytes(descriptor: int) -> bytes:
    pieces: list[bytes] = []
    left = READ_LIMIT + 1
    while left > 0 and (piece := os.read(descriptor, left)):
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)


def _why(error: OSError | ValueError) -> Unreadable:
    if isinstance(error, OSError) and error.errno in (errno.EACCES, errno.EPERM):
        return Unreadable("denied", "permission denied")
    if isinstance(error, OSError) and error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG):
        return Unreadable("denied", (error.strerror or "it cannot be read").lower())
    return Unreadable("missing", "there is no such file")


def _decode(data: bytes, truncated: bool) -> tuple[str, Encoding] | None:
    encoding: Encoding
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        text, encoding = data.decode("utf-16", "replace"), "utf-16"
    elif b"\0" in data:
        return None
    else:
        encoding = "utf-8"
        if data.startswith(b"\xef\xbb\xbf"):
            data, encoding = data[3:], "utf-8-bom"
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            if truncated and error.end >= len(data) - 3 and error.start >= len(data) - 4:
                text = data[: error.start].decode("utf-8")
            else:
                text, encoding = data.decode("utf-8", "replace"), "broken"
    return text.replace("\r\n", "\n").replace("\r", "\n"), encoding
