"""Learning in the background: what is said is learned once, or still queued."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest

from chatls_core.llm.events import ModelError
from chatls_core.llm.messages import Message, ModelRequest, TextPart, ToolResultPart
from chatls_core.llm.model import ModelInfo
from chatls_core.memory import MemoryChange, Source
from chatls_core.memory.worker import Segment
from tests.core.memory.worker.rig import Rig, asked, outage
from tests.fakes.file_system import Crash, FailingFileSystem, full_disk

FACT = """\
## DAILY
- Set up the release job
## LONGTERM
- [project] The billing service is written in Rust
## PROFILE_UPDATE
company=Acme
## TOPICS
release process: how billing is shipped
## PROJECTS
project_name=billing
project_status=active
## EPISODES
- Set up the release job for billing :: works :: ci.yml
"""
TALK = ("we write billing in Rust", "I set up the release job for billing", "thanks, I work at Acme", "noted")


async def test_four_messages_become_facts_episodes_and_a_notice(tmp_path: Path) -> None:
    rig = Rig(tmp_path, lambda _: FACT)
    rig.offer(*TALK)
    result = await rig.learner.run_once()
    assert rig.facts == ["The billing service is written in Rust"]
    assert result.notice == "remembered 1 fact, 1 profile entry, 1 project, 1 topic, 1 episode"
    assert [e.summary for e in rig.memory.timeline().episodes] == ["Set up the release job for billing"]
    assert "Set up the release job" in rig.memory.daily("2026-03-02").text
    assert not rig.queued


async def test_fewer_messages_wait_for_more(tmp_path: Path) -> None:
    rig = Rig(tmp_path, lambda _: FACT)
    rig.offer(*TALK[:2])
    assert (await rig.learner.run_once()).skipped == "nothing"
    rig.offer(*TALK[2:])
    await rig.learner.run_once()
    assert len(rig.model.requests) == 1
    assert "Rust" in asked(rig.model.requests[0]) and "Acme" in asked(rig.model.requests[0])


async def test_what_a_finished_conversation_left_over_is_learned_after_a_while(tmp_path: Path) -> None:
    rig = Rig(tmp_path, lambda _: FACT)
    rig.offer(*TALK[:2])
    rig.clock.advance(minutes=11)
    await rig.learner.run_once()
    assert rig.facts


async def test_a_second_run_waits_for_the_cool_down(tmp_path: Path) -> None:
    rig = Rig(tmp_path, lambda _: FACT)
    rig.offer(*TALK)
    await rig.learner.run_once()
    rig.offer(*TALK)
    assert (await rig.learner.run_once()).skipped == "resting"
    rig.clock.advance(seconds=121)
    assert (await rig.learner.run_once()).messages == 4


async def test_items_carry_the_message_and_its_time(tmp_path: Path) -> None:
    rig = Rig(tmp_path, lambda _: FACT)
    messages = rig.offer(*TALK, session="talk")
    rig.clock.advance(days=3)
    await rig.learner.run_once()
    fact = rig.memory.facts().facts[0]
    assert (fact.sources[0].session, fact.sources[0].message) == ("talk", messages[0].id)
    assert fact.sources[0].time == messages[0].time
    assert rig.memory.timeline().episodes[0].date == messages[1].time


async def test_a_weekend_without_a_provider_loses_nothing(tmp_path: Path) -> None:
    rig = Rig(tmp_path, outage)
    messages = rig.offer(*TALK)
    notices = []
    for _ in range(60):
        rig.clock.advance(hours=1)
        notices.append((await rig.learner.run_once()).notice)
    rig.model.script = lambda _: FACT
    rig.clock.advance(hours=1)
    result = await rig.learner.run_once()
    assert rig.facts and rig.memory.timeline().episodes[0].date == messages[1].time
    assert len([n for n in notices if n]) == 1 and "Nothing is lost" in "".join(notices)
    assert result.notice.startswith("Learning in the background works again")


async def test_ten_minutes_without_a_provider_cost_no_conversation(tmp_path: Path) -> None:
    """memory.md §18.1 row 19: after two failures one conversation was dropped per pass."""
    rig = Rig(tmp_path, outage)
    for number in range(6):
        rig.offer(*(f"{text} no {number}" for text in TALK), session=f"talk{number}")
    for _ in range(20):
        rig.clock.advance(seconds=130)
        assert not (await rig.learner.run_once(drain=True)).dropped
    rig.restart()
    assert len(rig.queued) == 6
    learned: list[str] = []

    def answer(request: ModelRequest) -> str:
        learned.extend(re.findall(r"no (\d)", asked(request).split("\n")[0]))
        return "NOTHING_NEW"

    rig.model.script = answer
    for _ in range(3):
        rig.clock.advance(minutes=5)
        await rig.learner.run_once(drain=True)
    assert sorted(learned) == ["0", "1", "2", "3", "4", "5"]
    assert not rig.queued


async def test_three_failures_rest_for_five_minutes(tmp_path: Path) -> None:
    rig = Rig(tmp_path, outage)
    rig.offer(*TALK)
    for _ in range(3):
        rig.clock.advance(seconds=121)
        await rig.learner.run_once()
    rig.clock.advance(seconds=121)
    assert (await rig.learner.run_once()).skipped == "resting"
    rig.clock.advance(seconds=180)
    assert (await rig.learner.run_once()).skipped == ""


async def test_an_answer_that_makes_no_sense_is_asked_for_again_and_given_up_at_last(tmp_path: Path) -> None:
    """memory.md §18.1 row 28: a refusal is no daily note."""
    rig = Rig(tmp_path, lambda _: "I'm sorry, I can't help with that.")
    rig.offer(*TALK)
    dropped = 0
    for _ in range(5):
        rig.clock.advance(seconds=700)
        dropped += (await rig.learner.run_once()).dropped
    assert dropped == 4 and len(rig.model.requests) == 3
    assert not rig.queued and not rig.facts
    assert rig.memory.daily("2026-03-02").text.startswith("There is no note")


async def test_a_poisonous_conversation_does_not_hold_up_the_others(tmp_path: Path) -> None:
    def script(request: ModelRequest) -> str:
        if "poison" in asked(request):
            raise ModelError("bad_request", "Invalid request.")
        return FACT

    rig = Rig(tmp_path, script)
    for number in range(4):
        rig.offer("poison", "a", "b", "c", session=f"bad{number}")
    rig.offer(*TALK, session="good")
    for _ in range(4):
        rig.clock.advance(seconds=500)
        await rig.learner.run_once()
    assert rig.facts and len(rig.queued) == 4


async def test_a_request_that_is_refused_for_good_is_asked_for_ever_more_rarely(tmp_path: Path) -> None:
    def script(_: ModelRequest) -> str:
        raise ModelError("bad_request", "Invalid request.")

    rig = Rig(tmp_path, script)
    rig.offer(*TALK)
    for _ in range(24 * 12):
        rig.clock.advance(minutes=5)
        await rig.learner.run_once()
    assert len(rig.model.requests) < 15 and rig.queued


async def test_an_answer_nobody_can_store_does_not_end_learning(tmp_path: Path) -> None:
    rig = Rig(tmp_path, lambda _: FACT)
    answers = tmp_path / "memory" / "pending" / "answers"
    answers.mkdir(parents=True)
    odd = {"created_at": "2026-03-01T00:00:00Z", "segment": {"created_at": "2026-03-01T00:00:00Z"}, "reply": FACT}
    (answers / "ans-1.json").write_text(json.dumps(odd))
    rig.offer(*TALK)
    await rig.learner.run_once()
    assert rig.facts and [p.name for p in answers.iterdir()] == ["ans-1.json.corrupt"]


async def test_what_failed_for_a_month_is_dropped(tmp_path: Path) -> None:
    rig = Rig(tmp_path, outage)
    rig.offer(*TALK)
    rig.clock.advance(days=31)
    assert (await rig.learner.run_once()).dropped == 4


async def test_a_month_of_holidays_is_no_reason_to_drop(tmp_path: Path) -> None:
    rig = Rig(tmp_path, lambda _: FACT)
    rig.offer(*TALK)
    rig.clock.advance(days=45)
    rig.restart()
    await rig.learner.run_once(drain=True)
    assert rig.facts


async def test_instructions_and_known_things_are_cached_and_the_segment_is_not(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    rig.offer(*TALK, session="a")
    rig.offer("other talk", "yes", "more", "fine", session="b")
    await rig.learner.run_once()
    first, second = rig.model.requests
    assert first.system == second.system and first.messages != second.messages
    assert not any("Rust" in part for part in first.system)


async def test_what_is_learned_meanwhile_leaves_the_cached_beginning_as_it_was(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    rig.memory.remember("The ledger is kept in Postgres 16", source=Source("user"))
    rig.offer(*TALK, session="a")
    await rig.learner.run_once()
    rig.memory.remember("Deploys happen on Tuesdays", source=Source("user"))
    rig.clock.advance(minutes=3)
    rig.offer("other talk", "yes", "more", "fine", session="b")
    await rig.learner.run_once()
    rig.memory.remember("The ledger is kept in Postgres 17", source=Source("user"))
    rig.clock.advance(minutes=3)
    rig.offer("third talk", "yes", "more", "fine", session="c")
    await rig.learner.run_once()
    first, second, third = rig.model.requests
    assert first.system == second.system and "Tuesdays" in second.messages[0].text
    assert "other talk" in asked(second) and "Tuesdays" not in asked(second)
    assert "Postgres 17" in third.system[-1] and "Postgres 16" not in third.system[-1]


async def test_models_without_tools_are_held_to_a_schema(tmp_path: Path) -> None:
    answer = {"daily": [], "longterm": [{"category": "gotcha", "content": "Port 8080 is taken by the proxy"}]}
    rig = Rig(tmp_path, lambda _: json.dumps(answer))
    rig.model.info = ModelInfo(window=4096, native_tools=False)
    rig.offer("why does it not start?", "port 8080 is taken by the proxy", "ah", "yes")
    await rig.learner.run_once()
    assert rig.model.requests[0].json_schema is not None
    assert rig.facts == ["Port 8080 is taken by the proxy"]


async def test_what_a_schema_held_model_invents_is_left_out(tmp_path: Path) -> None:
    answer = {
        "daily": ["set up the release job", "billing in Rust 16.1.0.1", "write billing " * 20, "2026-03-02"],
        "longterm": [
            {"category": "project", "content": "The billing service is written in Rust"},
            {"category": "project", "content": "The warehouse uses a Cassandra cluster"},
        ],
        "profile": [{"key": "company", "value": "Acme"}, {"key": "role", "value": "astronaut"}],
        "topics": [{"name": "architecture-project-list", "summary": ""}],
        "episodes": [{"summary": "Set up the release job for billing", "outcome": "done", "refs": []}],
    }
    rig = Rig(tmp_path, lambda _: json.dumps(answer))
    rig.model.info = ModelInfo(window=4096, native_tools=False)
    rig.offer(*TALK)
    await rig.learner.run_once()
    assert rig.facts == ["The billing service is written in Rust"]
    assert [(f.key, f.value) for f in rig.memory.profile().fields] == [("company", "Acme")]
    assert not rig.memory.topics().topics and len(rig.memory.timeline().episodes) == 1
    assert rig.memory.daily("2026-03-02").text.endswith("\n\n- set up the release job")


async def test_a_large_model_may_use_words_of_its_own(tmp_path: Path) -> None:
    rig = Rig(tmp_path, lambda _: "## LONGTERM\n- [preference] User likes concise replies")
    rig.offer("keep it short please", "ok", "thanks", "sure")
    await rig.learner.run_once()
    assert rig.facts == ["User likes concise replies"]


async def test_a_request_fits_a_small_window(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    rig.model.info = ModelInfo(window=4096)
    rig.offer(*(f"{n} " + "palavra longa " * 900 for n in range(20)))
    await rig.learner.run_once()
    request = rig.model.requests[0]
    assert len("".join(request.system) + asked(request)) < 4096 * 3
    assert all(f"]: {n} palavra" in asked(request) for n in range(20))


def test_injected_blocks_tool_results_and_secrets_stay_out() -> None:
    now = datetime(2026, 3, 2, tzinfo=UTC)
    messages = [
        Message("user", (TextPart("[TURN CONTEXT] recalled"),), kind="turn_context", id="1", time=now),
        Message("user", (TextPart("my key is sk-ant-api03-" + "a" * 40),), id="2", time=now),
        Message("user", (ToolResultPart("c", "read", "file text"),), kind="tool_result", id="3", time=now),
        Message("assistant", (TextPart("done"),), id="4", time=now),
    ]
    segment = Segment.of(messages, session="s", now=now)
    assert [line.id for line in segment.lines] == ["2", "4"]
    assert "a" * 40 not in segment.lines[0].text


async def test_offering_the_same_messages_again_changes_nothing(tmp_path: Path) -> None:
    rig = Rig(tmp_path, lambda _: FACT)
    messages = rig.offer(*TALK)
    segment = Segment.of(messages, session="s", now=rig.clock.now)
    assert rig.learner.offer(segment) == 0
    await rig.learner.run_once()
    rig.restart()
    assert rig.learner.offer(segment) == 0
    assert not rig.queued


async def test_fresh_messages_are_those_after_the_last_offer(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    messages = rig.offer(*TALK)
    more = [*messages, *rig.said("and now", "something else")]
    assert list(rig.learner.fresh(more, "s")) == more[4:]
    assert list(rig.learner.fresh(more, "fork", origin="s")) == more[4:]
    assert list(rig.learner.fresh(more, "unknown")) == []


async def test_what_is_said_while_memory_is_off_is_never_learned(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    messages = rig.said(*TALK)
    rig.learner.pass_over("s", messages[-1].id)
    assert not rig.learner.fresh(messages, "s")


async def test_files_of_chatcli_are_learned_from_with_their_own_date(tmp_path: Path) -> None:
    rig = Rig(tmp_path, lambda _: FACT)
    folder = tmp_path / "memory" / "pending"
    folder.mkdir(parents=True, exist_ok=True)
    said = datetime(2026, 2, 20, 15, 0, tzinfo=UTC)
    content = {
        "created_at": said.isoformat(),
        "messages": [{"role": "system", "content": "rules"}, {"role": "user", "content": "the release job works"}],
        "attempts": 1,
        "workspace": "/old",
    }
    (folder / f"seg-{1:020d}.json").write_text(json.dumps(content))
    (folder / f"seg-{2:020d}.json").write_text("{ torn")
    await rig.learner.run_once(drain=True)
    episode = rig.memory.timeline(start="2026-02-20", end="2026-02-20").episodes[0]
    assert (episode.date, episode.project) == (said, "/old")
    assert "rules" not in asked(rig.model.requests[0])
    assert (folder / f"seg-{2:020d}.json.corrupt").exists()


async def test_two_processes_learn_one_at_a_time(tmp_path: Path) -> None:
    rig = Rig(tmp_path, lambda _: FACT)
    other = rig.make_learner()
    rig.clock.advance(seconds=130)
    rig.offer(*TALK)
    results = await asyncio.gather(rig.learner.run_once(), other.run_once())
    assert len(rig.model.requests) == 1
    assert sum(r.messages for r in results) == 4


async def test_nothing_is_learned_while_memory_is_switched_off(tmp_path: Path) -> None:
    rig = Rig(tmp_path, lambda _: FACT, enabled=False)
    rig.offer(*TALK)
    assert (await rig.learner.run_once()).skipped == "off"
    assert not rig.model.requests


@pytest.mark.parametrize("operation", ["replace", "delete"])
@pytest.mark.parametrize("step", range(20))
async def test_a_process_killed_while_storing_goes_on_without_asking_again(
    tmp_path: Path, operation: str, step: int
) -> None:
    rig = Rig(tmp_path, lambda _: FACT)
    rig.offer(*TALK)
    failing = FailingFileSystem()
    rig.restart(failing)
    failing.fail(operation, Crash(), after=step)
    with contextlib.suppress(Crash):
        await rig.learner.run_once()
    asked_before = len(rig.model.requests)
    answered = bool(list((tmp_path / "memory" / "pending" / "answers").glob("ans-*.json")))
    rig.restart()
    await rig.learner.run_once(drain=True)
    if answered:
        assert len(rig.model.requests) == asked_before
    assert rig.facts == ["The billing service is written in Rust"]
    assert len(rig.memory.timeline().episodes) == 1
    assert rig.memory.daily("2026-03-02").text.count("- Set up the release job") == 1
    assert rig.memory.topics().topics[0].mentions == 1
    assert not rig.queued


@pytest.mark.parametrize("step", range(3))
async def test_a_process_killed_while_queueing_loses_and_repeats_nothing(tmp_path: Path, step: int) -> None:
    rig = Rig(tmp_path)
    rig.offer("word0", "word1")
    messages = rig.said("word2", "word3")
    segment = Segment.of(messages, session="s", workspace="/ws", now=rig.clock.now)
    failing = FailingFileSystem()
    rig.restart(failing)
    failing.fail("replace", Crash(), after=step)
    with contextlib.suppress(Crash):
        rig.learner.offer(segment)
    rig.restart()
    rig.clock.advance(minutes=11)
    await rig.learner.run_once(drain=True)
    rig.learner.offer(segment)
    rig.clock.advance(minutes=11)
    await rig.learner.run_once(drain=True)
    words = re.findall(r"word\d", " ".join(asked(r) for r in rig.model.requests))
    assert sorted(words) == ["word0", "word1", "word2", "word3"]


async def test_a_full_disk_keeps_the_answer_for_later(tmp_path: Path) -> None:
    rig = Rig(tmp_path, lambda _: FACT)
    rig.offer(*TALK)
    failing = FailingFileSystem()
    rig.restart(failing)
    failing.fail("create", full_disk(), after=3)
    assert (await rig.learner.run_once()).error
    rig.clock.advance(seconds=130)
    await rig.learner.run_once()
    assert rig.facts and len(rig.model.requests) == 1


def files_with(folder: Path, part: bytes) -> list[str]:
    return [p.name for p in folder.rglob("*") if p.is_file() and part in p.read_bytes()]


async def test_with_a_key_nothing_waits_in_plain_text(tmp_path: Path) -> None:
    rig = Rig(tmp_path, lambda _: FACT, review="ask")
    rig.environment["CHATCLI_ENCRYPTION_KEY"] = "a long passphrase of the user"
    failing = FailingFileSystem()
    rig.restart(failing)
    rig.offer(*TALK)
    failing.fail("replace", Crash(), after=2)
    with contextlib.suppress(Crash):
        await rig.learner.run_once()
    assert len(files_with(tmp_path, b"")) > 3 and not files_with(tmp_path, b"billing")
    rig.restart()
    await rig.learner.run_once(drain=True)
    assert not files_with(tmp_path, b"billing")
    assert len(rig.learner.pending().items) == 6


async def test_a_queue_whose_key_is_missing_waits_for_it(tmp_path: Path) -> None:
    rig = Rig(tmp_path, lambda _: FACT)
    rig.environment["CHATCLI_ENCRYPTION_KEY"] = "a long passphrase of the user"
    rig.restart()
    rig.offer(*TALK)
    key = rig.environment.pop("CHATCLI_ENCRYPTION_KEY")
    rig.restart()
    assert not (await rig.learner.run_once(drain=True)).messages
    rig.environment["CHATCLI_ENCRYPTION_KEY"] = key
    rig.restart()
    await rig.learner.run_once(drain=True)
    assert rig.facts


CORRECTED = """\
## LONGTERM
- [project] The billing service is written in Go
- [gotcha] Port 7001 is taken by the metrics agent
## PROFILE_UPDATE
company=Initech
skills=Go
## TOPICS
ports: which port is whose
## PROJECTS
project_name=ledger
## EPISODES
- Rewrote billing in Go :: works :: main.go
"""


async def test_the_user_may_clear_a_list_in_conversation(tmp_path: Path) -> None:
    """memory.md §18.1 row 24: what the model learned with an empty value."""
    rig = Rig(tmp_path, lambda _: "## PROFILE_UPDATE\ngoals_replace=\nskills_replace: NOTHING_NEW\n")
    rig.memory.profile({"goals": "ship v2, write docs", "skills": "Go", "interests": "sailing"}, source=Source("user"))
    rig.clock.advance(minutes=1)
    rig.offer("forget all my goals and skills", "Done.", "thanks", "You are welcome.")
    await rig.learner.run_once()
    assert [(f.key, f.value) for f in rig.memory.profile().fields] == [("interests", "sailing")]


async def test_all_projects_of_a_conversation_are_learned_and_addresses_stay_whole(tmp_path: Path) -> None:
    """memory.md §18.1 row 29: several projects, ``=`` behind ``:``, a colon in a name, letters longer in upper case."""
    reply = (
        "ı ıı ß\n## topics\nstd::vector: how it grows\nİstanbul: a city\n"
        "## profile_update\nsite: https://x?a=b\n"
        "## projects\nproject_name=billing\nproject_path=/src/billing?x=1\n\nproject_name=web\nstatus: paused\n"
    )
    rig = Rig(tmp_path, lambda _: reply)
    rig.offer(*TALK)
    await rig.learner.run_once()
    projects = {p.name: (p.path, p.status) for p in rig.memory.projects().projects}
    assert projects == {"billing": ("/src/billing?x=1", "active"), "web": ("", "paused")}
    assert [(f.key, f.value) for f in rig.memory.profile().fields] == [("site", "https://x?a=b")]
    topics = {t.name: t.summary for t in rig.memory.topics().topics}
    assert topics == {"std::vector": "how it grows", "İstanbul": "a city"}


async def test_what_a_run_learned_is_told_once_and_taken_back_at_once(tmp_path: Path) -> None:
    rig = Rig(tmp_path, lambda _: FACT)
    rig.offer(*TALK)
    await rig.learner.run_once()
    before = everything(rig)
    told: list[MemoryChange] = []
    rig.memory.subscribe(told.append)
    rig.clock.advance(hours=1)
    rig.model.script = lambda _: CORRECTED
    rig.offer("billing is in Go now", "rewrote it in main.go", "I moved to Initech", "noted")
    await rig.learner.run_once()
    assert len(told) == 1 and told[0].background and told[0].undo_token
    kinds = Counter(i.split(":")[0].split("_")[0] if ":" in i or i.startswith("ep_") else "fact" for i in told[0].added)
    assert kinds == {"fact": 2, "ep": 1, "topic": 1, "project": 1}
    assert everything(rig) != before
    rig.restart()
    undone = rig.memory.undo(told[0].undo_token)
    assert everything(rig) == before
    assert undone.removed and undone.restored
    assert not rig.memory.undo(told[0].undo_token).removed


async def test_taking_back_leaves_alone_what_the_user_changed_since(tmp_path: Path) -> None:
    rig = Rig(tmp_path, lambda _: CORRECTED)
    told: list[MemoryChange] = []
    rig.memory.subscribe(told.append)
    rig.offer("billing is in Go now", "rewrote it in main.go", "I moved to Initech", "noted")
    await rig.learner.run_once()
    rig.memory.profile({"company": "Umbrella"})
    rig.memory.undo(told[0].undo_token)
    assert {f.key: f.value for f in rig.memory.profile().fields} == {"company": "Umbrella"}


async def test_learning_all_day_does_not_push_out_what_was_forgotten(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    rig.memory.remember("The moon base has three domes", source=Source("user"))
    token = rig.memory.forget("moon base").undo_token
    for number in range(60):
        with rig.memory.together():
            rig.memory.remember(f"Service number{number} listens on its own port", source=Source("extraction"))
    assert rig.memory.undo(token).restored


def everything(rig: Rig) -> tuple[object, ...]:
    return (
        sorted(rig.facts),
        sorted(e.summary for e in rig.memory.timeline().episodes),
        sorted(t.name for t in rig.memory.topics().topics),
        sorted(p.name for p in rig.memory.projects().projects),
        sorted((f.key, f.value) for f in rig.memory.profile().fields),
    )
