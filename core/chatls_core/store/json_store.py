"""One JSON file that several processes may write at once (DESIGN.md, "State on disk"; spec/memory.md §3.2).

An update is: lock ``<file>.lock``, read the file fresh, change, write a temporary file, fsync, rename. What
:meth:`JsonStore.update` has returned from survives kill -9. A file that does not parse is kept as ``.corrupt``; one
that cannot be opened (sealed, no permission) is never written.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

from pydantic import TypeAdapter, ValidationError

from chatls_core.store.atomic import atomic_write_bytes, sweep_temporaries
from chatls_core.store.codec import PLAIN, Codec, UnopenableError
from chatls_core.store.file_system import FILE_MODE, REAL, FileSystem, Signature
from chatls_core.store.lenient_json import read_leniently

logger = logging.getLogger(__name__)

T = TypeVar("T")
R = TypeVar("R")

_RACES = 5
"""How often a write is redone because a program without our lock wrote in between."""


class StoreReadOnlyError(Exception):
    """The file cannot be opened, so it is not written either; ``str()`` says why and what to do."""


class JsonStore(Generic[T]):
    """A JSON document of type ``T`` on disk. Values are shared between callers: ``T`` must be immutable.

    ``merge(mine, disk)`` unites two states that grew apart; it must be commutative up to the caller's idea of equality,
    associative and idempotent. ``salvage(tree)`` may make a value from JSON that parses but does not validate (for
    example by leaving single records out); the original bytes are kept as ``.corrupt`` all the same. ``dump`` gives a
    value's JSON and a newline where there is a quicker way than ``adapter``'s.
    Thread-safe. One thread must not call :meth:`update` inside another update of the same file.
    """

    def __init__(
        self,
        path: Path,
        adapter: TypeAdapter[T],
        *,
        empty: Callable[[], T],
        merge: Callable[[T, T], T],
        salvage: Callable[[object], T | None] | None = None,
        dump: Callable[[T], bytes] | None = None,
        fs: FileSystem = REAL,
        codec: Codec = PLAIN,
        mode: int = FILE_MODE,
        indent: int | None = 2,
        lock_timeout: float = 30.0,
    ) -> None:
        self.path = path
        self._adapter = adapter
        self._nothing = empty()
        self._merge = merge
        self._salvage = salvage
        self._dump = dump or (lambda value: adapter.dump_json(value, indent=indent, by_alias=True) + b"\n")
        self._fs = fs
        self._codec = codec
        self._mode = mode
        self._lock_timeout = lock_timeout
        self._guard = threading.RLock()
        self._value: T | None = None
        self._signature: Signature | None = None
        self._problem = ""
        self._swept = False

    @property
    def problem(self) -> str:
        """Why the file could not be opened at the last try; empty when all is well."""
        return self._problem

    @property
    def signature(self) -> Signature | None:
        """Tells whether the file changed since another call; ``None`` when there is none or it cannot be seen."""
        try:
            return self._fs.signature(self.path)
        except OSError:
            return None

    def read(self) -> T:
        """The file's value, read again only when the file changed.

        Never raises for the file's state: what cannot be opened gives the last value seen (or an empty one) and sets
        :attr:`problem`; what does not parse is kept as ``.corrupt`` and gives the last value seen (or an empty one).
        """
        with self._guard:
            try:
                return self._load(quarantine=False)
            except _CorruptError:
                pass
        # Moving a damaged file away is a write: only under the lock, when no writer can be at work.
        try:
            return self.update(lambda value: (value, value))
        except (OSError, StoreReadOnlyError) as error:
            logger.warning("%s is damaged and could not be set aside: %s", self.path, error)
            return self._fallback()

    def update(self, change: Callable[[T], tuple[T, R]]) -> R:
        """Apply ``change`` to the file's current value under the lock; ``change`` returns ``(new value, result)``.

        Returning the same object writes nothing. When this returns, the new value is on the disk. ``change`` may be
        called more than once. Raises :class:`StoreReadOnlyError`, :class:`LockTimeoutError` or :class:`OSError` (disk
        full, no permission) with the file as it was.
        """
        with self._guard:
            self._fs.make_folder(self.path.parent)
            with self._fs.lock(self.path.with_name(self.path.name + ".lock"), self._lock_timeout):
                if not self._swept:
                    sweep_temporaries(self.path, self._fs)
                    self._swept = True
                current = self._load(quarantine=True)
                if self._problem:
                    raise StoreReadOnlyError(self._problem)
                new, result = change(current)
                if new is not current:
                    self._write(new)
                return result

    def unite(self, plain: bytes) -> None:
        """Merge another copy of this file, as plain bytes, into it.

        Raises :class:`pydantic.ValidationError` for bytes that do not parse, otherwise as :meth:`update` does.
        """
        other = self._adapter.validate_json(plain)
        self.update(lambda value: (self._merge(value, other), None))

    def rewrite(self) -> None:
        """Write the file anew as it is, so that it is dressed by the present codec; nothing when there is none.

        Raises as :meth:`update` does.
        """
        with self._guard:
            if self.signature is None:
                return
            with self._fs.lock(self.path.with_name(self.path.name + ".lock"), self._lock_timeout):
                current = self._load(quarantine=True)
                if self._problem:
                    raise StoreReadOnlyError(self._problem)
                self._write(current)

    def _write(self, new: T) -> None:
        """Write ``new``, merging in what a program without our lock wrote meanwhile."""
        for _ in range(_RACES):
            seen = self._signature
            plain = self._dump(new)
            data = self._codec.encode(self.path.name, plain)
            if self._fs.signature(self.path) == seen:
                break
            new = self._merge(new, self._load(quarantine=True))
            if self._problem:
                raise StoreReadOnlyError(self._problem)
        try:
            atomic_write_bytes(self.path, data, mode=self._mode, fs=self._fs)
        except OSError:
            self._signature = None  # the rename may have happened before the error: look again next time
            self._value = None
            raise
        self._value = new
        self._signature = self._fs.signature(self.path)

    def _load(self, *, quarantine: bool) -> T:
        """The current value; raises :class:`_CorruptError` unless the damaged file may be moved away now."""
        try:
            signature = self._fs.signature(self.path)
            if signature is None:
                self._problem = ""
                self._signature = None
                self._value = self._nothing
                return self._value
            if signature == self._signature and self._value is not None and not self._problem:
                return self._value
            raw = self._fs.read(self.path)
            plain = self._codec.decode(self.path.name, raw).removeprefix(b"\xef\xbb\xbf")
        except FileNotFoundError:
            return self._load(quarantine=quarantine)
        except (OSError, UnopenableError) as error:
            problem = f"{self.path} cannot be read: {error.strerror}" if isinstance(error, OSError) else str(error)
            if problem != self._problem:
                logger.warning("Store is read-only for now: %s", problem)
            self._problem = problem
            self._signature = None
            return self._fallback()
        self._problem = ""
        try:
            value = self._adapter.validate_json(plain) if plain.strip(b" \t\r\n\0") else self._nothing
        except ValidationError as error:
            if not quarantine:
                raise _CorruptError from error
            return self._set_aside(plain, error)
        self._value = value
        self._signature = signature
        return value

    def _set_aside(self, plain: bytes, error: ValidationError) -> T:
        """Keep the damaged file as ``.corrupt`` and go on with what can be saved (spec/memory.md §3.2)."""
        saved = self._saved_from(plain)
        keep = self._corrupt_name()
        if saved is None and self._codec is PLAIN:
            self._fs.replace(self.path, keep)
            self._signature = None
        else:
            # A sealed store's damaged bytes are sealed too, whatever they were.
            self._fs.create(keep, self._codec.encode(keep.name, plain), self._mode)
            if saved is None:
                self._fs.delete(self.path)
            self._signature = self._fs.signature(self.path)
        first = error.errors(include_input=False, include_url=False)[0]
        logger.warning("%s does not parse (%s); the original is kept as %s", self.path, first["msg"], keep.name)
        value = saved if saved is not None else self._fallback()
        if saved is not None and self._value is not None:
            value = self._merge(saved, self._value)
        self._value = value
        if value != self._nothing or saved is not None:
            self._write(value)
        return value

    def _saved_from(self, plain: bytes) -> T | None:
        if self._salvage is None:
            return None
        try:
            return self._salvage(read_leniently(plain))
        except ValueError:
            return None

    def _corrupt_name(self) -> Path:
        candidate = self.path.with_name(self.path.name + ".corrupt")
        number = 1
        while self._fs.signature(candidate) is not None:
            candidate = self.path.with_name(f"{self.path.name}.corrupt-{number}")
            number += 1
        return candidate

    def _fallback(self) -> T:
        return self._value if self._value is not None else self._nothing


class _CorruptError(Exception):
    """Internal: the file does not parse and must be set aside under the lock."""
