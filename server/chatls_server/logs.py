"""Where the server writes what it does: a rotating file, and the editor's log for what matters; never stdout."""

from __future__ import annotations

import logging
import logging.handlers
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from chatls_server.lsp.server import ChatServer

MAX_BYTES = 10 << 20
FILES = 5

_FORMAT = "%(asctime)s %(process)d %(levelname)s %(name)s: %(message)s"
_KINDS = {logging.ERROR: 1, logging.WARNING: 2, logging.INFO: 3, logging.DEBUG: 4}


class RedactingFormatter(logging.Formatter):
    """Formats a record, traceback included, with secrets masked."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as one text without secrets."""
        from chatls_core.text.redaction import redact

        return redact(super().format(record))


class ClientLogHandler(logging.Handler):
    """Shows warnings and errors in the editor's log (``window/logMessage``), without tracebacks."""

    def __init__(self, server: ChatServer) -> None:
        super().__init__(logging.WARNING)
        self._server = server

    def emit(self, record: logging.LogRecord) -> None:
        """Send one record. Any thread."""
        if not self._server.protocol.in_session:
            return
        kind = next((kind for level, kind in _KINDS.items() if record.levelno >= level), 4)
        from chatls_core.text.redaction import redact

        text = redact(record.getMessage())
        self._server.send_notification("window/logMessage", {"type": kind, "message": text})


class SharedRotatingFile(logging.handlers.RotatingFileHandler):
    """A rotating file that several servers write to: one that another has rotated away is opened anew.

    Only its owner may read it: messages may quote the user's files.
    """

    def _open(self) -> Any:
        handle = os.open(self.baseFilename, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        return os.fdopen(handle, "a", encoding="utf-8", errors="backslashreplace")

    def shouldRollover(self, record: logging.LogRecord) -> bool:
        """Whether to rotate before this record."""
        stream: TextIO | None = self.stream
        if stream is not None and not self._is_current(stream):
            stream.close()
            self.stream = self._open()
        return bool(super().shouldRollover(record))

    def _is_current(self, stream: TextIO) -> bool:
        try:
            named = Path(self.baseFilename).stat()
        except OSError:
            return False
        opened = os.fstat(stream.fileno())
        return (named.st_dev, named.st_ino) == (opened.st_dev, opened.st_ino)


def log_file(home: Path) -> Path:
    """The log's path below the data folder."""
    return home / "logs" / "chatls.log"


def start_logging(server: ChatServer) -> None:
    """Log to ``<home>/logs/chatls.log`` (10 MB × 5) and to the client; to standard error when there is no writing."""
    root = logging.getLogger()
    handler: logging.Handler
    try:
        path = log_file(server.home)
        path.parent.mkdir(parents=True, exist_ok=True)
        handler = SharedRotatingFile(path, maxBytes=MAX_BYTES, backupCount=FILES - 1, delay=True)
    except OSError as error:
        sys.stderr.write(f"chatls: the log cannot be written: {error}\n")
        handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(RedactingFormatter(_FORMAT))
    root.handlers[:] = [handler, ClientLogHandler(server)]
    set_level(server.settings.log_level)
    # pygls logs whole messages, keys included, at INFO.
    for name in ("pygls", "asyncio", "httpx", "httpcore", "anthropic", "openai", "watchdog", "mcp"):
        logging.getLogger(name).setLevel(logging.WARNING)


def set_level(level: str) -> None:
    """Follow the setting ``logLevel``."""
    logging.getLogger().setLevel(level.upper())
