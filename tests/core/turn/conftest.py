"""A whole agent on a loopback model server, with a host in memory and a clock the test moves."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from chatls_core.config import load
from chatls_core.events import TurnEvent
from chatls_core.turn.agent import Agent
from chatls_core.turn.exchange import ChatRequest, ChatResult
from tests.fakes.host import FakeHost
from tests.fakes.model_server import ModelServer


@dataclass
class Clock:
    now: datetime = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


@dataclass
class Desk:
    """What a test works with."""

    agent: Agent
    host: FakeHost
    models: ModelServer
    home: Path
    clock: Clock
    make_agent: Callable[..., Agent]

    async def ask(self, text: str, session: str = "s", **more: Any) -> tuple[ChatResult, list[TurnEvent]]:
        turn = await self.agent.submit(ChatRequest(text, session, **more), self.host)
        events = turn.events()
        result = await turn.outcome
        return result, [e.event async for e in events]


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    home, root = tmp_path / "home", tmp_path / "ws"
    home.mkdir()
    root.mkdir()
    clock = Clock()
    agents: list[Agent] = []
    async with ModelServer() as models:

        def make_agent(variables: Mapping[str, str] | None = None, **settings: Any) -> Agent:
            environment = {
                "ANTHROPIC_API_KEY": "test-key",
                "ANTHROPIC_BASE_URL": models.url,
                "MAX_RETRIES": "1",
                "HOME": str(tmp_path),
                **(variables or {}),
            }
            loaded = load(environment, ("test", {"edits": {"review": "auto"}, **settings}))
            agent = Agent(home, loaded.settings, environment, clock=clock)
            agent.set_workspace((root,), True)
            agents.append(agent)
            return agent

        yield Desk(make_agent(), FakeHost(root), models, home, clock, make_agent)
        for agent in agents:
            await agent.close()
