"""Reading the files of a context, within its mode's limits; what is left out is named."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from chatls_core.contexts.model import LIMITS, ContextError, ContextFile, ContextMode

log = logging.getLogger(__name__)

Walk = Callable[[Path], Iterable[Path]]
"""Gives the files below a folder, noise and ignored ones left out."""

_SNIFFED_BYTES = 8_192


@dataclass(frozen=True, slots=True)
class Gathered:
    """The files in order, and what was left out with the reason."""

    files: tuple[ContextFile, ...]
    skipped: tuple[str, ...]


def gather(paths: Sequence[Path], mode: ContextMode, walk: Walk) -> Gathered:
    """Read files and folders. Raises :class:`ContextError` when a path does not exist or nothing readable is there."""
    max_bytes, max_files = LIMITS[mode]
    files: dict[str, ContextFile] = {}
    skipped: list[str] = []
    total = 0
    for path in _listed(paths, walk):
        key = str(path)
        if key in files:
            continue
        if len(files) >= max_files:
            skipped.append(f"{key}: more than {max_files} files")
            break
        try:
            size = path.stat().st_size
            if total + size > max_bytes:
                skipped.append(f"{key}: the context would be larger than {max_bytes // (1024 * 1024)} MB")
                continue
            data = path.read_bytes()
            modified = path.stat().st_mtime_ns
        except OSError as error:
            skipped.append(f"{key}: {error.strerror or error}")
            continue
        if b"\0" in data[:_SNIFFED_BYTES]:
            skipped.append(f"{key}: no text")
            continue
        files[key] = ContextFile(
            path=key, content=data.decode("utf-8-sig", "replace"), size=len(data), modified=modified
        )
        total += len(data)
    if not files:
        why = f" ({'; '.join(skipped[:3])})" if skipped else ""
        raise ContextError(f"paths: no text file was found there{why}.")
    return Gathered(tuple(files.values()), tuple(skipped))


def _listed(paths: Sequence[Path], walk: Walk) -> Iterable[Path]:
    for path in paths:
        if path.is_dir():
            yield from sorted(walk(path))
        elif path.is_file():
            yield path
        else:
            raise ContextError(f"paths: {path} does not exist.")
