"""The plain client joined to a server object in the same event loop: no process, no pipes, the same messages.

For tests that also want to call the server's own methods (``client.server.host.apply(…)``).
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from chatls_server.lsp.registry import Registry
from chatls_server.lsp.server import ChatServer
from tests.fakes.lsp_client import LspClient


class LoopClient(LspClient):
    """See the module. ``registry`` holds the handlers of the test; the product's own are not loaded."""

    def __init__(
        self, *, home: Path, registry: Registry | None = None, agent_factory: Any = None, **options: Any
    ) -> None:
        super().__init__(home=home, **options)
        self._registry = registry or Registry()
        self._agent_factory = agent_factory
        self.server: ChatServer
        self.ended: list[tuple[str, int]] = []

    async def start(self) -> None:
        """Make the server."""
        self.home.mkdir(parents=True, exist_ok=True)
        environment = {"HOME": str(self.home), "CHATLS_HOME": str(self.home / ".chatcli"), **self._environment}
        self.server = ChatServer(
            environment,
            registry=self._registry,
            agent_factory=self._agent_factory,
        )
        self.server.protocol.connect(self)
        self.server.on_end(lambda reason, code=0: self.ended.append((reason, code)))

    async def stop(self) -> None:
        """End what runs."""
        await self.server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def settle(self) -> None:
        """Wait until the server holds every open buffer as it is now."""
        for buffer in tuple(self.buffers.values()):
            version, documents = buffer.version, self.server.documents
            if await documents.wait_for(buffer.uri, lambda d, v=version: d.version == v, timeout_seconds=5) is None:  # type: ignore[misc]
                raise AssertionError(f"{buffer.uri} did not reach the server")

    async def until_clean(self, uri: str) -> None:
        """Wait until the server knows that a document is as it is on disk."""
        if await self.server.documents.wait_for(uri, lambda d: not d.dirty, timeout_seconds=5) is None:
            raise AssertionError(f"{uri} stays unsaved")

    def send(self, message: Any) -> None:
        """Hand a message to the server, as JSON."""
        asyncio.get_running_loop().call_soon(self.server.protocol.receive, json.loads(json.dumps(message)))

    def write(self, body: bytes) -> None:
        """Take a message of the server."""
        self._start(self._take(json.loads(body)))
