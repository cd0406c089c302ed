"""The language server: what a client may send, and what the handlers of the product find here.

Handlers of custom messages live in modules of their own (:mod:`chatls_server.lsp.registry`); this class holds what they
share: documents, host, settings, the agent, and the ways to tell the client something.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import uuid
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.protocol import default_converter

from chatls_core.config import Settings
from chatls_server import __version__
from chatls_server.lsp import errors, handlers, lifecycle, synchronization
from chatls_server.lsp.capabilities import ClientFeatures
from chatls_server.lsp.documents import Documents
from chatls_server.lsp.eyes import Eyes
from chatls_server.lsp.lines import split_lines, to_column, to_units
from chatls_server.lsp.registry import REGISTRY, Registry
from chatls_server.lsp.rpc import ChatProtocol
from chatls_server.lsp.uris import path_of
from chatls_server.lsp.work import WorkDone
from chatls_server.lsp.workspace import Workspace

if TYPE_CHECKING:
    from cattrs import Converter

    from chatls_core import host as core
    from chatls_core.memory.elsewhere import Elsewhere
    from chatls_core.turn.agent import Agent
    from chatls_server.lsp.host import LspHost
    from chatls_server.lsp.protocol.base import Position, Range

logger = logging.getLogger(__name__)

AgentFactory = Callable[[Path, Settings, Mapping[str, str]], "Agent"]


class End(Protocol):
    """Ends the process: why, and the exit code. Safe in every thread."""

    def __call__(self, reason: str, code: int = 0) -> None: ...


class ChatServer(LanguageServer):
    """One editor window's server. Everything here runs on the event loop unless it says otherwise."""

    protocol: ChatProtocol

    def __init__(
        self,
        environment: Mapping[str, str],
        *,
        registry: Registry = REGISTRY,
        agent_factory: AgentFactory | None = None,
    ) -> None:
        self.registry = registry
        if registry is REGISTRY:
            handlers.declare(registry)
        self.opened = Workspace(environment)
        self.documents = Documents()
        self.features = ClientFeatures()
        self.secrets: dict[str, str] = {}
        self.raw_handlers: dict[str, Callable[[Any], Any]] = {}
        self.feature_capabilities: dict[str, Any] = {}
        self._agent: Agent | None = None
        self._agent_lock = asyncio.Lock()
        self._agent_factory = agent_factory or _make_agent
        self._end: End | None = None

        def protocol(server: ChatServer, converter: Converter) -> ChatProtocol:
            return ChatProtocol(server, converter, registry)

        super().__init__("chatls", __version__, protocol_cls=protocol, converter_factory=default_converter)
        self.work = WorkDone(self)
        self.eyes = Eyes(self)
        self.elsewhere: Elsewhere | None = None
        """Looks out for what other processes write into memory, once the agent is made."""
        self.raw_handlers.update(self.eyes.handlers())
        self.feature_capabilities.update(self.eyes.capabilities())
        lifecycle.register(self)
        synchronization.register(self)

    # --- what handlers read ----------------------------------------------------------------------------------------

    @property
    def settings(self) -> Settings:
        """The settings that hold now; with several folders, those without a folder's own."""
        return self.opened.settings

    @property
    def environment(self) -> Mapping[str, str]:
        """Environment variables, those of ``.env`` files included (never a workspace's keys or endpoints)."""
        return self.opened.environment

    @property
    def home(self) -> Path:
        """The data folder."""
        return self.opened.home

    @property
    def roots(self) -> tuple[Path, ...]:
        """The opened folders, symlinks resolved."""
        return self.opened.roots

    @property
    def trusted(self) -> bool:
        """Whether the user trusts the workspace."""
        return self.opened.trusted

    @cached_property
    def host(self) -> LspHost:
        """The editor as the core sees it; made, and its modules imported, at the first use."""
        from chatls_server.lsp.host import LspHost

        return LspHost(self)

    @property
    def language(self) -> str:
        """Language of messages: the setting, else the editor's (``en``, ``pt``, ``pt-br`` …)."""
        return (self.settings.language or self.opened.locale or "en").lower().replace("_", "-")

    async def agent(self) -> Agent:
        """The agent, made in a thread at the first call."""
        async with self._agent_lock:
            if self._agent is None:
                settings = self.settings
                agent = await asyncio.to_thread(self._agent_factory, self.home, settings, self.environment)
                if self.settings is not settings:
                    agent.configure(self.settings)
                agent.set_workspace(self.roots, self.trusted)
                if self.secrets:
                    agent.set_secrets(self.secrets)
                self._agent = agent
            return self._agent

    @property
    def agent_if_made(self) -> Agent | None:
        """The agent when somebody needed it already."""
        return self._agent

    # --- what handlers tell the client -----------------------------------------------------------------------------

    def send_notification(self, method: str, payload: object = None) -> None:
        """Send a notification; ``payload`` may be a wire model or plain JSON. Any thread."""
        self.protocol.send_notification(method, payload)

    def progress(  # type: ignore[override]  # the library's takes a typed object; nothing of it calls this
        self, token: int | str, value: object
    ) -> None:
        """Send one ``$/progress`` value. Any thread."""
        self.protocol.send_notification(types.PROGRESS, {"token": token, "value": value})

    async def ask_client(self, method: str, payload: object = None, *, timeout_seconds: float | None = None) -> Any:
        """Send a request; see :meth:`ChatProtocol.ask_client`."""
        return await self.protocol.ask_client(method, payload, timeout_seconds=timeout_seconds)

    async def register_capability(self, method: str, options: Mapping[str, object]) -> str:
        """Register one capability; its id, "" when the editor would not.

        One per request, because some clients fail a whole list for one unknown entry.
        """
        name = f"chatls-{uuid.uuid4()}"
        registration = {"id": name, "method": method, "registerOptions": options}
        try:
            await self.ask_client(
                types.CLIENT_REGISTER_CAPABILITY, {"registrations": [registration]}, timeout_seconds=10
            )
        except (errors.ClientError, TimeoutError) as error:
            logger.warning("The editor did not register %s: %s", method, error)
            return ""
        return name

    async def unregister_capability(self, name: str, method: str) -> None:
        """Take back what :meth:`register_capability` registered under ``name``."""
        one = {"id": name, "method": method}
        try:
            # The misspelling is the protocol's own (LSP 3.17, UnregistrationParams).
            await self.ask_client(types.CLIENT_UNREGISTER_CAPABILITY, {"unregisterations": [one]}, timeout_seconds=10)
        except (errors.ClientError, TimeoutError) as error:
            logger.warning("The editor did not unregister %s: %s", method, error)

    def show_message(self, level: core.NoticeLevel, text: str) -> None:
        """Show one sentence in the editor. Any thread."""
        kinds = {"error": 1, "warning": 2, "info": 3}
        self.send_notification(types.WINDOW_SHOW_MESSAGE, {"type": kinds[level], "message": text})

    def work_done(
        self, token: int | str | None, title: str, cancel: Callable[[], object] | None = None
    ) -> contextlib.AbstractAsyncContextManager[Callable[[str], None]]:
        """Work-done progress for the length of a block; see :class:`chatls_server.lsp.work.WorkDone`."""
        return self.work.progress(token, title, cancel)

    def files_changed(self, uris: Sequence[str]) -> list[Path]:
        """Files changed on disk, the editor says: what was assumed about them is forgotten; returns their paths."""
        for uri in uris:
            self.host.assumptions.forget(uri)
        return [path for path in map(path_of, uris) if path is not None]

    # --- positions -------------------------------------------------------------------------------------------------

    def core_range(self, text: str, wire: Range) -> core.Range:
        """A range of the wire in code-point columns of ``text``; places outside the text are clamped into it."""
        from chatls_core import host as core

        lines = split_lines(text)
        return core.Range(self._core_position(lines, wire.start), self._core_position(lines, wire.end))

    def wire_range(self, lines: Sequence[str], inner: core.Range) -> dict[str, Any]:
        """A core range of a text, given as :func:`split_lines` cuts it, as JSON in the negotiated encoding."""
        return {"start": self._wire_position(lines, inner.start), "end": self._wire_position(lines, inner.end)}

    def _core_position(self, lines: Sequence[str], place: Position) -> core.Position:
        from chatls_core import host as core

        if place.line >= len(lines):
            return core.Position(len(lines) - 1, len(lines[-1]))
        line = max(0, place.line)
        return core.Position(line, to_column(lines[line], place.character, self.documents.encoding))

    def _wire_position(self, lines: Sequence[str], place: core.Position) -> dict[str, int]:
        if place.line >= len(lines):
            return {"line": place.line, "character": place.character}
        character = to_units(lines[place.line], place.character, self.documents.encoding)
        return {"line": place.line, "character": character}

    # --- hooks and the end -----------------------------------------------------------------------------------------

    async def run_hooks(self, name: str, *arguments: object) -> None:
        """Call what registered for ``name``; one failure is logged and does not keep the others from running."""
        if self.registry is REGISTRY and name != "exit":
            # At the end there is nothing to do for a module that was never needed.
            await handlers.load_hooks()
        for hook in self.registry.hooks.get(name, ()):
            try:
                await hook(self, *arguments)
            except Exception:
                logger.exception("A %s hook failed", name)

    def on_end(self, end: End) -> None:
        """Tell how the process is ended (the transport does)."""
        self._end = end

    def end(self, reason: str, code: int = 0) -> None:
        """End the process."""
        if self._end is None:
            raise errors.RpcError(errors.INTERNAL_ERROR, "the server is not being served")
        self._end(reason, code)

    def exit_requested(self) -> None:
        """``exit``: code 0 after ``shutdown``, else 1 (LSP 3.17)."""
        self.end("the editor said exit", 0 if self.protocol.shutdown_requested else 1)

    async def close(self) -> None:
        """Stop what runs: requests, then what the exit hooks know of. Called once, at the end."""
        stopped = self.protocol.give_up_requests()
        await self.run_hooks("exit")
        if stopped:
            await asyncio.wait(stopped, timeout=1.0)
        await self.eyes.stop()


def _make_agent(home: Path, settings: Settings, environment: Mapping[str, str]) -> Agent:
    from chatls_core.turn.agent import Agent

    return Agent(home, settings, environment)
