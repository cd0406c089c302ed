"""Topics, projects and episodes corrected by the user: what holds then, and what an undo gives back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatls_core.memory import Memory
from chatls_core.memory.edited import carried
from tests.core.memory.conftest import EXTRACTED, MakeMemory, SetClock

trees = st.recursive(
    st.integers(0, 3) | st.text("ab", max_size=1),
    lambda t: st.dictionaries(st.text("ab", min_size=1, max_size=1), t, max_size=2) | st.lists(t, max_size=2),
    max_leaves=4,
)


@given(trees, trees)
def test_an_undo_right_away_gives_what_was_and_one_of_nothing_leaves_what_is(one: Any, other: Any) -> None:
    assert carried(one, other, other) == one
    assert carried(one, one, other) == other


@pytest.fixture
def filled(memory: Memory) -> Memory:
    memory.record_topics({"k8s": "where we deploy"}, source=EXTRACTED)
    memory.record_project({"name": "atlas", "description": "maps"}, source=EXTRACTED)
    memory.record_episode("Fixed the bug", outcome="merged", project="/w/atlas", source=EXTRACTED)
    return memory


def episode(memory: Memory) -> tuple[str, str, str]:
    (found,) = memory.timeline().episodes
    return found.id, found.summary, found.outcome


def written(tmp_path: Path, name: str) -> Any:
    return json.loads((tmp_path / "memory" / name).read_text())


def test_what_is_learned_later_does_not_overwrite_an_edit_and_adds_to_it(filled: Memory, clock: SetClock) -> None:
    item, *_ = episode(filled)
    filled.edit("topic:k8s", "our cluster in Porto")
    filled.edit("project:atlas", "the map server")
    filled.edit("project:atlas", "pausado", field="status")
    filled.edit(item, "Fixed the tile cache")
    filled.edit(item, "", field="outcome")
    clock.forward(hours=1)
    filled.record_topics({"K8S": "a thing of Google's"}, source=EXTRACTED)
    filled.record_project({"name": "atlas", "description": "a game", "status": "active"}, source=EXTRACTED)
    filled.record_project({"name": "atlas", "technologies": "Go"}, source=EXTRACTED)
    told_again = filled.record_episode("Fixed the bug", outcome="merged", project="/w/atlas", source=EXTRACTED)
    reworded = filled.record_episode("fixed the tile cache", refs=["#7"], project="/w/atlas", source=EXTRACTED)
    (topic,), (project,) = filled.topics().topics, filled.projects().projects
    assert (topic.name, topic.summary, topic.mentions) == ("k8s", "our cluster in Porto", 2)
    assert (project.description, project.status, project.technologies) == ("the map server", "paused", ("Go",))
    assert told_again == reworded == item
    assert episode(filled) == (item, "Fixed the tile cache", "")
    assert filled.timeline().episodes[0].refs == ("#7",)


def test_a_topic_keeps_its_new_name_when_it_is_spoken_of_by_the_old_one(filled: Memory, clock: SetClock) -> None:
    filled.edit("topic:k8s", "Kubernetes", field="name")
    clock.forward(hours=1)
    assert filled.record_topics({"K8s": "where everything runs"}, source=EXTRACTED) == ("Kubernetes",)
    filled.edit("topic:Kubernetes", "Clusters", field="name")
    clock.forward(hours=1)
    assert filled.record_topics({"k8s": "", "kubernetes": ""}, source=EXTRACTED) == ("Clusters", "Clusters")
    (topic,) = filled.topics().topics
    assert (topic.name, topic.summary, topic.mentions) == ("Clusters", "where everything runs", 4)
    filled.edit("topic:Clusters", "k8s", field="name")
    assert [t.name for t in filled.topics().topics] == ["k8s"]


def test_what_chatcli_writes_back_from_a_copy_of_its_own_is_not_taken_for_the_present(
    filled: Memory, make: MakeMemory, tmp_path: Path, clock: SetClock
) -> None:
    item, *_ = episode(filled)
    names = ("topics.json", "projects.json", "episodes.json")
    held = {name: written(tmp_path, name) for name in names}
    clock.forward(minutes=1)
    filled.edit("topic:k8s", "Kubernetes", field="name")
    filled.edit("topic:Kubernetes", "our cluster")
    filled.edit("project:atlas", "the map server")
    filled.edit(item, "works in production", field="outcome")
    known_to_chatcli = {
        "topics.json": {"name", "mentions", "summary", "first_seen", "last_seen", "related_fact_ids"},
        "projects.json": {
            "name", "path", "description", "status", "technologies", "key_files", "last_active", "priority", "metadata",
        },
        "episodes.json": {"id", "date", "project", "summary", "outcome", "refs", "source", "created_at"},
    }  # fmt: skip
    for name in names:
        (record,) = written(tmp_path, name)
        assert record.keys() == known_to_chatcli[name]
    assert written(tmp_path, "topics.json")[0]["summary"] == "our cluster"
    # Its merge keeps its own records and takes in those of the file.
    (tmp_path / "memory" / "topics.json").write_text(json.dumps(held["topics.json"] + written(tmp_path, "topics.json")))
    for name in names[1:]:
        (tmp_path / "memory" / name).write_text(json.dumps(held[name]))
    again = make()
    assert [(t.name, t.summary) for t in again.topics().topics] == [("Kubernetes", "our cluster")]
    assert again.projects().projects[0].description == "the map server"
    assert episode(again) == (item, "Fixed the bug", "works in production")


def test_an_undo_takes_the_edit_back_and_nothing_that_came_since(filled: Memory, clock: SetClock) -> None:
    item, *_ = episode(filled)
    summary = filled.edit("topic:k8s", "our cluster").undo_token
    name = filled.edit("topic:k8s", "Kubernetes", field="name").undo_token
    outcome = filled.edit(item, "reverted", field="outcome").undo_token
    clock.forward(hours=1)
    filled.remember("Kubernetes runs in Porto", source=EXTRACTED)
    filled.record_topics({"Kubernetes": ""}, source=EXTRACTED)
    filled.record_episode("Fixed the bug", refs=["#7"], project="/w/atlas", source=EXTRACTED)
    assert filled.undo(summary).restored == ("topic:Kubernetes",)
    assert filled.undo(name).restored == ("topic:k8s",)
    assert filled.undo(outcome).restored == (item,)
    (topic,), (done,) = filled.topics().topics, filled.timeline().episodes
    assert (topic.name, topic.summary, topic.mentions, len(topic.fact_ids)) == ("k8s", "where we deploy", 2, 1)
    assert (done.outcome, done.refs) == ("merged", ("#7",))
    # What was taken back is learned about as ever.
    filled.record_topics({"k8s": "where all runs"}, source=EXTRACTED)
    assert filled.topics().topics[0].summary == "where all runs"
    assert not filled.undo(name).restored


def test_an_undo_leaves_a_later_edit_alone(filled: Memory, clock: SetClock) -> None:
    first = filled.edit("topic:k8s", "our cluster").undo_token
    clock.forward(minutes=-5)  # a clock set back must not make the later edit the earlier one
    second = filled.edit("topic:k8s", "the cluster in Porto").undo_token
    assert filled.undo(first).restored == ()
    assert filled.topics().topics[0].summary == "the cluster in Porto"
    filled.undo(second)
    assert filled.topics().topics[0].summary == "our cluster"


def test_a_topic_that_gets_the_name_of_another_is_united_with_it_until_that_is_undone(filled: Memory) -> None:
    filled.record_topics({"Kubernetes": ""}, source=EXTRACTED)
    filled.record_topics({"Kubernetes": ""}, source=EXTRACTED)
    done = filled.edit("topic:k8s", "kubernetes", field="name")
    assert [(t.name, t.summary, t.mentions) for t in filled.topics().topics] == [("kubernetes", "where we deploy", 3)]
    assert len(filled.about("topic:kubernetes").sources) == 2  # type: ignore[union-attr]  # it is no fact
    filled.undo(done.undo_token)
    assert {(t.name, t.mentions) for t in filled.topics().topics} == {("k8s", 1), ("Kubernetes", 2)}


def test_an_edit_is_forgotten_with_its_item_and_comes_back_with_it(filled: Memory, clock: SetClock) -> None:
    filled.edit("topic:k8s", "our cluster")
    forgotten = filled.forget(ids=["topic:k8s"])
    clock.forward(minutes=1)
    filled.undo(forgotten.undo_token)
    clock.forward(minutes=1)
    filled.record_topics({"k8s": "something else"}, source=EXTRACTED)
    assert filled.topics().topics[0].summary == "our cluster"
    filled.forget(ids=["topic:k8s"])
    clock.forward(minutes=1)
    filled.record_topics({"k8s": "something else"}, source=EXTRACTED)
    assert filled.topics().topics[0].summary == "something else"


def test_edits_are_masked_and_cut_as_all_that_is_kept(filled: Memory) -> None:
    done = filled.edit("topic:k8s", "the key is sk-ant-api03-" + "a1" * 40)
    assert "a1a1" not in done.content
    assert len(filled.edit("topic:k8s", "ã" * 200).content.encode()) <= 240
