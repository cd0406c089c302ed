"""An append-only file of JSON lines that tolerates a torn tail (the journal of sessions and of memory's history)."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chatls_core.store.codec import PLAIN, SEALED_PREFIX, Codec, UnopenableError
from chatls_core.store.file_system import FILE_MODE, REAL, FileSystem

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class JournalPage:
    """Records of a journal in order.

    ``next_offset`` is the byte offset behind the last whole line: read on from there. ``damaged`` counts lines that
    are no JSON object (a torn write of a killed process); they are left out.
    """

    records: tuple[Mapping[str, Any], ...]
    next_offset: int
    damaged: int = 0


class JsonLines:
    """Appends JSON objects, one per line, in UTF-8. Thread-safe, and safe between processes.

    With a sealing ``codec`` each line is sealed on its own.
    """

    def __init__(self, path: Path, *, fs: FileSystem = REAL, codec: Codec = PLAIN, mode: int = FILE_MODE) -> None:
        self.path = path
        self._fs = fs
        self._codec = codec
        self._mode = mode
        self._guard = threading.Lock()

    def append(self, records: Iterable[Mapping[str, Any]]) -> int:
        """Append records in one write; on return they are on the disk.

        Returns the file's size in bytes. Raises :class:`OSError` (a part may have been written: it reads as a torn
        line) and :class:`TypeError` for values JSON has no word for.
        """
        lines = [self._line(record) for record in records]
        with self._guard:
            signature = self._fs.signature(self.path)
            if not lines:
                return signature.size if signature else 0
            if signature is None:
                self._fs.make_folder(self.path.parent)
            torn = (
                signature is not None
                and signature.size > 0
                and self._fs.read(self.path, signature.size - 1, 1) != b"\n"
            )
            # A killed writer may have left half a line: closing it first keeps our own records whole.
            return self._fs.append(self.path, (b"\n" if torn else b"") + b"".join(lines), self._mode)

    def read(self, offset: int = 0) -> JournalPage:
        """Records from a byte ``offset`` (0, or an earlier page's ``next_offset``); empty when there is no file.

        A last line without its end is not read yet: another process may be writing it. Raises :class:`OSError`,
        :class:`~chatls_core.store.codec.UnopenableError` for a sealed line whose key is missing.
        """
        try:
            data = self._fs.read(self.path, offset)
        except FileNotFoundError:
            return JournalPage((), 0)
        end = data.rfind(b"\n") + 1
        records: list[Mapping[str, Any]] = []
        damaged = 0
        for line in data[:end].split(b"\n"):
            if not line.strip():
                continue
            record = self._parse(line)
            if record is None:
                damaged += 1
            else:
                records.append(record)
        if damaged:
            logger.warning("%s: %d damaged line(s) left out", self.path, damaged)
        return JournalPage(tuple(records), offset + end, damaged)

    def _line(self, record: Mapping[str, Any]) -> bytes:
        plain = json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
        return self._codec.encode(self.path.name, plain).rstrip(b"\n") + b"\n"

    def _parse(self, line: bytes) -> Mapping[str, Any] | None:
        try:
            record = json.loads(self._codec.decode(self.path.name, line).decode("utf-8", "replace"))
        except ValueError:
            return None
        except UnopenableError:
            if line.startswith(SEALED_PREFIX):
                raise
            return None
        return record if isinstance(record, dict) else None
