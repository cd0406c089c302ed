"""What a person sees: timeline, notes, files, numbers, graph, export and import, each readable as Markdown."""

from __future__ import annotations

import itertools
import json
import math
import xml.etree.ElementTree as ET
from datetime import UTC, datetime
from pathlib import Path

import pytest

from chatls_core.memory import Memory, Source, TransferError
from chatls_core.memory.graph import Neighbour
from tests.core.memory.conftest import EXTRACTED, USER, MakeMemory, SetClock, contents

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def worked(memory: Memory) -> Memory:
    for day, summary in ((3, "Fixed the login bug"), (14, "Added search"), (28, "Removed the login banner")):
        memory.record_episode(
            summary, outcome="merged", refs=["a.go"], project="/src/atlas", date=datetime(2026, 4, day, tzinfo=UTC),
            source=EXTRACTED,
        )  # fmt: skip
    memory.record_episode("Fixed the login page", date=datetime(2026, 5, 20, tzinfo=UTC), source=EXTRACTED)
    return memory


def summaries(memory: Memory, *args: object, **options: object) -> list[str]:
    return [e.summary for e in memory.timeline(*args, **options).episodes]  # type: ignore[arg-type]  # as the test says


def test_the_timeline_is_in_order_of_time(worked: Memory) -> None:
    assert summaries(worked) == [
        "Fixed the login bug", "Added search", "Removed the login banner", "Fixed the login page",
    ]  # fmt: skip
    assert "- 2026-04-03 [atlas] Fixed the login bug — merged (refs: a.go)" in worked.timeline().markdown


def test_the_timeline_is_searched_by_words_and_project(worked: Memory) -> None:
    assert summaries(worked, "search") == ["Added search"]
    assert summaries(worked, project="ATLAS", limit=2) == ["Added search", "Removed the login banner"]
    assert summaries(worked, "kubernetes") == []


def test_the_timeline_takes_times_as_datetimes(worked: Memory) -> None:
    start, end = datetime(2026, 4, 10, tzinfo=UTC), datetime(2026, 5, 1, tzinfo=UTC)
    assert summaries(worked, start=start, end=end) == ["Added search", "Removed the login banner"]


def test_the_timeline_understands_words_for_times(worked: Memory, clock: SetClock) -> None:
    assert summaries(worked, "login in April 2026") == ["Fixed the login bug", "Removed the login banner"]
    assert summaries(worked, start="May 2026") == ["Fixed the login page"]
    assert summaries(worked, end="April 2026", limit=1) == ["Removed the login banner"]
    with pytest.raises(ValueError, match="names no time"):
        worked.timeline(start="whenever")


def test_an_episode_recorded_again_is_filled_not_doubled(memory: Memory) -> None:
    day = datetime(2026, 4, 3, tzinfo=UTC)
    memory.record_episode("Fixed it", date=day, source=EXTRACTED)
    memory.record_episode("fixed  it", outcome="merged", refs=["b.go"], date=day, source=EXTRACTED)
    episodes = memory.timeline().episodes
    assert [(e.outcome, e.refs) for e in episodes] == [("merged", ("b.go",))]


def test_notes_are_appended_and_found_by_day(memory: Memory, clock: SetClock) -> None:
    memory.note("First", time=datetime(2026, 5, 31, 9, 5, tzinfo=UTC))
    memory.note("Second", time=datetime(2026, 5, 31, 18, 0, tzinfo=UTC))
    assert (memory.folder / "202605" / "20260531.md").read_text() == "\n## 09:05\n\nFirst\n\n## 18:00\n\nSecond\n"
    assert "Second" in memory.daily("31/05/2026").text
    assert "no note" in memory.daily("2020-01-01").text
    with pytest.raises(ValueError, match="no date"):
        memory.daily("someday")
    assert "[MEMORY CONTEXT — loaded from 2026-05-31]" in memory.load("20260531").text


def test_longterm_stays_in_its_size_and_says_that_more_is_stored(make: MakeMemory) -> None:
    memory = make(max_size=200)
    for name in ("alpha", "beta", "gamma", "delta", "epsilon", "zeta"):
        memory.remember(f"The {name} service handles {name} events ção", source=USER)
    text = memory.longterm().text
    assert len(text.encode()) <= 200
    assert "more facts are stored" in text


def test_topics_and_projects_grow(memory: Memory, clock: SetClock) -> None:
    memory.record_topics({"Caching": "LRU", "  - CI *": ""}, source=EXTRACTED)
    clock.forward(days=1)
    memory.record_topics({"caching": "Two levels"}, source=EXTRACTED)
    topics = {t.name: t for t in memory.topics().topics}
    assert set(topics) == {"Caching", "CI"}
    assert (topics["Caching"].mentions, topics["Caching"].summary) == (2, "Two levels")
    memory.record_project(
        {"project_name": "Atlas", "project_status": "pausado", "technologies": "Go; SQL"}, source=USER
    )
    memory.record_project({"name": "atlas", "technologies": "go, Rust"}, source=USER)
    (project,) = memory.projects().projects
    assert (project.name, project.status, project.technologies) == ("atlas", "paused", ("Go", "SQL", "Rust"))


def test_a_projects_key_files_are_told_and_its_priority_counts_in_the_graph(memory: Memory) -> None:
    """memory.md §18.1 row 30: both have data."""
    for name in ("atlas", "zeta"):
        memory.record_project({"name": name, "technologies": "Go"}, source=USER)
    learned = {"project_name": "zeta", "project_key_files": "cmd/main.go, api.yaml", "project_priority": "High"}
    memory.record_project(learned, source=EXTRACTED)
    memory.record_project({"name": "zeta", "key_files": "api.yaml; go.mod", "priority": "whatever"}, source=EXTRACTED)
    memory.record_project({"name": "atlas", "priority": "nan"}, source=EXTRACTED)
    assert "- zeta [Go] (key files: cmd/main.go, api.yaml, go.mod)" in memory.recall("which projects?").context
    assert "cmd/main.go" in memory.projects().markdown
    assert memory.map().text.split("Hubs: ")[1].rstrip(".").split(", ")[:3] == ["go", "zeta", "atlas"]


def test_topics_know_their_facts_and_a_correction_says_so(memory: Memory) -> None:
    """memory.md §18.1 row 30: links of topics and the provenance of corrections have data."""
    fact = memory.remember("The cache of atlas expires after an hour", source=EXTRACTED)
    memory.record_topics({"atlas cache": ""}, source=EXTRACTED)
    assert memory.topics().topics[0].fact_ids == (fact.id,)
    assert "atlas cache" in [n.title for n in memory.neighbors("cache expires", hops=1).nodes]
    corrected = memory.why(memory.edit(fact.id, "The cache of tiles expires after a day").id).fact
    assert memory.topics().topics[0].fact_ids == (corrected.id,)
    assert (corrected.confidence, corrected.provenance.split()[0]) == (1.0, "correction")
    assert {s.kind for s in corrected.sources} == {"extraction", "correction"}


def test_every_view_reads_well_when_nothing_is_there(memory: Memory) -> None:
    views = (
        memory.facts(), memory.facts("gotcha"), memory.profile(), memory.timeline(), memory.topics(),
        memory.projects(), memory.stats(), memory.longterm(), memory.list(), memory.daily(), memory.map(),
        memory.neighbors("x"), memory.graph(), memory.recall("anything"), memory.forget("anything"),
        memory.undo("no-such-token"),
    )  # fmt: skip
    for view in views:
        assert view.markdown.strip()


@pytest.fixture
def linked(make: MakeMemory, clock: SetClock) -> Memory:
    memory = make(neighbours=lambda: (Neighbour("session", "s-1", "Atlas planning", day=clock.now.date()),))
    memory.record_project({"name": "atlas", "path": "/src/atlas", "technologies": "Go"}, source=USER)
    memory.remember("Atlas indexes documents with [[Caching]]", scope="/src/atlas", source=USER)
    memory.record_episode("Sped up indexing", project="/src/atlas", source=USER)
    memory.record_topics({"Caching": "LRU", "documents": ""}, source=USER)
    memory.profile({"name": "Ana", "skills": "Go"}, source=USER)
    return memory


def test_things_that_belong_together_are_linked(linked: Memory) -> None:
    near = {n.title for n in linked.neighbors("atlas", hops=1).nodes}
    assert {"atlas", "Atlas planning", "2026-06-01 Sped up indexing"} <= near
    links = {frozenset((e.a.split(":")[0], e.b.split(":")[0])) for e in linked.graph().edges}
    assert {frozenset(p) for p in (("fact", "project"), ("topic", "fact"), ("episode", "project"))} <= links


def test_a_saved_graph_is_taken_only_while_it_is_true(linked: Memory, make: MakeMemory) -> None:
    card = linked.graph_card()
    saved = linked.folder / "graph.json"
    tree = json.loads(saved.read_text())
    assert tree["schema_version"] == 1
    again = make(neighbours=lambda: (Neighbour("session", "s-1", "Atlas planning", day=linked.clock().date()),))
    assert again.graph_card() == card
    saved.write_text("{damaged")
    assert make().graph_card() != ""
    again.remember("Night watch starts at ten", source=USER)
    assert again.graph_card() != card


def test_the_card_of_a_prompt_names_nothing_that_was_forgotten_or_marked_since(memory: Memory) -> None:
    for fact in ("Heron caches the tiles of [[Maps]]", "Egret serves the tiles of [[Maps]]"):
        memory.remember(fact, source=USER)
    memory.record_topics({"Maps": ""}, source=USER)
    named = memory.graph_card(promptly=True)
    assert "Heron" in named and "Egret" in named
    facts = {f.content.split()[0]: f.id for f in memory.facts().facts}
    memory.forget(ids=[facts["Heron"]])
    memory.sensitive(facts["Egret"])
    told = memory.graph_card(promptly=True)
    assert "Maps" in told
    assert "Heron" not in told and "Egret" not in told


def test_what_stands_beside_a_recalled_fact_is_named_with_the_way_to_it(linked: Memory) -> None:
    context = linked.recall("how does atlas index documents?").context
    assert "- [topic] Caching — LRU (expand: memory neighbors Caching)" in context


def test_the_map_counts_and_names_hubs(linked: Memory) -> None:
    text = linked.map().text
    assert text.startswith("Knowledge graph: ")
    assert "project 1" in text
    assert "atlas" in text.split("Hubs:")[1]


def test_the_picture_is_svg_with_every_node_and_escaped_text(linked: Memory) -> None:
    linked.remember('Angle <brackets> & "quotes" in titles', source=USER)
    view = linked.graph()
    tree = ET.fromstring(view.svg)
    titles = [t.text or "" for t in tree.iter("{http://www.w3.org/2000/svg}title")]
    assert len(titles) == len(view.nodes)
    assert any("<brackets>" in t for t in titles)
    assert linked.graph().svg == view.svg


def test_five_hundred_nodes_are_drawn(make: MakeMemory) -> None:
    memory = make(max_facts=1000)
    memory.import_(_many_facts(memory.folder.parent / "many.jsonl", 520))
    view = memory.graph()
    assert len(view.nodes) == 500
    assert view.total_nodes > 500


def _many_facts(path: Path, count: int) -> Path:
    lines = [{"kind": "header", "schema_version": 1}]
    lines += [{"kind": "fact", "content": f"Unit {n:03d} guards door {n:03d} at gate {n % 7}"} for n in range(count)]
    path.write_text("\n".join(json.dumps(line) for line in lines))
    return path


def test_an_export_is_private_and_comes_back_whole(linked: Memory, make: MakeMemory, tmp_path: Path) -> None:
    linked.remember("Deploy branch is main", source=USER)
    linked.remember("Deploy branch is release", source=USER)
    path = tmp_path / "out" / "memory.jsonl"
    linked.export(path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert json.loads(path.read_text().splitlines()[0])["kind"] == "header"
    other = make("elsewhere")
    other.import_(path)
    assert contents(other) == contents(linked)
    assert other.profile().markdown == linked.profile().markdown
    assert other.timeline().markdown == linked.timeline().markdown
    assert "Deploy branch is main" in other.why(other.recall("deploy branch").items[0].id).markdown
    assert other.import_(path).counts["fact"] == 0


def test_an_import_deletes_nothing_and_respects_what_was_forgotten(
    memory: Memory, tmp_path: Path, clock: SetClock
) -> None:
    memory.remember("Printer is on floor 3", source=USER)
    memory.export(tmp_path / "a.jsonl")
    clock.forward(seconds=5)
    memory.forget("printer")
    memory.remember("Lint runs first", source=USER)
    memory.import_(tmp_path / "a.jsonl")
    assert contents(memory) == ["Lint runs first"]


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (['{"kind": "header", "schema_version": 99}', '{"kind": "fact", "content": "x y"}'], "newer version"),
        (["enc:Y2hhdGxzLXNlYWxlZDoxOkFBQUE="], "encrypted"),
    ],
)
def test_an_import_that_cannot_be_read_is_refused_whole(
    memory: Memory, tmp_path: Path, lines: list[str], reason: str
) -> None:
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    with pytest.raises(TransferError, match=reason):
        memory.import_(tmp_path / "a.jsonl")
    assert contents(memory) == []


def test_bad_lines_of_an_import_are_counted_and_the_rest_is_taken(memory: Memory, tmp_path: Path) -> None:
    lines = ['{"kind": "header"}', "not json", '{"kind": "fact", "content": "  "}',
             '{"kind": "fact", "content": "Lint runs first", "category": "weird", "confidence": 7}']  # fmt: skip
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    result = memory.import_(tmp_path / "a.jsonl")
    assert (result.counts["fact"], result.skipped) == (1, 2)
    (fact,) = memory.facts().facts
    assert (fact.category, fact.confidence) == ("general", 1.0)


def test_the_board_shows_in_the_card(memory: Memory) -> None:
    board = {"schema_version": 1, "cards": [{"id": "card-1", "title": "Ship v2", "column": "doing"}]}
    memory.folder.mkdir(parents=True)
    (memory.folder.parent / "board.json").write_text(json.dumps(board))
    assert '1 task in progress on the board: "Ship v2"' in memory.card()
    assert any(n.kind == "card" for n in memory.graph().nodes)


def test_the_source_is_shown_where_a_fact_is_shown(memory: Memory) -> None:
    fact = memory.remember("Lint runs first", source=Source("user", "planning", "m7"))
    for text in (memory.facts().markdown, memory.why(fact.id).markdown, memory.recall("lint").markdown):
        assert "session planning" in text
        assert "m7" in text


def test_a_picture_of_500_nodes_can_be_read(memory: Memory) -> None:
    for number in range(12):
        memory.record_project({"name": f"p{number}", "path": f"/w/p{number}"}, source=USER)
    memory.record_topics({f"cell {number}": "" for number in range(40)}, source=USER)
    for number in range(448):
        text = f"Part {number} of cell {number % 40} exports metric m{number}"
        memory.remember(text, "project", scope=f"/w/p{number % 12}", source=USER)
    view = memory.graph()
    tree = ET.fromstring(view.svg)
    spots, boxes = {}, []
    for group in tree.iter(f"{SVG}g"):
        circle, label = group.find(f"{SVG}circle"), [t.text or "" for t in group.iter(f"{SVG}tspan")]
        assert circle is not None
        x, y, radius = (float(circle.get(name, "")) for name in ("cx", "cy", "r"))
        spots[group.get("data-id", "")] = (x, y)
        if label:
            half = 2.25 * max(map(len, label))
            boxes.append((x - half, y + radius, x + half, y + radius + 11 * len(label)))
    assert len(spots) == 500
    assert len(boxes) >= 52  # each project and topic, at the least
    overlaps = [
        (a, b) for a, b in itertools.combinations(boxes, 2)
        if a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
    ]  # fmt: skip
    assert overlaps == []
    linked = [math.dist(spots[e.a], spots[e.b]) for e in view.edges]
    strangers = [math.dist(a, b) for a, b in itertools.combinations(spots.values(), 2)]
    assert sum(linked) / len(linked) < 0.4 * sum(strangers) / len(strangers)
