"""Documents as the user sees them: the editor's buffer where one is open, else the file on disk."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from chatls_core.host import Document, HostError, HostErrorKind
from chatls_server.lsp.documents import Documents, Notebook, OpenDocument

MAX_BYTES = 64 << 20
"""Files above this are not read whole."""

MAX_LINE_BYTES = 1 << 16
_CHUNK = 1 << 20


def from_buffer(document: OpenDocument) -> Document:
    """An open document as the core knows it."""
    return Document(
        uri=document.uri,
        text=document.text,
        path=document.path,
        version=document.version,
        language_id=document.language_id,
        dirty=document.dirty,
    )


def from_notebook(notebook: Notebook, documents: Documents, path: Path | None) -> Document:
    """An open notebook as one text: its cells, each under a ``# %%`` line."""
    parts: list[str] = []
    for number, uri in enumerate(notebook.cells, 1):
        cell = documents.get(uri)
        if cell is not None:
            parts.append(f"# %% [cell {number}, {cell.language_id or 'text'}]\n{cell.text}")
    return Document(
        uri=notebook.uri,
        text="\n\n".join(parts) + "\n" if parts else "",
        path=path,
        version=notebook.version,
        language_id=notebook.kind,
        dirty=any(cell.dirty for uri in notebook.cells if (cell := documents.get(uri)) is not None),
    )


def from_disk(uri: str, path: Path) -> Document:
    """The file at the real ``path``; blocks, so call it in a thread.

    Raises :class:`HostError`: ``NOT_FOUND``, ``IS_DIRECTORY``, ``PERMISSION``, ``TOO_LARGE``, ``BINARY``, ``ENCODING``
    or ``UNSUPPORTED`` (no regular file).
    """
    from chatls_core.edits.encoding import DecodeError, decode

    data = read_bytes(path)
    try:
        decoded = decode(data)
    except DecodeError as error:
        kind = HostErrorKind.BINARY if error.binary else HostErrorKind.ENCODING
        raise HostError(kind, f"{path} cannot be read as text: {error}.") from error
    return Document(uri=uri, text=decoded.text, path=path, encoding=decoded.encoding, bom=decoded.bom)


def read_bytes(path: Path) -> bytes:
    """The bytes of a regular file; raises :class:`HostError` like :func:`from_disk`."""
    with _opened(path) as stream:
        size = os.fstat(stream.fileno()).st_size
        if size > MAX_BYTES:
            raise HostError(HostErrorKind.TOO_LARGE, f"{path} has {size} bytes; at most {MAX_BYTES} are read at once.")
        return stream.read()


def lines_from_disk(path: Path, first: int, last: int) -> list[str]:
    """Lines of a large UTF-8 file, read up to ``last`` and no farther; see :meth:`chatls_core.host.Host.read_lines`.

    Lines end at ``\\n`` (or ``\\r\\n``); a line longer than :data:`MAX_LINE_BYTES` is cut. Blocks.
    """
    with _opened(path) as stream:
        if b"\0" in stream.read(8192):
            raise HostError(HostErrorKind.BINARY, f"{path} cannot be read as text: it holds zero bytes.")
        stream.seek(0)
        skip, start = first - 1, 0
        while skip > 0 and (chunk := stream.read(_CHUNK)):
            ends = chunk.count(b"\n")
            if ends < skip:
                skip, start = skip - ends, start + len(chunk)
                continue
            at = -1
            for _ in range(skip):
                at = chunk.index(b"\n", at + 1)
            skip, start = 0, start + at + 1
        if skip > 0:
            return []
        stream.seek(start)
        lines: list[str] = []
        while len(lines) <= last - first and (line := stream.readline(MAX_LINE_BYTES)):
            piece = line
            while len(piece) == MAX_LINE_BYTES and not piece.endswith(b"\n"):
                piece = stream.readline(MAX_LINE_BYTES)
            lines.append(line.rstrip(b"\r\n").decode("utf-8-sig" if first == 1 and not lines else "utf-8", "replace"))
        return lines


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    """A regular file, open for reading.

    The last step is not followed when it is a symbolic link (the path has been resolved, so a link there is new), and
    a pipe or device is not waited for.
    """
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        handle = os.open(path, flags)
    except OSError as error:
        raise _host_error(path, error) from error
    try:
        status = os.fstat(handle)
        if stat.S_ISDIR(status.st_mode):
            raise HostError(HostErrorKind.IS_DIRECTORY, f"{path} is a folder, not a file.")
        if not stat.S_ISREG(status.st_mode):
            raise HostError(HostErrorKind.UNSUPPORTED, f"{path} is no regular file.")
        with os.fdopen(handle, "rb", closefd=False) as stream:
            yield stream
    except OSError as error:
        raise _host_error(path, error) from error
    finally:
        os.close(handle)


def _host_error(path: Path, error: OSError) -> HostError:
    match error:
        case FileNotFoundError() | NotADirectoryError():
            return HostError(HostErrorKind.NOT_FOUND, f"{path} does not exist.")
        case IsADirectoryError():
            return HostError(HostErrorKind.IS_DIRECTORY, f"{path} is a folder, not a file.")
        case PermissionError():
            # Windows refuses to open a folder with this error.
            if path.is_dir():
                return HostError(HostErrorKind.IS_DIRECTORY, f"{path} is a folder, not a file.")
            return HostError(HostErrorKind.PERMISSION, f"{path} may not be read: permission denied.")
    return HostError(HostErrorKind.UNSUPPORTED, f"{path} could not be read: {error.strerror or error}.")
