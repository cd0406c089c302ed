"""What the prompt's shape is worth: ``npm run bench -- prompt``.

* cache meter (tests/fakes/cache_meter.py): the share of input that Claude's cache would give back, for a 10-turn chat
  with about 38,000 characters of injected context and for a 40-turn coder run. Beside it the same requests without
  markers on the history, without curation, and as ChatCLI 1.188 lays them out. Cost counts a read as 0.1, a write as
  1.25 (five minutes) or 2 (an hour) of fresh input;
* assembly: from the start of a turn to its request, with 500 facts, 50 rules, 20 skills and 5 contexts, at 200 and
  2,000 messages.
"""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import statistics
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from chatls_core.config import load
from chatls_core.llm.messages import Message, TextPart
from chatls_core.memory import Source
from chatls_core.prompt.attached_contexts import attach
from chatls_core.sessions import Conversation
from chatls_core.text.stopwords import ENGLISH
from chatls_core.tools.base import ToolSet
from chatls_core.tools.catalogue import tools_for
from chatls_core.turn.agent import Agent
from chatls_core.turn.exchange import ChatRequest
from chatls_core.turn.live import LiveSession, Turn
from chatls_core.turn.run import TurnRun
from chatls_core.turn.saving import copy_of
from tests.fakes.cache_meter import Rows, claude_rows, cost_share, metered, share_read, without_history_markers
from tests.fakes.host import FakeHost
from tests.fakes.model_server import Call, ModelServer, Reply

INJECTED_CHARS = 38_000


def chatclis_layout(rows: Rows) -> Rows:
    """A request of an uncurated conversation as ChatCLI 1.188 lays it out (spec/agent.md §1.2): mode and attached
    contexts marked, memory, instructions and what belongs to the turn unmarked behind them and nowhere in the history,
    which has no marker."""
    tools = [row for row in rows if row[0].startswith("tool")]
    system = [text for text, _ in rows if text.startswith("system")]
    history = [text for text, _ in rows if not text.startswith(("tool", "system"))]
    kept = [text for n, text in enumerate(system) if n == 0 or "Attached context" in text]
    turn = [text for text in history if "[TURN CONTEXT]" in text][-1:]
    moving = [text for text in system if text not in kept] + [text.replace("user", "system", 1) for text in turn]
    said = [text for text in history if "[TURN CONTEXT]" not in text]
    return [*tools, *((text, "5m") for text in kept), *((text, "") for text in [*moving, *said])]


def report(name: str, bodies: list[dict[str, Any]], uncurated: list[dict[str, Any]]) -> None:
    """Print one script's figures beside the same script without curation and in other layouts."""
    ours, plain = [claude_rows(body) for body in bodies], [claude_rows(body) for body in uncurated]
    sizes = [sum(len(text) for text, _ in rows) for rows in ours]
    print(f"{name}: {len(bodies)} requests, {sizes[0]:,} to {sizes[-1]:,} characters")
    base = sum(c.cost for c in metered(ours))
    for label, rows in [
        ("ours", ours),
        ("no marker on the history", [without_history_markers(r) for r in ours]),
        ("curation off", plain),
        ("ChatCLI 1.188's layout", [chatclis_layout(r) for r in plain]),
    ]:
        charges = metered(rows)
        print(f"  {label:<26} {share_read(charges):7.1%} of input read from the cache,", end=" ")
        print(f"cost {cost_share(charges):.3f} of sending it all, {sum(c.cost for c in charges) / base:.2f} x ours")


UNCURATED: dict[str, Any] = {"prompt": {"contextPull": False, "knowledge": False}, "memory": {"mode": "full"}}


def make(folder: Path, models: ModelServer, **settings: Any) -> tuple[Agent, FakeHost]:
    """An agent on an empty home and workspace."""
    root = folder / "ws"
    root.mkdir(parents=True)
    environment = {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": models.url, "HOME": str(folder)}
    loaded = load(environment, ("bench", {"edits": {"review": "auto"}, **settings}))
    agent = Agent(folder / "home", loaded.settings, environment)
    agent.set_workspace((root,), True)
    return agent, FakeHost(root)


async def ask(agent: Agent, host: FakeHost, text: str, **more: Any) -> None:
    """One turn to its end."""
    turn = await agent.submit(ChatRequest(text, "bench", **more), host)
    await turn.outcome


async def chat(models: ModelServer, folder: Path) -> None:
    """Ten turns with instructions, a context, two skills that match each time, and recalled facts."""
    curated = await chatted(models, folder / "on")
    report(
        f"10-turn chat, {INJECTED_CHARS:,} characters injected",
        curated,
        await chatted(models, folder / "off", **UNCURATED),
    )


async def chatted(models: ModelServer, folder: Path, **settings: Any) -> list[dict[str, Any]]:
    """The chat's requests."""
    agent, host = make(folder, models, **settings)
    (host.root / "AGENTS.md").write_text("Prefer small functions and name what they give.\n" * 240)
    docs = host.root / "docs.md"
    docs.write_text("The service answers within two hundred milliseconds.\n" * 320)
    for name in ("ports", "services"):
        skill = host.root / ".chatcli/skills" / name / "SKILL.md"
        skill.parent.mkdir(parents=True)
        skill.write_text(f"---\nname: {name}\ntriggers: {name[:-1]}\n---\n" + f"Look the {name} up first.\n" * 150)
    agent.services.curation.contexts.create("docs", [docs])
    for n in range(40):
        agent.services.memory.remember(f"Service number {n} listens on port {7000 + n}", source=Source("user"))
    live = await agent.session("bench")
    attach(live.conversation, "docs")
    first = len(models.requests)
    for n in range(10):
        models.script(Reply(text=f"It listens there. {'Because of the proxy. ' * 40}"))
        await ask(agent, host, f"On which port does service number {n} listen, and why?")
    await agent.close()
    return [dict(r.json) for r in models.requests[first:]]


TOPICS = ("database", "proxy", "queue", "cache", "gateway", "scheduler", "mailer", "indexer", "billing", "search")
QUESTIONS = {
    "each about another service": [f"Where does the {word} of team {n + 3} run?" for n, word in enumerate(TOPICS)],
    "all about one service": [
        "Which hosts does the proxy run on?",
        "How is the proxy restarted?",
        "Who restarts the proxy of team 7?",
        "What else runs on the hosts of the proxy?",
        "Write the steps of a proxy restart.",
        "Which team's proxy comes first?",
        "Is the proxy of team 12 on a host of its own?",
        "How many proxy hosts are there?",
        "What did we say about the proxy of team 7?",
        "Draft a note about the proxy for the team.",
    ],
}


async def memory(models: ModelServer, folder: Path) -> None:
    """What memory adds to a 10-turn chat as new input, with 500 facts, by mode."""
    agent, _ = make(folder / "store", models)
    facts = [
        f"The {TOPICS[n % 10]} of team {n // 10} runs on host node-{n} and is restarted with make restart-{n}"
        for n in range(500)
    ]
    for text in facts:
        agent.services.memory.remember(text, source=Source("user"))
    await agent.close()
    for number, (name, questions) in enumerate(QUESTIONS.items()):
        sizes = {
            mode: await remembered(models, folder / f"{number}{mode}", mode, questions)
            for mode in ("off", "index", "full")
        }
        index, full = sizes["index"] - sizes["off"], sizes["full"] - sizes["off"]
        theirs = chatclis_full(facts, questions)
        print(f"memory of 500 facts, 10 turns {name}: {index:,} bytes of new input in index;", end=" ")
        print(f"{full:,} in our full, {1 - index / full:.1%} less;", end=" ")
        print(f"{theirs:,} in ChatCLI's full, {1 - index / theirs:.1%} less")


FULL_BYTES = 4000


def chatclis_full(facts: list[str], questions: list[str]) -> int:
    """Bytes of ``# Memory`` over a chat as ChatCLI's ``full`` sends it every turn (spec/memory.md §8.1, §8.2, §8.5):
    facts by the share of the hints they hold, until 4,000 bytes are full. Hints are words of the last three messages
    and the question. Profile, projects and topics, which it adds, are left out: this store has none."""
    history: list[str] = []
    total = 0
    for question in questions:
        words = [w.strip(".,;:!?") for w in " ".join([*history[-3:], question]).lower().split()]
        counted = Counter(w for w in words if len(w) >= 3 and w not in ENGLISH)
        hints = sorted(counted, key=lambda w: (-counted[w], w))[:20]
        held = {fact: len(set(hints) & set(re.findall(r"\w+", fact.lower()))) for fact in facts}
        block = "# Memory\n\n## Long-term Memory"
        for fact in sorted((f for f in facts if held[f]), key=lambda f: -held[f]):
            line = f"\n- [general] {fact}"
            if len(block.encode()) + len(line.encode()) > FULL_BYTES:
                break
            block += line
        total += len(json.dumps({"type": "text", "text": block}).encode())
        history += [question, "It is there."]
    return total


async def remembered(models: ModelServer, folder: Path, mode: str, questions: list[str]) -> int:
    """Bytes of system text and history of the last request: history only grows, so each was new input once."""
    shutil.copytree(folder.parent / "store" / "home", folder / "home")
    agent, host = make(folder, models, memory={"mode": mode}, sessions={"autoRecall": False})
    for question in questions:
        models.script(Reply(text="It is there."))
        await ask(agent, host, question)
    body = models.requests[-1].json
    await agent.close()
    return sum(len(text.encode()) for text, _ in claude_rows({**body, "tools": []}))


async def coder(models: ModelServer, folder: Path) -> None:
    """One run of forty steps that read files."""
    curated = await coded(models, folder / "on")
    report("40-turn coder run", curated, await coded(models, folder / "off", **UNCURATED))


async def coded(models: ModelServer, folder: Path, **settings: Any) -> list[dict[str, Any]]:
    """The run's requests."""
    agent, host = make(folder, models, **settings)
    (host.root / "AGENTS.md").write_text("Prefer small functions.\n" * 100)
    for n in range(40):
        (host.root / f"f{n}.py").write_text("".join(f"value_{n}_{r} = {r}\n" for r in range(150)))
        models.script(Reply(text="Next.", tool_calls=(Call("read_file", {"path": f"f{n}.py"}),)))
    models.script(Reply(text="Done."))
    first = len(models.requests)
    await ask(agent, host, "Read every file.", mode="coder")
    await agent.close()
    return [dict(r.json) for r in models.requests[first:]]


async def assembly(models: ModelServer, folder: Path) -> None:
    """Milliseconds to assemble a turn."""
    agent, host = make(folder, models)
    for n in range(500):
        agent.services.memory.remember(f"Fact {n}: module {n} belongs to team {n % 7}", source=Source("user"))
    rules, skills = host.root / ".chatcli/rules", host.root / ".chatcli/skills"
    rules.mkdir(parents=True)
    for n in range(50):
        (rules / f"r{n}.md").write_text(f"---\npaths: ['pkg{n}/**']\n---\nRule {n}.\n")
    for n in range(20):
        (skills / f"s{n}").mkdir(parents=True)
        (skills / f"s{n}" / "SKILL.md").write_text(f"---\nname: s{n}\ntriggers: word{n}\n---\n{'step ' * 200}\n")
    live = await agent.session("bench")
    for n in range(5):
        (host.root / f"docs{n}.md").write_text(f"Chapter {n} explains the service.\n" * 200)
        agent.services.curation.contexts.create(f"docs{n}", [host.root / f"docs{n}.md"])
        attach(live.conversation, f"docs{n}")
    await assembled(agent, live, ChatRequest("Begin.", "bench"), host)
    begun = time.perf_counter()
    live.conversation = await assembled(agent, live, ChatRequest("Begin.", "bench"), host)
    print(f"assembly of a conversation's first turn: {(time.perf_counter() - begun) * 1000:.1f} ms")
    for messages in (200, 2_000):
        live.conversation.messages[:] = [
            Message("user" if n % 2 == 0 else "assistant", (TextPart(f"message {n} about module {n}"),), id=f"m{n}")
            for n in range(messages)
        ]
        print(f"assembly with {messages:,} messages: median {await median(agent, live, host):.1f} ms")
    live.conversation.messages[:] = live.conversation.messages[:200]
    for n in range(5):
        agent.services.curation.contexts.update(f"docs{n}", mode="knowledge")
        attach(live.conversation, f"docs{n}")
    live.conversation = await assembled(agent, live, ChatRequest("Begin.", "bench"), host)
    found = await median(agent, live, host, "which chapter explains the service?")
    print(f"the same where passages are looked for in the contexts, and found: {found:.1f} ms")
    await agent.close()


async def median(agent: Agent, live: LiveSession, host: FakeHost, more: str = "") -> float:
    """Median milliseconds of twenty turns' assembly, after five."""
    taken = []
    for n in range(25):
        begin = time.perf_counter()
        await assembled(agent, live, ChatRequest(f"who owns module {n}? word3 {more}".strip(), "bench"), host)
        taken.append((time.perf_counter() - begin) * 1000)
    return statistics.median(taken[5:])


async def assembled(agent: Agent, live: LiveSession, request: ChatRequest, host: FakeHost) -> Conversation:
    """Assemble a turn's first request on a copy of the conversation, which is returned; no model is asked."""
    copy = LiveSession(copy_of(live.conversation), live.files)
    turn = Turn("bench", live.conversation.id, request, host)
    services = agent.services

    def tools(model: str) -> ToolSet:
        return tools_for(request.mode, services.settings, services.memory, services.sessions, model)

    await TurnRun(services, copy, turn, tools, ("", "")).request()
    return copy.conversation


async def main() -> None:
    """Run everything against one loopback model server."""
    for part in (chat, coder, memory, assembly):
        with tempfile.TemporaryDirectory() as folder:
            async with ModelServer() as models:
                await part(models, Path(folder))


if __name__ == "__main__":
    asyncio.run(main())
