"""Long tool results: the model is shown a part of them and can read all of it; secrets stay out of both."""

from __future__ import annotations

import re
from typing import Any

from chatls_core.events import ToolEnd
from tests.core.turn.conftest import Desk
from tests.fakes.model_server import Call, Reply

COUNT = "seq 1 30000"


def last_result(desk: Desk) -> str:
    blocks = [b for m in desk.models.requests[-1].json["messages"] for b in m["content"] if isinstance(b, dict)]
    results = [b["content"] for b in blocks if b["type"] == "tool_result"]
    content: Any = results[-1]
    return content if isinstance(content, str) else "".join(part["text"] for part in content)


async def use(desk: Desk, name: str, **arguments: object) -> str:
    desk.models.script(Reply(tool_calls=(Call(name, arguments),)), Reply(text="ok"))
    await desk.ask("go", mode="coder")
    return last_result(desk)


async def test_a_commands_output_beyond_the_cap_is_recovered_whole_by_the_named_call(desk: Desk) -> None:
    shown = await use(desk, "run_command", command=COUNT)
    assert shown.startswith("1\n2\n")
    assert shown.endswith("30000\n[exit code 0]")
    assert len(shown) < 21_000
    note = re.search(r'recall_archive \{"key": "([0-9a-f]+)"\}.*"offset": (\d+).*"grep"', shown)
    assert note is not None
    assert await use(desk, "recall_archive", key=note[1], grep="20017") == "20017: 20017"
    found, at = shown[: shown.index("\n[…")], int(note[2])
    while more := re.match(r"(?s)(.*)\n\[characters \d+–(\d+) of", page := await use(
        desk, "recall_archive", key=note[1], offset=at
    )):  # fmt: skip
        found, at = found[:at] + more[1], int(more[2])
    assert found[:at] + page == "".join(f"{n}\n" for n in range(1, 30001)) + "[exit code 0]"


async def test_the_call_that_recovers_is_offered_from_the_first_request_on(desk: Desk) -> None:
    await use(desk, "run_command", command=COUNT)
    offered = [r.tool_names for r in desk.models.requests]
    assert "recall_archive" in offered[0]
    assert len(set(map(tuple, offered))) == 1


async def test_a_smaller_cap_for_commands_is_kept(desk: Desk) -> None:
    desk.agent = desk.make_agent(agent={"maxCommandOutput": 2000})
    assert len(await use(desk, "run_command", command=COUNT)) < 2500


async def test_a_long_file_is_recovered_too(desk: Desk) -> None:
    (desk.host.root / "a.txt").write_text("".join(f"line {n} {'x' * 50}\n" for n in range(1000)))
    note = re.search(r'recall_archive \{"key": "([0-9a-f]+)"\}', await use(desk, "read_file", path="a.txt"))
    assert note is not None
    assert "line 500 xxx" in await use(desk, "recall_archive", key=note[1], grep="line 500 ")


async def test_secrets_are_in_neither_what_is_shown_nor_what_is_kept_nor_what_failed(desk: Desk) -> None:
    key = "sk-ant-" + "api03-" + "a1B2" * 12
    (desk.host.root / "k.txt").write_text(key)
    shown = await use(desk, "run_command", command=f"cat k.txt; echo; {COUNT}; cat k.txt; echo; {COUNT}")
    note = re.search(r'recall_archive \{"key": "([0-9a-f]+)"\}', shown)
    assert note is not None
    assert "REDACTED" in await use(desk, "recall_archive", key=note[1], grep="REDACTED")
    failed = await use(desk, "run_command", command="cat k.txt; echo; sleep 60", timeout_seconds=0.5)
    assert "stopped after" in failed
    assert not any(key in str(r.json) for r in desk.models.requests)
    kept = [p.read_bytes() for p in desk.home.rglob("*") if p.is_file()]
    assert not any(key.encode() in data for data in kept)


async def test_with_nowhere_to_keep_it_a_long_result_is_still_answered(desk: Desk) -> None:
    folder = desk.home / "chatls" / "archive"
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.write_text("in the way")
    desk.models.script(Reply(tool_calls=(Call("run_command", {"command": COUNT}),)), Reply(text="ok"))
    _, events = await desk.ask("go", mode="coder")
    assert [e.status for e in events if isinstance(e, ToolEnd)] == ["completed"]
    assert "characters left out …" in last_result(desk)
