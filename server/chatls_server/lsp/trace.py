"""``$/setTrace``: what goes over the wire, told to a client that asked for it, never with secrets."""

from __future__ import annotations

import json
from collections.abc import Callable

SECRET_METHODS = frozenset(
    {
        "initialize",
        "chatls/secrets",
        "chatls/secrets/keep",
        "workspace/configuration",
        "workspace/didChangeConfiguration",
    }
)
"""Messages whose parameters may hold keys: never traced or logged (PROTOCOL.md, "initialize")."""

_UNTRACED = frozenset({"$/logTrace", "window/logMessage", "$/setTrace"})
_LIMIT = 4000


class Tracer:
    """Sends ``$/logTrace`` when the client switched tracing on; ``level`` is off, messages or verbose."""

    def __init__(self, send: Callable[[str, object], None]) -> None:
        self._send = send
        self.level = "off"

    def set_level(self, value: object) -> None:
        """Follow ``$/setTrace`` or the initialize parameter; an unknown value means off."""
        self.level = value if isinstance(value, str) and value in ("messages", "verbose") else "off"

    def received(self, kind: str, method: str, message_id: object, params: object) -> None:
        """Trace an incoming message."""
        if self.level != "off":
            self._trace("Received", kind, method, message_id, params)

    def sending(self, kind: str, method: str, message_id: object, params: object) -> None:
        """Trace an outgoing message."""
        if self.level != "off":
            self._trace("Sending", kind, method, message_id, params)

    def _trace(self, direction: str, kind: str, method: str, message_id: object, params: object) -> None:
        if method in _UNTRACED:
            return
        name = f"{method} - ({message_id})" if message_id is not None else method
        payload = {"message": f"{direction} {kind} '{name}'"}
        if self.level == "verbose" and params is not None and method not in SECRET_METHODS:
            from chatls_core.text.redaction import redact

            payload["verbose"] = redact(json.dumps(params, default=str)[:_LIMIT])
        self._send("$/logTrace", payload)
