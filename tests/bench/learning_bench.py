"""What learning in the background sends: ``npm run bench -- learning``.

Bytes of an extraction request by part (instructions, what is known, segment), and the share of them that the request
before already carried up to one of its cache markers. Beside it the shape of ChatCLI 1.188 (spec/memory.md §10.2:
instructions twice, nothing marked). Twenty conversations of twenty messages over a memory of 150 facts: in one script
nothing new is learned, in the other every second conversation brings a fact. Real requests of the Anthropic SDK against
a server on loopback; the vendor's cache is taken to live as long as the script.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from datetime import timedelta
from pathlib import Path
from typing import Any

from chatls_core.config import load
from chatls_core.memory import Source
from chatls_core.memory.worker import Line, Segment
from chatls_core.turn.agent import Agent
from tests.fakes.cache_meter import Rows, claude_rows, metered, share_read
from tests.fakes.model_server import ModelServer, Reply

TALKS, MESSAGES, FACTS = 20, 20, 150


def text_of(block: Any) -> str:
    """The text of a content that is a string or a list of blocks."""
    return block if isinstance(block, str) else "".join(b.get("text", "") for b in block)


def as_chatcli(body: dict[str, Any]) -> Rows:
    """The same request in ChatCLI 1.188's shape: instructions, then all of it as one user message, unmarked."""
    instructions, known = (part["text"] for part in body["system"])
    said = text_of(body["messages"][-1]["content"])
    user = f"{instructions}\n\n{known}\n\nCONVERSATION SEGMENT TO ANALYZE:\n{said}"
    return [("system" + json.dumps(instructions), ""), ("user" + json.dumps(user), "")]


def report(name: str, bodies: list[dict[str, Any]]) -> None:
    """Print one script's figures."""
    first = bodies[0]
    parts = [len(part["text"].encode()) for part in first["system"]]
    said = len(text_of(first["messages"][-1]["content"]).encode())
    print(
        f"{name}: {len(bodies)} requests; instructions {parts[0]:,} B, known {sum(parts[1:]):,} B, segment {said:,} B"
    )
    for label, rows in [
        ("ours", [claude_rows(body) for body in bodies]),
        ("ChatCLI 1.188's shape", [as_chatcli(body) for body in bodies]),
    ]:
        charges = metered(rows)
        mean, paid = sum(c.size for c in charges) / len(charges), sum(c.cost for c in charges) / len(charges)
        print(
            f"  {label:<24} {mean:9,.0f} B a request, {share_read(charges):6.1%} of it cached, "
            f"billed like {paid:,.0f} B of fresh input"
        )


async def talks(models: ModelServer, folder: Path, *, learned_every: int) -> list[dict[str, Any]]:
    """The requests of twenty extractions."""
    environment = {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": models.url, "HOME": str(folder)}
    agent = Agent(folder / "home", load(environment).settings, environment)
    await agent.ready()
    memory, worker = agent.services.memory, agent.learning.worker
    for n in range(FACTS):
        memory.remember(f"Service number {n} listens on port {7000 + n} behind proxy {n % 9}", source=Source("user"))
    first = len(models.requests)
    now = agent.services.clock()
    for talk in range(TALKS):
        lines = tuple(
            Line(
                "user" if n % 2 == 0 else "assistant",
                f"Message {n} of talk {talk}: the build of module {talk} {'fails in the linker. ' * (n % 5)}",
                f"m{talk}-{n}",
                now + timedelta(seconds=n),
            )
            for n in range(MESSAGES)
        )
        worker.offer(Segment(f"talk{talk}", lines, "/w/atlas"))
        new = learned_every and talk % learned_every == 0
        fact = f"## LONGTERM\n- [gotcha] Module {talk} fails in the linker of host{talk}"
        models.script(Reply(text=fact if new else "NOTHING_NEW"))
        await worker.run_once(drain=True)
    await agent.close()
    return [r.json for r in models.requests[first:]]


async def main() -> None:
    """Run both scripts."""
    async with ModelServer() as models:
        for name, every in (("nothing new", 0), ("a fact in every second talk", 2)):
            with tempfile.TemporaryDirectory() as folder:
                report(name, await talks(models, Path(folder), learned_every=every))


if __name__ == "__main__":
    asyncio.run(main())
