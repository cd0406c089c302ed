"""Personas: found, chosen, standing in the system text, never widening anything (spec/agent.md §9.4)."""

from __future__ import annotations

from pathlib import Path

from chatls_core.events import Notice
from chatls_core.prompt.personas import Personas, choose, parse
from tests.core.turn.conftest import Desk
from tests.fakes.model_server import Reply

REVIEWER = "---\nname: Reviewer\ndescription: reads\ntools: Read, Grep\nskills: [style]\n---\nYou review; be strict.\n"


def put(root: Path, text: str, name: str = "reviewer.md", folder: str = ".claude/agents") -> Path:
    path = root / folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


async def take(desk: Desk, *names: str, session: str = "s") -> None:
    conversation = (await desk.agent.session(session)).conversation
    choose(conversation, names, desk.agent.services.curation.personas.all())


async def sent(desk: Desk, text: str = "hello", **more: str) -> str:
    await desk.ask(text, **more)
    return desk.models.requests[-1].system_text


def test_a_head_is_read_as_people_write_it(tmp_path: Path) -> None:
    persona = parse(REVIEWER, tmp_path / "x.md")
    assert persona is not None
    assert (persona.name, persona.tools, persona.skills) == ("Reviewer", ("Read", "Grep"), ("style",))
    assert parse("Just text.", tmp_path / "plain.md").name == "plain"  # type: ignore[union-attr]
    assert parse("---\nname: x\n---\n", tmp_path / "x.md") is None
    for model in ("inherit", "sonnet", ""):
        assert parse(f"---\nmodel: {model}\n---\nBody", tmp_path / "x.md").hint.model == ""  # type: ignore[union-attr]


def test_a_projects_persona_hides_the_users_and_counts_only_when_trusted(tmp_path: Path) -> None:
    home, root = tmp_path / "home", tmp_path / "ws"
    put(home, "---\nname: reviewer\n---\nglobal\n", folder="agents")
    put(root, REVIEWER)
    personas = Personas(home)
    personas.set_workspace((root,), trusted=False)
    assert [p.body for p in personas.all()] == ["global"]
    assert personas.withheld()
    personas.set_workspace((root,), trusted=True)
    assert [p.body for p in personas.all()] == ["You review; be strict."]
    assert not personas.withheld()


def test_a_link_out_of_the_workspace_is_not_followed(tmp_path: Path) -> None:
    root = tmp_path / "ws"
    secret = put(tmp_path, "outside", folder="elsewhere")
    (root / ".claude/agents").mkdir(parents=True)
    (root / ".claude/agents/x.md").symlink_to(secret)
    personas = Personas(tmp_path / "home")
    personas.set_workspace((root,), trusted=True)
    assert personas.all() == ()


async def test_a_persona_stands_in_the_system_text_with_its_skills_until_it_goes(desk: Desk) -> None:
    put(desk.host.root, REVIEWER)
    put(desk.host.root, "---\nname: style\n---\nUse tabs.\n", "SKILL.md", ".claude/skills/style")
    before = await sent(desk)
    assert "be strict" not in before
    await take(desk, "Reviewer")
    first = await sent(desk)
    assert "be strict" in first
    assert "Use tabs." in first
    assert await sent(desk, "again") == first
    await desk.agent.close()
    desk.agent = desk.make_agent()
    assert await sent(desk, "after a restart") == first
    await take(desk)
    assert await sent(desk, "and without?") == before


async def test_a_persona_narrows_the_tools_and_leaves_what_recovers(desk: Desk) -> None:
    put(desk.host.root, REVIEWER)
    await sent(desk, mode="coder")
    everything = set(desk.models.requests[-1].tool_names)
    await take(desk, "Reviewer")
    await sent(desk, mode="coder")
    left = set(desk.models.requests[-1].tool_names)
    assert {"read_file", "search", "memory", "ask_user"} <= left < everything
    assert not left & {"run_command", "write_file", "edit_file"}
    put(desk.host.root, "---\nname: Helper\n---\nHelp.\n", "helper.md")
    await take(desk, "Reviewer", "Helper")
    await sent(desk, mode="coder")
    assert set(desk.models.requests[-1].tool_names) == everything


async def test_a_changed_persona_rides_in_the_turn_and_is_folded_in_at_the_next_rebuild(desk: Desk) -> None:
    file = put(desk.host.root, REVIEWER)
    await take(desk, "Reviewer")
    first = await sent(desk)
    file.write_text(REVIEWER.replace("strict", "kind"))
    assert await sent(desk, "and now?") == first
    assert "replaces its earlier text:\\n\\nYou review; be kind." in str(desk.models.requests[-1].json["messages"][-1])
    await sent(desk, "once more?")
    assert "be kind" not in str(desk.models.requests[-1].json["messages"][-1])
    file.unlink()
    await sent(desk, "gone?")
    assert "was withdrawn" in str(desk.models.requests[-1].json["messages"][-1])
    assert "be kind" not in await sent(desk, mode="coder")


async def test_the_personas_model_holds_unless_the_user_chose_one(desk: Desk) -> None:
    put(desk.host.root, "---\nname: Fast\nmodel: claude-haiku-4-5\n---\nBe quick.\n")
    await take(desk, "Fast")
    await sent(desk)
    assert desk.models.requests[-1].model == "claude-haiku-4-5"
    await sent(desk, model="claude-sonnet-4-5")
    assert desk.models.requests[-1].model == "claude-sonnet-4-5"
    (await desk.agent.session("s")).conversation.state.update(provider="anthropic", model="claude-opus-4-5")
    await sent(desk)
    assert desk.models.requests[-1].model == "claude-opus-4-5"


async def test_a_model_nobody_knows_is_said_and_the_own_model_answers(desk: Desk) -> None:
    put(desk.host.root, "---\nname: Odd\nmodel: nowhere/some-model\n---\nBe odd.\n")
    await take(desk, "Odd")
    desk.models.script(Reply(text="Here."))
    result, events = await desk.ask("hello")
    assert result.text == "Here."
    assert any(isinstance(e, Notice) and "nowhere/some-model" in e.text for e in events)
