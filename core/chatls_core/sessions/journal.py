"""What happened in each session's turns, event by event, so that a reloaded window can catch up (PROTOCOL.md "Chat").

One append-only file of JSON lines per session. An event is in the operating system's hands when
:meth:`Journal.append` returns, so killing the server loses none; it is forced to the disk when its turn ends. A line
torn by a crash is left out.
"""

from __future__ import annotations

import json
import logging
import os
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chatls_core.sessions import names
from chatls_core.sessions.owner import Owner
from chatls_core.store import FILE_MODE, REAL, FileSystem, atomic_write_bytes

logger = logging.getLogger(__name__)

END_KIND = "ended"
"""Kind of the event that closes a turn (:class:`chatls_core.events.Ended`)."""

_OWNER_KIND = "owner"
"""Kind of the record that says which process runs a turn; it never leaves the journal."""


@dataclass(frozen=True, slots=True)
class OpenTurn:
    """A turn that began and never ended, because its server stopped; ``last_seq`` is its last event's number."""

    turn_id: str
    last_seq: int
    text: str = ""


@dataclass(slots=True)
class _Open:
    """A session's file while a turn runs; ``turns`` are those that run."""

    descriptor: int
    turns: set[str]
    size: int
    inode: int


class Journal:
    """Events per session. Thread-safe; several processes may append to one session's file.

    ``max_bytes`` bounds one session's file: beyond it, its oldest ended turns are dropped when a turn ends.
    """

    def __init__(self, folder: Path, *, max_bytes: int = 8_000_000, fs: FileSystem = REAL) -> None:
        self._folder = folder
        self._max_bytes = max_bytes
        self._fs = fs
        self._guard = threading.RLock()
        self._files: dict[str, _Open] = {}
        self._owner = Owner(folder / "owners")

    def append(self, session_id: str, event: Mapping[str, object]) -> None:
        """Add one event (``turnId``, ``seq``, ``kind`` and its own fields; all JSON). Raises :class:`OSError`."""
        turn_id = str(event.get("turnId", ""))
        lines = b""
        with self._guard:
            file = self._open(session_id)
            if turn_id not in file.turns:
                lines += _line({"turnId": turn_id, "kind": _OWNER_KIND, "owner": self._owner.hold()})
                file.turns.add(turn_id)
            lines += _line(event)
            _write(file.descriptor, lines)
            file.size += len(lines)
            if event.get("kind") == END_KIND:
                os.fsync(file.descriptor)
                file.turns.discard(turn_id)
                if not file.turns:
                    self._close(session_id)
                    if file.size > self._max_bytes:
                        self._shorten(session_id)

    def read(self, session_id: str, *, turn_id: str = "", after_seq: int = 0) -> list[dict[str, Any]]:
        """Events in the order they were appended: of one turn or of all, those with a larger ``seq``.

        Empty for a session without events. Raises :class:`OSError`.
        """
        return [
            event
            for event in self._records(session_id)
            if event.get("kind") != _OWNER_KIND
            and (not turn_id or event.get("turnId") == turn_id)
            and _seq(event) > after_seq
        ]

    def open_turns(self, session_id: str) -> list[OpenTurn]:
        """Turns without an end whose process is gone: interrupted. Turns that still run somewhere are left out."""
        owners: dict[str, str] = {}
        last: dict[str, int] = {}
        texts: dict[str, str] = {}
        for event in self._records(session_id):
            turn = str(event.get("turnId", ""))
            kind = event.get("kind")
            if kind == _OWNER_KIND:
                owners[turn] = str(event.get("owner", ""))
                last.setdefault(turn, 0)
            elif kind == END_KIND:
                last.pop(turn, None)
            else:
                last[turn] = max(last.get(turn, 0), _seq(event))
                if kind == "started" and isinstance(event.get("text"), str):
                    texts[turn] = event["text"]
        alive = {owner: self._owner.is_alive(owner) for owner in {owners.get(t, "") for t in last}}
        return [OpenTurn(t, seq, texts.get(t, "")) for t, seq in last.items() if not alive[owners.get(t, "")]]

    def delete(self, session_id: str) -> None:
        """Forget a session's events."""
        with self._guard:
            self._close(session_id)
            self._fs.delete(self._path(session_id))

    def close(self) -> None:
        """Release files; turns still open count as interrupted from now on."""
        with self._guard:
            for session_id in list(self._files):
                self._close(session_id)
            self._owner.release()

    def _path(self, session_id: str) -> Path:
        return self._folder / f"{names.from_id(session_id)}.jsonl"

    def _open(self, session_id: str) -> _Open:
        path = self._path(session_id)
        if (file := self._files.get(session_id)) is not None:
            if self._inode(path) == file.inode:
                return file
            # Another process shortened the file: what we append to the old one would be lost.
            self._close(session_id)
            turns = file.turns
        else:
            turns = set()
        self._fs.make_folder(path.parent)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), FILE_MODE)
        stat = os.fstat(descriptor)
        size = stat.st_size
        if size:
            os.lseek(descriptor, size - 1, os.SEEK_SET)
            if os.read(descriptor, 1) != b"\n":
                _write(descriptor, b"\n")  # a killed writer left half a line: close it, our own must stay whole
        file = self._files[session_id] = _Open(descriptor, turns, size, stat.st_ino)
        return file

    @staticmethod
    def _inode(path: Path) -> int:
        try:
            return path.stat().st_ino
        except FileNotFoundError:
            return -1

    def _close(self, session_id: str) -> None:
        if (file := self._files.pop(session_id, None)) is not None:
            os.close(file.descriptor)

    def _records(self, session_id: str) -> Iterator[dict[str, Any]]:
        try:
            data = self._fs.read(self._path(session_id))
        except FileNotFoundError:
            return
        damaged = 0
        for line in data.split(b"\n"):
            if not line.strip():
                continue
            try:
                record = json.loads(line.decode("utf-8", "surrogatepass"))
            except ValueError:
                damaged += 1
                continue
            if isinstance(record, dict):
                yield record
        if damaged:
            logger.info("%d torn line(s) in the journal of session %s left out", damaged, session_id)

    def _shorten(self, session_id: str) -> None:
        """Drop the oldest turns until half of the allowed size is left; never the last turn."""
        records = list(self._records(session_id))
        turns: dict[str, list[bytes]] = {}
        for record in records:
            turns.setdefault(str(record.get("turnId", "")), []).append(_line(record))
        kept: list[bytes] = []
        size = 0
        for lines in reversed(list(turns.values())):
            block = b"".join(lines)
            if kept and size + len(block) > self._max_bytes // 2:
                break
            kept.append(block)
            size += len(block)
        atomic_write_bytes(self._path(session_id), b"".join(reversed(kept)), fs=self._fs)


def _line(record: Mapping[str, object]) -> bytes:
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass") + b"\n"


def _write(descriptor: int, data: bytes) -> None:
    """One write, so that lines of two processes never mix; a full disk may cut it, which reads as a torn line."""
    written = os.write(descriptor, data)
    if written < len(data):
        os.write(descriptor, data[written:])


def _seq(event: Mapping[str, Any]) -> int:
    seq = event.get("seq")
    return seq if isinstance(seq, int) else 0
