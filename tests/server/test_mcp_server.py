"""``chatls mcp``: another agent's client, on stdio and over HTTP, shares our memory."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import httpx2
import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from chatls_core.config import Memory as MemorySettings
from chatls_core.config import Sessions as SessionSettings
from chatls_core.llm.messages import Message, TextPart
from chatls_core.memory import Memory, Source
from chatls_core.sessions import SessionStore
from chatls_core.store import system_clock

pytestmark = pytest.mark.timeout(120)

TOKEN = "the-token-of-this-test"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A data folder in which something is remembered and said."""
    folder = tmp_path / "home"
    memory = Memory(folder / "memory", settings=MemorySettings(), clock=system_clock, environment={})
    memory.remember("The payments service deploys on Tuesdays", "project", source=Source("user"))
    memory.profile({"name": "Ana"}, source=Source("user"))
    memory.record_episode("Moved the invoices to the new database", outcome="done", source=Source("user"))
    sessions = SessionStore(folder / "sessions", clock=system_clock, settings=SessionSettings())
    conversation = sessions.create("talk")
    said = (TextPart("Why does the badger build fail on Windows?"),)
    conversation.messages.append(Message("user", said, kind="text", id="m1", time=system_clock()))
    sessions.save(conversation)
    sessions.close()
    return folder


def environment(home: Path, **more: str) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "CHATLS_HOME": str(home), "HOME": str(home.parent), **more}


def stdio(home: Path, *arguments: str, **more: str) -> Client:
    command = ["-m", "chatls_server.cli", "mcp", *arguments]
    return Client(StdioServerParameters(command=sys.executable, args=command, env=environment(home, **more)))


@contextlib.asynccontextmanager
async def http(home: Path) -> AsyncIterator[str]:
    """The program over HTTP; gives its address."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "chatls_server.cli", "mcp", "--http",
        env=environment(home, CHATLS_MCP_TOKEN=TOKEN), stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        assert process.stderr is not None
        line = (await process.stderr.readline()).decode()
        assert TOKEN in line
        yield next(word for word in line.split() if word.startswith("http://127.0.0.1:"))
    finally:
        process.terminate()
        await asyncio.wait_for(process.wait(), 10)


async def call(client: Client, tool: str, **arguments: Any) -> str:
    result = await client.call_tool(tool, arguments)
    text = "\n".join(block.text for block in result.content if block.type == "text")
    return f"error: {text}" if result.is_error else text


async def use(client: Client) -> None:
    """Everything a client may do."""
    tools = {t.name: t for t in (await client.list_tools()).tools}
    assert set(tools) == {"remember", "recall", "timeline", "neighbors", "profile", "search_sessions"}
    assert all(t.description for t in tools.values())
    assert tools["recall"].annotations is not None
    assert tools["recall"].annotations.read_only_hint is True
    assert "Tuesdays" in await call(client, "recall", query="when does payments deploy?")
    assert "invoices" in await call(client, "timeline", query="this week")
    assert "Ana" in await call(client, "profile")
    assert "badger" in await call(client, "search_sessions", query="badger build")
    assert "payments" in (await call(client, "neighbors", query="payments")).lower()
    assert "error" not in await call(client, "remember", content="The staging cluster is called heron")
    assert "heron" in await call(client, "recall", query="staging cluster")
    assert "no date such as" in await call(client, "recall", query="x", as_of="soonish")

    resources = {str(r.uri) for r in (await client.list_resources()).resources}
    assert {"chatls://memory/longterm", "chatls://memory/profile", "chatls://sessions"} <= resources
    longterm = (await client.read_resource("chatls://memory/longterm")).contents[0]
    assert "heron" in getattr(longterm, "text", "")
    sessions = getattr((await client.read_resource("chatls://sessions")).contents[0], "text", "")
    name = sessions.split()[1]
    page = getattr((await client.read_resource(f"chatls://sessions/{name}")).contents[0], "text", "")
    assert "badger build" in page
    with pytest.raises(MCPError):
        await client.read_resource("chatls://sessions/nobody")

    prompts = {p.name for p in (await client.list_prompts()).prompts}
    assert prompts == {"recall", "catch_up"}
    prompt = await client.get_prompt("recall", {"question": "when does payments deploy?"})
    assert "Tuesdays" in str(prompt.messages[0].content)


async def test_on_stdio(home: Path) -> None:
    async with stdio(home) as client:
        await use(client)
    memory = Memory(home / "memory", settings=MemorySettings(), clock=system_clock, environment={})
    kept = next(f for f in memory.facts().facts if "heron" in f.content)
    assert kept.provenance != "user", "another agent's word is not the user's"


async def test_on_stdio_for_clients_of_the_older_protocol(home: Path) -> None:
    client = stdio(home)
    client.mode = "legacy"
    async with client:
        await use(client)


async def test_over_http_with_the_token_only(home: Path) -> None:
    async with http(home) as url:
        headers = {"Authorization": f"Bearer {TOKEN}"}
        async with (
            httpx2.AsyncClient(headers=headers, trust_env=False) as authorized,
            Client(streamable_http_client(url, http_client=authorized)) as client,
        ):
            await use(client)
        async with httpx.AsyncClient(trust_env=False) as stranger:
            for given in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": TOKEN}):
                assert (await stranger.post(url, json={}, headers=given)).status_code == 401
            # A page in the user's browser that has found a name for this machine gets no further with the token.
            rebound = {**headers, "Host": "evil.example", "Accept": "application/json, text/event-stream"}
            message = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
            assert (await stranger.post(url, json=message, headers=rebound)).status_code == 421


async def test_reading_only_and_without_resources(home: Path) -> None:
    async with stdio(home, "--read-only", CHATCLI_MCP_RESOURCES="off") as client:
        assert "remember" not in {t.name for t in (await client.list_tools()).tools}
        assert (await client.list_resources()).resources == []


async def test_secrets_do_not_leave(home: Path) -> None:
    key = "xai-" + "a1" * 16
    sessions = SessionStore(home / "sessions", clock=system_clock, settings=SessionSettings())
    conversation = sessions.create("leak")
    said = (TextPart(f"The zebra key is {key}, keep it."),)
    conversation.messages.append(Message("user", said, kind="text", id="m1", time=system_clock()))
    sessions.save(conversation)
    sessions.close()
    async with stdio(home) as client:
        found = await call(client, "search_sessions", query="zebra key")
    assert "zebra" in found
    assert key not in found


async def test_memory_switched_off_is_said_and_nothing_served(home: Path) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "chatls_server.cli", "mcp",
        env=environment(home, CHATCLI_MEMORY_ENABLED="false"),
        stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    output, errors = await process.communicate()
    assert (process.returncode, output) == (1, b"")
    assert b"CHATCLI_MEMORY_ENABLED" in errors
