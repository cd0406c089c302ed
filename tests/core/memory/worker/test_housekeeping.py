"""Memory stays small and tidy by the times on disk, whatever stops a run in the middle."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from chatls_core.llm.messages import ModelRequest
from chatls_core.llm.model import ModelInfo
from chatls_core.memory import Source
from tests.core.memory.worker.rig import QuickFileSystem, Rig, asked, outage
from tests.fakes.file_system import Crash, FailingFileSystem

EXTRACTED = Source("extraction")


def remember(rig: Rig, *contents: str, source: Source = EXTRACTED) -> list[str]:
    return [rig.memory.remember(c, "project", source=source).id for c in contents]


def many(rig: Rig, count: int = 12) -> list[str]:
    names = (
        "alder",
        "birch",
        "cedar",
        "elm",
        "fir",
        "hazel",
        "larch",
        "maple",
        "oak",
        "pine",
        "rowan",
        "spruce",
        "willow",
        "yew",
        "aspen",
        "beech",
        "ebony",
        "fig",
        "ginkgo",
        "holly",
        "ivy",
        "jasmine",
        "kapok",
        "lime",
    )
    return remember(rig, *(f"Service {names[n]} is owned by the {names[-n - 1]} squad" for n in range(count)))


def number(rig: Rig, request: ModelRequest, content: str) -> int:
    """The number a fact has in a request."""
    return next(int(line.split(".")[0]) for line in asked(request).splitlines() if content in line)


async def test_the_model_merges_what_it_names_and_nothing_else_changes(tmp_path: Path) -> None:
    """memory.md §18.1 row 21: what is known of both parents and links to them belongs to the merged fact."""
    rig = Rig(tmp_path)
    first = remember(rig, "The cache runs on Redis in production with replicas")[0]
    start = rig.clock.now
    rig.clock.advance(days=2)
    many(rig)
    second = rig.memory.remember(
        "Production cache Redis runs with replicas and snapshots", "project", source=Source("extraction", "t", "m7")
    ).id
    before = {f.id: f for f in rig.memory.facts(limit=100).facts}
    assert {first, second} <= before.keys()
    rig.memory.record_topics({"cache snapshots": "", "in production with replicas": ""}, source=EXTRACTED)
    merged = "The production cache runs on Redis with replicas and snapshots"
    rig.clock.advance(days=1)

    def script(request: ModelRequest) -> str:
        a, b = (number(rig, request, before[i].content) for i in (first, second))
        return f"MERGE {a}, {b}: [project] {merged}"

    rig.model.script = script
    done = await rig.housekeeper.housekeep()
    after = {f.id: f for f in rig.memory.facts(limit=100).facts}
    new = next(f for f in after.values() if f.content == merged)
    assert done.by == "model" and done.merged == 1
    assert after.keys() == (before.keys() - {first, second}) | {new.id}
    assert new.created_at == start
    assert new.last_accessed == before[second].last_accessed
    assert {s.message for s in new.sources} == {"", "m7"}
    assert {t.name: t.fact_ids for t in rig.memory.topics().topics} == {
        "cache snapshots": (new.id,),
        "in production with replicas": (new.id,),
    }
    untouched = before.keys() & after.keys()
    assert all(after[i].last_accessed == before[i].last_accessed for i in untouched)
    assert len(json.loads((tmp_path / "memory" / "memory_archive.json").read_text())) == 2
    assert merged in (tmp_path / "memory" / "MEMORY.md").read_text()


async def test_sensitive_facts_are_shown_to_no_model_and_stay_as_they_are(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    many(rig)
    marked, told = remember(rig, "The safe stands behind the ficus", "The landlord's account is DE89370400440532013000")
    rig.memory.sensitive(marked)
    rig.model.script = lambda _: "NOTHING"
    await rig.housekeeper.housekeep()
    seen = "".join(str(asked(request)) for request in rig.model.requests)
    assert "Service alder" in seen
    assert "ficus" not in seen and "DE89" not in seen
    assert {marked, told} <= {f.id for f in rig.memory.facts(limit=100).facts}


@pytest.mark.parametrize(
    "reply",
    [
        "MERGE 1, 2: The services are owned by squads",  # loses the names
        "DROP 1, 2, 3, 4, 5, 6, 7, 8, 9: old",  # more than half
        "I can't help with that.",
        "- [project] Service alder is owned by squads",  # a shortened list
        "MERGE 1, 99: Service alder is owned by the lime squad",
        "MERGE 1: Service alder is owned by 3 squads",
    ],
)
async def test_an_answer_that_would_lose_facts_is_not_believed(tmp_path: Path, reply: str) -> None:
    rig = Rig(tmp_path, lambda _: reply)
    ids = many(rig)
    await rig.housekeeper.housekeep()
    assert {f.id for f in rig.memory.facts(limit=100).facts} == set(ids)


async def test_what_the_user_said_and_what_is_pinned_is_never_dropped(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    many(rig)
    said = remember(rig, "Deploys happen on Tuesdays only", source=Source("user"))[0]
    pinned = remember(rig, "The staging cluster has blue nodes")[0]
    rig.memory.pin(pinned)
    rig.model.script = lambda r: f"DROP {number(rig, r, 'Tuesdays')}\nDROP {number(rig, r, 'blue nodes')}"
    await rig.housekeeper.housekeep()
    assert {said, pinned} <= {f.id for f in rig.memory.facts(limit=100).facts}


async def test_a_store_compacted_every_day_fades_all_the_same(tmp_path: Path) -> None:
    """memory.md §18.1 row 20: a pass of the model is no use of the facts it saw."""
    rig = Rig(tmp_path)
    old = many(rig)
    used = old[0]
    for day in range(0, 160, 4):
        rig.clock.advance(days=4)
        remember(rig, f"The visitor of day {day} liked the {day} cakes")
        if day % 40 == 0:
            rig.memory.evidence([used], "Service alder is owned by the lime squad, as I said.")
        assert (await rig.housekeeper.housekeep()).by == "model"
    left = {f.id for f in rig.memory.facts(limit=100).facts}
    assert left & set(old) == {used}
    assert len(json.loads((tmp_path / "memory" / "memory_archive.json").read_text())) >= 11


async def test_what_is_due_is_told_by_the_time_on_disk(tmp_path: Path) -> None:
    """memory.md §18.1 row 22: one who works an hour a day has a tidy memory, though no process lasts."""
    rig = Rig(tmp_path)
    many(rig)
    rig.memory.note("of that day", time=rig.clock.now)
    await rig.housekeeper.housekeep()
    for hours, due in ((1, False), (22, False), (2, True)):
        rig.clock.advance(hours=hours)
        many(rig, 14)
        rig.restart()
        assert bool((await rig.housekeeper.housekeep()).by) is due
    removed: list[str] = []
    for _ in range(40):
        rig.clock.advance(hours=24)
        rig.restart()
        removed += (await rig.housekeeper.housekeep()).notes_removed
    assert removed == ["2026-03-02"]


async def test_a_store_near_its_cap_is_compacted_earlier(tmp_path: Path) -> None:
    rig = Rig(tmp_path, max_facts=14)
    many(rig)
    await rig.housekeeper.housekeep()
    rig.clock.advance(hours=7)
    assert (await rig.housekeeper.housekeep()).by


async def test_a_clock_that_was_in_the_future_does_not_stop_housekeeping(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    many(rig)
    await rig.housekeeper.housekeep()
    rig.clock.advance(days=3000)
    assert (await rig.housekeeper.housekeep()).archived == 0
    rig.clock.advance(days=-3000)
    assert (await rig.housekeeper.housekeep()).by
    assert len(rig.facts) == 12


async def test_the_same_facts_are_not_paid_for_twice(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    many(rig)
    await rig.housekeeper.housekeep()
    rig.clock.advance(days=2)
    await rig.housekeeper.housekeep()
    assert len(rig.model.requests) == 1


async def test_faded_facts_go_to_the_archive_and_the_users_words_stay(tmp_path: Path) -> None:
    rig = Rig(tmp_path, outage)
    many(rig)
    said = remember(rig, "My sister is called Ines", source=Source("user"))
    for days in (0, 150, 1):
        rig.clock.advance(days=days)
        done = await rig.housekeeper.housekeep()
    assert (done.by, done.archived) == ("score", 12)
    assert [f.id for f in rig.memory.facts().facts] == said
    assert len(json.loads((tmp_path / "memory" / "memory_archive.json").read_text())) == 12


async def test_old_notes_go_and_young_ones_stay(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    rig.memory.note("old", time=rig.clock.now - timedelta(days=40))
    rig.memory.note("young", time=rig.clock.now - timedelta(days=20))
    done = await rig.housekeeper.housekeep()
    assert done.notes_removed == ("2026-01-21",)
    assert "young" in rig.memory.daily(date(2026, 2, 10)).text
    assert sorted(p.name for p in (tmp_path / "memory").glob("20*")) == ["202602"]


async def test_what_killed_writers_left_half_made_goes_after_a_day(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    many(rig)
    folder = tmp_path / "memory"
    (folder / "weekly").mkdir()
    old = [folder / ".MEMORY.md.0123456789ab.tmp", folder / "weekly" / ".2026-W01.md.0123456789ab.tmp"]
    young = folder / ".topics.json.0123456789ab.tmp"
    now = rig.clock()
    for path, age in ((old[0], 25), (old[1], 49), (young, 1)):
        path.write_text("half")
        seconds = (now - timedelta(hours=age)).timestamp()
        os.utime(path, (seconds, seconds))
    await rig.housekeeper.housekeep(now=True)
    assert [path.exists() for path in (*old, young)] == [False, False, True]


def worked(rig: Rig, day: datetime, summary: str) -> None:
    rig.memory.record_episode(summary, outcome="done", date=day, source=EXTRACTED)


def digest(rig: Rig, name: str) -> str:
    return (rig.home / "memory" / f"{name}.md").read_text()


async def test_a_finished_week_and_month_have_digests(tmp_path: Path) -> None:
    rig = Rig(tmp_path, lambda r: "- shipped the parser" if "parser" in asked(r) else "no bullets")
    worked(rig, datetime(2026, 2, 10, 12, tzinfo=UTC), "Wrote the parser")
    worked(rig, datetime(2026, 3, 2, 8, tzinfo=UTC), "Began the lexer")
    done = await rig.housekeeper.housekeep()
    assert done.digests == ("weekly/2026-W07", "monthly/2026-02")
    text = digest(rig, "weekly/2026-W07")
    assert text == "# Week 2026-W07 (2026-02-09 – 2026-02-15)\n\n- shipped the parser\n"


async def test_without_a_model_a_digest_lists_what_was_done_and_is_made_again_later(tmp_path: Path) -> None:
    rig = Rig(tmp_path, outage)
    worked(rig, datetime(2026, 2, 10, 12, tzinfo=UTC), "Wrote the parser")
    await rig.housekeeper.housekeep()
    assert "- 2026-02-10: Wrote the parser → done" in digest(rig, "weekly/2026-W07")
    rig.model.script = lambda _: "- the parser, at last"
    rig.clock.advance(hours=13)
    await rig.housekeeper.housekeep()
    assert "- the parser, at last" in digest(rig, "weekly/2026-W07")


async def test_a_small_model_sums_up_only_what_was_done(tmp_path: Path) -> None:
    rig = Rig(
        tmp_path, lambda _: "- Wrote the parser on 2026-02-10\n- Landed on the moon in 1969\n" + "- the the the the the"
    )
    rig.model.info = ModelInfo(window=4096, native_tools=False)
    worked(rig, datetime(2026, 2, 10, 12, tzinfo=UTC), "Wrote the parser")
    await rig.housekeeper.housekeep()
    assert digest(rig, "weekly/2026-W07").endswith("\n\n- Wrote the parser on 2026-02-10\n")


async def test_late_episodes_are_brought_into_their_digest_though_the_notes_are_gone(tmp_path: Path) -> None:
    rig = Rig(tmp_path, lambda r: "\n".join(x for x in asked(r).splitlines() if x.startswith("- ")))
    rig.memory.note("- fixed the build by hand", time=datetime(2026, 2, 11, 12, tzinfo=UTC))
    worked(rig, datetime(2026, 2, 10, 12, tzinfo=UTC), "Wrote the parser")
    await rig.housekeeper.housekeep()
    rig.clock.advance(days=40)
    await rig.housekeeper.housekeep()
    asked_before = len(rig.model.requests)
    rig.clock.advance(days=1)
    assert not (await rig.housekeeper.housekeep()).digests and len(rig.model.requests) == asked_before
    worked(rig, datetime(2026, 2, 12, 12, tzinfo=UTC), "Measured the parser")
    rig.clock.advance(days=1)
    await rig.housekeeper.housekeep()
    text = digest(rig, "weekly/2026-W07")
    assert "Measured the parser" in text and "fixed the build by hand" in text


async def test_a_digest_of_another_program_is_left_as_it_is(tmp_path: Path) -> None:
    rig = Rig(tmp_path, lambda _: "- ours")
    worked(rig, datetime(2026, 2, 10, 12, tzinfo=UTC), "Wrote the parser")
    path = tmp_path / "memory" / "weekly" / "2026-W07.md"
    path.parent.mkdir(parents=True)
    path.write_text("# Week 2026-W07\n\n- theirs\n")
    await rig.housekeeper.housekeep()
    assert "- theirs" in path.read_text()


async def test_the_user_may_ask_for_it_at_any_time(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    many(rig)
    await rig.housekeeper.housekeep()
    remember(rig, "A thirteenth fact that nobody has tidied yet")
    worked(rig, datetime(2026, 2, 10, 12, tzinfo=UTC), "Wrote the parser")
    rig.memory.note("old", time=rig.clock.now - timedelta(days=40))
    assert not await rig.housekeeper.housekeep()
    done = await rig.housekeeper.housekeep(now=True)
    assert (done.by, done.notes_removed, done.digests) == (
        "model",
        ("2026-01-21",),
        ("weekly/2026-W07", "monthly/2026-02"),
    )
    assert "removed 1 daily note. Summed up weekly/2026-W07, monthly/2026-02." in done.markdown


async def test_another_process_keeps_house_alone_until_it_dies(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    many(rig)
    lock = tmp_path / "memory" / "pending" / ".housekeeping.lock"
    lock.parent.mkdir(exist_ok=True)
    program = (
        f"import filelock, time\nlock = filelock.FileLock({str(lock)!r})\nlock.acquire()\n"
        "print('held', flush=True)\ntime.sleep(600)"
    )
    other = await asyncio.create_subprocess_exec(sys.executable, "-c", program, stdout=asyncio.subprocess.PIPE)
    assert other.stdout is not None and await other.stdout.readline() == b"held\n"
    done = await rig.housekeeper.housekeep()
    assert not done and "Another window" in done.markdown and not rig.model.requests
    other.kill()
    await other.wait()
    assert (await rig.housekeeper.housekeep()).by


async def test_two_housekeepers_do_not_work_at_once(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    many(rig)
    first = rig.housekeeper
    rig.restart()
    await asyncio.gather(first.housekeep(), rig.housekeeper.housekeep())
    assert len(rig.model.requests) == 1


@pytest.mark.parametrize(
    ("operation", "step"), [*(("replace", n) for n in range(0, 24, 2)), ("delete", 0), ("delete", 1)]
)
async def test_killed_at_any_step_housekeeping_ends_the_same(tmp_path: Path, operation: str, step: int) -> None:
    rig = Rig(tmp_path)
    many(rig)
    remember(rig, "The cache runs on Redis in production with replicas")
    remember(rig, "Production cache Redis runs with replicas and snapshots")
    worked(rig, datetime(2026, 2, 10, 12, tzinfo=UTC), "Wrote the parser")
    rig.memory.note("old", time=rig.clock.now - timedelta(days=40))
    merged = "The production cache runs on Redis with replicas and snapshots"

    def script(request: ModelRequest) -> str:
        said = asked(request)
        if "Wrote the parser" in said:
            return "- the parser"
        lines = [line for line in said.splitlines() if "Redis" in line]
        if len(lines) < 2:
            return "NOTHING_NEW"
        return f"MERGE {', '.join(line.split('.')[0] for line in lines)}: [project] {merged}"

    rig.model.script = script
    failing = FailingFileSystem()
    rig.restart(failing)
    failing.fail(operation, Crash(), after=step)
    with contextlib.suppress(Crash):
        await rig.housekeeper.housekeep()
    rig.restart()
    await rig.housekeeper.housekeep()
    contents = [f.content for f in rig.memory.facts(limit=100).facts]
    assert [c for c in contents if "Redis" in c] == [merged]
    assert len(contents) == 13
    assert "- the parser" in digest(rig, "weekly/2026-W07")


MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
STRIDE = int(os.environ.get("CHATLS_YEAR_STRIDE", "10"))
"""Days between two days of work in the simulated year; 1 works on all 365 days (the nightly run, 40 s of processor)."""


async def test_a_year_of_use_stays_small_and_every_month_can_be_told(tmp_path: Path) -> None:
    """A year of 20 messages a day, with outages, and a new process now and then."""

    def script(request: ModelRequest) -> str:
        said = asked(request)
        if "project" in said and "task" in said and said.startswith("["):
            numbers = sorted({int(w[4:]) for w in said.split() if w.startswith("task") and w[4:].isdigit()})
            episodes = "\n".join(f"- Finished task{n} of the roadmap :: works :: #{n}" for n in numbers[:1])
            facts = "\n".join(f"- [project] Component task{n} listens on port {4000 + n}" for n in numbers[:1])
            return f"## DAILY\n- day with task{numbers[0]}\n## LONGTERM\n{facts}\n## EPISODES\n{episodes}"
        bullets = [x for x in said.splitlines() if x.startswith("- ")]
        return "\n".join(bullets[:8]) or "NOTHING_NEW"

    rig = Rig(tmp_path, script)
    rig.restart(QuickFileSystem())
    start = rig.clock.now
    for day in range(0, 365, STRIDE):
        rig.model.script = outage if day % 7 == 0 else script
        texts = tuple(f"project message {n} about task{day}" for n in range(20))
        rig.offer(*texts, session=f"day{day}")
        await rig.learner.run_once(drain=True)
        await rig.housekeeper.housekeep()
        rig.clock.now = start + timedelta(days=day + STRIDE)
        rig.clock.seconds += 86400
        if day % 30 == 0:
            rig.restart(QuickFileSystem())
    rig.model.script = script
    await rig.learner.run_once(drain=True)
    await rig.housekeeper.housekeep()

    folder = tmp_path / "memory"
    assert not rig.queued
    assert len(rig.memory.snapshot().episodes) == len(range(0, 365, STRIDE))
    told: set[str] = set()
    for number, month in enumerate(MONTHS, 1):
        year = 2026 if number > 2 else 2027
        shown = rig.memory.timeline(f"what did we do in {month} {year}?", limit=100).episodes
        assert {(e.date.year, e.date.month) for e in shown} == {(year, number)}
        assert any(i.kind == "episode" for i in rig.memory.recall(f"what did we do in {month} {year}?").items)
        assert "Finished task" in digest(rig, f"monthly/{year}-{number:02d}")
        told |= {e.id for e in shown}
    assert told == {i for i, e in rig.memory.snapshot().episodes.items() if e.date < datetime(2027, 3, 1, tzinfo=UTC)}
    assert len(list((folder / "weekly").glob("*.md"))) == 26
    assert len(list(folder.glob("20*/*.md"))) <= 32
    assert len(rig.facts) < 0.6 * len(range(0, 365, STRIDE))  # decay acts
    assert sum(p.stat().st_size for p in folder.rglob("*") if p.is_file()) < 2_000_000
