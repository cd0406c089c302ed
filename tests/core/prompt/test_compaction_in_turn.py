"""Compaction as the user of a conversation meets it."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import pytest

from chatls_core.config import load
from chatls_core.events import Notice
from chatls_core.prompt.compaction import CompactionError
from chatls_core.turn.exchange import ChatRequest
from tests.core.turn.conftest import Desk
from tests.fakes.model_server import Call, ErrorReply, Reply

TOO_LONG = ErrorReply(400, "prompt is too long: 250000 tokens > 200000 maximum", code="invalid_request_error")


def notices(events: Sequence[object]) -> str:
    return "\n".join(e.text for e in events if isinstance(e, Notice))


def tools_of(body: dict[str, Any]) -> list[str]:
    return [t["name"] for t in body.get("tools", [])]


async def test_a_full_window_is_compacted_before_the_next_request(desk: Desk) -> None:
    desk.agent = desk.make_agent(contextWindow=20_000)
    for n in range(6):
        desk.models.script(Reply(text=f"answer {n} " + "w" * 10_000))
        await desk.ask(f"question {n}")
    desk.models.script(Reply(text="## Files Read\n- src/app.py", match="Write the summary now"))
    _, events = await desk.ask("and the last one?")
    assert "became a summary" in notices(events)
    body = desk.models.requests[-1].json
    sent = json.dumps(body["messages"])
    assert "src/app.py" in sent and "answer 0 " not in sent and "and the last one?" in sent
    assert "recall_archive" in tools_of(body)
    assert len(sent) / 4 < 15_000
    named = re.search(r"recall_archive \W+key\W+([0-9a-f]{16})", sent)
    assert named
    desk.models.script(
        Reply(tool_calls=(Call("recall_archive", {"key": named.group(1), "grep": "answer 0"}),)), Reply(text="done")
    )
    await desk.ask("what did you answer first?")
    assert "answer 0 w" in json.dumps(desk.models.requests[-1].json["messages"])


async def test_a_refusal_for_size_compacts_and_asks_again(desk: Desk) -> None:
    for n in range(6):
        desk.models.script(Reply(text=f"answer {n} " + "w" * 90_000))
        await desk.ask(f"question {n}")
    desk.models.script(TOO_LONG, Reply(text="the summary", match="Write the summary now"), Reply(text="here it is"))
    result, events = await desk.ask("go on")
    assert result.text == "here it is"
    assert "outgrew" in notices(events)
    sent = json.dumps(desk.models.requests[-1].json["messages"])
    assert "the summary" in sent and sent.count("go on") == 1


async def test_rules_told_before_the_cut_are_told_again(desk: Desk) -> None:
    rules = desk.host.root / ".chatcli" / "rules"
    rules.mkdir(parents=True)
    (rules / "py.md").write_text("---\npaths: ['**/*.py']\n---\nType every function.\n")
    desk.agent = desk.make_agent(contextWindow=20_000)
    for n in range(6):
        desk.models.script(Reply(text=f"answer {n} " + "w" * 10_000))
        await desk.ask(f"question {n}", active_uri=desk.host.uri("a.py"))
    desk.models.script(Reply(text="summary", match="Write the summary now"))
    await desk.ask("next", active_uri=desk.host.uri("a.py"))
    assert json.dumps(desk.models.requests[-1].json["messages"]).count("Type every function.") == 1


async def test_a_long_run_keeps_its_question_and_its_calls_whole(desk: Desk) -> None:
    desk.agent = desk.make_agent(contextWindow=24_000)
    for n in range(14):
        (desk.host.root / f"f{n}.txt").write_text("".join(f"file {n} row {r}\n" for r in range(400)))
        desk.models.script(Reply(text="step", tool_calls=(Call("read_file", {"path": f"f{n}.txt"}),)))
    desk.models.script(Reply(text="all read"))
    result, events = await desk.ask("read them all, then say so", mode="coder")
    assert result.text.endswith("all read")
    assert "shortened" in notices(events)
    for request in desk.models.requests:
        messages = request.json["messages"]
        assert "read them all" in json.dumps(messages)
        asked = [b["id"] for m in messages for b in m["content"] if isinstance(b, dict) and b["type"] == "tool_use"]
        given = [
            b["tool_use_id"]
            for m in messages
            for b in m["content"]
            if isinstance(b, dict) and b["type"] == "tool_result"
        ]
        assert asked == given


async def test_compacting_on_request_tells_what_it_did_and_survives_a_restart(desk: Desk) -> None:
    for n in range(6):
        await desk.ask(f"question {n}")
    live = await desk.agent.session("s")
    desk.models.script(Reply(text="we talked", match="Write the summary now"))
    done = await desk.agent.compact(live, "keep the numbers")
    assert done.level == 2
    assert "keep the numbers" in json.dumps(desk.models.requests[-1].json)
    desk.agent = desk.make_agent()
    await desk.ask("still there?")
    sent = json.dumps(desk.models.requests[-1].json["messages"])
    assert "we talked" in sent and "question 0" not in sent


async def test_nothing_is_compacted_while_an_answer_is_written(desk: Desk) -> None:
    desk.models.script(Reply(text="slow answer", hold_start=True))
    turn = await desk.agent.submit(ChatRequest("hello", "s"), desk.host)
    live = await desk.agent.session("s")
    with pytest.raises(CompactionError, match="being written"):
        await desk.agent.compact(live)
    desk.models.release()
    await turn.outcome


async def test_looking_at_the_prompt_of_a_full_conversation_asks_no_model(desk: Desk) -> None:
    desk.agent = desk.make_agent(contextWindow=20_000)
    for n in range(6):
        desk.models.script(Reply(text=f"answer {n} " + "w" * 10_000))
        await desk.ask(f"question {n}")
    await desk.agent.preview(ChatRequest("next", "s"), desk.host)
    assert not any("Write the summary now" in str(r.json) for r in desk.models.requests)


@pytest.mark.parametrize(
    ("value", "size"),
    [("5", 5 << 20), ("0.5MB", 1 << 19), ("300 kb", 300 << 10), ("40000B", 40_000), ("nonsense", None), ("1B", None)],
)
def test_the_largest_request_is_read_as_chatcli_writes_it(value: str, size: int | None) -> None:
    assert load({"CHATCLI_MAX_PAYLOAD": value}).settings.prompt.max_request_bytes == size


async def test_a_conversation_stays_below_the_largest_request_a_proxy_takes(desk: Desk) -> None:
    desk.agent = desk.make_agent({"CHATCLI_MAX_PAYLOAD": "40KB"})
    desk.models.default = lambda r: Reply(text="## Files Read\nNone." if "Write the summary" in str(r.json) else "so ")
    for n in range(12):
        await desk.ask(f"question {n} " + "because of the proxy " * 200)
    sizes = [len(r.body) for r in desk.models.requests if "Write the summary" not in str(r.json)]
    assert max(sizes) < 40 << 10
    assert max(sizes) > 20 << 10
