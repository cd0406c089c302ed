"""What waits for an external memory service: each message goes out once, whatever breaks in between."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from chatls_core.config import Memory as MemorySettings
from chatls_core.llm.messages import Message, TextPart, ToolResultPart
from chatls_core.memory import Memory
from chatls_core.memory.outbox import MAX_BATCH, MAX_REFUSED, MAX_UNSURE, Outbox

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def said(number: int, turn: str = "t") -> Message:
    role = "assistant" if number % 2 else "user"
    return Message(role, (TextPart(f"message {number}"),), kind="text", id=f"m{number}", time=NOW, turn_id=turn)


def outbox(folder: Path) -> Outbox:
    memory = Memory(folder / "memory", settings=MemorySettings(), clock=lambda: NOW, environment={})
    return Outbox(folder / "service", "remote", memory.stores)


def contents(box: Outbox) -> list[str]:
    return [m.content for batch in box.batches(NOW) for m in batch.messages]


EVENTS = st.lists(st.sampled_from(["say", "say two", "deliver", "unavailable", "unsure", "restart"]), max_size=25)


@settings(max_examples=60, deadline=None)
@given(EVENTS)
def test_each_message_is_delivered_once_and_in_order(events: list[str]) -> None:
    """An attempt with an unknown end may repeat a batch, and then as the same messages under the same name."""
    with TemporaryDirectory() as folder:
        box = outbox(Path(folder))
        history: list[Message] = []
        delivered: dict[str, list[str]] = {}
        for event in [*events, *["deliver"] * 30]:
            match event:
                case "say" | "say two":
                    count = 1 if event == "say" else 2
                    history += [said(len(history) + n, f"t{len(history)}") for n in range(count)]
                    box.take_in("s", history, turn_id=history[-1].turn_id, origin="", now=NOW)
                case "restart":
                    box = outbox(Path(folder))
                    if history:  # the last turn is offered again
                        box.take_in("s", history, turn_id=history[-1].turn_id, origin="", now=NOW)
                case _:
                    for batch in box.batches(NOW)[:1]:
                        box.begin(batch)
                        if event == "unavailable":
                            continue
                        words = [m.content for m in batch.messages]
                        assert delivered.setdefault(batch.name, words) == words
                        if event == "deliver":
                            box.sent(batch)
                        else:
                            box.failed(batch, unsure=True)
        assert box.count() == 0
        assert [w for words in delivered.values() for w in words] == [m.text for m in history]


def test_injected_blocks_and_tool_noise_stay_here_and_secrets_are_hidden(tmp_path: Path) -> None:
    box = outbox(tmp_path)
    key = "xai-" + "a1" * 16
    messages = [
        Message("user", (TextPart("[TURN CONTEXT]\n\nDate"),), kind="turn_context", id="c", time=NOW, turn_id="t"),
        Message("user", (TextPart(f"my key is {key} ok"),), kind="text", id="u", time=NOW, turn_id="t"),
        Message(
            "user", (ToolResultPart("1", "read_file", "noise"),), kind="tool_result", id="r", time=NOW, turn_id="t"
        ),
        Message("assistant", (TextPart("Noted."),), kind="text", id="a", time=NOW, turn_id="t"),
    ]
    box.take_in("s", messages, turn_id="t", origin="", now=NOW)
    first, second = contents(box)
    assert key not in first
    assert first.startswith("my key is")
    assert second == "Noted."


def test_a_shortened_history_and_a_fork_bring_nothing_again(tmp_path: Path) -> None:
    box = outbox(tmp_path)
    history = [said(n, f"t{n // 2}") for n in range(6)]
    box.take_in("s", history, turn_id="t0", origin="", now=NOW)
    for batch in box.batches(NOW):
        box.sent(batch)
    summary = Message("user", (TextPart("summary"),), kind="summary", id="x", time=NOW)
    box.take_in("s", [summary, said(6, "t9"), said(7, "t9")], turn_id="t9", origin="", now=NOW)
    assert contents(box) == ["message 6", "message 7"]
    for batch in box.batches(NOW):
        box.sent(batch)
    fork = [*history, said(8, "t10")]
    box.pass_over("s", "m5", NOW)
    box.take_in("f", fork, turn_id="t10", origin="s", now=NOW)
    assert contents(box) == ["message 8"]


def test_what_was_tried_stays_one_batch_when_more_is_said(tmp_path: Path) -> None:
    box = outbox(tmp_path)
    history = [said(0), said(1)]
    box.take_in("s", history, turn_id="t", origin="", now=NOW)
    (batch,) = box.batches(NOW)
    box.begin(batch)
    history += [said(2), said(3)]
    box.take_in("s", history, turn_id="t", origin="", now=NOW)
    again, later = box.batches(NOW)
    assert again.name == batch.name
    assert [m.content for m in again.messages] == ["message 0", "message 1"]
    assert [m.content for m in later.messages] == ["message 2", "message 3"]


def test_batches_are_bounded_and_one_conversation_each(tmp_path: Path) -> None:
    box = outbox(tmp_path)
    box.take_in("a", [said(n) for n in range(MAX_BATCH + 5)], turn_id="t", origin="", now=NOW)
    box.take_in("b", [said(900)], turn_id="t", origin="", now=NOW)
    sizes = [(b.session, len(b.messages)) for b in box.batches(NOW)]
    assert sizes == [("a", MAX_BATCH), ("a", 5), ("b", 1)]


def test_what_can_never_arrive_is_given_up(tmp_path: Path) -> None:
    box = outbox(tmp_path)
    for most, unsure in ((MAX_UNSURE, True), (MAX_REFUSED, False)):
        box.take_in(f"s{unsure}", [said(0)], turn_id="t", origin="", now=NOW)
        (batch,) = box.batches(NOW)
        box.begin(batch)
        (batch,) = box.batches(NOW)
        assert [box.failed(batch, unsure=unsure) for _ in range(most)] == [False] * (most - 1) + [True]
        assert box.count() == 0
    box.take_in("old", [said(0)], turn_id="t", origin="", now=NOW)
    assert box.batches(NOW + timedelta(days=40)) == ()
    assert box.count() == 0
