"""The fake model server as tests in other languages use it: a process with HTTP controls."""

from __future__ import annotations

import asyncio
import json
import sys
import urllib.error
import urllib.request
from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.fakes.model_server import ModelServer, Reply


def call(url: str, body: Any = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(url, data=data), timeout=10) as response:
        text = response.read().decode()
    return json.loads(text) if text.startswith("{") else text


@pytest.fixture
async def url() -> AsyncIterator[str]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.fakes.model_server",
        "--port",
        "0",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stdin is not None
    yield json.loads(await process.stdout.readline())["url"]
    process.stdin.close()
    assert await asyncio.wait_for(process.wait(), 10) == 0


ASK = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "hello"}]}


async def test_it_is_scripted_watched_and_released(url: str) -> None:
    replies = [{"text": "one two", "gated": True}, {"error": {"status": 429, "retry_after": 3}}]
    await asyncio.to_thread(call, f"{url}/_script", {"replies": replies})
    answering = asyncio.ensure_future(asyncio.to_thread(call, f"{url}/v1/chat/completions", ASK))
    while not (state := await asyncio.to_thread(call, f"{url}/_requests"))["held"]:
        pass  # each round is a request answered by the process: no busy wait of ours
    assert state["requests"][0]["json"] == ASK
    assert state["pending"] == 1
    await asyncio.to_thread(call, f"{url}/_release", {"count": 2})
    assert '"content": "two"' in await answering
    with pytest.raises(urllib.error.HTTPError) as caught:
        await asyncio.to_thread(call, f"{url}/v1/messages", ASK)
    assert (caught.value.code, caught.value.headers["Retry-After"]) == (429, "3")
    await asyncio.to_thread(call, f"{url}/_reset", {})
    assert (await asyncio.to_thread(call, f"{url}/_requests"))["requests"] == []


async def test_a_mistyped_script_is_refused(url: str) -> None:
    with pytest.raises(urllib.error.HTTPError) as caught:
        await asyncio.to_thread(call, f"{url}/_script", {"replies": [{"txt": "typo"}]})
    assert caught.value.code == 400


async def test_replies_can_wait_for_their_request() -> None:
    async with ModelServer() as server:
        server.script(Reply(text="for b", match="bbb"), Reply(text="for anyone"))
        body = {**ASK, "stream": False}
        first = await asyncio.to_thread(call, f"{server.url}/v1/chat/completions", body)
        second = await asyncio.to_thread(call, f"{server.url}/v1/chat/completions", {**body, "user": "bbb"})
        third = await asyncio.to_thread(call, f"{server.url}/v1/chat/completions", body)
        texts = [r["choices"][0]["message"]["content"] for r in (first, second, third)]
        assert texts == ["for anyone", "for b", "Echo: hello"]
