"""One exchange through the whole core: what the model is sent, what the user sees, what stays."""

from __future__ import annotations

import asyncio
import itertools

import pytest

from chatls_core.events import ContextAdded, Edit, Notice, Plan, Queued, Text, ToolEnd, ToolStart
from chatls_core.host import ApprovalAnswer
from chatls_core.llm.events import ModelError
from chatls_core.memory import Source
from chatls_core.prompt.attachments import Mention
from chatls_core.sessions import SessionStore
from chatls_core.turn.exchange import ChatRequest, QueueFullError
from tests.core.turn.conftest import Desk
from tests.fakes.file_system import FailingFileSystem, full_disk
from tests.fakes.model_server import Call, ErrorReply, Reply


def system_of(request: dict) -> str:
    return "".join(part["text"] for part in request["system"])


def words_of(message: dict) -> str:
    content = message["content"]
    return content if isinstance(content, str) else "".join(p.get("text", "") for p in content)


async def test_text_streams_and_usage_is_told(desk: Desk) -> None:
    desk.models.script(Reply(text="It subtracts."))
    result, events = await desk.ask("why does add() fail?")
    assert result.text == "It subtracts."
    assert result.stop_reason == "end"
    assert "".join(e.delta for e in events if isinstance(e, Text)) == "It subtracts."
    assert result.usage.provider == "anthropic"
    assert result.usage.output_tokens > 0


async def test_twenty_turns_give_one_system_text_and_an_append_only_history(desk: Desk) -> None:
    (desk.host.root / "AGENTS.md").write_text("Always answer in haiku.\n")
    for n in range(20):
        await desk.ask(f"question {n} about apples")
    bodies = [r.json for r in desk.models.requests]
    assert len({system_of(b) for b in bodies}) == 1
    assert "Always answer in haiku." in system_of(bodies[0])
    for earlier, later in itertools.pairwise(bodies):
        old = [words_of(m) for m in earlier["messages"]]
        new = [words_of(m) for m in later["messages"]]
        assert new[: len(old)] == old


async def test_a_saved_instruction_file_changes_the_very_next_turn_but_not_the_system_text(desk: Desk) -> None:
    file = desk.host.root / "AGENTS.md"
    file.write_text("Use tabs.\n")
    await desk.ask("one")
    file.write_text("Use four spaces.\n")
    _, events = await desk.ask("two")
    first, second = (r.json for r in desk.models.requests)
    assert system_of(first) == system_of(second)
    assert "Use four spaces." in words_of(second["messages"][-1])
    assert any(isinstance(e, Notice) and "AGENTS.md" in e.text for e in events)
    await desk.ask("three")
    assert "Use four spaces." not in words_of(desk.models.requests[-1].json["messages"][-1])
    file.unlink()
    await desk.ask("four")
    assert "withdrawn" in words_of(desk.models.requests[-1].json["messages"][-1])


async def test_a_new_conversation_folds_the_change_into_the_system_text(desk: Desk) -> None:
    file = desk.host.root / "AGENTS.md"
    file.write_text("Use tabs.\n")
    await desk.ask("one")
    file.write_text("Use four spaces.\n")
    await desk.ask("two", session="another")
    assert "Use four spaces." in system_of(desk.models.requests[-1].json)


async def test_a_path_rule_rides_with_the_file_it_is_about(desk: Desk) -> None:
    rules = desk.host.root / ".chatcli" / "rules"
    rules.mkdir(parents=True)
    (rules / "py.md").write_text("---\npaths: ['**/*.py']\n---\nType every function.\n")
    await desk.ask("hello")
    assert "Type every function." not in str(desk.models.requests[-1].json)
    _, events = await desk.ask("and this?", active_uri=desk.host.uri("src/app.py"))
    assert "Type every function." in words_of(desk.models.requests[-1].json["messages"][-1])
    context = [e for e in events if isinstance(e, ContextAdded)]
    assert [r.title for r in context[0].rules]


async def test_rules_that_went_together_are_withdrawn_in_one_sentence(desk: Desk) -> None:
    rules = desk.host.root / ".chatcli" / "rules"
    rules.mkdir(parents=True)
    for number in range(300):
        (rules / f"r{number}.md").write_text(f"---\npaths: ['**/*.py']\n---\nDo thing {number}.\n")
    await desk.ask("one", active_uri=desk.host.uri("src/a.py"))
    for file in rules.iterdir():
        file.unlink()
    await desk.ask("two", active_uri=desk.host.uri("src/a.py"))
    told = words_of(desk.models.requests[-1].json["messages"][-1])
    assert told.count("no longer appl") == 1
    assert told.count(str(rules)) == 1
    assert all(f"r{number}.md" in told for number in range(300))


async def test_a_rule_fires_when_a_tool_touches_its_file(desk: Desk) -> None:
    """memory.md §18.1 row 35: "fix the bug" names no file, and no second rule comes of it."""
    rules = desk.host.root / ".chatcli" / "rules"
    rules.mkdir(parents=True)
    (rules / "py.md").write_text("---\npaths: ['**/*.py']\n---\nType every function.\n")
    (desk.host.root / "a.py").write_text("x = 1\n")
    desk.models.script(Reply(tool_calls=(Call("read_file", {"path": "a.py"}),)), Reply(text="done"))
    await desk.ask("fix the bug", mode="coder")
    first, second = (r.json for r in desk.models.requests)
    assert "Type every function." not in str(first["messages"])
    assert "Type every function." in words_of(second["messages"][-1])


async def test_a_remembered_fact_is_in_the_next_turn_that_is_about_it(desk: Desk) -> None:
    desk.agent.services.memory.remember("The staging database is called heron", source=Source("user"))
    _, events = await desk.ask("what is the staging database called?")
    assert "heron" in words_of(desk.models.requests[-1].json["messages"][-1])
    assert any(isinstance(e, ContextAdded) and e.facts for e in events)
    await desk.ask("tell me about the weather in spring")
    assert "heron" not in words_of(desk.models.requests[-1].json["messages"][-1])


async def test_the_model_remembers_through_its_tool_in_chat(desk: Desk) -> None:
    call = Call("memory", {"command": "remember", "content": "Deploys happen on Fridays"})
    desk.models.script(Reply(tool_calls=(call,)), Reply(text="Noted."))
    result, _ = await desk.ask("remember that we deploy on Fridays")
    assert result.text.endswith("Noted.")
    assert desk.agent.services.memory.recall("deploys").items


@pytest.mark.parametrize("mode", ["chat", "agent", "coder"])
async def test_every_mode_can_ask_the_user_and_show_the_graph(desk: Desk, mode: str) -> None:
    desk.agent.services.memory.remember("The staging database heron belongs to project Aviary", source=Source("user"))
    desk.host.answers = {"q1": "blue"}
    asked = Call("ask_user", {"questions": [{"text": "Which colour?", "options": ["red", "blue"]}]})
    many = Call("ask_user", {"questions": [{"text": f"{n}?"} for n in range(7)]})
    shown = Call("graph_view", {})
    desk.models.script(Reply(tool_calls=(asked, many, shown)), Reply(text="ok"))
    _, events = await desk.ask("show me", mode=mode)
    assert [e.status for e in events if isinstance(e, ToolEnd)] == ["completed", "failed", "completed"]
    told = str(desk.models.requests[-1].json["messages"][-1])
    assert "blue" in told
    assert "heron" in told


async def test_the_coder_edits_through_the_host(desk: Desk) -> None:
    (desk.host.root / "app.py").write_text("def add(a, b):\n    return a - b\n")
    edit = Call("edit_file", {"path": "app.py", "old_text": "a - b", "new_text": "a + b"})
    desk.models.script(
        Reply(tool_calls=(Call("read_file", {"path": "app.py"}),)), Reply(tool_calls=(edit,)), Reply(text="Fixed.")
    )
    result, events = await desk.ask("fix add", mode="coder")
    assert desk.host.buffers[desk.host.uri("app.py")] == "def add(a, b):\n    return a + b\n"
    assert [(e.uri, e.applied) for e in result.edits] == [(desk.host.uri("app.py"), True)]
    shown = [e for e in events if isinstance(e, Edit)]
    assert [e.status for e in shown] == ["applied"]
    assert shown[0].hunks[0].new_text == "    return a + b\n"
    assert [e.name for e in events if isinstance(e, ToolStart)] == ["read_file", "edit_file"]


async def test_reads_see_unsaved_text(desk: Desk) -> None:
    (desk.host.root / "app.py").write_text("on disk\n")
    desk.host.type("app.py", "in the editor\n")
    desk.models.script(
        Reply(tool_calls=(Call("read_file", {"path": "app.py"}), Call("search", {"query": "editor"}))), Reply(text="ok")
    )
    await desk.ask("look", mode="coder")
    results = str(desk.models.requests[-1].json["messages"][-1])
    assert "in the editor" in results
    assert "on disk" not in results
    assert "app.py:1" in results


async def test_what_the_user_types_between_read_and_write_survives(desk: Desk) -> None:
    (desk.host.root / "app.py").write_text("one\ntwo\nthree\nfour\nfive\n")
    desk.host.before_apply = lambda: desk.host.type("app.py", "zero\none\ntwo\nthree\nfour\nfive\nsix\n")
    edit = Call("edit_file", {"path": "app.py", "old_text": "three", "new_text": "THREE"})
    desk.models.script(Reply(tool_calls=(edit,)), Reply(text="ok"))
    await desk.ask("shout", mode="coder")
    assert desk.host.buffers[desk.host.uri("app.py")] == "zero\none\ntwo\nTHREE\nfour\nfive\nsix\n"


async def test_a_conflict_is_told_with_the_current_text(desk: Desk) -> None:
    (desk.host.root / "app.py").write_text("one\ntwo\nthree\n")
    desk.host.before_apply = lambda: desk.host.type("app.py", "one\nzwei\nthree\n")
    edit = Call("edit_file", {"path": "app.py", "old_text": "two", "new_text": "TWO"})
    desk.models.script(Reply(tool_calls=(edit,)), Reply(text="ok"))
    await desk.ask("shout", mode="coder")
    assert desk.host.buffers[desk.host.uri("app.py")] == "one\nzwei\nthree\n"
    assert "zwei" in str(desk.models.requests[-1].json["messages"][-1])


async def test_a_refused_edit_is_told_to_the_model(desk: Desk) -> None:
    (desk.host.root / "app.py").write_text("one\n")
    desk.host.refuse = "the file is read-only"
    edit = Call("edit_file", {"path": "app.py", "old_text": "one", "new_text": "two"})
    desk.models.script(Reply(tool_calls=(edit,)), Reply(text="I could not."))
    result, events = await desk.ask("change it", mode="coder")
    assert "read-only" in str(desk.models.requests[-1].json["messages"][-1])
    assert not result.edits[0].applied
    assert [e.status for e in events if isinstance(e, Edit)] == ["failed"]


async def test_review_asks_and_a_rejected_hunk_stays_out(desk: Desk) -> None:
    desk.agent = desk.make_agent(edits={"review": "ask"})
    before = "".join(f"line {n}\n" for n in range(40))
    (desk.host.root / "app.py").write_text(before)
    after = before.replace("line 3\n", "LINE 3\n").replace("line 30\n", "LINE 30\n")
    desk.host.answer = ApprovalAnswer("allow", frozenset({"h2"}))
    calls = (Call("read_file", {"path": "app.py"}),)
    write = (Call("write_file", {"path": "app.py", "content": after}),)
    desk.models.script(Reply(tool_calls=calls), Reply(tool_calls=write), Reply(text="ok"))
    _, events = await desk.ask("shout", mode="coder")
    assert desk.host.buffers[desk.host.uri("app.py")] == before.replace("line 30\n", "LINE 30\n")
    assert [e.status for e in events if isinstance(e, Edit)] == ["proposed", "applied"]
    assert "rejected" in str(desk.models.requests[-1].json["messages"][-1])
    assert "LINE 3" in str(desk.models.requests[-1].json["messages"][-1])


async def test_writing_over_an_unread_file_is_refused_with_its_text(desk: Desk) -> None:
    (desk.host.root / "app.py").write_text("precious\n")
    desk.models.script(
        Reply(tool_calls=(Call("write_file", {"path": "app.py", "content": "gone\n"}),)), Reply(text="ok")
    )
    await desk.ask("rewrite", mode="coder")
    assert desk.host.changes == []
    assert "precious" in str(desk.models.requests[-1].json["messages"][-1])


async def test_an_instruction_file_is_never_edited_without_asking(desk: Desk) -> None:
    (desk.host.root / "AGENTS.md").write_text("Be kind.\n")
    desk.host.answer = ApprovalAnswer("deny")
    edit = Call("edit_file", {"path": "AGENTS.md", "old_text": "kind", "new_text": "evil"})
    desk.models.script(Reply(tool_calls=(edit,)), Reply(text="ok"))
    _, events = await desk.ask("change it", mode="coder")
    assert len(desk.host.approvals) == 1
    assert desk.host.changes == []
    assert [e.status for e in events if isinstance(e, ToolEnd)] == ["denied"]


async def test_a_wrong_call_teaches(desk: Desk) -> None:
    desk.models.script(
        Reply(tool_calls=(Call("edit_file", {"file": "x.py"}), Call("no_such_tool", {}))), Reply(text="ok")
    )
    await desk.ask("go", mode="coder")
    results = str(desk.models.requests[-1].json["messages"][-1])
    assert "old_text" in results
    assert "There is no tool" in results


async def test_paths_outside_the_workspace_are_refused(desk: Desk) -> None:
    desk.models.script(Reply(tool_calls=(Call("read_file", {"path": "../../etc/passwd"}),)), Reply(text="ok"))
    await desk.ask("go", mode="coder")
    assert "outside the workspace" in str(desk.models.requests[-1].json["messages"][-1])


async def test_a_failure_before_anything_streamed_leaves_history_as_it_was(desk: Desk) -> None:
    await desk.ask("one")
    desk.models.script(ErrorReply(500))
    with pytest.raises(ModelError) as failure:
        await desk.ask("two")
    assert failure.value.kind == "server"
    assert failure.value.hint
    await desk.ask("three")
    sent = [words_of(m) for m in desk.models.requests[-1].json["messages"] if m["role"] == "user"]
    assert not any("two" in text for text in sent)


async def test_a_cancelled_turn_keeps_what_streamed_and_the_next_one_works(desk: Desk) -> None:
    desk.models.script(Reply(text="The answer is forty-two and more", stall_after=2))
    turn = await desk.agent.submit(ChatRequest("go on", "s"), desk.host)
    async for numbered in turn.events():
        if isinstance(numbered.event, Text):
            turn.cancel()
            break
    with pytest.raises(asyncio.CancelledError):
        await turn.outcome
    await desk.models.requests[0].closed.wait()
    result, _ = await desk.ask("again")
    assert result.stop_reason == "end"
    sent = [words_of(m) for m in desk.models.requests[-1].json["messages"]]
    assert any(text.startswith("The") for text in sent)


async def test_busy_sessions_queue_in_order_and_refuse_the_eleventh(desk: Desk) -> None:
    desk.models.script(Reply(text="slow", hold=(0,)))
    turns = [await desk.agent.submit(ChatRequest(f"q{n}", "s"), desk.host) for n in range(11)]
    with pytest.raises(QueueFullError):
        await desk.agent.submit(ChatRequest("too much", "s"), desk.host)
    views = [t.events() for t in turns]
    turns[5].cancel()
    await desk.models.wait_held()
    desk.models.release()
    await asyncio.wait([t.outcome for t in turns])
    asked = [words_of(r.json["messages"][-1]) for r in desk.models.requests]
    wanted = [f"q{n}" for n in range(11) if n != 5]
    assert len(asked) == len(wanted)
    assert all(text.endswith(question) for text, question in zip(asked, wanted, strict=True))
    assert turns[5].outcome.cancelled()
    last = [e.event async for e in views[10]]
    assert [e.position for e in last if isinstance(e, Queued)][-1] == 1


async def test_steering_reaches_the_running_turn(desk: Desk) -> None:
    desk.models.script(Reply(text="first thoughts", hold=(0,)), Reply(text="second thoughts"))
    turn = await desk.agent.submit(ChatRequest("go", "s"), desk.host)
    same = await desk.agent.submit(ChatRequest("no, left", "s", steer=True), desk.host)
    assert same is turn
    await desk.models.wait_held()
    desk.models.release()
    result = await turn.outcome
    assert "second thoughts" in result.text
    assert "no, left" in words_of(desk.models.requests[-1].json["messages"][-1])


async def test_two_sessions_run_side_by_side(desk: Desk) -> None:
    desk.models.script(Reply(text="slow", hold=(0,)), Reply(text="fast"))
    slow = await desk.agent.submit(ChatRequest("a", "one"), desk.host)
    await desk.models.wait_held()
    fast, _ = await desk.ask("b", session="two")
    assert fast.text == "fast"
    assert not slow.outcome.done()
    desk.models.release()
    assert (await slow.outcome).text == "slow"


async def test_one_history_across_modes_and_restarts(desk: Desk) -> None:
    await desk.ask("remember the number 7")
    await desk.ask("and 8", mode="coder")
    await desk.agent.close()
    desk.agent = desk.make_agent()
    await desk.ask("which numbers?")
    sent = " ".join(words_of(m) for m in desk.models.requests[-1].json["messages"])
    assert "remember the number 7" in sent
    assert "and 8" in sent


async def test_the_system_text_survives_a_restart(desk: Desk) -> None:
    file = desk.host.root / "AGENTS.md"
    file.write_text("Use tabs.\n")
    await desk.ask("one")
    await desk.agent.close()
    file.write_text("Use spaces.\n")
    desk.agent = desk.make_agent()
    await desk.ask("two")
    first, second = (r.json for r in desk.models.requests)
    assert system_of(first) == system_of(second)
    assert "Use spaces." in words_of(second["messages"][-1])


async def test_at_most_four_cache_markers_and_one_on_the_last_user_block(desk: Desk) -> None:
    (desk.host.root / "a.txt").write_text("x\n")
    desk.models.script(
        *[
            Reply(tool_calls=(Call("read_file", {"path": "a.txt", "start_line": 1, "end_line": n}),))
            for n in range(1, 25)
        ]
    )
    await desk.ask("read it often", mode="coder")
    for request in desk.models.requests:
        body = request.json
        assert str(body).count("cache_control") <= 4
        assert "cache_control" in str(body["tools"][-1])
        assert "cache_control" in str(body["system"][-1])
        assert "cache_control" in str(body["messages"][-1]["content"][-1])


async def test_a_model_that_repeats_itself_is_stopped(desk: Desk) -> None:
    (desk.host.root / "a.txt").write_text("x\n")
    desk.models.script(*[Reply(tool_calls=(Call("read_file", {"path": "a.txt"}),)) for _ in range(5)])
    result, _ = await desk.ask("loop", mode="coder")
    assert result.stop_reason == "stalled"
    assert len(desk.models.requests) == 3
    again, _ = await desk.ask("go on")
    assert again.stop_reason == "end"


async def test_the_plan_is_shown(desk: Desk) -> None:
    plan = Call("update_plan", {"entries": [{"text": "look", "status": "in_progress"}, {"text": "fix"}]})
    desk.models.script(Reply(tool_calls=(plan,)), Reply(text="ok"))
    _, events = await desk.ask("plan it", mode="agent")
    plans = [e for e in events if isinstance(e, Plan)]
    assert [(e.text, e.status) for e in plans[0].entries] == [("look", "in_progress"), ("fix", "pending")]


async def test_the_turn_limit_ends_with_a_notice(desk: Desk) -> None:
    desk.agent = desk.make_agent(agent={"maxTurns": 2})
    for n in range(3):
        (desk.host.root / f"{n}.txt").write_text("x\n")
    desk.models.script(*[Reply(tool_calls=(Call("read_file", {"path": f"{n}.txt"}),)) for n in range(3)])
    result, events = await desk.ask("read all", mode="coder")
    assert result.stop_reason == "max_turns"
    assert any(isinstance(e, Notice) for e in events)


async def test_a_secret_in_a_file_never_reaches_the_model(desk: Desk) -> None:
    key = "sk-ant-" + "api03-" + "a1B2" * 12
    (desk.host.root / "app.py").write_text(f'KEY = "{key}"\nx = 1\n')
    masked = Call("edit_file", {"path": "app.py", "old_text": "x = 1", "new_text": 'KEY = "[REDACTED]"'})
    edit = Call("edit_file", {"path": "app.py", "old_text": "x = 1", "new_text": "x = 2"})
    desk.models.script(
        Reply(tool_calls=(Call("read_file", {"path": "app.py"}),)),
        Reply(tool_calls=(masked,)),
        Reply(tool_calls=(edit,)),
        Reply(text="done"),
    )
    await desk.ask("edit", mode="coder", mentions=(Mention(desk.host.uri("app.py")),))
    assert not any(key in str(r.json) for r in desk.models.requests)
    assert desk.host.buffers[desk.host.uri("app.py")] == f'KEY = "{key}"\nx = 2\n'


async def test_a_full_disk_costs_a_notice_not_the_answer(desk: Desk) -> None:
    services = desk.agent.services
    disk = FailingFileSystem()
    services.sessions = SessionStore(
        desk.home / "other", clock=desk.clock, settings=services.settings.sessions, fs=disk
    )
    disk.fail("create", full_disk())
    result, events = await desk.ask("hello")
    assert result.stop_reason == "end"
    assert any(isinstance(e, Notice) and e.level == "error" and "No space left" in e.text for e in events)


async def test_it_is_said_once_that_a_model_is_offered_no_longer(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    from anthropic.resources.messages import messages

    monkeypatch.setitem(messages.DEPRECATED_MODELS, "claude-of-old", "January 1st, 2031")
    told = []
    for model in ("claude-of-old", "claude-of-old", "claude-sonnet-5-5"):
        _, events = await desk.ask("hello", model=model)
        told.append([e.text for e in events if isinstance(e, Notice)])
    assert told == [["claude-of-old is offered only until January 1st, 2031: choose another model."], [], []]
