"""How a whole file is replaced so that a reader sees the old bytes or the new ones, never a mixture."""

from __future__ import annotations

import logging
import secrets
from datetime import datetime
from pathlib import Path

from chatls_core.store.file_system import FILE_MODE, REAL, FileSystem

logger = logging.getLogger(__name__)

TEMPORARY_SUFFIX = ".tmp"


def atomic_write_bytes(path: Path, data: bytes, *, mode: int = FILE_MODE, fs: FileSystem = REAL) -> None:
    """Replace ``path`` with ``data``: temporary file in the same folder, fsync, rename (spec/memory.md §3.2).

    On return the bytes are on the disk. A symbolic link is followed, not replaced. Missing folders are made. Raises
    :class:`OSError` with the old file untouched and the temporary one removed.
    """
    target = path.resolve() if path.is_symlink() else path
    fs.make_folder(target.parent)
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(6)}{TEMPORARY_SUFFIX}")
    try:
        fs.create(temporary, data, mode)
        fs.replace(temporary, target)
    except OSError:
        remove_quietly(temporary, fs)
        raise


def remove_quietly(path: Path, fs: FileSystem) -> None:
    """Remove a leftover; a failure is logged, because the error that led here matters more."""
    try:
        fs.delete(path)
    except OSError as error:
        logger.warning("The temporary file %s could not be removed: %s", path, error)


def is_temporary(path: Path) -> bool:
    """Whether a file is one that was to become another."""
    return path.name.startswith(".") and path.name.endswith(TEMPORARY_SUFFIX)


def sweep_temporaries(path: Path, fs: FileSystem) -> None:
    """Remove temporary files that killed writers of ``path`` left behind; call it under the file's lock only."""
    prefix = f".{path.name}."
    for entry in fs.list(path.parent):
        if entry.name.startswith(prefix) and entry.name.endswith(TEMPORARY_SUFFIX):
            remove_quietly(entry, fs)


def sweep_abandoned(folder: Path, before: datetime, fs: FileSystem = REAL) -> None:
    """Remove temporary files of a folder that nobody wrote to since ``before``, whatever file they were to become."""
    for entry in fs.list(folder):
        if is_temporary(entry):
            signature = fs.signature(entry)
            if signature is not None and signature.modified_ns < before.timestamp() * 1e9:
                remove_quietly(entry, fs)
