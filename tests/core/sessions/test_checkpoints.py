"""Going back in a conversation, and taking that back."""

from __future__ import annotations

from pathlib import Path

import pytest

from chatls_core.llm.messages import Message
from chatls_core.sessions import Checkpoints, Conversation, SessionError, SessionStore
from tests.core.sessions.helpers import START, Clock, assistant, open_store, saved, texts, user


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def conversation() -> Conversation:
    return Conversation("s", "s", "", START, START, system=("frozen",), system_key="k")


def say(conversation: Conversation, checkpoints: Checkpoints, *said: Message) -> None:
    checkpoints.add(conversation, said[0].text)
    conversation.messages += said


def test_rewinding_restores_what_was_said_and_known_and_can_be_undone(conversation: Conversation, clock: Clock) -> None:
    checkpoints = Checkpoints(clock=clock)
    say(conversation, checkpoints, user("one"), assistant("1"))
    conversation.carried["rule"] = "v1"
    conversation.state["seen"] = ["a"]
    say(conversation, checkpoints, user("two"), assistant("2"))
    conversation.carried["rule"] = "v2"
    conversation.state["seen"] = ["a", "b"]
    conversation.state["model"] = "chosen later"
    say(conversation, checkpoints, user("three"), assistant("3"))

    before_two = checkpoints.list(conversation)[1]
    assert before_two.label == "two"
    checkpoints.rewind(conversation, before_two.id)
    assert texts(conversation.messages) == ["one", "1"]
    assert conversation.carried == {"rule": "v1"}
    assert conversation.state == {"seen": ["a"], "model": "chosen later"}
    assert conversation.system == () and conversation.system_key == ""
    assert [c.label for c in checkpoints.list(conversation)] == ["two", "one"]

    assert checkpoints.undo_rewind(conversation)
    assert texts(conversation.messages) == ["one", "1", "two", "2", "three", "3"]
    assert conversation.carried == {"rule": "v2"}
    assert [c.label for c in checkpoints.list(conversation)] == ["three", "two", "one"]
    assert not checkpoints.undo_rewind(conversation)


def test_a_checkpoint_is_a_copy_nothing_later_reaches(conversation: Conversation, clock: Clock) -> None:
    checkpoints = Checkpoints(clock=clock)
    conversation.state["list"] = inner = ["a"]
    checkpoint = checkpoints.add(conversation, "start")
    inner.append("b")
    checkpoints.rewind(conversation, checkpoint.id)
    assert conversation.state == {"list": ["a"]}


def test_twenty_are_kept_with_short_whole_labels(conversation: Conversation, clock: Clock) -> None:
    checkpoints = Checkpoints(clock=clock)
    for number in range(25):
        say(conversation, checkpoints, user(f"{number} " + "é" * 80 + "\nnext line"))
    kept = checkpoints.list(conversation)
    assert len(kept) == 20
    assert kept[0].label.startswith("24 ") and kept[-1].label.startswith("5 ")
    assert all(len(c.label) <= 60 and "\n" not in c.label and c.label.endswith("…") for c in kept)
    with pytest.raises(SessionError, match="no checkpoint"):
        checkpoints.rewind(conversation, "unknown")


def test_checkpoints_survive_a_restart_even_after_compaction(tmp_path: Path, clock: Clock) -> None:
    store = open_store(tmp_path, clock)
    checkpoints = Checkpoints(tmp_path / "checkpoints", clock=clock)
    conversation = saved(store, user("one"), assistant("1"), session_id="s")
    checkpoints.add(conversation, "before compaction", note={"edits": 3})
    conversation.messages[:] = [Message("user", user("summary").parts, kind="summary")]
    store.save(conversation)
    checkpoints.add(conversation, "after compaction")

    again: SessionStore = open_store(tmp_path, clock)
    reloaded = again.load("s")
    fresh = Checkpoints(tmp_path / "checkpoints", clock=clock)
    labels = [c.label for c in fresh.list(reloaded)]
    assert labels == ["after compaction", "before compaction"]
    checkpoint = fresh.rewind(reloaded, fresh.list(reloaded)[1].id)
    assert texts(reloaded.messages) == ["one", "1"] and checkpoint.note == {"edits": 3}


def test_a_damaged_file_of_checkpoints_costs_only_them(tmp_path: Path, clock: Clock) -> None:
    folder = tmp_path / "checkpoints"
    folder.mkdir()
    (folder / "s.json").write_text("{")
    checkpoints = Checkpoints(folder, clock=clock)
    conversation = Conversation("s", "s", "", START, START)
    assert checkpoints.list(conversation) == []
    checkpoints.add(conversation, "first")
    assert [c.label for c in Checkpoints(folder, clock=clock).list(conversation)] == ["first"]
