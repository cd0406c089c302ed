"""Forgetting any kind of item, seeing what went, and taking it back."""

from __future__ import annotations

import pytest

from chatls_core.memory import Memory
from tests.core.memory.conftest import EXTRACTED, USER, MakeMemory, SetClock, contents


@pytest.fixture
def full(memory: Memory, clock: SetClock) -> Memory:
    """Everything in it speaks of Zephyr once."""
    memory.remember("The Zephyr cluster has 3 nodes", source=USER)
    clock.forward(days=1)
    memory.remember("The Zephyr cluster has 5 nodes", source=USER)
    memory.remember("Lint runs first", source=USER)
    memory.record_episode("Upgraded Zephyr", source=EXTRACTED)
    memory.record_topics({"Zephyr": "a cluster", "linting": ""}, source=EXTRACTED)
    memory.record_project({"name": "zephyr", "path": "/src/zephyr"}, source=EXTRACTED)
    memory.profile({"goals": "retire Zephyr, learn Rust", "cluster": "zephyr", "name": "Ana"}, source=USER)
    return memory


def everything(memory: Memory) -> str:
    parts = (memory.facts(), memory.timeline(), memory.topics(), memory.projects(), memory.profile())
    return "\n".join(p.markdown for p in parts).lower()


def test_every_kind_of_item_is_forgotten_and_named(full: Memory, make: MakeMemory) -> None:
    gone = full.forget("zephyr")
    assert {i.kind for i in gone.items} == {"fact", "past", "episode", "topic", "project", "profile"}
    for view in (full, make()):
        assert "zephyr" not in everything(view)
        assert "learn rust" in everything(view)
        assert view.recall("zephyr").items == ()


def test_nothing_of_a_forgotten_text_is_left_in_the_readable_files(full: Memory) -> None:
    full.write_longterm()
    full.forget("zephyr")
    for name in ("memory_index.json", "memory_history.json", "episodes.json", "topics.json", "MEMORY.md"):
        assert "zephyr" not in (full.folder / name).read_text().lower()


def test_undo_brings_everything_back_once(full: Memory, make: MakeMemory, clock: SetClock) -> None:
    before = everything(full)
    token = full.forget("zephyr").undo_token
    clock.forward(hours=2)
    undone = make().undo(token)
    assert len(undone.restored) == 7
    assert everything(full) == before
    assert full.undo(token).restored == ()


def test_a_dry_run_only_tells(full: Memory) -> None:
    before = everything(full)
    told = full.forget("zephyr", dry_run=True)
    assert len(told.items) == 7
    assert told.undo_token == ""
    assert everything(full) == before


def test_forgetting_by_id_takes_exactly_those(full: Memory) -> None:
    fact = next(f for f in full.facts().facts if "Lint" in f.content)
    full.forget(ids=[fact.id])
    assert contents(full) == ["The Zephyr cluster has 5 nodes"]


def test_short_words_match_whole_words_only(memory: Memory) -> None:
    memory.remember("Admin pages are built with Django", source=USER)
    assert memory.forget("go").items == ()
    memory.remember("Services are written in Go", source=USER)
    assert [i.text for i in memory.forget("GO").items] == ["Services are written in Go"]


def test_accents_and_case_do_not_matter(memory: Memory) -> None:
    memory.remember("A configuração fica em config.toml", source=USER)
    assert len(memory.forget("CONFIGURACAO").items) == 1


def test_an_empty_match_forgets_nothing(full: Memory) -> None:
    before = everything(full)
    assert full.forget("  ").items == ()
    assert everything(full) == before


def test_a_forgotten_fact_does_not_come_back_from_another_process(memory: Memory, clock: SetClock) -> None:
    memory.remember("Printer is on floor 3", source=USER)
    old_index = (memory.folder / "memory_index.json").read_bytes()
    clock.forward(seconds=5)
    memory.forget("printer")
    (memory.folder / "memory_index.json").write_bytes(old_index)  # as a program that held it in memory does
    assert contents(memory) == []
    memory.remember("Printer is on floor 3", source=USER)
    assert contents(memory) == ["Printer is on floor 3"]


def test_a_forgotten_topic_returns_only_when_it_comes_up_again(memory: Memory, clock: SetClock) -> None:
    memory.record_topics({"caching": "a"}, source=EXTRACTED)
    old = (memory.folder / "topics.json").read_bytes()
    clock.forward(seconds=5)
    memory.forget("caching")
    (memory.folder / "topics.json").write_bytes(old)
    assert memory.topics().topics == ()
    clock.forward(seconds=5)
    memory.record_topics({"caching": "b"}, source=EXTRACTED)
    assert [t.name for t in memory.topics().topics] == ["caching"]


def test_notes_that_still_mention_it_are_named(memory: Memory, clock: SetClock) -> None:
    memory.remember("Kraken is the payment gateway", source=USER)
    memory.note("Talked about Kraken limits", time=clock.now)
    assert memory.forget("kraken").notes == ("2026-06-01",)
