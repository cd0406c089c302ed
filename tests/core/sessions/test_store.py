"""Saved conversations: what a person finds again after a restart, a crash, another program, another window."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from chatls_core.sessions import SessionError, SessionStore
from chatls_core.store.file_system import RealFileSystem
from tests.core.sessions.helpers import START, Clock, assistant, open_store, saved, texts, user


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> SessionStore:
    return open_store(tmp_path, clock)


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


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"version": 2, "chat_history": [{"role": "user", "content": "one"}, {"role": "user", "content": "t', "one t"),
        ('[{"role": "user", "content": "one"},]', "one"),
    ],
    ids=["cut short", "a comma too many"],
)
def test_what_can_be_read_of_a_damaged_conversation_stays(
    store: SessionStore, tmp_path: Path, text: str, told: str
) -> None:
    folder = tmp_path / "sessions"
    folder.mkdir()
    (folder / "work.json").write_text(text)
    assert " ".join(texts(store.load("work").messages)) == told
    assert (folder / "work.json.corrupt").read_text() == text
    assert [s.name for s in store.list().sessions] == ["work"]


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


def test_looking_at_a_session_does_not_lose_what_another_window_wrote(tmp_path: Path, clock: Clock) -> None:
    one, two = open_store(tmp_path, clock), open_store(tmp_path, clock)
    live = saved(one, user("a"), session_id="shared")
    second = two.load("shared")
    second.messages.append(user("from two"))
    two.save(second)
    assert texts(one.load("shared").messages) == ["a", "from two"]
    live.messages.append(user("from one"))
    one.save(live)
    assert texts(one.load("shared").messages) == ["a", "from two", "from one"]


def test_a_message_taken_back_does_not_return(tmp_path: Path, clock: Clock) -> None:
    store = open_store(tmp_path, clock)
    live = saved(store, user("a"), session_id="s")
    live.messages.append(user("b"))
    store.save(replace(live, messages=list(live.messages)))
    store.load("s")
    saved(open_store(tmp_path, clock), user("c"), session_id="s")
    del live.messages[1:]
    store.save(live)
    assert texts(store.load("s").messages) == ["a", "c"]


def test_old_split_histories_become_one_and_copies_are_kept_once(store: SessionStore, tmp_path: Path) -> None:
    folder = tmp_path / "sessions"
    folder.mkdir()
    chat = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
    (folder / "old.json").write_text(
        json.dumps(
            {
                "version": 2,
                "chat_history": chat,
                "agent_history": [*chat, {"role": "user", "content": "list files"}],
                "coder_history": [{"role": "user", "content": "fix it"}],
                "shared_memory": None,
            }
        )
    )
    (folder / "older.json").write_text(json.dumps(chat))
    conversation = store.load("old")
    assert texts(conversation.messages) == ["hi", "hello", "list files", "fix it"]
    assert texts(store.load("older").messages) == ["hi", "hello"]
    conversation.messages.append(assistant("fixed"))
    store.save(conversation)
    tree = json.loads((folder / "old.json").read_text())
    assert [e["content"] for e in tree["chat_history"]] == ["hi", "hello", "list files", "fix it", "fixed"]
    assert "agent_history" not in tree and "coder_history" not in tree


def test_json_that_is_no_session_is_neither_listed_nor_touched(store: SessionStore, tmp_path: Path) -> None:
    folder = tmp_path / "sessions"
    folder.mkdir()
    (folder / "notes.json").write_text('{"shopping": ["milk"]}')
    assert store.list().total == 0
    with pytest.raises(SessionError):
        store.load("notes")
    assert (folder / "notes.json").read_text() == '{"shopping": ["milk"]}'


def test_times_come_from_the_conversation_never_from_the_file(tmp_path: Path, clock: Clock) -> None:
    """memory.md §18.1 row 7: to attach, restore or check out a conversation dates it anew for the file system only."""
    store = open_store(tmp_path, clock)
    long_ago = datetime(2024, 2, 3, 10, tzinfo=UTC)
    saved(store, user("old question", long_ago), session_id="old")
    saved(store, user("new question"), session_id="new")
    folder = tmp_path / "sessions"
    chatcli = {"version": 2, "chat_history": [{"role": "user", "content": "undated"}]}
    (folder / "plain.json").write_text(json.dumps(chatcli))
    (folder / "autosave-20230405-060708.json").write_text(json.dumps(chatcli))
    for path in folder.glob("*.json"):
        os.utime(path, (1_900_000_000, 1_900_000_000))
    listed = {s.name: s.updated for s in open_store(tmp_path, clock).list().sessions}
    assert list(listed) == ["new", "old", "autosave-20230405-060708", "plain"]
    assert listed["old"] == long_ago
    assert listed["autosave-20230405-060708"] == datetime(2023, 4, 5, 6, 7, 8, tzinfo=UTC)
    assert listed["plain"] is None


def test_a_copied_store_keeps_the_time_of_every_message(tmp_path: Path, clock: Clock) -> None:
    """memory.md §18.1 row 7: ``cp -r`` of the store, read weeks later."""
    store = open_store(tmp_path / "old", clock)
    monday, friday = datetime(2026, 3, 2, 9, tzinfo=UTC), datetime(2026, 3, 6, 9, tzinfo=UTC)
    saved(store, user("the proxy listens on 8443", monday), user("the proxy moved to 9443", friday), session_id="s")
    store.close()
    shutil.copytree(tmp_path / "old" / "sessions", tmp_path / "new" / "sessions", copy_function=shutil.copyfile)
    copied = open_store(tmp_path / "new", Clock(datetime(2026, 5, 1, tzinfo=UTC)))
    assert [m.time for m in copied.load("s").messages] == [monday, friday]
    assert copied.list().sessions[0].updated == friday
    (hit,) = copied.search("proxy", date_to=datetime(2026, 3, 4, tzinfo=UTC))
    assert [(s.text, s.time) for s in hit.snippets] == [("the proxy listens on 8443", monday)]
    assert not copied.search("proxy", date_from=datetime(2026, 4, 1, tzinfo=UTC)).hits


def test_a_list_has_pages_and_follows_other_programs(store: SessionStore, tmp_path: Path, clock: Clock) -> None:
    for number in range(5):
        saved(store, user(f"question {number}"), session_id=f"s{number}")
    page = store.list(limit=2, offset=1)
    assert ([s.name for s in page.sessions], page.total) == (["s3", "s2"], 5)
    (tmp_path / "sessions" / "s3.json").unlink()
    other = open_store(tmp_path, clock)
    saved(other, user("from elsewhere"), session_id="other")
    assert [s.title for s in store.list(limit=2).sessions] == ["from elsewhere", "question 4"]


def test_nothing_is_saved_with_autosave_off_unless_asked_or_named(tmp_path: Path, clock: Clock) -> None:
    store = open_store(tmp_path, clock, autosave=False)
    conversation = saved(store, user("secret"))
    assert store.list().total == 0
    store.save(conversation, explicit=True)
    saved(store, user("kept"), name="My notes")
    assert {s.name for s in store.list().sessions} == {conversation.name, "My-notes"}


def test_a_renamed_session_keeps_its_id_and_its_running_conversation(store: SessionStore, tmp_path: Path) -> None:
    live = saved(store, user("hello"), session_id="window-1")
    saved(store, user("other"), name="taken")
    summary = store.rename("window-1", "Migração do banco")
    assert (summary.id, summary.name, summary.title) == ("window-1", "Migracao-do-banco", "Migração do banco")
    live.messages.append(assistant("still here"))
    store.save(replace(live, messages=list(live.messages)))
    assert sorted(p.name for p in (tmp_path / "sessions").glob("*.json")) == ["Migracao-do-banco.json", "taken.json"]
    for key in ("window-1", "Migracao-do-banco"):
        assert texts(store.load(key).messages) == ["hello", "still here"]
    with pytest.raises(SessionError, match="exists already"):
        store.rename("window-1", "taken")
    with pytest.raises(SessionError, match="no letter"):
        store.rename("window-1", "…/..")


def test_a_name_that_became_free_makes_a_session_of_its_own(store: SessionStore) -> None:
    first = saved(store, user("first"), name="idea")
    store.rename("idea", "Grand plan")
    second = saved(store, user("second"), name="idea")
    assert second.id != first.id
    first.messages.append(assistant("more"))
    store.save(first)
    assert first.title == "Grand plan"
    assert texts(store.load("Grand-plan").messages) == ["first", "more"]
    assert texts(store.load(second.id).messages) == ["second"]


def test_a_rename_in_another_window_is_followed(tmp_path: Path, clock: Clock) -> None:
    one, two = open_store(tmp_path, clock), open_store(tmp_path, clock)
    live = saved(one, user("hello"), session_id="shared")
    two.rename("shared", "new-name")
    live.messages.append(assistant("on"))
    one.save(live)
    assert [p.name for p in (tmp_path / "sessions").glob("*.json")] == ["new-name.json"]
    assert texts(two.load("shared").messages) == ["hello", "on"]


def test_renaming_does_not_lose_what_another_window_wrote(tmp_path: Path, clock: Clock) -> None:
    one, two = open_store(tmp_path, clock), open_store(tmp_path, clock)
    live = saved(one, user("a"), session_id="shared")
    second = two.load("shared")
    second.messages.append(user("from two"))
    two.save(second)
    one.rename("shared", "named")
    live.messages.append(user("from one"))
    one.save(live)
    assert texts(one.load("named").messages) == ["a", "from two", "from one"]


def test_a_fork_goes_its_own_way(store: SessionStore) -> None:
    origin = saved(store, user("a"), assistant("b"), session_id="origin")
    copy = store.fork("origin", name="idea")
    copy.messages.append(user("c"))
    store.save(copy)
    assert copy.id != origin.id
    assert texts(store.load("origin").messages) == ["a", "b"]
    assert texts(store.load("idea").messages) == ["a", "b", "c"]


def test_a_deleted_session_can_be_brought_back(store: SessionStore) -> None:
    saved(store, user("precious"), session_id="s")
    deleted = store.delete("s")
    assert store.get("s") is None and store.list().total == 0
    assert store.undelete(deleted.token).name == "s"
    assert texts(store.load("s").messages) == ["precious"]
    with pytest.raises(SessionError, match="gone"):
        store.undelete(deleted.token)
    with pytest.raises(SessionError):
        store.undelete("../../etc/passwd.json.deleted-20260101000000")


def test_what_was_deleted_a_month_ago_goes_for_good(store: SessionStore, clock: Clock) -> None:
    saved(store, user("old"), session_id="old")
    old = store.delete("old")
    clock.now += timedelta(days=20)
    saved(store, user("new"), session_id="new")
    new = store.delete("new")
    clock.now += timedelta(days=20)
    store.expire()
    assert store.undelete(new.token).name == "new"
    with pytest.raises(SessionError, match="gone"):
        store.undelete(old.token)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no file modes")
def test_nobody_else_may_read_what_was_said(store: SessionStore, tmp_path: Path) -> None:
    saved(store, user("private"), session_id="s")
    store.search("private")
    files = [p for p in tmp_path.rglob("*") if p.is_file()]
    assert len(files) >= 3
    assert {p.name: oct(p.stat().st_mode & 0o077) for p in files if p.stat().st_mode & 0o077} == {}


def test_only_sessions_nobody_named_expire(tmp_path: Path, clock: Clock) -> None:
    store = open_store(tmp_path, clock, keep=2, ttl_days=90)
    old = START - timedelta(days=200)
    saved(store, user("named", old), name="keep me")
    ancient = saved(store, user("ancient", old))
    recent = [saved(store, user(f"recent {n}", START - timedelta(days=n))) for n in range(3)]
    in_use = saved(store, user("in use", old))
    gone = {d.id for d in store.expire(keep_ids=[in_use.id])}
    assert gone == {ancient.id, recent[2].id}
    assert {s.id for s in store.list().sessions} == {"keep-me", in_use.id, recent[0].id, recent[1].id}


@pytest.mark.parametrize("wanted", ["..", ".hidden", "con", "a/b", "x" * 300, "nul.txt", "a\\b", "é", "", " "])
def test_no_name_escapes_the_folder_or_breaks_a_platform(store: SessionStore, tmp_path: Path, wanted: str) -> None:
    conversation = store.create(wanted or None)
    conversation.messages.append(user("x"))
    store.save(conversation)
    (path,) = tmp_path.rglob("*.json")
    assert path.parent == tmp_path / "sessions"
    assert len(path.name) <= 130 and path.stem.split(".")[0].lower() not in ("con", "nul")
    assert texts(store.load(conversation.id).messages) == ["x"]


def test_what_chatcli_rewrote_without_our_keys_is_united_by_content(tmp_path: Path, clock: Clock) -> None:
    store = open_store(tmp_path, clock)
    live = saved(store, user("a"), assistant("b"), session_id="s")
    path = tmp_path / "sessions" / "s.json"
    tree = json.loads(path.read_text())
    history = [{k: v for k, v in e.items() if k != "chatls"} for e in tree["chat_history"]]
    history.append({"role": "user", "content": "from chatcli"})
    path.write_text(json.dumps({"version": 2, "title": tree["title"], "chat_history": history}))
    ids = [m.id for m in live.messages]
    live.messages.append(user("from here"))
    store.save(live)
    assert store.refresh(live)
    assert texts(live.messages) == ["a", "b", "from chatcli", "from here"]
    assert [m.id for m in live.messages][:2] == ids


def test_messages_taken_away_stay_away(tmp_path: Path, clock: Clock) -> None:
    one, two = open_store(tmp_path, clock), open_store(tmp_path, clock)
    first = saved(one, user("a"), assistant("b"), user("c"), session_id="s")
    second = two.load("s")
    first.messages[:] = [replace(user("summary"), kind="summary"), first.messages[2]]
    one.save(first)
    second.messages.append(assistant("d"))
    two.save(second)
    assert texts(one.load("s").messages) == ["summary", "c", "d"]


def test_a_save_that_fails_leaves_the_old_file_and_can_be_repeated(tmp_path: Path, clock: Clock) -> None:
    class FullDisk(RealFileSystem):
        full = False

        def create(self, path: Path, data: bytes, mode: int) -> None:
            if self.full:
                path.write_bytes(data[: len(data) // 2])
                raise OSError(28, "No space left on device")
            super().create(path, data, mode)

    disk = FullDisk()
    store = open_store(tmp_path, clock, fs=disk)
    conversation = saved(store, user("a"), session_id="s")
    conversation.messages.append(assistant("b"))
    disk.full = True
    with pytest.raises(OSError, match="No space"):
        store.save(conversation)
    assert texts(open_store(tmp_path, clock).load("s").messages) == ["a"]
    assert sorted(p.name for p in (tmp_path / "sessions").iterdir()) == [".chatls", "s.json"]
    disk.full = False
    store.save(conversation)
    assert texts(open_store(tmp_path, clock).load("s").messages) == ["a", "b"]


def test_a_server_killed_while_saving_loses_no_acknowledged_message(tmp_path: Path, clock: Clock) -> None:
    code = (
        "import sys; from pathlib import Path; from datetime import datetime, UTC\n"
        "from chatls_core.sessions import SessionStore; from chatls_core.config import Sessions\n"
        "from chatls_core.llm.messages import Message, TextPart\n"
        "s = SessionStore(Path(sys.argv[1]), clock=lambda: datetime.now(UTC), settings=Sessions())\n"
        "c = s.create('s')\n"
        "for n in range(10**6):\n"
        "    c.messages.append(Message('user', (TextPart(f'{n} ' + 'x' * 20000),)))\n"
        "    s.save(c)\n"
        "    print(n, flush=True)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code, str(tmp_path / "sessions")], stdout=subprocess.PIPE)
    assert process.stdout
    for line in process.stdout:
        if int(line) == 12:
            break
    process.kill()
    acknowledged = max([12, *(int(line) for line in process.stdout.read().split())])
    process.stdout.close()
    process.wait(10)
    found = texts(open_store(tmp_path, clock).load("s").messages)
    assert [int(t.split()[0]) for t in found[: acknowledged + 1]] == list(range(acknowledged + 1))


def test_half_a_character_from_a_model_can_be_saved(store: SessionStore, tmp_path: Path, clock: Clock) -> None:
    saved(store, user("broken \ud83d emoji"), session_id="s")
    assert texts(open_store(tmp_path, clock).load("s").messages) == ["broken \ud83d emoji"]
    (tmp_path / "sessions" / "s.json").read_text(encoding="utf-8")


def test_processes_that_write_one_conversation_at_once_lose_nothing(tmp_path: Path, clock: Clock) -> None:
    code = (
        "import sys; from pathlib import Path; from datetime import datetime, UTC\n"
        "from chatls_core.sessions import SessionStore; from chatls_core.config import Sessions\n"
        "from chatls_core.llm.messages import Message, TextPart\n"
        "s = SessionStore(Path(sys.argv[1]), clock=lambda: datetime.now(UTC), settings=Sessions())\n"
        "c = s.load('shared')\n"
        "for n in range(15):\n"
        "    c.messages.append(Message('user', (TextPart(f'{sys.argv[2]}-{n}'),)))\n"
        "    s.save(c)\n"
    )
    saved(open_store(tmp_path, clock), user("begin"), session_id="shared")
    writers = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path / "sessions"), str(n)]) for n in range(3)]
    assert [writer.wait(50) for writer in writers] == [0, 0, 0]
    found = texts(open_store(tmp_path, clock).load("shared").messages)
    assert sorted(found) == sorted(["begin", *(f"{w}-{n}" for w in range(3) for n in range(15))])
    for writer in range(3):
        assert [t for t in found if t.startswith(f"{writer}-")] == [f"{writer}-{n}" for n in range(15)]
