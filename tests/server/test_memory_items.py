"""Every kind of remembered item: where it comes from, the search while one types, corrections and their undo."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from chatls_core import config
from chatls_core.memory import Memory, Source
from chatls_core.store import system_clock
from tests.fakes.lsp_client import PLAIN, LspClient, ResponseError

pytestmark = pytest.mark.timeout(180)  # the tests start a real server; a busy machine takes its time

SAID = Source("extraction", session="talk", message="m7")


@pytest.fixture
async def editor(tmp_path: Path) -> AsyncIterator[LspClient]:
    """An editor on a memory that was filled in conversations."""
    memory = Memory(tmp_path / "home" / ".chatcli" / "memory", settings=config.Memory(), clock=system_clock)
    memory.remember("The caching layer is Redis", "architecture", source=SAID)
    memory.record_topics({"Caching": "what is kept in Redis"}, source=SAID)
    memory.record_project({"name": "atlas", "path": "/w/atlas", "technologies": "Go"}, source=SAID)
    memory.record_episode("Fixed the login bug", outcome="merged", project="/w/atlas", source=SAID)
    memory.profile({"skills": "Go, Rust", "name": "Ana"}, source=SAID)
    root = tmp_path / "ws"
    root.mkdir()
    async with LspClient(home=tmp_path / "home", root=root, capabilities=PLAIN) as client:
        yield client


async def ask(editor: LspClient, command: str, **arguments: Any) -> Any:
    return (await editor.command(f"chatls.memory.{command}", arguments))["data"]


async def profile(editor: LspClient) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for field in (await ask(editor, "profile"))["fields"]:
        found.setdefault(field["key"], []).append(field["value"])
    return found


async def test_every_kind_of_item_says_who_said_it_where_and_when(editor: LspClient) -> None:
    (episode,) = (await ask(editor, "timeline"))["episodes"]
    (topic,) = (await ask(editor, "topics"))["topics"]
    (project,) = (await ask(editor, "projects"))["projects"]
    fields = (await ask(editor, "profile"))["fields"]
    for said in (episode["source"], topic["source"], project["source"], *(f["said"] for f in fields)):
        assert (said["kind"], said["session"], said["message"]) == ("extraction", "talk", "m7")
    for item_id in (episode["id"], "topic:Caching", "project:atlas", "profile:skills:Rust", "episode:" + episode["id"]):
        shown = await editor.command("chatls.memory.why", {"id": item_id})
        assert "- said by learned in session talk, message m7, 2" in shown["markdown"], item_id
    recalled = await ask(editor, "recall", query="which topics are about caching?")
    assert {(i["kind"], i["source"].get("session")) for i in recalled["items"]} >= {("topic", "talk"), ("fact", "talk")}


async def test_a_node_of_the_graph_tells_its_facts_and_its_source(editor: LspClient) -> None:
    (fact,) = (await ask(editor, "facts"))["facts"]
    nodes = {n["id"] for n in (await ask(editor, "graph"))["nodes"]}
    assert {"topic:caching", "project:atlas", "profile:user", f"fact:{fact['id']}"} <= nodes
    assert (await ask(editor, "why", id=f"fact:{fact['id']}"))["fact"]["sources"][0]["message"] == "m7"
    for node in ("topic:caching", "tag:architecture"):
        details = await ask(editor, "why", id=node)
        assert [f["content"] for f in details["facts"]] == ["The caching layer is Redis"], node
    for node in nodes:
        assert (await editor.command("chatls.memory.why", {"id": node}))["markdown"], node
    with pytest.raises(ResponseError, match="Nothing is remembered under the id topic:gone"):
        await ask(editor, "why", id="topic:gone")


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("redi", {("fact", "The caching layer is Redis"), ("topic", "Caching — what is kept in Redis")}),
        ("LAYER cach", {("fact", "The caching layer is Redis")}),
        ("merg", {("episode", "Fixed the login bug → merged")}),
        ("atl", {("project", "atlas"), ("episode", "Fixed the login bug → merged")}),
        ("rus", {("profile", "skills: Rust")}),
        ("zzz", set()),
    ],
)
async def test_what_is_typed_so_far_finds_what_contains_it(
    editor: LspClient, typed: str, found: set[tuple[str, str]]
) -> None:
    items = (await ask(editor, "recall", query=typed, typing=True))["items"]
    assert {(i["kind"], i["text"]) for i in items[: len(found)]} == found
    assert [i["why"] == f"contains “{typed}”" for i in items].count(True) == len(found)


async def test_an_entry_of_a_list_is_corrected_in_its_place_and_the_correction_undone(editor: LspClient) -> None:
    done = await ask(editor, "edit", id="profile:skills:Go", content="Go, with generics")
    assert (await profile(editor))["skills"] == ["Go, with generics", "Rust"]
    assert done["id"] == "profile:skills:Go, with generics"
    fields = {f["id"]: f for f in (await ask(editor, "profile"))["fields"]}
    assert (fields[done["id"]]["said"]["kind"], fields["profile:skills:Rust"]["said"]["kind"]) == ("user", "extraction")
    with pytest.raises(ResponseError, match="It may have been changed or forgotten elsewhere"):
        await ask(editor, "edit", id="profile:skills:Go", content="C")
    with pytest.raises(ResponseError, match="An entry needs words"):
        await ask(editor, "edit", id="profile:skills:Rust", content=" ")
    assert (
        "brought back 1 item"
        in (await editor.command("chatls.memory.undo", {"undoToken": done["undoToken"]}))["markdown"]
    )
    assert (await profile(editor))["skills"] == ["Go", "Rust"]
    await ask(editor, "edit", id="profile:name", content="Bia")
    assert (await profile(editor))["name"] == ["Bia"]


async def test_directives_milestones_and_stances_are_corrected_and_forgotten_by_their_ids(editor: LspClient) -> None:
    given = {
        "directive": "Answer briefly, please",
        "milestone": "earned the CKA in March 2025",
        "stance": "monorepos :: one build",
    }
    await ask(editor, "profile", set=given)
    for field, item, new in (
        ("directives", "Answer briefly, please", "Answer in Portuguese, please"),
        ("milestones", "earned the CKA in March 2025", "earned the CKAD in April 2025"),
        ("stances", "monorepos", "small repos"),
    ):
        done = await ask(editor, "edit", id=f"profile:{field}:{item}", content=new)
        assert done["id"] == f"profile:{field}:{new}"
    shown = await profile(editor)
    assert shown["directives"] == ["Answer in Portuguese, please"]
    assert shown["milestones"] == ["[2025-04-01] earned the CKAD in April 2025"]
    assert shown["stances"] == ["small repos (why: one build)"]
    ids = [
        f["id"] for f in (await ask(editor, "profile"))["fields"] if f["key"] in ("directives", "milestones", "stances")
    ]
    forgotten = await ask(editor, "forget", ids=ids)
    assert len(forgotten["items"]) == 3 and set(await profile(editor)) == {"name", "skills"}
    await ask(editor, "undo", undoToken=forgotten["undoToken"])
    assert (await profile(editor))["stances"] == ["small repos (why: one build)"]


async def test_where_an_item_comes_from_is_forgotten_with_it(editor: LspClient, tmp_path: Path) -> None:
    details = tmp_path / "home" / ".chatcli" / "memory" / "memory_details.json"
    forgotten = await ask(editor, "forget", ids=["topic:Caching", "project:atlas", "profile:skills:Rust"])
    assert (
        not {"topic:Caching", "project:atlas", "profile:skills:Rust"} & json.loads(details.read_text())["items"].keys()
    )
    await ask(editor, "undo", undoToken=forgotten["undoToken"])
    assert (await ask(editor, "topics"))["topics"][0]["source"]["message"] == "m7"
