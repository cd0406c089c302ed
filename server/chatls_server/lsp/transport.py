"""How the server is reached: stdio, or one loopback connection guarded by a token (PROTOCOL.md, head)."""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import logging
import os
import secrets
import signal
import socket
import sys
import threading
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, BinaryIO

from chatls_server.lsp.ending import Ending
from chatls_server.lsp.frames import BadFrame, FrameWriter, read_frames

if TYPE_CHECKING:
    from chatls_server.lsp.server import ChatServer

logger = logging.getLogger(__name__)

_INBOX_LIMIT = 4096
_TOKEN_SECONDS = 10.0


class Inbox:
    """Hands messages from the reader thread to the loop, one per turn of the loop.

    One at a time, so that a request's handler has taken its first step before the next message changes a document.
    The reader waits when :data:`_INBOX_LIMIT` messages lie here.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, take: Callable[[object], None]) -> None:
        self._loop = loop
        self._take = take
        self._items: deque[object] = deque()
        self._room = threading.BoundedSemaphore(_INBOX_LIMIT)
        self._active = False

    def put(self, item: object) -> None:
        """Add a message; called in the reader thread."""
        self._room.acquire()
        self._items.append(item)
        self._loop.call_soon_threadsafe(self._wake)

    def _wake(self) -> None:
        if not self._active:
            self._active = True
            self._step()

    def _step(self) -> None:
        if not self._items:
            self._active = False
            return
        item = self._items.popleft()
        self._room.release()
        # Scheduled first, so that one message that fails does not silence the rest.
        self._loop.call_soon(self._step)
        self._take(item)


async def serve(server: ChatServer, incoming: BinaryIO, outgoing: BinaryIO) -> None:
    """Serve one client on two byte streams until it is gone; the process ends then, this never returns."""
    loop = asyncio.get_running_loop()
    ending: Ending
    writer = FrameWriter(outgoing, lambda reason: ending.begin(reason, 1))
    ending = Ending(loop, server.close, writer.flush)
    server.protocol.connect(writer)
    server.on_end(ending.begin)

    def take(item: object) -> None:
        if isinstance(item, BadFrame):
            server.protocol.reject(item.code, item.reason, item.message_id)
        else:
            server.protocol.receive(item)

    inbox = Inbox(loop, take)

    def read() -> None:
        try:
            read_frames(incoming, inbox.put)
        except (OSError, ValueError) as error:
            logger.warning("The input broke: %s", error)
        ending.begin("the input ended", 0 if server.protocol.shutdown_requested else 1)

    threading.Thread(target=read, name="chatls-reader", daemon=True).start()
    for name in ("SIGTERM", "SIGINT", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None:
            with contextlib.suppress(NotImplementedError):  # Windows loops take no signal handlers
                loop.add_signal_handler(number, ending.begin, f"{name} received", 0)
    await asyncio.Event().wait()


def serve_stdio(server: ChatServer) -> None:
    """Serve on standard input and output, which nothing else in the process can reach afterwards.

    ``print`` and C libraries write to standard error from here on, and children read nothing of ours.
    """
    incoming = os.fdopen(os.dup(0), "rb")
    outgoing = os.fdopen(os.dup(1), "wb")
    if sys.platform == "win32":
        import msvcrt

        for stream in (incoming, outgoing):
            msvcrt.setmode(stream.fileno(), os.O_BINARY)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    asyncio.run(serve(server, incoming, outgoing))


def serve_tcp(server: ChatServer, port: int) -> None:
    """Serve one client on loopback ``port`` (0: any free one) for debugging.

    The address and a fresh token are written to standard error; a connection has to send the token as its first line.
    """
    token = secrets.token_urlsafe(24)
    with socket.create_server(("127.0.0.1", port)) as listener:
        sys.stderr.write(f"chatls: listening on 127.0.0.1:{listener.getsockname()[1]} token {token}\n")
        sys.stderr.flush()
        incoming, outgoing = _accept(listener, token)
    asyncio.run(serve(server, incoming, outgoing))


def _accept(listener: socket.socket, token: str) -> tuple[BinaryIO, BinaryIO]:
    """The streams of the first connection that knows the token; others are closed and noted."""
    while True:
        connection, address = listener.accept()
        connection.settimeout(_TOKEN_SECONDS)
        incoming = connection.makefile("rb")
        try:
            line = incoming.readline(512)
        except OSError as error:
            logger.info("A connection from %s sent no token: %s", address, error)
            line = b""
        if hmac.compare_digest(line.strip(), token.encode()):
            connection.settimeout(None)
            return incoming, connection.makefile("wb")
        logger.warning("A connection from %s did not know the token and was closed", address)
        incoming.close()
        connection.close()
