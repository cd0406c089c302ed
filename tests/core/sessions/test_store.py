"""Saved conversations: what a person finds again after a restart, a crash, another program, another window."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from chatls_core.config import Sessions
from chatls_core.llm.messages import Message, TextPart
from chatls_core.sessions import SessionError, SessionStore

START = datetime(2026, 3, 14, 9, 26, tzinfo=UTC)


class Clock:
    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> SessionStore:
    return open_store(tmp_path, clock)


def open_store(folder: Path, clock: Clock, **settings: object) -> SessionStore:
    return SessionStore(folder / "sessions", clock=clock, settings=Sessions(**settings))


def user(text: str) -> Message:
    return Message("user", (TextPart(text),))


def assistant(text: str) -> Message:
    return Message("assistant", (TextPart(text),))


def texts(messages: list[Message]) -> list[str]:
    return [m.text for m in messages]


def test_a_saved_conversation_is_there_after_a_restart(store: SessionStore, tmp_path: Path, clock: Clock) -> None:
    conversation = store.create("window-1")
    conversation.messages += [user("Which port does the proxy use?"), assistant("8443.")]
    conversation.system = ("You are ChatLS.", "Rules: none")
    conversation.system_key = "chat:model-a"
    conversation.carried = {"fact:1": "abc"}
    conversation.state = {"skills": ["release"], "count": 2}
    store.save(conversation)

    again = open_store(tmp_path, clock).get("window-1")

    assert again is not None
    assert again.messages == conversation.messages
    assert again.system == ("You are ChatLS.", "Rules: none")
    assert again.system_key == "chat:model-a"
    assert again.carried == {"fact:1": "abc"}
    assert again.state == {"skills": ["release"], "count": 2}
    assert again.title == "Which port does the proxy use?"
    assert (again.created, again.updated) == (conversation.created, conversation.updated)


def test_nothing_is_written_for_an_empty_conversation(store: SessionStore, tmp_path: Path) -> None:
    store.save(store.create())
    assert store.list().total == 0


def test_an_unknown_id_with_a_path_in_it_stays_in_the_folder(store: SessionStore, tmp_path: Path) -> None:
    conversation = store.create("../../etc/passwd")
    conversation.messages.append(user("hello"))
    store.save(conversation)
    assert [p.parent for p in tmp_path.rglob("*.json")] == [tmp_path / "sessions"]
    found = store.get("../../etc/passwd")
    assert found is not None and texts(found.messages) == ["hello"]


def test_a_damaged_file_is_kept_and_never_overwritten(store: SessionStore, tmp_path: Path) -> None:
    folder = tmp_path / "sessions"
    folder.mkdir()
    (folder / "work.json").write_text('{"version": 2, "chat_history": [{"role": "us')
    conversation = store.create("work")
    conversation.messages.append(user("new"))
    store.save(conversation)
    assert (folder / "work.json.corrupt").read_text().startswith('{"version": 2')
    assert texts(store.load("work").messages) == ["new"]


def test_a_sealed_file_is_left_alone(store: SessionStore, tmp_path: Path) -> None:
    folder = tmp_path / "sessions"
    folder.mkdir()
    sealed = b"chatls-sealed:v1:" + b"A" * 60
    (folder / "work.json").write_bytes(sealed)
    with pytest.raises(SessionError, match="work"):
        store.load("work")
    assert (folder / "work.json").read_bytes() == sealed


def test_chatclis_file_opens_and_stays_readable_by_it(store: SessionStore, tmp_path: Path) -> None:
    folder = tmp_path / "sessions"
    folder.mkdir()
    (folder / "deploy.json").write_text(
        json.dumps(
            {
                "version": 2,
                "title": "Deploy",
                "chat_history": [
                    {"role": "system", "content": "Be brief."},
                    {"role": "user", "content": "How do we deploy?", "meta": {"mode": "chat"}},
                    {"role": "assistant", "content": "With make deploy.", "error_code": "none"},
                ],
                "pinned": True,
            }
        )
    )
    conversation = store.load("deploy")
    conversation.messages.append(user("And roll back?"))
    store.save(conversation)

    tree = json.loads((folder / "deploy.json").read_text())
    assert tree["version"] == 2 and tree["title"] == "Deploy" and tree["pinned"] is True
    history = [{k: v for k, v in e.items() if k != "chatls"} for e in tree["chat_history"]]
    assert history == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "How do we deploy?", "meta": {"mode": "chat"}},
        {"role": "assistant", "content": "With make deploy.", "error_code": "none"},
        {"role": "user", "content": "And roll back?"},
    ]
    assert [m.time is None for m in store.load("deploy").messages] == [True, True, False]


def test_two_windows_on_one_conversation_lose_nothing(tmp_path: Path, clock: Clock) -> None:
    one, two = open_store(tmp_path, clock), open_store(tmp_path, clock)
    first = one.create("shared")
    first.messages += [user("a"), assistant("b")]
    one.save(first)
    second = two.load("shared")
    second.messages += [user("from two"), assistant("answer two")]
    two.save(second)
    first.messages += [user("from one"), assistant("answer one")]
    one.save(first)
    first.messages += [user("more from one")]
    one.save(first)

    saved = texts(open_store(tmp_path, clock).load("shared").messages)
    assert sorted(saved) == sorted(["a", "b", "from two", "answer two", "from one", "answer one", "more from one"])
    assert one.refresh(first)
    assert texts(first.messages) == saved
    assert first.system == ()
