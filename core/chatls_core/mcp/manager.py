"""The servers of one agent: started when first needed, followed as their configuration changes, ended at the end.

Nothing here waits long: a turn waits a bounded time for servers that are starting, and goes on without them.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from chatls_core import config
from chatls_core.mcp.configuration import FILE_NAME, Configuration, Configured
from chatls_core.mcp.connection import Connection
from chatls_core.mcp.model import McpError, NamedTool, RemoteTool, ServerConfig, ServerStatus, ToolReply
from chatls_core.mcp.naming import named
from chatls_core.text.redaction import redact

log = logging.getLogger(__name__)

RETRY_SECONDS = 60.0
"""A server that could not be started is tried again at the first turn after this time."""

RESTART_SECONDS = 5.0
"""One that ended unexpectedly may be started again after this time."""


class McpServers:
    """Servers by name. Everything but the construction runs on the event loop."""

    def __init__(
        self,
        home: Path,
        environment: Mapping[str, str],
        settings: Callable[[], config.Mcp],
        *,
        allow_http: Callable[[], bool] = lambda: False,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._home = home
        self._environment = environment
        self._settings = settings
        self._allow_http = allow_http
        self._monotonic = monotonic
        self._roots: tuple[Path, ...] = ()
        self._trusted = True
        self._configuration: Configuration | None = None
        self._configured = Configured({})
        self._connections: dict[str, Connection] = {}
        self._ended_at: dict[str, float] = {}
        self._named: tuple[tuple[RemoteTool, ...], tuple[NamedTool, ...]] = ((), ())
        self._held: set[str] = set()
        self._ends: set[asyncio.Task[None]] = set()
        self._told: dict[str, str] = {}
        self._guard = asyncio.Lock()
        self._closed = False
        self.on_change: list[Callable[[], None]] = []

    def set_workspace(self, roots: Sequence[Path], trusted: bool) -> None:
        """Which folders are open. Before the workspace is trusted no server runs."""
        self._roots, self._trusted, self._configuration = tuple(roots), trusted, None

    @property
    def enabled(self) -> bool:
        """Whether servers may run at all."""
        return self._settings().enabled and self._trusted and not self._closed

    @property
    def problems(self) -> tuple[str, ...]:
        """What is wrong with the configuration files."""
        return self._configured.problems

    def look(self) -> None:
        """Read the configuration again where it changed; call it in a thread, before ``ready(looked=True)``."""
        if (self._trusted or self._connections) and not self._closed:
            self._configured = self._read()

    async def refresh(self) -> None:
        """Read the configuration and follow it."""
        await asyncio.to_thread(self.look)
        await self._follow()

    async def _follow(self) -> None:
        """Start what is new, end what is gone, start again what failed a while ago."""
        if not self.enabled and not self._connections:
            return
        async with self._guard:
            wanted = {n: c for n, c in self._configured.servers.items() if self.enabled and c.enabled}
            gone = [n for n, c in self._connections.items() if n not in wanted or c.config != wanted[n]]
            self._end(gone)
            for name, server in wanted.items():
                known = self._connections.get(name)
                if name not in self._held and (known is None or self._due(name, known)):
                    self._start(server)

    def _read(self) -> Configured:
        if self._configuration is None:
            chosen = self._settings().config
            path = Path(chosen).expanduser() if chosen else self._home / FILE_NAME
            self._configuration = Configuration(path, self._roots if self._trusted else (), self._environment)
        return self._configuration.read(allow_http=self._allow_http())

    def _due(self, name: str, known: Connection) -> bool:
        if known.state != "failed" or known.config.problem:
            return False
        rest = RESTART_SECONDS if known.tools else RETRY_SECONDS
        return self._monotonic() - self._ended_at.setdefault(name, self._monotonic()) >= rest

    def _start(self, server: ServerConfig) -> None:
        self._ended_at.pop(server.name, None)
        self._connections[server.name] = Connection(
            server, self._environment, dynamic=self._settings().dynamic_tools, on_change=self._changed
        )

    def _end(self, names: Sequence[str]) -> list[asyncio.Task[None]]:
        """Forget servers and end them in the background: one that will not go takes seconds. Gives the work."""
        tasks = []
        for connection in [self._connections.pop(name) for name in names if name in self._connections]:
            task = asyncio.create_task(connection.stop(), name=f"mcp {connection.config.name} ends")
            self._ends.add(task)
            task.add_done_callback(self._ends.discard)
            tasks.append(task)
        if tasks:
            self._changed()
        return tasks

    def _changed(self) -> None:
        for name, connection in self._connections.items():
            if connection.state == "failed":
                self._ended_at.setdefault(name, self._monotonic())
        for listener in self.on_change:
            listener()

    async def ready(self, seconds: float | None = None, *, looked: bool = False) -> None:
        """Follow the configuration, then wait until every server is up or known to have failed, for at most
        ``seconds``. Without a number each server is waited for once, for as long as the setting says. ``looked`` says
        that :meth:`look` has just been called."""
        if looked:
            await self._follow()
        else:
            await self.refresh()
        starting = [c for c in self._connections.values() if c.state == "starting"]
        if seconds is None:
            starting = [c for c in starting if not c.waited_for]
        waiters = [asyncio.ensure_future(c.settled()) for c in starting]
        if waiters:
            try:
                await asyncio.wait(waiters, timeout=self._settings().wait_seconds if seconds is None else seconds)
            finally:
                for waiter in waiters:
                    waiter.cancel()
            for connection in starting:
                connection.waited_for = True

    def news(self) -> tuple[ServerStatus, ...]:
        """Servers that failed since this was last asked."""
        failed = {s.name: s for s in self.status() if s.state == "failed"}
        fresh = tuple(s for name, s in failed.items() if self._told.get(name) != s.error)
        self._told = {name: s.error for name, s in failed.items()}
        return fresh

    def tools(self) -> tuple[RemoteTool, ...]:
        """What the servers that are up offer, by server and name."""
        found = [t for c in self._connections.values() if c.state == "ready" for t in c.tools]
        return tuple(sorted(found, key=lambda t: (t.server, t.name)))

    def catalogue(self) -> tuple[NamedTool, ...]:
        """The tools of :meth:`tools` under their names; the same object while nothing changed."""
        tools = self.tools()
        if tools != self._named[0]:
            self._named = (tools, named(tools))
        return self._named[1]

    def expected(self) -> frozenset[str]:
        """Servers that should be there and are not at the moment: what they offered may come back unchanged."""
        wanted = {n for n, c in self._configured.servers.items() if self.enabled and c.enabled and n not in self._held}
        up = {n for n, c in self._connections.items() if c.state == "ready"}
        return frozenset(wanted - up)

    def approved(self, server: str, tool: str) -> bool:
        """Whether the user allowed a tool beforehand in their own configuration file."""
        known = self._configured.servers.get(server)
        return known is not None and tool in known.approved

    async def call(
        self, server: str, tool: str, arguments: Mapping[str, Any], *, seconds: float = 0, mark: str = ""
    ) -> ToolReply:
        """Call a tool of a server. Raises :class:`McpError`."""
        connection = self._connections.get(server)
        if connection is None:
            why = "it is stopped" if server in self._held else "no such server is running"
            raise McpError(f"The server {server} is not connected: {why}.")
        return await connection.call(tool, arguments, seconds=seconds, mark=mark)

    def status(self) -> tuple[ServerStatus, ...]:
        """How every configured server stands, by name."""
        return tuple(self._status(server) for server in self._configured.servers.values())

    def _status(self, server: ServerConfig) -> ServerStatus:
        connection = self._connections.get(server.name)
        if connection is not None:
            state, error = connection.state, connection.error
        elif not server.enabled:
            state, error = "disabled", ""
        else:
            state, error = "stopped", ""
        # Arguments and queries may hold secrets.
        where = server.command if server.transport == "stdio" else server.url.partition("?")[0].rpartition("@")[2]
        tools = tuple(t.name for t in connection.tools) if connection is not None else ()
        return ServerStatus(
            server.name, state, server.transport, tools, error, server.description, where, str(server.origin)
        )

    def complaints(self, name: str) -> tuple[str, ...]:
        """The last lines a server wrote to standard error."""
        connection = self._connections.get(name)
        if connection is None:
            return ()
        return tuple(redact(connection.config.without_secrets(line)) for line in connection.complaints.lines)

    async def restart(self, name: str = "") -> None:
        """End a server, or all, and start again what the files say now. Raises :class:`KeyError` for no such server."""
        await self.refresh()
        self._known(name)
        self._held -= {name} if name else set(self._held)
        await _done(self._end([name] if name else list(self._connections)))
        await self.ready(seconds=max((c.start_seconds for c in self._configured.servers.values()), default=0))

    async def stop(self, name: str) -> None:
        """End a server until it is started again. Raises :class:`KeyError`."""
        await self.refresh()
        self._known(name)
        self._held.add(name)
        await _done(self._end([name]))

    def _known(self, name: str) -> None:
        if name and name not in self._configured.servers:
            raise KeyError(name)

    async def close(self) -> None:
        """End every server; their processes are gone when this returns, or killed by whoever ends ours."""
        self._closed = True
        self.on_change.clear()
        async with self._guard:
            self._end(list(self._connections))
        await _done(self._ends)


async def _done(tasks: Iterable[asyncio.Task[None]]) -> None:
    await asyncio.gather(*tasks, return_exceptions=True)
