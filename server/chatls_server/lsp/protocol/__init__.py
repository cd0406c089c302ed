"""The wire models of every custom message, and the list of messages that documentation and types are made from."""

from __future__ import annotations

from chatls_server.lsp.protocol.base import BadParams, Nothing, Position, Range, Wire, parse, to_wire

PROTOCOL_VERSION = 1
"""``experimental.chatls.protocolVersion``: raised when a client must change."""

__all__ = ["PROTOCOL_VERSION", "BadParams", "Nothing", "Position", "Range", "Wire", "parse", "to_wire"]
