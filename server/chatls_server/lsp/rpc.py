"""JSON-RPC over pygls: every request is answered, custom parameters stay raw, questions to the client can be withdrawn.

pygls keeps the table of standard features, the conversion of their types and the server capabilities; the message
layer is ours, because the library's loses requests, keys and cancellations (docs/protocol.md, "Transport").
"""

from __future__ import annotations

import asyncio
import inspect
import itertools
import json
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, TypeGuard

from lsprotocol import types
from pydantic import BaseModel
from pygls.protocol import LanguageServerProtocol

from chatls_server.lsp import errors
from chatls_server.lsp.errors import ClientError, RpcError, describe, error_payload
from chatls_server.lsp.protocol.base import BadParams, parse, to_wire
from chatls_server.lsp.trace import Tracer

if TYPE_CHECKING:
    from cattrs import Converter

    from chatls_server.lsp.registry import Endpoint, Registry
    from chatls_server.lsp.server import ChatServer

logger = logging.getLogger(__name__)

MessageId = int | str
Call = Callable[[Any], Any]


class Writer(Protocol):
    """Where frames go; :meth:`write` returns at once and is safe in every thread."""

    def write(self, body: bytes) -> None:
        """Send one JSON body."""


class ChatProtocol(LanguageServerProtocol):
    """The message layer of :class:`ChatServer`; :meth:`receive` runs on the event loop, sending works in any thread."""

    def __init__(self, server: ChatServer, converter: Converter, registry: Registry) -> None:
        self._owner = server
        self._registry = registry
        self._running: dict[MessageId, asyncio.Task[Any]] = {}
        self._withdrawn: set[MessageId] = set()
        self._pending: dict[MessageId, tuple[str, asyncio.Future[Any]]] = {}
        self._background: set[asyncio.Task[Any]] = set()
        self._ids = itertools.count(1)
        self._out: Writer | None = None
        self._initialize_seen = False
        self.tracer = Tracer(self.send_notification)
        super().__init__(server, converter)

    def connect(self, writer: Writer) -> None:
        """Send through ``writer`` from now on."""
        self._out = writer

    @property
    def shutdown_requested(self) -> bool:
        """Whether the client asked for a shutdown (decides the exit code)."""
        return bool(self._shutdown)

    @property
    def in_session(self) -> bool:
        """Whether ``initialize`` has arrived; before it nothing may be sent unasked."""
        return self._initialize_seen

    # --- what comes in ---------------------------------------------------------------------------------------------

    def receive(self, message: object) -> None:
        """Take one parsed JSON message. Never raises: whatever is wrong is answered or logged."""
        if not isinstance(message, dict):
            self.reject(errors.INVALID_REQUEST, "a JSON-RPC message is an object; batches are not part of LSP")
            return
        message_id = message.get("id")
        method = message.get("method")
        if message.get("jsonrpc") != "2.0" or ("method" in message and not isinstance(method, str)):
            self._refuse(message_id, errors.INVALID_REQUEST, "not a JSON-RPC 2.0 message")
        elif isinstance(method, str) and "id" in message:
            self._on_request(message_id, method, message.get("params"))
        elif isinstance(method, str):
            self._on_notification(method, message.get("params"))
        elif "id" in message and ("result" in message or "error" in message):
            self._on_answer(message_id, message)
        else:
            self._refuse(message_id, errors.INVALID_REQUEST, "neither a request, a notification nor an answer")

    def reject(self, code: int, reason: str, message_id: MessageId | None = None) -> None:
        """Answer something that could not be read as a message."""
        logger.warning("A message was refused: %s", reason)
        self._send({"jsonrpc": "2.0", "id": message_id, "error": error_payload(code, reason)})

    def _refuse(self, message_id: object, code: int, reason: str) -> None:
        self.reject(code, reason, message_id if _is_id(message_id) else None)

    def _on_request(self, message_id: object, method: str, params: object) -> None:
        self.tracer.received("request", method, message_id, params)
        if not _is_id(message_id):
            self.reject(errors.INVALID_REQUEST, f"{method}: the id must be an integer or a string")
            return
        if message_id in self._running:
            self.reject(errors.INVALID_REQUEST, f"{method}: id {message_id!r} is in use", message_id)
            return
        try:
            call = self._find(method)
        except RpcError as problem:
            self._respond(message_id, method, error=describe(problem, method))
            return
        task = asyncio.ensure_future(_invoke(call, params))
        self._running[message_id] = task
        task.add_done_callback(lambda done: self._finish(message_id, method, done))

    def _find(self, method: str) -> Call:
        if self._shutdown:
            raise RpcError(errors.INVALID_REQUEST, f"{method}: the server is shutting down")
        if method == types.INITIALIZE:
            if self._initialize_seen:
                raise RpcError(errors.INVALID_REQUEST, "initialize was sent twice")
            self._initialize_seen = True
        elif not self._initialize_seen:
            raise RpcError(errors.NOT_INITIALIZED, f"{method}: initialize has to come first")
        if method == types.WORKSPACE_EXECUTE_COMMAND:
            return self._execute_command
        endpoint = self._registry.requests.get(method)
        if endpoint is not None:
            return self._custom(endpoint)
        handler = self._standard(method)
        if handler is None:
            raise RpcError(errors.METHOD_NOT_FOUND, f"{method} is not supported")
        return handler

    def _finish(self, message_id: MessageId, method: str, task: asyncio.Task[Any]) -> None:
        self._running.pop(message_id, None)
        by_client = message_id in self._withdrawn
        self._withdrawn.discard(message_id)
        if task.cancelled():
            if by_client:
                error = error_payload(errors.REQUEST_CANCELLED, f"{method} was cancelled")
            else:
                error = error_payload(errors.SERVER_CANCELLED, f"{method} was given up by the server")
            self._respond(message_id, method, error=error)
        elif (problem := task.exception()) is not None:
            self._respond(message_id, method, error=describe(problem, method))
        else:
            self._respond(message_id, method, result=task.result())

    def _on_notification(self, method: str, params: object) -> None:
        self.tracer.received("notification", method, None, params)
        if method == types.CANCEL_REQUEST:
            self._withdraw(params)
            return
        if method == types.EXIT:
            self._owner.exit_requested()
            return
        if not self._initialize_seen or self._shutdown:
            logger.debug("Notification %s outside a session is dropped", method)
            return
        endpoint = self._registry.notifications.get(method)
        call = self._custom(endpoint) if endpoint is not None else self._standard(method)
        if call is None:
            if not method.startswith("$/"):
                logger.debug("Notification %s has no handler", method)
            return
        try:
            outcome = call(params)
        except (BadParams, RpcError) as problem:
            logger.warning("%s: %s", method, problem)
            return
        except Exception:
            logger.exception("%s failed inside the server", method)
            return
        if inspect.isawaitable(outcome):
            self.in_background(outcome, method)

    def _withdraw(self, params: object) -> None:
        message_id = params.get("id") if isinstance(params, dict) else None
        if _is_id(message_id) and (task := self._running.get(message_id)) is not None:
            self._withdrawn.add(message_id)
            task.cancel()

    def _on_answer(self, message_id: object, message: dict[str, Any]) -> None:
        method, future = self._pending.pop(message_id, ("", None)) if _is_id(message_id) else ("", None)
        if future is None or future.done():
            logger.debug("An answer to %r came when nobody waited for it", message_id)
            return
        error = message.get("error")
        if error is None:
            future.set_result(message.get("result"))
        elif isinstance(error, dict):
            code = error.get("code")
            future.set_exception(
                ClientError(
                    method,
                    code if isinstance(code, int) else errors.INTERNAL_ERROR,
                    str(error.get("message", "")),
                    error.get("data"),
                )
            )
        else:
            future.set_exception(ClientError(method, errors.INTERNAL_ERROR, "a malformed error"))

    # --- handlers --------------------------------------------------------------------------------------------------

    def _custom(self, endpoint: Endpoint) -> Call:
        def call(params: Any) -> Any:
            return self._call(endpoint, params)

        return call

    def _call(self, endpoint: Endpoint, params: Any) -> Any:
        if endpoint.model is not None:
            params = parse(endpoint.model, params, endpoint.name)
        return endpoint.handler(self._owner, params)

    def _execute_command(self, params: Any) -> Any:
        """Our own, because the library's cannot be cancelled: one object in, one object out."""
        name = params.get("command") if isinstance(params, dict) else None
        if not isinstance(name, str):
            raise BadParams(f"{types.WORKSPACE_EXECUTE_COMMAND}: command: a string was expected")
        endpoint = self._registry.commands.get(name)
        if endpoint is None:
            raise BadParams(f"{types.WORKSPACE_EXECUTE_COMMAND}: command: {name!r} is not known")
        arguments = params.get("arguments")
        if arguments is None or arguments == []:
            arguments = [{}]
        if not isinstance(arguments, list) or len(arguments) != 1 or not isinstance(arguments[0], dict):
            raise BadParams(f"{name}: arguments: one object was expected")
        return self._call(endpoint, arguments[0])

    def _standard(self, method: str) -> Call | None:
        """The handler of a standard LSP method, taking raw parameters."""
        own = self._owner.raw_handlers.get(method)
        if own is not None:
            return own
        feature = self.fm.features.get(method)
        if feature is None:
            return None
        params_type = types.METHOD_TO_TYPES[method][2] if method in types.METHOD_TO_TYPES else None

        def call(params: Any) -> Any:
            return feature(self.structure(params, params_type, method) if params_type is not None else params)

        return call

    def structure(self, params: object, params_type: Any, method: str) -> Any:
        """Raw parameters as an lsprotocol type; raises :class:`BadParams` naming the fields that do not fit."""
        try:
            return self._converter.structure(params, params_type)
        except Exception as problem:
            from cattrs import transform_error

            logger.debug("Parameters of %s do not fit", method, exc_info=True)
            raise BadParams(f"{method}: " + "; ".join(transform_error(problem, path="params")[:5])) from None

    # --- what goes out ---------------------------------------------------------------------------------------------

    def send_notification(self, method: str, payload: object = None) -> None:
        """Send a notification; ``payload`` may be a wire model, an lsprotocol type or plain JSON. Any thread."""
        self.tracer.sending("notification", method, None, payload)
        self._send({"jsonrpc": "2.0", "method": method, "params": payload if payload is not None else {}})

    async def ask_client(self, method: str, payload: object = None, *, timeout_seconds: float | None = None) -> Any:
        """Send a request and wait for its raw result.

        Raises :class:`ClientError` when the client answers with an error, :class:`TimeoutError` when it is late. A
        question nobody waits for any more, late or cancelled, is withdrawn with ``$/cancelRequest``.
        """
        message_id = next(self._ids)
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._pending[message_id] = method, future
        self.tracer.sending("request", method, message_id, payload)
        try:
            self._send({"jsonrpc": "2.0", "id": message_id, "method": method, "params": payload})
            async with asyncio.timeout(timeout_seconds):
                return await future
        except (asyncio.CancelledError, TimeoutError):
            self.send_notification(types.CANCEL_REQUEST, {"id": message_id})
            raise
        finally:
            self._pending.pop(message_id, None)

    def _respond(self, message_id: MessageId, method: str, *, result: object = None, error: Any = None) -> None:
        self.tracer.sending("answer", method, message_id, error)
        if error is not None:
            self._send({"jsonrpc": "2.0", "id": message_id, "error": error})
            return
        try:
            self._send({"jsonrpc": "2.0", "id": message_id, "result": result})
        except (TypeError, ValueError) as problem:
            self._send({"jsonrpc": "2.0", "id": message_id, "error": describe(problem, method)})

    def _send(self, message: dict[str, Any]) -> None:
        # ASCII escapes carry lone surrogates, and NaN would be no JSON.
        body = json.dumps(message, default=self._plain, allow_nan=False, separators=(",", ":")).encode("ascii")
        if self._out is None:
            logger.debug("Nothing is connected; %s is dropped", message.get("method", "an answer"))
        else:
            self._out.write(body)

    def _plain(self, value: object) -> Any:
        if isinstance(value, BaseModel):
            return to_wire(value)
        if hasattr(value, "__attrs_attrs__"):
            return self._converter.unstructure(value)
        raise TypeError(f"{type(value).__name__} cannot be sent")

    # --- tasks -----------------------------------------------------------------------------------------------------

    def in_background(self, work: Any, what: str) -> asyncio.Task[Any]:
        """Run an awaitable as a task that is kept alive, logged when it fails and cancelled at the end."""
        task: asyncio.Task[Any] = asyncio.ensure_future(work)
        self._background.add(task)

        def done(finished: asyncio.Task[Any]) -> None:
            self._background.discard(finished)
            if not finished.cancelled() and (problem := finished.exception()) is not None:
                _report(what, problem)

        task.add_done_callback(done)
        return task

    def give_up_requests(self) -> list[asyncio.Task[Any]]:
        """Cancel what runs for the client, except the caller; every request gets its answer (−32802)."""
        current = asyncio.current_task()
        tasks = [task for task in (*self._running.values(), *self._background) if task is not current]
        for task in tasks:
            task.cancel()
        return tasks

    def mark_shutdown(self) -> None:
        """Refuse requests from now on."""
        self._shutdown = True


async def _invoke(call: Call, params: object) -> Any:
    outcome = call(params)
    return await outcome if inspect.isawaitable(outcome) else outcome


def _is_id(value: object) -> TypeGuard[MessageId]:
    return isinstance(value, int | str) and not isinstance(value, bool)


def _report(what: str, problem: BaseException) -> None:
    if isinstance(problem, BadParams | RpcError | ClientError):
        logger.warning("%s: %s", what, problem)
    else:
        logger.error("%s failed inside the server", what, exc_info=problem)
