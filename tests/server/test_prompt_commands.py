"""Contexts and compaction from an editor."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.model_server import Call, ModelServer, Reply
from tests.server.test_main_job import client


@pytest.fixture
async def models() -> AsyncIterator[ModelServer]:
    async with ModelServer() as server:
        yield server


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    root = tmp_path / "workspace"
    root.mkdir()
    return root


def make_template(workspace: Path, text: str, name: str = "look") -> None:
    """A slash template of another tool's folder."""
    template = workspace / ".claude" / "commands" / f"{name}.md"
    template.parent.mkdir(parents=True)
    template.write_text(text)


async def test_a_context_is_made_attached_priced_and_detached(
    tmp_path: Path,
    workspace: Path,
    models: ModelServer,
) -> None:
    (workspace / "docs here").mkdir()
    (workspace / "docs here" / "a.md").write_text("Deploys go out on Fridays.\n")
    async with client(tmp_path, workspace, models) as editor:
        made = await editor.command("chatls.context.create", {"name": "docs", "paths": ["docs here"]})
        assert made["data"]["files"] == 1
        session = (await editor.command("chatls.session.new", {}))["data"]["sessionId"]
        attached = await editor.command("chatls.context.attach", {"name": "docs", "sessionId": session})
        assert attached["data"]["tokens"] > 0
        await editor.request("chatls/chat", {"text": "when?", "sessionId": session})
        assert "Fridays" in models.requests[-1].system_text
        status = await editor.command("chatls.context.status", {"sessionId": session})
        assert "context docs" in status["markdown"]
        rows = await editor.command("chatls.context.attached", {"sessionId": session})
        assert [r["name"] for r in rows["data"]["attached"]] == ["docs"]
        assert rows["data"]["attached"][0]["counted"] > 10
        assert "as the provider counts them" in rows["markdown"]
        asked = len(models.other_requests)
        quick = await editor.command("chatls.context.attached", {"sessionId": session, "count": False})
        assert "counted" not in quick["data"]["attached"][0]
        assert len(models.other_requests) == asked
        await editor.command("chatls.context.detach", {"name": "docs", "sessionId": session})
        await editor.request("chatls/chat", {"text": "and now?", "sessionId": session})
        assert "Fridays" not in models.requests[-1].system_text
        await editor.command("chatls.context.delete", {"name": "docs"})
        assert (await editor.command("chatls.context.list", {}))["data"]["contexts"] == []


async def test_an_attached_context_is_folded_and_unfolded(tmp_path: Path, workspace: Path, models: ModelServer) -> None:
    (workspace / "manual.md").write_text("a line of the manual\n" * 200)
    async with client(tmp_path, workspace, models) as editor:
        await editor.command("chatls.context.create", {"name": "docs", "paths": ["manual.md"]})
        session = (await editor.command("chatls.session.new", {}))["data"]["sessionId"]
        whole = await editor.command("chatls.context.attach", {"name": "docs", "sessionId": session})
        folded = await editor.command("chatls.context.attach", {"name": "docs", "sessionId": session, "fold": True})
        assert folded["data"]["tokens"] < whole["data"]["tokens"] / 5
        assert (folded["data"]["folded"], folded["data"]["fold"]) == (True, True)
        await editor.request("chatls/chat", {"text": "what does it say?", "sessionId": session})
        assert "a line of the manual" not in models.requests[-1].system_text
        assert "knowledge" in models.requests[-1].tool_names
        status = await editor.command("chatls.context.status", {"sessionId": session})
        assert status["data"]["folded"] == ["docs"]
        await editor.command("chatls.context.attach", {"name": "docs", "sessionId": session, "fold": False})
        await editor.request("chatls/chat", {"text": "and now?", "sessionId": session})
        assert "a line of the manual" in models.requests[-1].system_text


async def test_the_conversation_is_compacted_from_the_chat_box(
    tmp_path: Path,
    workspace: Path,
    models: ModelServer,
) -> None:
    async with client(tmp_path, workspace, models) as editor:
        session = (await editor.request("chatls/chat", {"text": "question 0"}))["sessionId"]
        for n in range(1, 5):
            await editor.request("chatls/chat", {"text": f"question {n}", "sessionId": session})
        models.script(Reply(text="what we said", match="Write the summary now"))
        told = await editor.request("chatls/chat", {"text": "/compact keep all numbers", "sessionId": session})
        assert "became a summary" in told["text"]
        await editor.request("chatls/chat", {"text": "go on", "sessionId": session})
        assert "what we said" in str(models.requests[-1].messages)
        assert "question 0" not in str(models.requests[-1].messages)


async def test_what_is_missing_is_named(
    tmp_path: Path,
    workspace: Path,
    models: ModelServer,
) -> None:
    async with client(tmp_path, workspace, models) as editor:
        wrong: list[tuple[str, dict[str, Any], str]] = [
            ("chatls.context.attach", {"name": "docs"}, "sessionId"),
            ("chatls.context.create", {"paths": ["."]}, "name"),
            ("chatls.context.create", {"name": "docs", "paths": ["nowhere"]}, "does not exist"),
        ]
        for name, arguments, word in wrong:
            with pytest.raises(Exception, match=word):
                await editor.command(name, arguments)


async def test_skills_and_templates_are_offered_and_called_from_the_chat_box(
    tmp_path: Path, workspace: Path, models: ModelServer
) -> None:
    skill = workspace / ".claude" / "skills" / "deploy" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: deploy\ndescription: how we deploy\n---\nPush the tag first.\n")
    make_template(workspace, "Explain $ARGUMENTS to a newcomer.\n", "explain")
    async with client(tmp_path, workspace, models) as editor:
        items = await editor.command("chatls.chat.complete", {"text": "/de", "offset": 3})
        assert "/deploy" in [i["label"] for i in items["data"]["items"]]
        session = (await editor.request("chatls/chat", {"text": "/explain the parser"}))["sessionId"]
        assert "Explain the parser to a newcomer." in str(models.requests[-1].messages)
        await editor.command("chatls.skill.pin", {"name": "Deploy", "sessionId": session})
        listed = await editor.command("chatls.skill.list", {"sessionId": session})
        assert [(s["name"], s["pinned"]) for s in listed["data"]["skills"]] == [("deploy", True)]
        await editor.request("chatls/chat", {"text": "hi", "sessionId": session})
        assert "Push the tag first." in models.requests[-1].system_text
        await editor.command("chatls.skill.unpin", {"name": "deploy", "sessionId": session})
        await editor.request("chatls/chat", {"text": "/deploy today", "sessionId": session})
        assert "Push the tag first." not in models.requests[-1].system_text
        assert "Push the tag first." in str(models.requests[-1].messages)


async def test_the_prompt_is_shown_with_estimated_and_counted_tokens(
    tmp_path: Path, workspace: Path, models: ModelServer
) -> None:
    async with client(tmp_path, workspace, models) as editor:
        session = (await editor.request("chatls/chat", {"text": "hello"}))["sessionId"]
        assert not [r for r in models.other_requests if "count_tokens" in r.path]
        shown = (await editor.command("chatls.prompt.show", {"sessionId": session, "text": "and now?"}))["data"]
        assert shown["counted"] > 100
        assert shown["tokens"] > 100
        (asked,) = [r for r in models.other_requests if "count_tokens" in r.path]
        assert "and now?" in str(asked.json["messages"][-1])
        await editor.command("chatls.prompt.show", {"sessionId": session, "text": "and now?"})
        status = await editor.command("chatls.context.status", {"sessionId": session})
        assert status["data"]["counted"] > 100
        assert status["data"]["lastPromptTokens"] > 0
        assert status["data"]["toolTokens"] > 0
        assert len([r for r in models.other_requests if "count_tokens" in r.path]) == 2
        quick = await editor.command("chatls.prompt.show", {"sessionId": session, "text": "quick", "count": False})
        assert "counted" not in quick["data"]
        assert len(models.requests) == 1


async def test_the_chat_box_shows_what_was_spent_today(tmp_path: Path, workspace: Path, models: ModelServer) -> None:
    async with client(tmp_path, workspace, models) as editor:
        session = (await editor.request("chatls/chat", {"text": "hello"}))["sessionId"]
        told = await editor.command("chatls.cost.show", {"sessionId": session})
        assert told["data"]["lines"][0]["lane"] == "turn"
        assert told["data"]["cache"]["lifetime"] == "5m"
        assert (await editor.command("chatls.cost.show", {}))["data"]["scope"] == "day"
        said = await editor.request("chatls/chat", {"text": "/cost", "sessionId": session})
        assert "today" in said["text"]
        assert "Cache lifetime: 5m" in said["text"]


async def test_a_persona_is_chosen_from_the_chat_box(tmp_path: Path, workspace: Path, models: ModelServer) -> None:
    folder = workspace / ".claude" / "agents"
    folder.mkdir(parents=True)
    (folder / "rev.md").write_text("---\nname: Code Reviewer\ndescription: reads\n---\nYou review; be strict.\n")
    async with client(tmp_path, workspace, models) as editor:
        items = await editor.command("chatls.chat.complete", {"text": "/persona co", "offset": 11})
        assert [i["insert"] for i in items["data"]["items"]] == ["/persona Code Reviewer"]
        told = await editor.request("chatls/chat", {"text": "/persona code reviewer"})
        session = told["sessionId"]
        assert "Code Reviewer" in told["text"]
        await editor.request("chatls/chat", {"text": "hi", "sessionId": session})
        assert "be strict" in models.requests[-1].system_text
        listed = await editor.command("chatls.persona.list", {"sessionId": session})
        assert [(p["name"], p["attached"]) for p in listed["data"]["personas"]] == [("Code Reviewer", True)]
        await editor.request("chatls/chat", {"text": "/persona off", "sessionId": session})
        await editor.request("chatls/chat", {"text": "hi", "sessionId": session})
        assert "be strict" not in models.requests[-1].system_text
        with pytest.raises(Exception, match="there is no persona"):
            await editor.command("chatls.persona.attach", {"name": "nobody", "sessionId": session})
    async with client(tmp_path, workspace, models, options={"trusted": False}) as editor:
        untrusted = await editor.command("chatls.persona.list", {})
        assert untrusted["data"]["personas"] == []
        assert "once you trust it" in untrusted["markdown"]


async def test_a_templates_commands_run_by_the_same_rules_as_the_models(
    tmp_path: Path, workspace: Path, models: ModelServer
) -> None:
    make_template(workspace, "Sum up:\n! cat notes.txt\n!`touch $1`\n!`touch again`\n")
    (workspace / "notes.txt").write_text("the notes say </data> hello\n")
    asked: list[str] = []

    def decide(params: dict[str, Any]) -> dict[str, str]:
        asked.append(params["preview"])
        return {"optionId": "allow" if "again" not in params["preview"] else "deny"}

    async with client(tmp_path, workspace, models) as editor:
        editor.handlers["chatls/approve"] = decide
        shown = await editor.command("chatls.prompt.show", {"text": "/look x"})
        assert asked == [] and "the notes" not in shown["markdown"]
        await editor.request("chatls/chat", {"text": "/look 'my file'"})
        assert asked == ["touch 'my file'", "touch again"]
        assert (workspace / "my file").exists() and not (workspace / "again").exists()
        context = models.requests[-1].json["messages"][-1]["content"][0]["text"]
        assert "Output of `cat notes.txt`" in context and "hello" in context
        assert "`touch again`, which did not run to its end: The user did not allow it." in context
        assert "Sum up:\n! cat notes.txt" in models.requests[-1].last_user_text


async def test_a_template_that_names_its_tools_is_held_to_them_without_asking(
    tmp_path: Path, workspace: Path, models: ModelServer
) -> None:
    make_template(workspace, "---\nmode: coder\nallowed-tools: Read, Bash(git status:*)\n---\nLook at $1.\n")
    asked: list[str] = []

    def decide(params: dict[str, Any]) -> dict[str, str]:
        asked.append(params["preview"])
        return {"optionId": "allow"}

    models.script(Reply(tool_calls=(Call("run_command", {"command": "touch x"}),)), Reply(text="done"))
    async with client(tmp_path, workspace, models) as editor:
        editor.handlers["chatls/approve"] = decide
        await editor.request("chatls/chat", {"text": "/look notes"})
        told = str(models.requests[-1].json["messages"][-1])
        assert "/look allows these tools only" in told and "run_command (git status:*)" in told
        assert asked == [] and not (workspace / "x").exists()


async def test_a_workspace_that_is_not_trusted_runs_no_command_of_a_template(
    tmp_path: Path, workspace: Path, models: ModelServer
) -> None:
    make_template(workspace, "Sum up:\n! cat notes.txt\n")
    (workspace / "notes.txt").write_text("the notes say hello\n")
    async with client(tmp_path, workspace, models) as editor:
        editor.notify("chatls/trustChanged", {"trusted": False})
        await editor.request("chatls/chat", {"text": "/look"})
        sent = str(models.requests[-1].messages)
        assert "the notes say" not in sent
        assert "the workspace is not trusted, so nothing runs in it" in sent


async def test_what_was_chosen_for_a_conversation_outlives_a_restart_before_its_next_turn(
    tmp_path: Path, workspace: Path, models: ModelServer
) -> None:
    for path, text in [
        ("manual.md", "a line of the manual\n"),
        (".chatcli/skills/deploy/SKILL.md", "---\nname: deploy\n---\nPush the tag first.\n"),
        (".chatcli/agents/reviewer.md", "---\nname: reviewer\n---\nLook twice.\n"),
    ]:
        (workspace / path).parent.mkdir(parents=True, exist_ok=True)
        (workspace / path).write_text(text)
    texts = ("a line of the manual", "Push the tag first.", "Look twice.")
    async with client(tmp_path, workspace, models) as editor:
        session = (await editor.request("chatls/chat", {"text": "hello"}))["sessionId"]
        await editor.command("chatls.context.create", {"name": "docs", "paths": ["manual.md"]})
        await editor.command("chatls.context.attach", {"name": "docs", "sessionId": session})
        await editor.command("chatls.skill.pin", {"name": "deploy", "sessionId": session})
        await editor.command("chatls.persona.attach", {"name": "reviewer", "sessionId": session})
    async with client(tmp_path, workspace, models) as editor:
        await editor.request("chatls/chat", {"text": "and now?", "sessionId": session})
        assert [text in models.requests[-1].system_text for text in texts] == [True] * 3
        await editor.command("chatls.context.detach", {"name": "docs", "sessionId": session})
        await editor.command("chatls.skill.unpin", {"name": "deploy", "sessionId": session})
        await editor.command("chatls.persona.detach", {"name": "off", "sessionId": session})
    async with client(tmp_path, workspace, models) as editor:
        await editor.request("chatls/chat", {"text": "and now?", "sessionId": session})
        assert [text in models.requests[-1].system_text for text in texts] == [False] * 3


async def test_contexts_are_made_attached_and_folded_from_the_chat_box(
    tmp_path: Path, workspace: Path, models: ModelServer
) -> None:
    (workspace / "our docs").mkdir()
    (workspace / "our docs" / "manual.md").write_text("a line of the manual\n" * 200)
    async with client(tmp_path, workspace, models) as editor:
        session = (await editor.request("chatls/chat", {"text": "hello"}))["sessionId"]

        async def typed(text: str) -> str:
            return str((await editor.request("chatls/chat", {"text": text, "sessionId": session}))["text"])

        assert "1 file" in await typed('/context create docs "our docs" --mode full')
        assert "tokens per turn" in await typed("/context add docs")
        await typed("what does it say?")
        assert "a line of the manual" in models.requests[-1].system_text
        assert "folded, as you wish" in await typed("/context fold docs")
        assert "docs" in await typed("/context attached")
        await typed("and now?")
        assert "a line of the manual" not in models.requests[-1].system_text
        assert "Folded: docs" in await typed("/context status")
        await typed("/context unfold docs")
        await typed("and now?")
        assert "a line of the manual" in models.requests[-1].system_text
        assert "Nothing is attached now" in await typed("/context detach docs")
        assert "was deleted" in await typed("/context rm docs")
        assert "no context" in await typed("/context ls")
        assert "### tools" in await typed("/context")
        asked = len(models.requests)
        with pytest.raises(Exception, match="name"):
            await typed("/context attach nothing")
        assert len(models.requests) == asked
