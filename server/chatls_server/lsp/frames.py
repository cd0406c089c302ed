"""LSP frames on byte streams: ``Content-Length`` headers and JSON bodies, each direction in a thread of its own.

Reading and writing happen outside the event loop, so that a client that stops reading does not stall the server and
the end of the input is noticed behind any amount of work.
"""

from __future__ import annotations

import json
import logging
import queue
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import BinaryIO

from chatls_server.lsp.direct import at_once

logger = logging.getLogger(__name__)

MAX_FRAME_BYTES = 64 << 20
"""Frames above this are skipped and refused (PROTOCOL.md, end)."""

MAX_QUEUED_BYTES = 512 << 20
"""A client that leaves this much unread counts as gone."""

_HEADER_LINE = 65536
_SKIP_CHUNK = 1 << 20
_ID_IN_HEAD = re.compile(rb'"id"\s*:\s*(\d{1,18}|"[^"\\]{0,200}")')


@dataclass(frozen=True, slots=True)
class BadFrame:
    """A frame that is no message: JSON-RPC ``code``, the reason, and the request's id where it could be told."""

    code: int
    reason: str
    message_id: int | str | None = None


def read_frames(stream: BinaryIO, deliver: Callable[[object], None], *, limit: int = MAX_FRAME_BYTES) -> None:
    """Deliver every parsed message, or a :class:`BadFrame`, until the stream ends. Blocks; run it in a thread.

    Header names are read in any case; blocks without a usable ``Content-Length`` are skipped with a log line.
    """
    while (length := _read_header(stream)) is not None:
        if length > limit:
            frame = _skip(stream, length)
            if frame is None:
                return
            deliver(frame)
            continue
        body = stream.read(length)
        if len(body) < length:
            return
        deliver(parse_body(body))


def parse_body(body: bytes) -> object:
    """The JSON value of a frame, or a :class:`BadFrame` (−32700)."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        return BadFrame(-32700, f"parse error: {_one_line(error)}", _id_in(body[:4096]))


def _read_header(stream: BinaryIO) -> int | None:
    """The body's length in bytes; ``None`` at the end of the stream."""
    length: int | None = None
    while line := stream.readline(_HEADER_LINE):
        if line in (b"\r\n", b"\n"):
            if length is not None:
                return length
            continue
        name, _, value = line.partition(b":")
        value = value.strip()
        if name.strip().lower() == b"content-length":
            if value.isdigit() and len(value) < 19:
                length = int(value)
            else:
                logger.warning("A Content-Length header that is no number is ignored")
    return None


def _skip(stream: BinaryIO, length: int) -> BadFrame | None:
    """Read past a frame that is too large; ``None`` when the stream ends inside it."""
    head = b""
    left = length
    while left:
        chunk = stream.read(min(left, _SKIP_CHUNK))
        if not chunk:
            return None
        head = head or chunk[:4096]
        left -= len(chunk)
    return BadFrame(-32600, f"a frame of {length} bytes is above the limit of {MAX_FRAME_BYTES}", _id_in(head))


def _id_in(head: bytes) -> int | str | None:
    """The id of a request whose body is not parsed, when it stands before the parameters."""
    found = _ID_IN_HEAD.search(head.partition(b'"params"')[0])
    if found is None or b'"method"' not in head:
        return None
    raw = found[1].decode("utf-8", "replace")
    return raw[1:-1] if raw.startswith('"') else int(raw)


def _one_line(error: BaseException) -> str:
    return str(error).splitlines()[0][:200] if str(error) else type(error).__name__


class FrameWriter:
    """Sends frames; :meth:`write` never blocks and may be called from any thread.

    What the client's pipe takes at once is written there and then; the rest is queued for a thread of its own.
    """

    def __init__(self, stream: BinaryIO, on_broken: Callable[[str], None]) -> None:
        self._stream = stream
        self._at_once = at_once(stream)
        self._on_broken = on_broken
        self._queue: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._state = threading.Condition()
        self._queued = 0
        self._broken = False
        threading.Thread(target=self._run, name="chatls-writer", daemon=True).start()

    def write(self, body: bytes) -> None:
        """Send one JSON body, or queue it. After the stream broke, what is written is dropped."""
        frame = b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
        with self._state:
            if self._broken:
                return
            if self._queued == 0:
                frame = frame[self._at_once(frame) :]
                if not frame:
                    return
            self._queued += len(frame)
            flooded = self._queued > MAX_QUEUED_BYTES
            if not flooded:
                # Within the lock: a frame whose beginning is written must be the next in the queue.
                self._queue.put(frame)
        if flooded:
            self._break("the editor has stopped reading")

    def flush(self, timeout_seconds: float) -> bool:
        """Wait until everything queued has been written; False when it took too long or the stream is broken."""
        with self._state:
            return self._state.wait_for(lambda: self._queued == 0 or self._broken, timeout_seconds) and not self._broken

    def _run(self) -> None:
        while True:
            frame = self._queue.get()
            try:
                self._stream.write(frame)
                if self._queue.empty():
                    self._stream.flush()
            except (OSError, ValueError) as error:
                self._break(f"the editor cannot be reached: {_one_line(error)}")
                return
            with self._state:
                self._queued -= len(frame)
                if self._queued == 0:
                    self._state.notify_all()

    def _break(self, reason: str) -> None:
        with self._state:
            if self._broken:
                return
            self._broken = True
            self._state.notify_all()
        self._on_broken(reason)
