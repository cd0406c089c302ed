"""A real MCP server for tests, on stdio or loopback HTTP, that keeps a record of what it was asked.

    python -m tests.fakes.mcp_server --record calls.jsonl [--http]

Over HTTP it prints its address on the first line of standard output. ``MCP_FAKE_*`` variables shape it, so that a
configuration file can: ``TOOLS`` (names, comma-separated), ``SILENT`` (never answers), ``STUBBORN`` (does not
end with its input, nor politely), ``SSE`` (the older web transport), ``TOKEN``,
``PORT``, ``HANGS`` (the memory is never recalled), ``ANSWER`` (what it recalls).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError


def make_server(record: Callable[[str, Any], None], names: set[str]) -> MCPServer:
    """The server, with the tools of ``names`` (all when empty)."""
    server: MCPServer = MCPServer("fake", log_level="ERROR")

    def offered(function: Callable[..., Any]) -> None:
        if not names or function.__name__ in names:
            server.add_tool(function, structured_output=False)

    def echo(text: str) -> str:
        """Say it again."""
        record("echo", {"text": text})
        return f"echo: {text}"

    def environment(name: str) -> str:
        """The value of a variable in the server's environment."""
        return os.environ.get(name, "(not set)")

    def essay(words: int) -> str:
        """A text of so many words, one a line."""
        return "\n".join(f"word{n}" for n in range(words))

    def fail(why: str) -> str:
        """Fail."""
        raise ToolError(why)

    async def slow(seconds: float) -> str:
        """Take so long."""
        record("slow", {"seconds": seconds})
        await asyncio.sleep(seconds)
        return "done"

    def die() -> str:
        """End the server."""
        sys.stderr.write("I am dying of Bearer abcdefghijklmnopqrstuvwx0123456789\n")
        sys.stderr.flush()
        os._exit(3)

    async def grow(context: Context) -> str:
        """Offer one more tool from now on."""
        server.add_tool(lambda: "new", name="grown", description="A new tool.", structured_output=False)
        await context.session.send_tool_list_changed()
        await context.notify_tools_changed()
        return "grown"

    async def memory_recall(query: str, hints: list[str], budget_chars: int) -> str:
        """What the memory service knows."""
        record("memory_recall", {"query": query, "hints": hints, "budget_chars": budget_chars})
        if os.environ.get("MCP_FAKE_HANGS"):
            await asyncio.Event().wait()
        return os.environ.get("MCP_FAKE_ANSWER", f"About {query}: the service remembers Tuesday.")

    def memory_store(messages: list[dict[str, str]], session: str) -> str:
        """Keep messages."""
        record("memory_store", {"messages": messages, "session": session})
        return "stored"

    for function in (echo, environment, essay, fail, slow, die, grow, memory_recall, memory_store):
        offered(function)
    return server


async def serve_http(server: MCPServer, token: str) -> None:
    """Listen on a free loopback port until killed."""
    import uvicorn
    from starlette.responses import PlainTextResponse

    older = bool(os.environ.get("MCP_FAKE_SSE"))
    inner = server.sse_app() if older else server.streamable_http_app()

    async def guarded(scope: Any, receive: Any, send: Any) -> None:
        headers = dict(scope.get("headers", ()))
        if scope["type"] == "http" and token and headers.get(b"authorization") != f"Bearer {token}".encode():
            await PlainTextResponse("who are you?", 401)(scope, receive, send)
            return
        await inner(scope, receive, send)

    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", int(os.environ.get("MCP_FAKE_PORT", "0"))))
    listener.listen()
    print(f"http://127.0.0.1:{listener.getsockname()[1]}/{'sse' if older else 'mcp'}", flush=True)
    await uvicorn.Server(uvicorn.Config(guarded, log_level="error")).serve(sockets=[listener])


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--record", type=Path)
    options.add_argument("--http", action="store_true")
    chosen = options.parse_args()
    if os.environ.get("MCP_FAKE_SILENT"):
        sys.stdin.read()
        return

    def record(tool: str, arguments: Any) -> None:
        if chosen.record is not None:
            with chosen.record.open("a") as file:
                file.write(json.dumps({"tool": tool, **arguments}) + "\n")

    record("start", {"pid": os.getpid()})
    names = {name for name in os.environ.get("MCP_FAKE_TOOLS", "").split(",") if name}
    server = make_server(record, names)
    if chosen.http:
        asyncio.run(serve_http(server, os.environ.get("MCP_FAKE_TOKEN", "")))
    elif os.environ.get("MCP_FAKE_STUBBORN"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        threading.Thread(target=server.run, args=("stdio",)).start()
        threading.Event().wait()
    else:
        server.run("stdio")


if __name__ == "__main__":
    main()
