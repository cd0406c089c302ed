"""What Claude's service clears in a long run comes back by a call, and our own history keeps it (§1.5)."""

from __future__ import annotations

import json
from typing import Any

from chatls_core.events import Notice
from chatls_core.prompt.compaction_tool import NAME as RECALL
from chatls_core.turn.standing import standing
from tests.core.prompt.test_skills import write
from tests.core.turn.conftest import Desk
from tests.fakes.model_server import Call, Reply, Tokens


def read(path: str, **more: Any) -> Reply:
    return Reply(text="Looking.", tool_calls=(Call("read_file", {"path": path}),), **more)


def edited(desk: Desk, **more: Any) -> Desk:
    desk.agent = desk.make_agent(prompt={"contextEngine": "provider-compact", **more})
    for name in "abc":
        (desk.host.root / f"{name}.txt").write_text(f"the secret of {name}\n")
    return desk


def sent(desk: Desk) -> str:
    return json.dumps(desk.models.requests[-1].json["messages"])


def key_in(text: str) -> str:
    return text.split(f'{RECALL} {{\\"key\\": \\"')[-1][:16]


async def test_cleared_results_are_named_once_with_the_call_that_returns_them(desk: Desk) -> None:
    edited(desk)
    desk.models.script(
        read("a.txt"), read("b.txt"), read("c.txt", cleared=2), read("a.txt", cleared=2), Reply(text="Done.", cleared=3)
    )
    _, events = await desk.ask("Look at the files.", mode="coder")
    assert sent(desk).count("cleared the results of 2 earlier calls") == 1
    assert "the secret of a" in sent(desk)
    assert len([e for e in events if isinstance(e, Notice) and "look them up" in e.text]) == 2
    desk.models.script(Reply(tool_calls=(Call(RECALL, {"key": key_in(sent(desk))}),)), Reply(text="Done."))
    await desk.ask("What was in them?", mode="coder")
    result = desk.models.requests[-1].json["messages"][-1]["content"][0]["content"]
    assert "the secret of a" in result and "the secret of b" in result and "the secret of c" not in result
    assert "cleared the results of 1 earlier call" in sent(desk)


async def test_a_summary_of_the_service_names_the_call_that_returns_what_it_stands_for(desk: Desk) -> None:
    edited(desk)
    desk.models.script(read("a.txt"), read("b.txt", summary="We read a."), Reply(text="Done."))
    await desk.ask("Look at the files.", mode="coder")
    archived = desk.agent.services.curation.archive.get(key_in(sent(desk)))
    assert archived is not None and "the secret of a" in archived and "Look at the files." in archived


async def test_what_the_model_was_told_before_a_summary_of_the_service_is_told_again(desk: Desk) -> None:
    edited(desk)
    desk.models.default = lambda _: Reply(text="So.")
    write(desk.host.root / ".chatcli/skills", "deploy", "triggers: deploy", "Push the tag first.")
    await desk.ask("How do we deploy?", mode="coder")
    await desk.ask("And how do we deploy on Fridays?", mode="coder")
    assert sent(desk).count("Push the tag first.") == 1
    desk.models.script(Reply(text="Done.", summary="We spoke about releases."))
    await desk.ask("Thanks.", mode="coder")
    await desk.ask("How do we deploy?", mode="coder")
    assert sent(desk).count("Push the tag first.") == 2


async def test_what_the_service_did_not_read_is_shown_and_does_not_fill_our_window(desk: Desk) -> None:
    edited(desk)
    (desk.host.root / "big.txt").write_text("a line of a long log\n" * 4000)
    settings = {"contextWindow": 36_000, "agent": {"toolResultMaxChars": 100_000}}
    desk.agent = desk.make_agent(prompt={"contextEngine": "provider"}, **settings)
    desk.models.script(read("big.txt"), read("a.txt", cleared=1, usage=Tokens(4000, 5)), Reply(text="Done."))
    await desk.ask("Look at the log.", mode="coder")
    desk.models.script(read("big.txt", cleared=1, usage=Tokens(4000, 5)), Reply(text="Done.", usage=Tokens(4000, 5)))
    _, events = await desk.ask("And again.", mode="coder")
    assert not [e for e in events if isinstance(e, Notice) and "outgrew" in e.text]
    live = await desk.agent.session("s")
    shown = await standing(desk.agent.services, live.conversation, desk.agent.model_of(live))
    assert shown.unread_tokens > 10_000
    assert "the model can look them up" in shown.markdown


async def test_in_chat_and_without_the_archive_the_service_has_no_say(desk: Desk) -> None:
    edited(desk)
    await desk.ask("Hello")
    assert "context_management" not in desk.models.requests[-1].json
    edited(desk, archive=False)
    await desk.ask("Hello", mode="coder")
    assert "context_management" not in desk.models.requests[-1].json
