"""What is counted of the use, and what other rooms bring into memory's graph, reach the views and the model."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from chatls_core.memory import Source
from chatls_core.turn.habits import error_in, names_of
from tests.core.turn.conftest import Desk
from tests.fakes.model_server import Call, Reply


async def run(desk: Desk, *lines: str) -> None:
    """A turn in which the model runs commands."""
    calls = tuple(Call("run_command", {"command": line}) for line in lines)
    desk.models.script(Reply(tool_calls=calls), Reply(text="Done."))
    await desk.ask("go on", mode="agent")


async def test_use_is_counted_and_told(desk: Desk) -> None:
    """memory.md §18.1 row 30: sessions, modes, commands and errors have data."""
    await desk.ask("hello")
    for _ in range(3):
        await run(desk, "git status --short; ls /private; ls", "echo 'ImportError: no module named left' && exit 3")
    desk.clock.now = desk.clock.now.replace(hour=17)
    await desk.agent.close()
    memory = desk.make_agent().services.memory
    stats = memory.stats()
    assert (stats.sessions, stats.messages, stats.features) == (1, 4, {"agent": 3, "chat": 1})
    assert stats.peak_hours == (desk.clock.now.replace(hour=9).astimezone().hour,)
    assert "most used commands: ls, git status" in stats.markdown
    assert "ImportError: no module named left" in stats.markdown
    assert "sessions: 1, 48" in stats.markdown  # eight hours, in minutes
    assert "Usage" not in memory.recall("where do I work?").context  # four messages are no habit
    memory.record_use(messages=16, feature="agent")
    told = memory.recall("where do I work?").context
    assert "Commands: ls, git status" in told
    assert "Recurring error: ImportError: no module named left" in told
    assert "private" not in told


async def test_nothing_is_counted_while_memory_is_off(desk: Desk) -> None:
    agent = desk.agent = desk.make_agent(memory={"enabled": False})
    await desk.ask("hello")
    await agent.close()
    assert not list((desk.home / "memory").glob("usage_stats.json"))


async def test_conversations_skills_and_knowledge_bases_stand_in_the_graph(desk: Desk, tmp_path: Path) -> None:
    """memory.md §18.1 row 30: what the graph is said to show has data."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("The atlas tile cache")
    (desk.home / "skills").mkdir()
    (desk.home / "skills" / "release.md").write_text("---\nname: release\ndescription: how to ship\n---\nShip it.")
    services = desk.agent.services
    services.curation.contexts.create("atlas notes", [tmp_path / "notes"], mode="knowledge", description="maps")
    services.curation.contexts.create("whole atlas", [tmp_path / "notes"])
    await desk.ask("plan the atlas release", session="planning")
    services.memory.record_project({"name": "atlas"}, source=Source("user"))
    services.memory.record_episode("Planned it", source=Source("user"))
    services.memory.record_topics({"release": ""}, source=Source("user"))
    desk.clock.now += timedelta(minutes=2)  # what other rooms told holds for a minute
    view = services.memory.graph()
    nodes = {n.id: (n.kind, n.title) for n in view.nodes}
    session = next(key for key, (kind, _) in nodes.items() if kind == "session")
    assert nodes[session] == ("session", "plan the atlas release")
    assert {t for k, t in nodes.values() if k in ("skill", "kbcontext")} == {"release", "atlas notes"}
    links = {frozenset((e.a, e.b)) for e in view.edges}
    assert frozenset((session, "project:atlas")) in links
    assert frozenset(("skill:release", "topic:release")) in links
    assert any(session in link and any(n.startswith("episode:") for n in link) for link in links)


async def test_a_conversation_joins_the_graph_a_minute_later_and_a_broken_room_costs_nothing(desk: Desk) -> None:
    memory = desk.agent.services.memory
    memory.remember("Tiles are cached for a week", source=Source("user"))
    assert not any(n.kind == "session" for n in memory.graph().nodes)
    await desk.ask("plan the atlas release", session="planning")
    desk.clock.now = desk.clock.now.replace(hour=10)
    (desk.home / "contexts").mkdir(exist_ok=True)
    (desk.home / "contexts" / "broken.json").write_text("{ torn")
    assert any(n.kind == "session" for n in memory.graph().nodes)


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("npm test -- --watch", ["npm test"]),
        ("cd api && sudo docker compose up -d", ["docker compose"]),
        ("git -C secret-folder push", ["git"]),
        ("/usr/bin/python3 -m pytest tests/x.py | tail -5", ["python3", "tail"]),
        ("echo $(date)", ["date"]),
        ("echo 'never closed", []),
    ],
)
def test_commands_are_kept_by_name_only(line: str, names: list[str]) -> None:
    assert sorted(names_of(line)) == sorted(names)


def test_an_error_is_the_line_that_names_it() -> None:
    assert error_in("collecting\nE   ModuleNotFoundError: No module named 'x'\n[exit code 2]") == (
        "E   ModuleNotFoundError: No module named 'x'"
    )
    assert error_in("2 errors fixed\n[exit code 0]") == ""
    assert error_in("[exit code 1]") == ""
