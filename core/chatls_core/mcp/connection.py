"""One server from its start to its end: a task of its own holds the SDK's client, everybody else asks through it.

The client must be opened and closed by the same task. The server is left alone while nothing is asked of it; when it
hangs up, the state says so at once.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import logging
from collections.abc import AsyncIterator, Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from chatls_core.mcp.content import one_line, reply_of, tool_of
from chatls_core.mcp.model import McpError, RemoteTool, ServerConfig, State, ToolReply
from chatls_core.mcp.transport import Complaints, open_streams

if TYPE_CHECKING:
    from mcp import Client

log = logging.getLogger(__name__)

MAX_TOOLS = 500
MAX_PAGES = 50


class Connection:
    """A configured server. Everything runs on the event loop; ``on_change`` is called when its state or tools change.

    ``dynamic``: follow the server when its list of tools changes.
    """

    def __init__(
        self,
        config: ServerConfig,
        environment: Mapping[str, str],
        *,
        dynamic: bool = True,
        on_change: Callable[[], None] = lambda: None,
    ) -> None:
        self.config = config
        self.state: State = "starting"
        self.error = ""
        self.tools: tuple[RemoteTool, ...] = ()
        self.waited_for = False
        """Whether a turn waited for the server to come up once: no other one does."""
        self.complaints = Complaints()
        self._environment = environment
        self._dynamic = dynamic
        self._on_change = on_change
        self._client: Client | None = None
        self._settled = asyncio.Event()
        self._ending = asyncio.Event()
        self._stopped = False
        self._work: set[asyncio.Task[None]] = set()
        self._task = asyncio.create_task(self._live(), name=f"mcp {config.name}")

    async def settled(self) -> None:
        """Wait until the server is up, or known not to come up."""
        await self._settled.wait()

    async def call(self, tool: str, arguments: Mapping[str, Any], *, seconds: float = 0, mark: str = "") -> ToolReply:
        """Call a tool; it takes at most ``seconds`` (default: as configured). Raises :class:`McpError`.

        ``mark`` names the call, so that a server that looks at it can tell a repeated one.
        """
        client = self._client
        if client is None or self.state != "ready":
            raise McpError(f"The server {self.config.name} is not connected ({self.error or self.state}).")
        limit = seconds or self.config.request_seconds
        meta: Any = {"io.chatls/call": mark} if mark else None
        asked = asyncio.ensure_future(client.call_tool(tool, dict(arguments), read_timeout_seconds=limit, meta=meta))
        ending = asyncio.ensure_future(self._ending.wait())
        try:
            await asyncio.wait({asked, ending}, timeout=limit, return_when=asyncio.FIRST_COMPLETED)
            if asked.done():
                return self._reply(asked, tool)
        finally:
            ending.cancel()
            await _give_up(asked)
        if self._ending.is_set():
            raise McpError(f"The server {self.config.name} ended during the call.", "lost")
        raise McpError(f"{tool} of {self.config.name} gave no answer within {limit:g} s.", "timeout")

    def _reply(self, asked: asyncio.Future[Any], tool: str) -> ToolReply:
        from mcp import MCPError
        from mcp.types import CONNECTION_CLOSED, INTERNAL_ERROR, INVALID_REQUEST, REQUEST_TIMEOUT

        code: Literal["timeout", "lost", "refused"] = "refused"
        try:
            reply = reply_of(asked.result())
            return ToolReply(self.config.without_secrets(reply.text), reply.is_error)
        except MCPError as error:
            # Over the web nothing but a failing request tells that a server, or our session with it, is gone.
            gone = {CONNECTION_CLOSED, *(() if self.config.transport == "stdio" else (INTERNAL_ERROR, INVALID_REQUEST))}
            found = error.error.code
            code = "timeout" if found == REQUEST_TIMEOUT else "lost" if found in gone else "refused"
            problem: Exception = error
        except ValueError as error:  # an answer that does not follow the protocol
            problem = error
        except Exception as error:  # whatever the transports raise when the other side is gone
            code, problem = "lost", error
            log.debug("%s of %s", tool, self.config.name, exc_info=True)
        said = self.config.without_secrets(one_line(problem))
        if code == "lost":
            self._hung_up("it ended unexpectedly" if self.config.transport == "stdio" else f"it is gone: {said}")
        raise McpError(f"{tool} of {self.config.name} failed: {said}", code) from problem

    async def stop(self) -> None:
        """End the server and wait until its process is gone."""
        self._stopped = True
        self._ending.set()
        if not self._settled.is_set():
            self._task.cancel()  # a server that is slow to start must not be waited for to end it
        await asyncio.shield(asyncio.gather(self._task, return_exceptions=True))

    def _hung_up(self, why: str = "it ended unexpectedly") -> None:
        """The other side is gone; called in the middle of the SDK's reading, so the cleaning up is left to the task."""
        if not self._ending.is_set():
            self._become("failed", self._reason(why))
        self._ending.set()

    def _become(self, state: State, error: str = "") -> None:
        error = self.config.without_secrets(error)
        self.state, self.error = state, error
        if error:
            log.warning("MCP server %s: %s", self.config.name, error)
        self._on_change()

    def _reason(self, text: str) -> str:
        last = one_line(self.complaints.last)
        return f"{text} (it said: {last})" if last else text

    async def _live(self) -> None:
        try:
            if self.config.problem:
                self._become("failed", self.config.problem)
                return
            await asyncio.to_thread(importlib.import_module, "mcp")
            await self._connect()
        except asyncio.CancelledError:
            self._become("stopped")
            raise
        except BaseException as error:  # the SDK's task groups raise groups, of cancellations too
            if isinstance(error, KeyboardInterrupt | SystemExit):
                raise
            if not self._ending.is_set():
                self._become("failed", self._reason(_why(error, self.config)))
        finally:
            self._client = None
            self._ending.set()
            self._settled.set()
            for work in self._work:
                work.cancel()
            if self._stopped:
                self._become("stopped")

    async def _connect(self) -> None:
        """Connect as the SDK negotiates; a program that dies of being asked for its version gets the old greeting."""
        modes = ("auto", "legacy") if self.config.transport == "stdio" else ("auto",)
        for mode in modes:
            up = False
            try:
                async with self._open(mode) as client:
                    up = True
                    await self._serve(client)
                return
            except Exception as error:
                no_program = isinstance(error, OSError) and not isinstance(error, TimeoutError)
                if up or no_program or mode == modes[-1] or self._stopped:
                    raise
                self._ending.clear()

    @contextlib.asynccontextmanager
    async def _open(self, mode: str) -> AsyncIterator[Client]:
        from mcp import Client, Implementation

        async with contextlib.AsyncExitStack() as stack:
            client = Client(
                open_streams(self.config, self._environment, self.complaints, self._hung_up_or_refused),
                mode=mode,
                message_handler=self._heard,
                client_info=Implementation(name="chatls", version="1"),
                read_timeout_seconds=self.config.request_seconds,
                cache=None,
            )
            async with asyncio.timeout(self.config.start_seconds):
                await stack.enter_async_context(client)
                self.tools = await self._list(client)
            yield client

    def _hung_up_or_refused(self) -> None:
        if self.state == "ready":
            self._hung_up()

    async def _serve(self, client: Client) -> None:
        if self._stopped:
            return
        self._client = client
        self._become("ready")
        self._settled.set()
        if self._dynamic:
            self._spawn(self._follow(client))
        await self._ending.wait()

    async def _list(self, client: Client) -> tuple[RemoteTool, ...]:
        capabilities = client.server_capabilities
        if capabilities.tools is None and client.session.initialize_result is not None:
            return ()
        found: list[RemoteTool] = []
        cursor: str | None = None
        for _ in range(MAX_PAGES):
            page = await client.list_tools(cursor=cursor)
            for listed in page.tools:
                tool = tool_of(self.config.name, listed) if self.config.offers(listed.name) else None
                if tool is not None and len(found) < MAX_TOOLS:
                    found.append(tool)
            cursor = page.next_cursor
            if not cursor:
                break
        return tuple(sorted(found, key=lambda t: t.name))

    async def _heard(self, message: Any) -> None:
        from mcp.types import ToolListChangedNotification

        if self._dynamic and isinstance(getattr(message, "root", message), ToolListChangedNotification):
            self._spawn(self._relist())

    async def _follow(self, client: Client) -> None:
        """Servers of the newer protocol tell about changes only to who listens."""
        from mcp.client.subscriptions import ListenNotSupportedError

        with contextlib.suppress(ListenNotSupportedError):
            async with client.listen(tools_list_changed=True) as changes:
                async for _ in changes:
                    await self._relist()

    async def _relist(self) -> None:
        client = self._client
        if client is not None:
            async with asyncio.timeout(self.config.request_seconds):
                tools = await self._list(client)
            if tools != self.tools:
                self.tools = tools
                self._on_change()

    def _spawn(self, work: Any) -> None:
        from mcp import MCPError
        from mcp.client.subscriptions import SubscriptionLost

        async def guarded() -> None:
            try:
                await work
            except (MCPError, SubscriptionLost, TimeoutError, OSError, ValueError) as error:
                log.info("MCP server %s does not tell about changes: %s", self.config.name, one_line(error))

        task = asyncio.create_task(guarded(), name=f"mcp {self.config.name} changes")
        self._work.add(task)
        task.add_done_callback(self._work.discard)


async def _give_up(asked: asyncio.Future[Any]) -> None:
    """Cancel a request, which tells the server, without waiting for a server that does not listen."""
    if not asked.done():
        asked.cancel()
        await asyncio.wait({asked}, timeout=1.0)


def _why(error: BaseException, config: ServerConfig) -> str:
    """One sentence for a failed start."""
    while isinstance(error, BaseExceptionGroup) and error.exceptions:
        error = error.exceptions[0]
    if isinstance(error, TimeoutError):
        return f"it did not answer within {config.start_seconds:g} s"
    if isinstance(error, FileNotFoundError) and config.transport == "stdio":
        return f"there is no program {config.command!r}"
    if config.transport != "stdio":
        return f"it cannot be reached: {one_line(error) or type(error).__name__}"
    return f"it could not be started: {one_line(error) or type(error).__name__}"
