"""Changing files on disk, for editors that cannot apply edits: whole files, atomically, keeping mode and owner."""

from __future__ import annotations

import logging
import os
import secrets
import stat
from pathlib import Path

logger = logging.getLogger(__name__)


def replace_file(path: Path, data: bytes) -> None:
    """Replace an existing file: temporary file beside it, same mode and owner, fsync, rename.

    Raises :class:`OSError` with the old file untouched.
    """
    status = path.stat()
    temporary = _write_beside(path, data)
    try:
        if hasattr(os, "chown") and (status.st_uid, status.st_gid) != _owner(temporary):
            try:
                os.chown(temporary, status.st_uid, status.st_gid)
            except PermissionError:
                logger.info("%s keeps its text but not its owner", path)
        temporary.chmod(stat.S_IMODE(status.st_mode))
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


def create_file(path: Path, data: bytes) -> list[Path]:
    """Make a new file with the user's default mode, and its folders; returns those that were made, outermost first.

    Raises :class:`FileExistsError` when it exists, other :class:`OSError` with nothing left behind.
    """
    made = _make_folders(path.parent)
    try:
        temporary = _write_beside(path, data)
        try:
            _link(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError:
        remove_folders(made)
        raise
    _sync_folder(path.parent)
    return made


def remove_folders(made: list[Path]) -> None:
    """Remove folders that :func:`create_file` made, where they are empty."""
    for folder in reversed(made):
        try:
            folder.rmdir()
        except OSError as error:
            logger.info("The folder %s stays: %s", folder, error)


def _link(temporary: Path, path: Path) -> None:
    """Give the finished file its name, never over another one."""
    try:
        path.hardlink_to(temporary)
    except FileExistsError:
        raise
    except OSError:
        # File systems without hard links (FAT, some network drives).
        if os.path.lexists(path):
            raise FileExistsError(f"{path} exists") from None
        temporary.rename(path)


def _write_beside(path: Path, data: bytes) -> Path:
    temporary = path.with_name(f".{path.name[:100]}.{secrets.token_hex(6)}.tmp")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
    return temporary


def _make_folders(folder: Path) -> list[Path]:
    missing: list[Path] = []
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    for path in reversed(missing):
        path.mkdir(exist_ok=True)
    return list(reversed(missing))


def _owner(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_uid, status.st_gid


def _sync_folder(folder: Path) -> None:
    if not hasattr(os, "O_DIRECTORY"):
        return
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        logger.debug("The folder %s cannot be synchronised: %s", folder, error)
        return
    try:
        os.fsync(handle)
    except OSError as error:
        logger.debug("The folder %s cannot be synchronised: %s", folder, error)
    finally:
        os.close(handle)
