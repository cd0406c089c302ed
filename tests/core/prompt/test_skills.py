"""Skills: found, matched, told once, never out of reach."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatls_core.events import ContextAdded
from chatls_core.prompt.attached_contexts import REBUILD_KEY
from chatls_core.prompt.skills import Skill, Skills, parse
from chatls_core.prompt.skills_matching import BUDGET_CHARS, PINNED_KEY, matching, recovery_call, told
from chatls_core.prompt.skills_tool import ContextPull
from tests.core.prompt.helpers import conversation, message
from tests.core.turn.conftest import Desk
from tests.fakes.model_server import Call, Reply


def write(folder: Path, name: str, head: str, body: str) -> Path:
    path = folder / name / "SKILL.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"---\n{head}\n---\n{body}\n")
    return path


def skill(name: str, body: str = "body", **more: object) -> Skill:
    path = Path(f"/ws/.chatcli/skills/{name}/SKILL.md")
    head = "".join(f"{k}: {v}\n" for k, v in more.items())
    return parse(f"---\nname: {name}\ndescription: about {name}\n{head}---\n{body}", path)


def sent(desk: Desk) -> str:
    return json.dumps(desk.models.requests[-1].json["messages"], ensure_ascii=False)


def test_skills_of_other_tools_are_found_and_the_projects_own_comes_first(tmp_path: Path) -> None:
    root, home = tmp_path / "ws", tmp_path / "home"
    write(root / ".chatcli/skills", "deploy", "name: deploy", "ours")
    write(root / ".claude/skills", "deploy", "name: Deploy", "theirs")
    write(root / ".agents/skills", "review", "description: how we review", "look twice")
    write(home / "skills", "global", "name: global", "everywhere")
    (root / ".agent/skills").mkdir(parents=True)
    (root / ".agent/skills" / "single.md").write_text("Just text.\n")
    found = {s.name: s.body for s in Skills(home).all((root,))}
    assert found == {"deploy": "ours", "review": "look twice", "global": "everywhere", "single": "Just text."}


def test_a_changed_skill_is_read_again_and_a_link_out_of_the_workspace_is_not(tmp_path: Path) -> None:
    root, home = tmp_path / "ws", tmp_path / "home"
    path = write(root / ".chatcli/skills", "deploy", "name: deploy", "one")
    secret = tmp_path / "secret.md"
    secret.write_text("secret")
    (root / ".chatcli/skills" / "leak.md").symlink_to(secret)
    skills = Skills(home)
    assert [s.body for s in skills.all((root,))] == ["one"]
    path.write_text("---\nname: deploy\n---\nanother text\n")
    assert [s.body for s in skills.all((root,))] == ["another text"]


@pytest.mark.parametrize(
    ("head", "triggers", "paths"),
    [
        ("triggers: [deploy, ship it]", ("deploy", "ship it"), ()),
        ("triggers: deploy, ship it", ("deploy", "ship it"), ()),
        ("paths: **/*.py", (), ("**/*.py",)),
        ("paths:\n  - 'src/**'\nargument-hint: [a, b]", (), ("src/**",)),
    ],
)
def test_heads_are_read_as_people_write_them(head: str, triggers: tuple[str, ...], paths: tuple[str, ...]) -> None:
    found = parse(f"---\nname: x\n{head}\n---\nbody", Path("x/SKILL.md"))
    assert (found.name, found.triggers, found.paths, found.body) == ("x", triggers, paths, "body")


def test_what_a_request_is_about_decides() -> None:
    skills = [
        skill("a-deploy", triggers="deploy"),
        skill("b-database", triggers="migrate schema"),
        skill("c-python", paths="'**/*.py'"),
        skill("d-secret", triggers="deploy", **{"disable-model-invocation": "true"}),
        skill("e-called"),
    ]

    def names(text: str, *paths: str, pinned: tuple[str, ...] = ()) -> list[str]:
        return [s.name for s in matching(skills, text, [Path(p) for p in paths], pinned)]

    assert names("please Deploy this") == ["a-deploy"]
    assert names("the schema must migrate soon") == ["b-database"]
    assert names("the schema stays") == []
    assert names("fix it", "/ws/src/app.py") == ["c-python"]
    assert names("deploy app.py", "app.py") == ["a-deploy", "c-python"]
    assert names("deploy", pinned=("A-Deploy",)) == []
    assert names("/e-called now") == ["e-called"]
    assert names("/d-secret now") == ["d-secret"]


def test_a_body_is_told_once_and_again_when_the_model_no_longer_has_it() -> None:
    talk = conversation([])
    deploy = skill("deploy", "Push the tag.\nThen wait.")
    (first,) = told([deploy], talk, "chat", recoverable=True)
    assert first.whole and deploy.body in first.text
    talk.messages.append(message("user", f"[TURN CONTEXT]\n\n{first.text}", kind="turn_context"))
    (second,) = told([deploy], talk, "chat", recoverable=True)
    assert not second.whole
    assert "still binds" in second.text and recovery_call(deploy, "chat") in second.text
    (edited,) = told([skill("deploy", "Push the branch.")], talk, "chat", recoverable=True)
    assert edited.whole
    talk.messages.clear()
    talk.carried["skill:deploy"] = deploy.digest
    (again,) = told([deploy], talk, "chat", recoverable=True)
    assert again.whole


def test_the_recovery_of_a_skill_fits_the_mode() -> None:
    deploy = skill("deploy")
    assert recovery_call(deploy, "chat") == 'context_pull {"kind": "skill", "name": "deploy"}'
    assert recovery_call(deploy, "coder").startswith("read_file ")
    outside = parse("body", Path("/home/u/.chatcli/skills/x/SKILL.md"), in_workspace=False)
    assert recovery_call(outside, "coder").startswith("context_pull ")


@settings(max_examples=60, deadline=None)
@given(
    sizes=st.lists(st.integers(0, 15_000), min_size=1, max_size=6),
    turns=st.integers(1, 4),
    recoverable=st.booleans(),
)
async def test_every_body_is_there_or_its_call_returns_it(sizes: list[int], turns: int, recoverable: bool) -> None:
    skills = tuple(skill(f"s{n}", f"{n}" + "x" * size) for n, size in enumerate(sizes))
    talk = conversation([])
    tool = ContextPull(lambda: skills)
    for _ in range(turns):
        rows = told(skills, talk, "chat", recoverable=recoverable)
        assert [r.skill for r in rows] == list(skills)
        whole = sum(len(r.skill.body) for r in rows if r.whole)
        if not recoverable:
            assert all(r.whole for r in rows) and talk.carried == {}
        else:
            assert whole <= BUDGET_CHARS
        for row in rows:
            if row.whole:
                assert row.skill.body in row.text
                continue
            call = json.loads(row.text[row.text.index("context_pull ") + len("context_pull ") :])
            got = await ContextPull(lambda: skills).run(tool.parse(call), None)  # type: ignore[arg-type]  # no context
            assert got.text.endswith(row.skill.body)
        text = "\n\n".join(["[TURN CONTEXT]", *(r.text for r in rows)])
        talk.messages.append(message("user", text, kind="turn_context"))


@pytest.mark.parametrize(
    "given_arguments",
    [
        {"kind": "skill", "name": "a"},
        {"cmd": "skill", "skill": "a"},
        {"kind": "skill", "args": {"name": "a"}},
        {"kind": " Skill ", "args": {"skill": "A"}},
    ],
)
async def test_a_pull_is_understood_however_it_is_written(given_arguments: dict[str, object]) -> None:
    tool = ContextPull(lambda: (skill("a", "the text"),))
    got = await tool.run(tool.parse(given_arguments), None)  # type: ignore[arg-type]  # it needs no context
    assert "the text" in got.text


async def test_a_pull_that_cannot_be_names_the_next_call_and_three_are_enough() -> None:
    from chatls_core.tools.base import ToolError

    tool = ContextPull(lambda: (skill("alpha"),))
    for arguments in ({}, {"kind": "poem"}, {"kind": "skill", "name": "beta"}):
        with pytest.raises(ToolError, match="context_pull"):
            await tool.run(tool.parse(arguments), None)  # type: ignore[arg-type]  # it needs no context
    with pytest.raises(ToolError, match="3 times"):
        await tool.run(tool.parse({"kind": "skills"}), None)  # type: ignore[arg-type]  # it needs no context


async def test_a_matched_skill_rides_in_the_turn_and_is_shown(desk: Desk) -> None:
    write(desk.host.root / ".chatcli/skills", "deploy", "name: deploy\ntriggers: deploy", "Push the tag first.")
    desk.models.script(Reply(text="so"), Reply(text="so"))
    _, events = await desk.ask("how do we deploy?")
    assert "Push the tag first." in sent(desk)
    (added,) = [e for e in events if isinstance(e, ContextAdded)]
    assert [s.title for s in added.skills] == ["deploy"]
    await desk.ask("and deploy again?")
    assert sent(desk).count("Push the tag first.") == 1
    desk.models.script(
        Reply(tool_calls=(Call("context_pull", {"kind": "skill", "name": "deploy"}),)), Reply(text="done")
    )
    await desk.ask("hello")
    assert sent(desk).count("Push the tag first.") == 2


async def test_without_skills_no_call_is_offered(desk: Desk) -> None:
    await desk.ask("hello")
    assert "context_pull" not in json.dumps(desk.models.requests[-1].json)


async def test_a_pinned_skill_stands_in_the_system_text(desk: Desk) -> None:
    write(desk.host.root / ".chatcli/skills", "deploy", "name: deploy\ntriggers: deploy", "Push the tag first.")
    live = await desk.agent.session("s")
    live.conversation.state[PINNED_KEY] = ["deploy"]
    live.conversation.state[REBUILD_KEY] = True
    await desk.ask("deploy")
    assert "Push the tag first." in desk.models.requests[-1].system_text
    assert "Push the tag first." not in sent(desk)


async def test_a_called_or_pinned_skill_says_who_answers_unless_the_user_did(desk: Desk) -> None:
    skills = desk.host.root / ".chatcli/skills"
    write(skills, "deep", "model: claude-opus-4-5\neffort: high\ntriggers: deploy", "Think hard.")
    write(skills, "quick", "model: claude-haiku-4-5\neffort: nonsense", "Be quick.")
    write(skills, "family", "model: haiku", "Any will do.")

    async def asked(text: str, **more: str) -> str:
        await desk.ask(text, **more)
        return str(desk.models.requests[-1].model)

    usual = await asked("hello")
    assert await asked("how do we deploy?") == usual
    assert await asked("/deep how do we deploy?") == "claude-opus-4-5"
    assert desk.models.requests[-1].json["thinking"]["type"] == "enabled"
    assert await asked("/quick how?") == "claude-haiku-4-5"
    assert "thinking" not in desk.models.requests[-1].json
    assert await asked("/family how?") == usual
    assert await asked("/quick how?", model="claude-sonnet-4-5") == "claude-sonnet-4-5"
    live = await desk.agent.session("s")
    live.conversation.state[PINNED_KEY] = ["deep"]
    live.conversation.state[REBUILD_KEY] = True
    assert await asked("hello") == "claude-opus-4-5"
    assert await asked("/quick hello") == "claude-haiku-4-5"
    desk.host.trusted = False
    assert await asked("/quick hello") == usual
