"""Speed of the editor boundary, as ratios to a bare pygls server or a plain baseline in the same run.

    python -m tests.bench.server_bench [--runs 7]

Prints one line per figure: name, value, ratio and goal.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

BARE = """
from pygls.lsp.server import LanguageServer
LanguageServer("bare", "1").start_io()
"""


def initialize_seconds(command: Sequence[str], home: Path) -> float:
    """From starting the process to the answer of ``initialize``."""
    environment = {**os.environ, "HOME": str(home), "CHATLS_HOME": str(home / ".chatcli")}
    body = json.dumps(
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"processId": None, "capabilities": {}}}
    ).encode()
    began = time.perf_counter()
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        process.stdin.flush()
        process.stdout.readline()
        took = time.perf_counter() - began
        process.kill()
    return took


def cold_start(runs: int, home: Path) -> tuple[float, float]:
    """Fastest starts of ChatLS and of bare pygls, taken in turn: the fastest is least disturbed by other work."""
    ours, bare = [], []
    for _ in range(runs):
        bare.append(initialize_seconds([sys.executable, "-c", BARE], home))
        ours.append(initialize_seconds([sys.executable, "-m", "chatls_server.cli", "serve"], home))
    return min(ours), min(bare)


def median_seconds(work: Callable[[], object], times: int) -> float:
    """Median time of one call."""
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        work()
        taken.append(time.perf_counter() - began)
    return statistics.median(taken)


def keystroke(megabytes: float) -> tuple[float, float]:
    """One typed character in the middle of a file, with ours and with pygls' documents."""
    from lsprotocol import types
    from pygls.workspace import TextDocument

    from chatls_server.lsp.documents import Documents

    line = "    value = compute(first, second)  # a comment of usual length\n"
    count = int(megabytes * 1e6 / len(line))
    text = line * count
    uri = "file:///big.py"
    documents = Documents()
    documents.did_open({"textDocument": {"uri": uri, "languageId": "python", "version": 1, "text": text}})
    place = {"line": count // 2, "character": 10}
    change = {
        "textDocument": {"uri": uri, "version": 2},
        "contentChanges": [{"range": {"start": place, "end": place}, "text": "x"}],
    }
    ours = median_seconds(lambda: documents.did_change(change), 200)
    theirs = TextDocument(uri, text, version=1)
    position = types.Position(count // 2, 10)
    event = types.TextDocumentContentChangePartial(types.Range(position, position), "x")
    bare = median_seconds(lambda: theirs.apply_change(event), 5)
    return ours, bare


async def progress_rate(events: int) -> float:
    """Events per second from ``server.progress`` to the parsed message at the client, over pipes."""
    from tests.fakes.lsp_client import LspClient

    with tempfile.TemporaryDirectory() as home:
        async with LspClient(home=Path(home), arguments=("-m", "tests.server.probe")) as client:
            began = time.perf_counter()
            await client.request("chatls/test/flood", {"size": events}, seconds=120)
            await client.wait_for(
                lambda m: m.get("method") == "$/progress" and m["params"]["value"]["number"] == events - 1,
                seconds=120,
            )
            return events / (time.perf_counter() - began)


async def answer_while_flooded() -> float:
    """Worst time of an answer to a request sent right behind one with 20,000 mentions."""
    from tests.fakes.lsp_client import LspClient

    with tempfile.TemporaryDirectory() as home:
        async with LspClient(home=Path(home), arguments=("-m", "tests.server.probe")) as client:
            mentions = [{"uri": f"file:///w/{number}.py"} for number in range(20_000)]
            worst = 0.0
            for _ in range(5):
                client.send_request("chatls/test/size", {"mentions": mentions})
                began = time.perf_counter()
                await client.request("chatls/test/echo", {})
                worst = max(worst, time.perf_counter() - began)
            return worst


def main() -> None:
    """Run everything."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=7)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        ours, bare = cold_start(options.runs, Path(home))
    ratio = ours / bare
    print(
        f"cold start to initialize: {ours * 1e3:.0f} ms, bare pygls {bare * 1e3:.0f} ms, ratio {ratio:.2f} (goal 1.50)"
    )
    for megabytes in (0.1, 1, 10):
        typed, typed_bare = keystroke(megabytes)
        ratio = typed / typed_bare
        print(f"keystroke at {megabytes} MB: {typed * 1e6:.0f} µs, pygls {typed_bare * 1e6:.0f} µs, ratio {ratio:.4f}")
    print(f"progress events per second (1 kB each): {asyncio.run(progress_rate(20_000)):.0f}")
    print(f"worst answer behind 20,000 mentions: {asyncio.run(answer_while_flooded()) * 1000:.0f} ms (goal 100)")


if __name__ == "__main__":
    main()
