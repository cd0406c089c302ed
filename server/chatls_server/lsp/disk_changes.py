"""A change carried out on disk, as one transaction, for editors that cannot apply edits."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from pathlib import Path

from chatls_server.lsp.disk import create_file, remove_folders, replace_file
from chatls_server.lsp.preflight import Planned
from chatls_server.lsp.reading import read_bytes

logger = logging.getLogger(__name__)

Undo = Callable[[], None]


def apply_on_disk(planned: Sequence[Planned]) -> None:
    """Carry out every file's change, or none; blocks, so call it in a thread.

    Encoding, byte-order mark, line ends and mode stay. Raises :class:`OSError`, :class:`EncodeError` (a text the file's
    encoding cannot hold) or :class:`HostError` after everything has been put back.
    """
    done: list[Undo] = []
    prepared = [(file, _encoded(file)) for file in planned]
    try:
        for file, data in prepared:
            done.extend(_carry_out(file, data))
    except Exception:
        for undo in reversed(done):
            try:
                undo()
            except OSError:
                logger.exception("A file could not be put back after a failed change")
        raise


def _encoded(file: Planned) -> bytes | None:
    from chatls_core.edits.encoding import encode

    after = file.change.after
    if after is None:
        return None
    current = file.current
    return encode(after, current.encoding, current.bom) if current is not None else encode(after, "utf-8", False)


def _carry_out(file: Planned, data: bytes | None) -> list[Undo]:
    """Do one file's change; returns how to undo it, in the order it was done."""
    path = _path(file)
    if data is None:
        before = read_bytes(path)
        mode = path.stat().st_mode
        path.unlink()
        return [lambda: _recreate(path, before, mode)]
    if file.kind == "create":
        made = create_file(path, data)
        return [lambda: remove_folders(made), path.unlink]
    undos: list[Undo] = []
    if file.kind == "rename" and file.target is not None:
        source, target = path, file.target
        made = _make_parents(target)
        source.rename(target)
        undos += [lambda: remove_folders(made), lambda: _move_back(target, source)]
        path = target
    before = read_bytes(path)
    if before != data:
        replace_file(path, data)
        undos.append(lambda: replace_file(path, before))
    return undos


def _make_parents(target: Path) -> list[Path]:
    missing = [folder for folder in target.parents if not folder.exists()]
    target.parent.mkdir(parents=True, exist_ok=True)
    return list(reversed(missing))


def _move_back(target: Path, source: Path) -> None:
    target.rename(source)


def _recreate(path: Path, data: bytes, mode: int) -> None:
    create_file(path, data)
    path.chmod(mode & 0o7777)


def _path(file: Planned) -> Path:
    if file.path is None:
        raise OSError(f"{file.uri} is no file")
    return file.path
