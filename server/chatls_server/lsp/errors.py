"""How a failure is told to the client: JSON-RPC codes and the translation of exceptions into them."""

from __future__ import annotations

import logging
from typing import Any

from chatls_server.lsp.protocol.base import BadParams

logger = logging.getLogger(__name__)

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
NOT_INITIALIZED = -32002
QUEUE_FULL = -32001
CHAT_FAILED = -32010
REQUEST_CANCELLED = -32800
SERVER_CANCELLED = -32802


class RpcError(Exception):
    """A failure with its JSON-RPC code; ``str()`` is the sentence the client gets, ``data`` rides along."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.data = data


class ClientError(Exception):
    """The client answered one of our requests with an error."""

    def __init__(self, method: str, code: int, message: str, data: Any = None) -> None:
        super().__init__(f"{method} failed in the editor: {message} ({code})")
        self.code = code
        self.data = data


def error_payload(code: int, message: str, data: Any = None) -> dict[str, Any]:
    """A JSON-RPC error object."""
    payload: dict[str, Any] = {"code": code, "message": message}
    if data is not None:
        payload["data"] = data
    return payload


def describe(error: BaseException, method: str) -> dict[str, Any]:
    """The error object for a handler's exception.

    What nobody foresaw is logged with its traceback; the client gets one sentence (PROTOCOL.md, "Chat": −32010,
    −32602, −32800 and −32802).
    """
    from chatls_core.llm.events import ModelError

    match error:
        case BadParams():
            return error_payload(INVALID_PARAMS, str(error))
        case RpcError():
            return error_payload(error.code, str(error), error.data)
        case ModelError():
            data: dict[str, Any] = {"kind": error.kind, "hint": error.hint}
            if error.provider:
                data["provider"] = error.provider
            if error.retry_after is not None:
                data["retryAfterSeconds"] = error.retry_after
            return error_payload(CHAT_FAILED, str(error), data)
    logger.error("%s failed inside the server", method, exc_info=error)
    return error_payload(
        INTERNAL_ERROR, f"{method} failed inside ChatLS ({type(error).__name__}); the log has the details."
    )
