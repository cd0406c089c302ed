"""Writing what the kernel takes at once, so that a short message does not wait for another thread's turn."""

from __future__ import annotations

import os
import select
import socket
import stat
import sys
from collections.abc import Callable
from typing import BinaryIO

AtOnce = Callable[[bytes], int]
"""Writes what can be written without waiting; returns how many bytes that were, 0 when none or when it failed."""


def nothing_at_once(data: bytes) -> int:
    """For streams of which it is not known how much they take."""
    return 0


def at_once(stream: BinaryIO) -> AtOnce:
    """How to write to ``stream`` without waiting; its own buffer must be empty then.

    Only pipes and sockets, and not on Windows: everywhere else a write may block.
    """
    if sys.platform == "win32":
        return nothing_at_once
    try:
        descriptor = stream.fileno()
        mode = os.fstat(descriptor).st_mode
    except (OSError, ValueError):
        return nothing_at_once
    if stat.S_ISFIFO(mode):
        return _to_pipe(descriptor)
    return _to_socket(descriptor) if stat.S_ISSOCK(mode) else nothing_at_once


if sys.platform != "win32":

    def _to_pipe(descriptor: int) -> AtOnce:
        waiting = select.poll()
        waiting.register(descriptor, select.POLLOUT)

        def write(data: bytes) -> int:
            # A pipe that is ready takes this much whole; of more it may take a part and block for the rest.
            if len(data) > select.PIPE_BUF:
                return 0
            try:
                ready = waiting.poll(0)
                return os.write(descriptor, data) if ready and ready[0][1] == select.POLLOUT else 0
            except OSError:
                return 0  # the writer's thread meets the same error and reports it

        return write

    def _to_socket(descriptor: int) -> AtOnce:
        connection = socket.socket(fileno=os.dup(descriptor))

        def write(data: bytes) -> int:
            try:
                return connection.send(data, socket.MSG_DONTWAIT)
            except OSError:
                return 0

        return write
