"""Who answers which custom message: handlers register here, the protocol looks them up.

A handler is ``async def f(server, params) -> dict | BaseModel``; ``params`` has been validated against its model. Raise
:class:`chatls_server.lsp.errors.RpcError` or :class:`chatls_core.llm.events.ModelError` for typed failures.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel

if TYPE_CHECKING:
    from chatls_server.lsp.server import ChatServer

P = TypeVar("P", bound=BaseModel)
Handler = Callable[["ChatServer", P], Awaitable[object]]
Hook = Callable[..., Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One handler with the model of its parameters."""

    name: str
    model: type[BaseModel] | None
    handler: Callable[[ChatServer, Any], Awaitable[object]]
    declared: bool = False
    """Whether the handler stands for one whose module is imported at the first call; it takes raw parameters."""


@dataclass(slots=True)
class Registry:
    """Custom requests, notifications and commands by name. Registering a name twice is a programming error."""

    requests: dict[str, Endpoint] = field(default_factory=dict)
    notifications: dict[str, Endpoint] = field(default_factory=dict)
    commands: dict[str, Endpoint] = field(default_factory=dict)
    hooks: dict[str, list[Hook]] = field(default_factory=dict)

    def request(self, method: str, model: type[P]) -> Callable[[Handler[P]], Handler[P]]:
        """Register the decorated coroutine for a custom request."""
        return self._adder(self.requests, method, model)

    def notification(self, method: str, model: type[P]) -> Callable[[Handler[P]], Handler[P]]:
        """Register the decorated coroutine for a custom notification; its result is ignored."""
        return self._adder(self.notifications, method, model)

    def command(self, name: str, model: type[P]) -> Callable[[Handler[P]], Handler[P]]:
        """Register the decorated coroutine for a command of ``workspace/executeCommand``."""
        return self._adder(self.commands, name, model)

    def hook(self, name: str) -> Callable[[Hook], Hook]:
        """Have the decorated coroutine called, with the server first, when ``name`` happens.

        The server calls ``ready`` (`initialized` arrived, settings were pulled), ``configuration``, ``secrets``,
        ``workspace`` (folders or trust changed), ``instruction_files_changed`` (with the paths) and ``exit`` (at most
        1.5 s for all of them together); handlers may call names of their own with :meth:`ChatServer.run_hooks`.
        """

        def add(hook: Hook) -> Hook:
            self.hooks.setdefault(name, []).append(hook)
            return hook

        return add

    @staticmethod
    def _adder(table: dict[str, Endpoint], name: str, model: type[P]) -> Callable[[Handler[P]], Handler[P]]:
        def add(handler: Handler[P]) -> Handler[P]:
            if name in table and not table[name].declared:
                raise ValueError(f"{name} has a handler already: {table[name].handler!r}")
            table[name] = Endpoint(name, model, handler)
            return handler

        return add


REGISTRY = Registry()
"""What the product's own modules register into (``lsp/chat.py``, ``lsp/commands*.py``)."""

request = REGISTRY.request
notification = REGISTRY.notification
command = REGISTRY.command
hook = REGISTRY.hook
