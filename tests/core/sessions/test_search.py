"""Finding past conversations: the right one first, by whole words, with its date, at the moment asked about."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from chatls_core.llm.messages import Message, ToolResultPart
from chatls_core.sessions import SessionStore
from tests.core.sessions.helpers import START, Clock, assistant, open_store, saved, texts, user


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> SessionStore:
    return open_store(tmp_path, clock)


def names(store: SessionStore, query: str, **options: object) -> list[str]:
    return [hit.session.name for hit in store.search(query, **options)]  # type: ignore[arg-type]  # keywords of one test


def day(number: int) -> datetime:
    """A day of January 2026, at noon."""
    return datetime(2026, 1, number, 12, tzinfo=UTC)


def test_the_short_session_with_the_answer_beats_the_long_one_that_mentions_every_word(store: SessionStore) -> None:
    """memory.md §18.1 row 8: a conversation counts by its best passage, not by the sum of its mentions."""
    words = ["proxy", "port", "listen", "traffic"]
    marathon = [user(f"Note {n} about {words[n % 4]} and other things of the day") for n in range(60)]
    saved(store, *marathon, session_id="marathon")
    saved(store, user("Which port does the proxy listen on?"), assistant("Port 8443."), session_id="short")
    assert names(store, "on which port does the proxy listen")[0] == "short"


def test_words_are_whole_words_stems_and_identifiers(store: SessionStore) -> None:
    """memory.md §18.1 row 9: no "art" in "start", no "rate" in "generate"; parts of a camelCase name are words."""
    saved(store, user("We generate the parseHTTPRequest table in main.go"), session_id="code")
    saved(store, user("The exchange rate is 3"), session_id="rate")
    saved(store, user("Fizemos a migração do banco ontem"), session_id="pt")
    assert names(store, "rates") == ["rate"]
    assert names(store, "art") == []
    assert names(store, "generating") == ["code"]
    assert names(store, "main.go") == ["code"]
    assert names(store, "http request") == ["code"]
    assert names(store, "migracao") == ["pt"]


def test_the_common_words_of_a_question_bring_nothing(store: SessionStore) -> None:
    """memory.md §18.1 row 9: they neither find a conversation nor carry it before the one that is meant."""
    saved(store, user("What is the of the what is the? The is the what of the is."), session_id="chatter")
    saved(store, user("The exchange rate is 3."), session_id="rate")
    saved(store, user("start generating the report"), session_id="start")
    assert names(store, "what is the rate of the exchange?") == ["rate"]
    assert names(store, "art") == []


def test_quoted_words_must_stand_so_and_words_with_a_dash_must_not(store: SessionStore) -> None:
    saved(store, user("the blue whale and the green door"), session_id="apart")
    saved(store, user("a green door with a handle"), session_id="handle")
    saved(store, user("the Green  Door, painted"), session_id="painted")
    assert set(names(store, '"green door"')) == {"apart", "handle", "painted"}
    assert set(names(store, '"green door" -painted')) == {"apart", "handle"}
    assert names(store, '"blue whale" door') == ["apart"]
    assert names(store, '"door green"') == []


def test_a_hit_shows_where_and_when_it_was_said(store: SessionStore) -> None:
    said = user("filler " * 100 + "the staging password rotates every Tuesday " + "filler " * 100, day(5))
    conversation = saved(store, user("hello", day(3)), said, session_id="s")
    (hit,) = store.search("when does the staging password rotate")
    snippet = hit.snippets[0]
    assert "staging password rotates" in snippet.text and len(snippet.text) <= 240
    assert snippet.time == day(5)
    assert snippet.message_id == conversation.messages[1].id
    assert hit.session.updated == day(5)
    assert "staging" in hit.why


def test_a_found_session_can_be_read_page_by_page(store: SessionStore) -> None:
    said = [user(f"step {n}", day(3)) for n in range(50)]
    said[30] = user("the proxy password=hunter2secret9 " + "x" * 5000, day(4))
    saved(store, *said, session_id="s")
    page = store.transcript("s", offset=10, limit=5)
    assert [e.text for e in page.excerpts] == [f"step {n}" for n in range(10, 15)]
    assert "read on with offset 15" in page.markdown and "2026-01-03" in page.markdown
    centred = store.transcript("s", query="proxy", limit=5)
    assert 30 in range(centred.offset, centred.offset + 5)
    found = next(e for e in centred.excerpts if e.text.startswith("the proxy"))
    assert found.shortened and len(found.text) <= 2000 and "hunter2secret9" not in centred.markdown
    whole = store.transcript("s", message_id=found.message_id)
    assert len(whole.excerpts) == 1 and not whole.excerpts[0].shortened
    assert "2026-01-04" in store.search("proxy").markdown


def test_dates_bound_what_counts_and_as_of_hides_the_future(store: SessionStore) -> None:
    saved(store, user("deploy with make", day(5)), session_id="january-5")
    saved(store, user("deploy with just", day(20)), session_id="january-20")
    assert set(names(store, "deploy")) == {"january-5", "january-20"}
    assert names(store, "deploy", date_from=day(10)) == ["january-20"]
    assert names(store, "deploy", date_to=day(20)) == ["january-5"]
    assert names(store, "deploy", as_of=day(10)) == ["january-5"]


def test_undated_sessions_are_found_but_match_no_dates(store: SessionStore, tmp_path: Path) -> None:
    folder = tmp_path / "sessions"
    folder.mkdir()
    (folder / "plain.json").write_text(json.dumps({"chat_history": [{"role": "user", "content": "deploy notes"}]}))
    assert names(store, "deploy") == ["plain"]
    assert names(store, "deploy", date_from=day(1)) == []


def test_a_question_without_a_topic_gives_the_latest_conversations(store: SessionStore) -> None:
    for number in range(1, 8):
        saved(store, user(f"topic {number}", day(number)), session_id=f"s{number}")
    assert names(store, "what did we discuss?", limit=3) == ["s7", "s6", "s5"]


def test_a_fork_does_not_crowd_out_others(store: SessionStore) -> None:
    saved(store, user("kafka consumer lag explained at length"), session_id="origin")
    store.fork("origin", name="copy")
    saved(store, user("another kafka question"), session_id="other")
    found = names(store, "kafka")
    assert len(found) == 2 and "other" in found


def test_what_we_put_into_the_prompt_is_not_found_as_said(store: SessionStore) -> None:
    context = Message("user", user("[TURN CONTEXT] zebra rules apply").parts, kind="turn_context")
    saved(store, context, user("hello"), session_id="s")
    assert names(store, "zebra") == []


def test_long_tool_output_does_not_fill_the_index(store: SessionStore) -> None:
    output = "ERROR disk " + "x" * 1000 + " needle"
    result = Message("user", (ToolResultPart("1", "exec", output),), kind="tool_result")
    saved(store, user("run it"), result, session_id="s")
    assert names(store, "disk error") == ["s"]
    assert names(store, "needle") == []


def test_the_index_follows_changes_from_outside(store: SessionStore, tmp_path: Path, clock: Clock) -> None:
    saved(store, user("zebra"), session_id="a")
    assert names(store, "zebra") == ["a"]
    other = open_store(tmp_path, clock)
    conversation = other.load("a")
    conversation.messages[:] = [user("giraffe")]
    other.save(conversation)
    saved(other, user("zebra crossing"), session_id="b")
    assert names(store, "zebra") == ["b"]
    assert names(store, "giraffe") == ["a"]
    other.delete("b")
    assert names(store, "zebra") == []


def test_a_damaged_or_missing_index_is_built_again(tmp_path: Path, clock: Clock) -> None:
    saved(open_store(tmp_path, clock), user("zebra"), session_id="a")
    (index,) = tmp_path.rglob("index.sqlite3")
    for wal in index.parent.glob("index.sqlite3-*"):
        wal.unlink()
    index.write_bytes(b"not a database" * 1000)
    assert names(open_store(tmp_path, clock), "zebra") == ["a"]
    open_store(tmp_path, clock).close()
    for file in index.parent.glob("index.sqlite3*"):
        file.unlink()
    assert names(open_store(tmp_path, clock), "zebra") == ["a"]


def test_a_deleted_session_leaves_nothing_in_the_index(store: SessionStore, tmp_path: Path) -> None:
    saved(store, user("the vault word is zanzibarian"), session_id="a")
    saved(store, user("giraffe"), session_id="b")
    assert names(store, "zanzibarian") == ["a"]
    store.delete("a")
    assert names(store, "zanzibarian") == []
    store.close()
    assert [p for p in tmp_path.rglob("index.sqlite3*") if b"zanzibar" in p.read_bytes()] == []


def test_an_index_that_breaks_costs_no_save_and_heals(store: SessionStore, tmp_path: Path) -> None:
    conversation = saved(store, user("zebra"), session_id="a")
    (index,) = tmp_path.rglob("index.sqlite3")
    store.close()
    index.write_bytes(b"\xff" * 50_000)
    conversation.messages.append(user("giraffe"))
    store.save(conversation)
    assert texts(store.load("a").messages) == ["zebra", "giraffe"]
    assert names(store, "giraffe") == ["a"]


def test_without_a_usable_index_conversations_still_save_load_and_continue(tmp_path: Path, clock: Clock) -> None:
    own = tmp_path / "sessions" / ".chatls"
    (own / "index.sqlite3").mkdir(parents=True)
    store = open_store(tmp_path, clock)
    saved(store, user("zebra"), session_id="a")
    assert texts(open_store(tmp_path, clock).load("a").messages) == ["zebra"]
    assert names(store, "zebra") == ["a"]


def test_everything_is_searchable_once_indexed(tmp_path: Path, clock: Clock) -> None:
    writer = open_store(tmp_path, clock)
    for number in range(30):
        saved(writer, user(f"subject number {number} zebra{number}"), session_id=f"s{number}")
    writer.close()
    for file in tmp_path.rglob("index.sqlite3*"):
        file.unlink()
    reader = open_store(tmp_path, clock)
    reader.index_all()
    assert reader.index_progress() == (30, 30)
    assert names(reader, "zebra17")[0] == "s17"
    reader.close()


def test_fresh_conversations_win_among_equals(store: SessionStore) -> None:
    saved(store, user("how to tune the cache", START - timedelta(days=300)), session_id="old")
    saved(store, user("tune the cache, how to", START - timedelta(days=1)), session_id="new")
    assert names(store, "tune cache")[0] == "new"


def test_a_time_in_the_question_narrows_the_search(store: SessionStore) -> None:
    saved(store, user("we deploy with make", datetime(2026, 2, 10, tzinfo=UTC)), session_id="february")
    saved(store, user("we deploy with just", datetime(2026, 3, 10, tzinfo=UTC)), session_id="march")
    saved(store, user("kafka only", datetime(2026, 1, 10, tzinfo=UTC)), session_id="january")
    assert names(store, "deploy last month") == ["february"]
    assert names(store, "what did we do last month?") == ["february"]
    assert names(store, "kafka last month") == ["january"]
    assert names(store, "deploy last month", as_of=datetime(2026, 4, 2, tzinfo=UTC)) == ["march"]
