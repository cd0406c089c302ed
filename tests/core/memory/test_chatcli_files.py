"""A ChatCLI user's folder opens here, changes here, and stays readable there (spec/memory.md §3-§7)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chatls_core import config
from chatls_core.memory import Memory
from tests.core.memory.conftest import USER, MakeMemory, SetClock, contents

INDEX = [
    {
        "id": "5f0f4c1d1f0d9a6a2b1c0d3e",
        "content": "Service mesh is Linkerd",
        "category": "architecture",
        "tags": ["kubernetes"],
        "created_at": "2026-02-03T10:11:12.123456789-03:00",
        "last_accessed": "2026-05-01T08:00:00Z",
        "access_count": 4,
        "score": 2.5,
        "source_project": "/home/ana/mesh",
        "confidence": 0.65,
        "provenance": "extraction",
        "future_field": {"kept": [1, 2, 3]},
    },
    {
        "id": "aaaaaaaaaaaaaaaaaaaaaaaa",
        "content": "Uses gofumpt",
        "category": "pattern",
        "created_at": "2026-01-01T00:00:00Z",
        "last_accessed": "2026-01-01T00:00:00Z",
        "access_count": 1,
        "score": 0.4,
        "tags": None,
    },
    {
        "id": "bbbbbbbbbbbbbbbbbbbbbbbb",
        "content": "Forgotten long ago",
        "category": "general",
        "created_at": "2026-01-01T00:00:00Z",
        "last_accessed": "2026-01-01T00:00:00Z",
        "access_count": 1,
        "score": 0.4,
    },
]
TOMBSTONES = {"bbbbbbbbbbbbbbbbbbbbbbbb": "2026-05-20T09:00:00Z"}
PROFILE = {
    "name": "Ana",
    "skills": ["Go", "Rust"],
    "goals": None,
    "milestones": [{"date": "2026-03-01T00:00:00Z", "text": "First release"}],
    "stances": [{"position": "small PRs", "reason": "review", "updated_at": "2026-03-01T00:00:00Z"}],
    "environment": {"os": "linux"},
    "preferences": {"GitHub": "ana"},
    "top_commands": {},
    "field_meta": {"name": {"source": "user", "updated_at": "2026-05-01T00:00:00Z", "extra": 1}},
    "last_updated": "2026-05-01T00:00:00Z",
    "mood": "fine",
}
TOPICS = [{"name": "Service mesh", "mentions": 3, "first_seen": "2026-01-01T00:00:00Z",
           "last_seen": "2026-05-01T00:00:00Z", "zone": "x"}]  # fmt: skip
PROJECTS = [{"name": "mesh", "path": "/home/ana/mesh", "status": "active", "technologies": ["Go"],
             "last_active": "2026-05-01T00:00:00Z", "priority": 0, "metadata": {"a": "b"}}]  # fmt: skip
EPISODES = [{"id": "ep_1", "date": "2026-04-10T00:00:00Z", "project": "/home/ana/mesh", "summary": "Rolled out mTLS",
             "source": "extraction", "created_at": "2026-04-10T00:00:00Z", "weather": "sunny"}]  # fmt: skip
USAGE = {"session_count": 2, "total_messages": 9, "avg_session_secs": 60.5, "hour_distribution": [0] * 24,
         "command_frequency": None, "feature_usage": {"chat": 4}, "last_session": "0001-01-01T00:00:00Z"}  # fmt: skip

FILES: dict[str, Any] = {
    "memory_index.json": INDEX,
    "memory_tombstones.json": TOMBSTONES,
    "user_profile.json": PROFILE,
    "topics.json": TOPICS,
    "projects.json": PROJECTS,
    "episodes.json": EPISODES,
    "usage_stats.json": USAGE,
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "memory"
    path.mkdir()
    for name, tree in FILES.items():
        (path / name).write_text(json.dumps(tree, indent=2))
    return path


def read(folder: Path, name: str) -> Any:
    return json.loads((folder / name).read_text())


def test_everything_is_there(folder: Path, memory: Memory) -> None:
    assert contents(memory) == ["Service mesh is Linkerd", "Uses gofumpt"]
    assert {f.key: f.value for f in memory.profile().fields}["GitHub"] == "ana"
    assert [t.name for t in memory.topics().topics] == ["Service mesh"]
    assert [p.name for p in memory.projects().projects] == ["mesh"]
    assert [e.summary for e in memory.timeline().episodes] == ["Rolled out mTLS"]
    assert memory.stats().messages == 9
    assert memory.stats().problems == ()


def test_reading_changes_no_file(folder: Path, memory: Memory) -> None:
    before = {p.name: p.read_bytes() for p in folder.iterdir()}
    memory.recall("service mesh")
    memory.auto_recall("which service mesh?")
    _ = (memory.index_digest(), memory.facts(), memory.profile(), memory.stats(), memory.graph())
    after = {p.name: p.read_bytes() for p in folder.iterdir() if p.name != "graph.json"}  # a cache
    assert after == before


def test_unknown_fields_survive_every_kind_of_write(folder: Path, memory: Memory, clock: SetClock) -> None:
    memory.remember("Alerts go to the on-call phone", source=USER)
    memory.profile({"skills": "SQL"}, source=USER)
    memory.record_topics({"Service mesh": "mTLS"}, source=USER)
    memory.record_project({"name": "mesh", "technologies": "Rust"}, source=USER)
    memory.record_episode("Tuned retries", source=USER)
    memory.record_use(messages=1, feature="chat", hour=3)
    by_id = {f["id"]: f for f in read(folder, "memory_index.json")}
    assert by_id[INDEX[0]["id"]]["future_field"] == {"kept": [1, 2, 3]}
    assert read(folder, "user_profile.json")["mood"] == "fine"
    assert read(folder, "user_profile.json")["field_meta"]["name"]["extra"] == 1
    assert read(folder, "topics.json")[0]["zone"] == "x"
    assert read(folder, "projects.json")[0]["metadata"] == {"a": "b"}
    assert read(folder, "episodes.json")[0]["weather"] == "sunny"


def test_what_we_write_follows_chatclis_rules(folder: Path, memory: Memory, clock: SetClock) -> None:
    added = memory.remember("Alerts go to the on-call phone", source=USER)
    facts = read(folder, "memory_index.json")
    assert isinstance(facts, list)
    assert [f["score"] for f in facts] == sorted((f["score"] for f in facts), reverse=True)
    new = next(f for f in facts if f["id"] == added.id)
    known = {"id", "content", "category", "tags", "created_at", "last_accessed", "access_count", "score", "source",
             "source_project", "confidence", "provenance"}  # fmt: skip
    assert set(new) == known
    assert new["created_at"].endswith("Z")
    assert (new["confidence"], new["provenance"], new["access_count"]) == (0.9, "user", 1)
    assert INDEX[2]["id"] not in {f["id"] for f in facts}


def test_a_superseded_fact_is_tombstoned_for_the_other_program(folder: Path, memory: Memory) -> None:
    memory.remember("Service mesh is Istio", source=USER)
    assert INDEX[0]["id"] in read(folder, "memory_tombstones.json")
    assert INDEX[0]["id"] not in {f["id"] for f in read(folder, "memory_index.json")}


def test_a_fact_the_other_program_adds_is_seen_and_kept(folder: Path, memory: Memory) -> None:
    contents(memory)
    facts = read(folder, "memory_index.json")
    facts.append({**INDEX[1], "id": "cccccccccccccccccccccccc", "content": "Nightly backups to tape"})
    (folder / "memory_index.json").write_text(json.dumps(facts))
    memory.remember("Alerts go to the on-call phone", source=USER)
    assert "Nightly backups to tape" in contents(memory)


def test_a_hand_edited_list_with_one_bad_record_keeps_the_others(folder: Path, make: MakeMemory) -> None:
    facts = read(folder, "memory_index.json")
    facts[0]["created_at"] = "last spring"
    facts.append("not a record")
    text = json.dumps(facts)
    (folder / "memory_index.json").write_text(text)
    assert contents(make()) == ["Service mesh is Linkerd", "Uses gofumpt"]
    assert (folder / "memory_index.json.corrupt").read_text() == text


def test_a_mark_before_the_first_byte_is_no_damage(folder: Path, make: MakeMemory) -> None:
    for name in FILES:
        (folder / name).write_bytes(b"\xef\xbb\xbf" + (folder / name).read_bytes())
    memory = make()
    assert "Service mesh is Linkerd" in contents(memory)
    assert memory.profile().fields
    assert not list(folder.glob("*.corrupt"))


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text.replace("Uses gofumpt", "Uses gofumpt \\ud83d"),
        lambda text: text.replace("]\n", ",]\n") if "]\n" in text else text[:-1] + ",]",
        lambda text: "// my notes\n" + text,
        lambda text: text.replace('"Uses gofumpt"', "Uses gofumpt"),
        lambda text: text.replace("Uses gofumpt", "Uses gofumpt\n\tand gofmt"),
    ],
    ids=["half a character", "a comma too many", "a comment", "a record without quotes", "a raw line end"],
)
def test_damage_in_one_place_costs_nothing_elsewhere(
    folder: Path, make: MakeMemory, damage: Callable[[str], str]
) -> None:
    text = damage((folder / "memory_index.json").read_text())
    (folder / "memory_index.json").write_text(text)
    assert "Service mesh is Linkerd" in contents(make())
    assert (folder / "memory_index.json.corrupt").read_text() == text


def test_a_file_in_an_older_encoding_is_carried_over(folder: Path, make: MakeMemory) -> None:
    text = (folder / "memory_index.json").read_text().replace("Uses gofumpt", "Usa configuração em YAML")
    (folder / "memory_index.json").write_bytes(text.encode("latin-1"))
    assert "Usa configuração em YAML" in contents(make())


def test_one_wrong_time_brings_nothing_back_that_was_forgotten(folder: Path, make: MakeMemory) -> None:
    (folder / "memory_tombstones.json").write_text(json.dumps({**TOMBSTONES, "c" * 24: None, "d" * 24: "once"}))
    assert "Forgotten long ago" not in contents(make())


@pytest.mark.usefixtures("sao_paulo")
def test_times_at_the_edges_of_the_calendar_stop_no_command(folder: Path, make: MakeMemory) -> None:
    """Go writes a time that nobody set as the year 1."""
    facts = read(folder, "memory_index.json")
    edges = ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00+05:00", "9999-12-31T23:59:59Z", "9999-12-31T23:59:59-05:00"]
    for n, edge in enumerate(edges):
        facts.append({"id": str(n) * 24, "content": f"Edge {n} of time", "created_at": edge, "last_accessed": edge})
    (folder / "memory_index.json").write_text(json.dumps(facts))
    done = [{"id": f"ep_{n}", "summary": f"Work {n}", "date": edge, "created_at": edge} for n, edge in enumerate(edges)]
    (folder / "episodes.json").write_text(json.dumps(done))
    memory = make()
    assert len(memory.facts().facts) == 6
    told = memory.timeline().markdown
    assert "undated Work 0" in told and "0001" not in told
    assert memory.graph().nodes
    for n in range(4):
        assert memory.recall(f"Edge {n} of time").items
        assert memory.why(str(n) * 24).markdown


def test_what_has_no_date_is_told_without_one(folder: Path, make: MakeMemory) -> None:
    profile = read(folder, "user_profile.json")
    profile["milestones"] = [{"text": "Second release"}]
    (folder / "user_profile.json").write_text(json.dumps(profile))
    assert ("milestones", "Second release") in [(f.key, f.value) for f in make().profile().fields]


def test_of_two_copies_of_an_episode_the_date_that_is_written_stands(folder: Path, make: MakeMemory) -> None:
    copies = [{"id": "ep_1", "summary": "Moved", "date": "2026-03-05T00:00:00Z"}, {"id": "ep_1", "summary": "Moved"}]
    for order in (copies, copies[::-1]):
        (folder / "episodes.json").write_text(json.dumps(order))
        assert "2026-03-05" in make().timeline().markdown


def test_of_a_file_cut_short_everything_before_the_cut_is_carried_over(folder: Path, make: MakeMemory) -> None:
    whole = (folder / "memory_index.json").read_text()
    (folder / "memory_index.json").write_text(whole[: whole.index("Forgotten")])
    (folder / "user_profile.json").write_text('{"name": "Ana", "skills": ["Go", "Ru')
    memory = make()
    assert contents(memory) == ["Service mesh is Linkerd", "Uses gofumpt"]
    assert [(f.key, f.value) for f in memory.profile().fields] == [("name", "Ana"), ("skills", "Go")]
    assert (folder / "memory_index.json.corrupt").read_text() == whole[: whole.index("Forgotten")]


def test_one_wrong_value_costs_no_other(folder: Path, make: MakeMemory) -> None:
    memory = make()
    kept = memory.remember("Alerts go to the on-call phone", source=USER).id
    memory.pin(kept)
    memory.remember("Alerts go to the pager", source=USER)
    memory.remember("User lives in Faro", source=USER)
    memory.remember("User lives in Braga", source=USER)
    details, history, profile = (
        read(folder, name) for name in ("memory_details.json", "memory_history.json", "user_profile.json")
    )
    details["items"]["bad"] = {"pinned": "perhaps", "sources": [{"time": "once"}, "nobody"]}
    history["entries"].insert(0, {"fact": "none", "valid_to": 3})
    profile["skills"] = ["Go", {"a": 1}, "Rust"]
    profile["preferences"]["broken"] = ["x"]
    for name, tree in (
        ("memory_details.json", details), ("memory_history.json", history), ("user_profile.json", profile),
    ):  # fmt: skip
        (folder / name).write_text(json.dumps(tree))
    again = make()
    assert again.why(kept).fact.pinned
    assert again.why(kept).fact.sources[0].session == USER.session
    assert [i.text for i in again.recall("where did I live before?").items if i.kind == "past"] == [
        "User lives in Faro"
    ]
    assert [f.value for f in again.profile().fields if f.key == "skills"] == ["Go", "Rust"]
    assert [f.value for f in again.profile().fields if f.key == "GitHub"] == ["ana"]


def test_a_fact_without_dates_stays_and_claims_no_age(folder: Path, make: MakeMemory) -> None:
    (folder / "memory_index.json").write_text(json.dumps([{"content": "Written by hand"}, INDEX[0]]))
    memory = make()
    assert [f.content for f in memory.facts().facts] == ["Service mesh is Linkerd", "Written by hand"]
    assert memory.facts().facts[1].score > 0.1  # below it a fact is archived
    assert "| general | 0.19 | 60% | 1 × | — |" in memory.facts().markdown


def test_a_file_in_the_place_of_the_folder_reads_as_nothing_and_is_named_when_written(tmp_path: Path) -> None:
    (tmp_path / "memory").write_text("not a folder")
    memory = Memory(tmp_path / "memory", settings=config.Memory(), clock=SetClock())
    assert (memory.facts().total, memory.recall("anything").items, memory.daily().markdown != "") == (0, (), True)
    with pytest.raises(OSError, match=r"a file stands where this folder is needed.*memory"):
        memory.remember("Alerts go to the on-call phone", source=USER)
    assert (tmp_path / "memory").read_text() == "not a folder"


def test_a_fact_without_id_gets_one_and_a_doubled_one_is_one(folder: Path, make: MakeMemory) -> None:
    facts = [{"content": "Written by hand"}, INDEX[1], INDEX[1]]
    (folder / "memory_index.json").write_text(json.dumps(facts))
    page = make().facts()
    assert page.total == 2
    assert all(f.id for f in page.facts)


def test_topics_follow_facts(folder: Path, memory: Memory) -> None:
    memory.record_topics({"Service mesh": ""}, source=USER)
    assert read(folder, "topics.json")[0]["related_fact_ids"] == [INDEX[0]["id"]]


@pytest.mark.parametrize("name", FILES)
def test_an_empty_or_null_file_reads_as_nothing(folder: Path, make: MakeMemory, name: str) -> None:
    for text in ("", "null" if name != "user_profile.json" and name != "usage_stats.json" else "{}"):
        (folder / name).write_text(text)
        memory = make()
        assert memory.stats().problems == ()
        memory.remember("Alerts go to the on-call phone", source=USER)
        assert "Alerts go to the on-call phone" in contents(memory)
