"""What our model layer costs over the vendors' own SDKs, and what importing it costs.

    python -m tests.bench.llm_bench [--quick] [--json]

Per dialect, against the same loopback server in the same run: milliseconds to the first delta and events per second,
each as ours over the raw SDK's (Gemini and Ollama: over a bare ``httpx`` loop that parses the same JSON). Rounds
alternate, so that a busy machine slows both alike; the figures are medians.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

from chatls_core.config import Settings
from chatls_core.llm.events import TextDelta
from chatls_core.llm.messages import Message, ModelRequest, TextPart
from chatls_core.llm.models import Models
from tests.fakes.model_server import ModelServer, Reply

KEY = "sk-bench-0123456789"
Source = Callable[[], AsyncIterator[Any]]


def ours(models: Models, provider: str) -> Source:
    model = models.select(provider)
    request = ModelRequest((Message("user", (TextPart("hi"),)),))

    async def deltas() -> AsyncIterator[Any]:
        async for event in model.stream(request):
            if isinstance(event, TextDelta):
                yield event

    return deltas


def raw_anthropic(url: str) -> Source:
    from anthropic import AsyncAnthropic

    client = AsyncAnthropic(api_key=KEY, base_url=url, max_retries=0)

    async def deltas() -> AsyncIterator[Any]:
        messages: Any = [{"role": "user", "content": "hi"}]
        stream = await client.messages.create(model="claude", max_tokens=99, messages=messages, stream=True)
        async for event in stream:
            if event.type == "content_block_delta":
                yield event

    return deltas


def raw_openai(url: str) -> Source:
    from openai import AsyncOpenAI

    client = AsyncOpenAI(api_key=KEY, base_url=url + "/v1", max_retries=0)

    async def deltas() -> AsyncIterator[Any]:
        messages: Any = [{"role": "user", "content": "hi"}]
        async for chunk in await client.chat.completions.create(model="gpt", messages=messages, stream=True):
            if chunk.choices and chunk.choices[0].delta.content:
                yield chunk

    return deltas


def raw_responses(url: str) -> Source:
    from openai import AsyncOpenAI

    client = AsyncOpenAI(api_key=KEY, base_url=url + "/v1", max_retries=0)

    async def deltas() -> AsyncIterator[Any]:
        async for event in await client.responses.create(model="gpt", input="hi", stream=True):
            if event.type == "response.output_text.delta":
                yield event

    return deltas


def raw_lines(url: str, path: str, body: dict[str, Any], prefix: bytes) -> Source:
    import httpx

    client = httpx.AsyncClient(timeout=60)

    async def deltas() -> AsyncIterator[Any]:
        async with client.stream("POST", url + path, json=body) as response:
            async for line in response.aiter_lines():
                if line:
                    yield json.loads(line.encode().removeprefix(prefix))

    return deltas


async def first_delta(source: Source) -> float:
    """Milliseconds from the question to the first delta."""
    began = time.perf_counter()
    stream = source()
    await anext(stream)
    took = (time.perf_counter() - began) * 1000
    async for _ in stream:
        pass
    return took


async def rate(source: Source) -> float:
    """Deltas per second."""
    began = time.perf_counter()
    count = sum([1 async for _ in source()])
    return count / (time.perf_counter() - began)


async def measure(rounds: int, size: int) -> list[dict[str, Any]]:
    rows = []
    async with ModelServer() as server:
        variables = {
            "HOME": "/nonexistent",
            "ANTHROPIC_BASE_URL": server.url,
            "ANTHROPIC_API_KEY": KEY,
            "OPENAI_BASE_URL": server.url + "/v1",
            "OPENAI_API_KEY": KEY,
            "GEMINI_BASE_URL": server.url,
            "GEMINI_API_KEY": KEY,
            "OLLAMA_BASE_URL": server.url,
        }
        models = Models(Settings(), variables)
        chat = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
        ask = {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}
        pairs: dict[str, Source] = {
            "anthropic": raw_anthropic(server.url),
            "openai": raw_openai(server.url),
            "openai_responses": raw_responses(server.url),
            "google": raw_lines(server.url, "/models/g:streamGenerateContent", ask, b"data: "),
            "ollama": raw_lines(server.url, "/api/chat", chat, b""),
        }
        long = Reply(deltas=("word ",) * size)
        for name, raw in pairs.items():
            mine = ours(models, name)
            latency: dict[str, list[float]] = {"raw": [], "ours": []}
            speed: dict[str, list[float]] = {"raw": [], "ours": []}
            for round_number in range(rounds + 2):
                for which, source in (("raw", raw), ("ours", mine)):
                    server.script(Reply(text="one two three"), long)
                    took, per_second = await first_delta(source), await rate(source)
                    if round_number >= 2:  # the first rounds import, connect and fill caches
                        latency[which].append(took)
                        speed[which].append(per_second)
            rows.append(
                {
                    "dialect": name,
                    "raw_first_ms": statistics.median(latency["raw"]),
                    "first_overhead_ms": statistics.median(
                        a - b for a, b in zip(latency["ours"], latency["raw"], strict=True)
                    ),
                    "raw_per_second": statistics.median(speed["raw"]),
                    "rate_ratio": statistics.median(a / b for a, b in zip(speed["ours"], speed["raw"], strict=True)),
                }
            )
        await models.aclose()
    return rows


def import_seconds(code: str) -> float:
    """Median wall time of a fresh interpreter running ``code``."""
    times = []
    for _ in range(5):
        began = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        times.append(time.perf_counter() - began)
    return statistics.median(times)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of a table")
    options = parser.parse_args()
    rounds, size = (5, 200) if options.quick else (15, 400)
    rows = asyncio.run(measure(rounds, size))
    bare = import_seconds("import pydantic, asyncio")
    core = import_seconds("import chatls_core.llm.models as m; m.providers()")
    if options.json:
        print(json.dumps({"rounds": rounds, "deltas": size, "rows": rows, "import_ratio": core / bare}))
        return
    print(f"model layer over the raw SDK: {rounds} rounds, {size} deltas a stream, loopback")
    for row in rows:
        print(
            f"  {row['dialect']:18} first delta +{row['first_overhead_ms']:.2f} ms (raw {row['raw_first_ms']:.2f} ms, "
            f"goal +5), events/s ratio {row['rate_ratio']:.2f} (raw {row['raw_per_second']:.0f}/s)"
        )
    print(f"  import of the model layer, no provider used: x{core / bare:.2f} of pydantic + asyncio ({core:.2f} s)")


if __name__ == "__main__":
    main()
