"""What ChatLS adds to a model's answer: ``npm run bench -- turn``.

Everything is measured against a loopback model server, with a baseline in the same run:

* first delta: from the editor's request to its first text event, against the official SDK asked directly, in turn;
* first question of a server: the same, when the vendor's SDK is not loaded yet, and when it was told of it ahead;
* memory: resident set of the server after one turn, against a bare Python with the same SDK imported;
* cache: how much of each request's input is a prefix the previous one already carried, over a scripted conversation.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.fakes.lsp_client import LspClient
from tests.fakes.model_server import ModelServer, Reply

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

TURNS = 30
AT_LEAST = 2.0
"""Seconds that a person needs to open the panel, and again to write a question."""

PAUSE = 0.2
"""Seconds of rest before a question: caches are cold, as they are when a person asks."""


async def first_delta(models: ModelServer, editor: LspClient, number: int) -> float:
    """Seconds from the request to the first text event."""
    begin = time.perf_counter()
    request = editor.send_request(
        "chatls/chat", {"text": f"question {number}", "sessionId": "bench", "partialResultToken": number}
    )
    await editor.wait_for(lambda m: _is_text(m, number), since=len(editor.received), seconds=90)
    seconds = time.perf_counter() - begin
    await editor.result(request)
    return seconds


def _is_text(message: Mapping[str, Any], token: int) -> bool:
    params = message.get("params") or {}
    return (
        message.get("method") == "$/progress" and params.get("token") == token and params["value"].get("kind") == "text"
    )


async def raw_first_delta(client: AsyncAnthropic, body: Mapping[str, Any]) -> float:
    """The same request through the SDK alone."""
    begin = time.perf_counter()
    async with client.messages.stream(
        model="claude-sonnet-4-6",
        max_tokens=1000,
        system=body["system"],
        messages=body["messages"],
        tools=body.get("tools", []),
    ) as stream:
        async for event in stream:
            if event.type == "text":
                break
    return time.perf_counter() - begin


async def overhead(models: ModelServer, editor: LspClient, client: AsyncAnthropic, first: int, pause: float) -> str:
    """Our first delta and the SDK's in turn, so that both meet the same machine; the median of the differences."""
    ours, alone = [], []
    for number in range(first, first + TURNS):
        await asyncio.sleep(pause)
        ours.append(await first_delta(models, editor, number))
        body = models.requests[-1].json
        await asyncio.sleep(pause)
        alone.append(await raw_first_delta(client, body))
    mine, theirs, more = (
        statistics.median(times) * 1e3 for times in (ours, alone, [a - b for a, b in zip(ours, alone, strict=True)])
    )
    return f"{mine:.1f} ms, SDK alone {theirs:.1f}, overhead {more:.1f} (goal 5)"


async def first_question(folder: Path, models: ModelServer, environment: Mapping[str, str], *, prepared: bool) -> float:
    """Seconds to the first delta of a new server's first question; ``prepared``: told of it two seconds before."""
    async with LspClient(home=folder / "home", root=folder / "workspace", environment=environment) as editor:
        await asyncio.sleep(AT_LEAST)
        if prepared:
            editor.notify("chatls/prepare", {})
        await asyncio.sleep(AT_LEAST)
        return await first_delta(models, editor, 0)


def resident_mib(pid: int) -> float:
    """Resident memory of a process in MiB (Linux; 0 elsewhere)."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0.0
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


def bare_sdk_mib() -> float:
    """Resident memory of a Python that has only imported the SDK."""
    code = "import anthropic, sys; print(int(open('/proc/self/status').read().partition('VmRSS:')[2].split()[0])/1024)"
    return float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)


def cached_share(bodies: list[Any]) -> float:
    """Share of the input, after the first request, that repeats the previous request from its beginning."""
    repeated = total = 0
    previous = ""
    for body in bodies:
        text = json.dumps([_plain(body.get("tools", [])), _plain(body["system"])]) + "".join(
            json.dumps(_plain(m)) for m in body["messages"]
        )
        if previous:
            total += len(text)
            repeated += next((i for i, (a, b) in enumerate(zip(previous, text, strict=False)) if a != b), len(previous))
        previous = text
    return repeated / total if total else 0.0


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items() if k != "cache_control"}
    return [_plain(v) for v in value] if isinstance(value, list) else value


async def main() -> None:
    """Run and print."""
    import anthropic

    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "workspace"
        root.mkdir()
        (root / "AGENTS.md").write_text("Follow the style of the file.\n" * 1200)
        async with ModelServer() as models:
            environment = {"ANTHROPIC_API_KEY": "bench", "ANTHROPIC_BASE_URL": models.url}
            async with LspClient(home=Path(folder) / "home", root=root, environment=environment) as editor:
                models.script(*[Reply(text="An answer of a few words.") for _ in range(TURNS * 5)])
                await first_delta(models, editor, 0)
                memory = resident_mib(editor.process.pid)
                for n in range(1, TURNS):
                    await first_delta(models, editor, n)
                bodies = [r.json for r in models.requests]
                async with anthropic.AsyncAnthropic(api_key="bench", base_url=models.url, max_retries=0) as client:
                    at_once = await overhead(models, editor, client, TURNS, 0)
                    rested = await overhead(models, editor, client, TURNS * 2, PAUSE)
            cold, ready = [
                await first_question(Path(folder), models, environment, prepared=prepared) for prepared in (False, True)
            ]
    print(f"first delta, median of {TURNS}, question after question: {at_once}")
    print(f"first delta, median of {TURNS}, each after {PAUSE} s of rest: {rested}")
    print(f"first question of a server: {cold * 1e3:.0f} ms, told of ahead {ready * 1e3:.0f} ms")
    bare = bare_sdk_mib()
    print(f"resident memory after one turn: {memory:.0f} MiB, SDK alone {bare:.0f} MiB, ratio {memory / bare:.2f}")
    share, size = cached_share(bodies), len(json.dumps(bodies[0]["system"]))
    print(f"input repeated from the turn before, {TURNS} turns, {size} characters of system text: {share:.3f}")


if __name__ == "__main__":
    asyncio.run(main())
