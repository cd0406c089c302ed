"""A server with handlers that misbehave on purpose: started as a process by the transport's tests."""

from __future__ import annotations

import asyncio
import ctypes
import logging
import os
import subprocess
import sys
import threading
import time
from typing import Any

from pydantic import Field, RootModel

from chatls_core.llm.events import ModelError
from chatls_server.logs import start_logging
from chatls_server.lsp.protocol.base import Nothing, Wire
from chatls_server.lsp.registry import Registry
from chatls_server.lsp.server import ChatServer
from chatls_server.lsp.transport import serve_stdio, serve_tcp

registry = Registry()


class Anything(RootModel[dict[str, Any]]):
    """Any object."""


class Item(Wire):
    """A part of :class:`Named`."""

    uri: str


class Named(Wire):
    """Parameters with names that are hard to carry."""

    from_: str = Field(alias="from")
    count: int
    items: list[Item] = Field(default_factory=list)


class Seconds(Wire):
    """How long."""

    seconds: float = 30


class Size(Wire):
    """How much."""

    size: int


cancelled: list[str] = []


@registry.request("chatls/test/echo", Anything)
async def echo(_server: ChatServer, params: Anything) -> dict[str, Any]:
    """Give back what arrived."""
    return params.root


@registry.request("chatls/test/named", Named)
async def named(_server: ChatServer, params: Named) -> Named:
    """Give back the model."""
    return params


@registry.request("chatls/test/size", Anything)
async def size(_server: ChatServer, params: Anything) -> dict[str, int]:
    """How many items arrived."""
    return {"items": len(params.root["mentions"])}


async def _sleep(name: str, seconds: float) -> dict[str, Any]:
    try:
        await asyncio.sleep(seconds)
    except asyncio.CancelledError:
        cancelled.append(name)
        raise
    return {"slept": True}


@registry.request("chatls/test/sleep", Seconds)
async def sleep(server: ChatServer, params: Seconds) -> dict[str, Any]:
    """Wait, and say so."""
    server.send_notification("chatls/test/sleeping", {})
    return await _sleep("request", params.seconds)


@registry.command("chatls.test.sleep", Seconds)
async def sleep_command(server: ChatServer, params: Seconds) -> dict[str, Any]:
    """The same as a command."""
    server.send_notification("chatls/test/sleeping", {})
    return await _sleep("command", params.seconds)


@registry.command("chatls.test.named", Named)
async def named_command(_server: ChatServer, params: Named) -> Named:
    """Give back the model."""
    return params


@registry.request("chatls/test/cancelled", Nothing)
async def which_cancelled(_server: ChatServer, _params: Nothing) -> dict[str, Any]:
    """What was cancelled inside."""
    return {"names": cancelled}


@registry.request("chatls/test/fail", Nothing)
async def fail(_server: ChatServer, _params: Nothing) -> dict[str, Any]:
    """Fail as nobody foresaw."""
    raise ZeroDivisionError("sk-ant-REDACTED".replace("REDACTED", "a1" * 20))


@registry.request("chatls/test/unsendable", Nothing)
async def unsendable(_server: ChatServer, _params: Nothing) -> dict[str, Any]:
    """Answer with something that is no JSON."""
    return {"value": float("nan")}


@registry.request("chatls/test/model", Nothing)
async def model(_server: ChatServer, _params: Nothing) -> dict[str, Any]:
    """Fail as a model does."""
    raise ModelError("rate_limit", "Too many requests.", hint="Wait a minute.", provider="anthropic", retry_after=7)


@registry.request("chatls/test/print", Nothing)
async def noise(_server: ChatServer, _params: Nothing) -> dict[str, Any]:
    """Write where the protocol must not be disturbed: Python, the descriptor, C, a child."""
    print("Content-Length: 2\r\n\r\n{}", flush=True)
    os.write(1, b"noise on the descriptor\n")
    ctypes.CDLL(None).puts(b"noise of C")
    await asyncio.to_thread(subprocess.run, ["echo", "noise of a child"], check=True)
    return {"printed": True}


@registry.request("chatls/test/child", Nothing)
async def child(_server: ChatServer, _params: Nothing) -> dict[str, Any]:
    """Start a child in a session of its own, which starts one too."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        "import subprocess, sys; c = subprocess.Popen(['sleep', '600']); print(c.pid, flush=True); c.wait()",
        stdout=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdout is not None
    return {"pids": [process.pid, int(await process.stdout.readline())]}


@registry.request("chatls/test/busy", Seconds)
async def busy(server: ChatServer, params: Seconds) -> dict[str, Any]:
    """Keep every pool thread busy, then the loop itself when asked for a negative time."""
    if params.seconds < 0:
        server.send_notification("chatls/test/sleeping", {})
        asyncio.get_running_loop().call_later(0.05, time.sleep, -params.seconds)
        return {}
    for _ in range(64):
        asyncio.get_running_loop().run_in_executor(None, time.sleep, params.seconds)
    threading.Thread(target=time.sleep, args=(params.seconds,)).start()
    return {"threads": threading.active_count()}


@registry.request("chatls/test/flood", Size)
async def flood(server: ChatServer, params: Size) -> dict[str, Any]:
    """Send a lot."""
    for number in range(params.size):
        server.progress("flood", {"number": number, "text": "x" * 1000})
    return {"sent": params.size}


@registry.request("chatls/test/ask", Seconds)
async def ask(server: ChatServer, params: Seconds) -> dict[str, Any]:
    """Ask the client, with a limit."""
    try:
        return {"answer": await server.ask_client("test/question", {"q": 1}, timeout_seconds=params.seconds)}
    except TimeoutError:
        return {"answer": "late"}


@registry.request("chatls/test/log", Nothing)
async def log(_server: ChatServer, _params: Nothing) -> dict[str, Any]:
    """Log a secret."""
    logging.getLogger("test").warning("the key is %s", "sk-ant-api03-" + "Ab1" * 20)
    return {}


@registry.hook("exit")
async def on_exit(server: ChatServer) -> None:
    """Leave a trace of a clean end, and hang when told to."""
    (server.home / "ended").write_text("yes")
    if "PROBE_HANG_AT_EXIT" in os.environ:
        await asyncio.sleep(600)


def main() -> None:
    """Serve."""
    server = ChatServer(os.environ, registry=registry)
    start_logging(server)
    if sys.argv[1:2] == ["--tcp"]:
        serve_tcp(server, int(sys.argv[2]))
    serve_stdio(server)


if __name__ == "__main__":
    main()
