"""What is learned late, after an outage or from the queue of a former process, counts from when it was said."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from chatls_core.memory import Source
from tests.core.memory.worker.rig import Rig, asked, outage

FRIDAY = """\
## DAILY
- Set up the release job
## LONGTERM
- [project] The billing service is written in Rust
## PROFILE_UPDATE
company=Acme
milestone=gave a first talk
## TOPICS
release process: how billing is shipped
## PROJECTS
project_name=billing
project_status=active
## EPISODES
- Set up the release job for billing :: works :: ci.yml
"""
TALK = (
    "we write billing in Rust",
    "I set up the release job for billing",
    "thanks, I work at Acme and gave a first talk",
    "noted, the release process of billing is active",
)


async def late(rig: Rig, *, days: int, reply: str = FRIDAY) -> None:
    """Say it, wait without a provider, and learn it in a new process."""
    rig.model.script = outage
    rig.offer(*TALK, session="talk")
    for _ in range(3):
        rig.clock.advance(seconds=130)
        await rig.learner.run_once()
    rig.clock.advance(days=days)
    rig.restart()
    rig.model.script = lambda _: reply
    await rig.learner.run_once(drain=True)
    assert not rig.queued


async def test_after_a_weekend_without_a_provider_all_is_dated_when_it_was_said(tmp_path: Path) -> None:
    """memory.md §18.1 row 6: not when it was learned."""
    rig = Rig(tmp_path)
    friday = rig.clock.now.date()
    await late(rig, days=3)
    memory = rig.memory
    (fact,) = memory.facts().facts
    assert (fact.valid_from.date(), fact.age_days) == (friday, 3)
    assert f"(since {friday})" in memory.recall("what is billing written in?").context
    (episode,) = memory.timeline().episodes
    assert (episode.date.date(), episode.source.time.date(), episode.source.session) == (friday, friday, "talk")
    assert "Set up the release job" in memory.daily(friday).text
    assert "no note" in memory.daily().text
    fields = {f.key: f for f in memory.profile().fields}
    assert fields["milestones"].value == f"[{friday}] gave a first talk"
    updated = fields["company"].updated_at
    assert updated is not None
    assert updated.date() == friday
    assert memory.topics().topics[0].last_seen.date() == friday
    assert memory.projects().projects[0].last_active.date() == friday
    links = {frozenset((e.a, e.b)) for e in memory.graph().edges}
    assert frozenset((f"fact:{fact.id}", f"episode:{episode.id}")) in links


async def test_what_is_tidied_is_shown_with_the_day_it_was_said(tmp_path: Path) -> None:
    """memory.md §18.1 row 6: the model that merges facts tells the newer one by it."""
    rig = Rig(tmp_path)
    friday = rig.clock.now.date()
    await late(rig, days=3)
    for name in ("alder", "birch", "cedar", "elm", "fir", "hazel", "larch", "maple", "oak", "pine"):
        rig.memory.remember(f"Service {name} is owned by the {name[::-1]} squad", source=Source("extraction"))
    rig.model.script = lambda _: "NOTHING_NEW"
    await rig.housekeeper.housekeep()
    assert f"written in Rust (since {friday}," in rig.model.requests[-1].messages[-1].text


async def test_it_takes_the_place_of_nothing_that_was_said_since(tmp_path: Path) -> None:
    """memory.md §18.1 row 6: Friday's words, learned on Monday, are older than Sunday's."""
    rig = Rig(tmp_path)
    start = rig.clock.now
    rig.clock.now = start + timedelta(days=2)
    sunday = Source("extraction", "other", "m9", rig.clock.now)
    rig.memory.remember("The billing service is written in Go", "project", source=sunday)
    rig.memory.profile({"company": "Globex", "tea": "Assam", "stance": "trunk is best :: fast"}, source=sunday)
    rig.memory.record_project({"name": "billing", "status": "paused", "description": "on hold"}, source=sunday)
    rig.memory.record_topics({"release process": "by hand"}, source=sunday)
    rig.clock.now = start
    more = "\nproject_description=sends invoices\nproject_path=/src/billing\n## EPISODES"
    reply = FRIDAY.replace("\n## EPISODES", more)
    reply = reply.replace("company=Acme", "company=Acme\ntea=Darjeeling\nstance=trunk is best :: slow")
    await late(rig, days=3, reply=reply)
    assert rig.facts == ["The billing service is written in Go"]
    fields = {f.key: f.value for f in rig.memory.profile().fields}
    assert (fields["company"], fields["tea"], fields["stances"]) == ("Globex", "Assam", "trunk is best (why: fast)")
    (project,) = rig.memory.projects().projects
    assert (project.status, project.description, project.path) == ("paused", "on hold", "/src/billing")
    assert rig.memory.topics().topics[0].summary == "by hand"


@pytest.mark.parametrize("hours", [2.0, 70.0])
async def test_what_was_forgotten_since_it_was_said_stays_forgotten(tmp_path: Path, hours: float) -> None:
    """memory.md §18.1 row 6: a queue must not bring back what the user removed while it waited."""
    rig = Rig(tmp_path, lambda _: FRIDAY + "## PROFILE_UPDATE\ngoals=ship billing\ntea=Assam\nstance=small PRs\n")
    rig.offer(*TALK, session="talk")
    await rig.learner.run_once(drain=True)
    assert rig.facts
    rig.offer(*TALK, session="again")
    rig.clock.advance(hours=1)
    for gone in ("billing", "release", "Acme", "talk", "Assam", "small PRs"):
        rig.memory.forget(gone)
    rig.memory.forget(ids=["project:billing", "topic:release process"])
    rig.clock.advance(hours=hours)
    rig.restart()
    await rig.learner.run_once(drain=True)
    assert not rig.facts
    assert not rig.memory.profile().fields
    assert not rig.memory.timeline().episodes
    assert not rig.memory.topics().topics
    assert not rig.memory.projects().projects
    rig.offer(*TALK, session="said again")
    rig.clock.advance(hours=1)
    await rig.learner.run_once(drain=True)
    assert rig.facts
    assert {f.key for f in rig.memory.profile().fields} == {"company", "milestones", "goals", "tea", "stances"}
    assert rig.memory.timeline().episodes
    assert rig.memory.topics().topics
    assert rig.memory.projects().projects


async def test_what_changed_and_changed_back_while_it_waited_is_as_it_was_said_last(tmp_path: Path) -> None:
    """memory.md §18.1 row 6: several conversations of one queue, learned within a minute."""
    rig = Rig(tmp_path)
    rig.memory.remember("User lives in Lisbon", source=Source("extraction", time=rig.clock.now))
    rig.memory.profile({"goals": "learn Go", "company": "Acme"}, source=Source("extraction", time=rig.clock.now))
    rig.clock.advance(hours=1)
    rig.offer("I moved to Porto, dropped Go and left Acme", "Noted.", "yes", "Fine.", session="first")
    rig.clock.advance(hours=1)
    rig.offer("I am back in Lisbon, learn Go and am with Acme again", "Noted.", "yes", "Fine.", session="second")
    replies = {
        "Porto": "## LONGTERM\n- User moved to Porto\n## PROFILE\ngoals_remove=learn Go\ncompany_remove=Acme\n",
        "back": "## LONGTERM\n- User lives in Lisbon\n## PROFILE\ngoals=learn Go\ncompany=Acme\n",
    }
    rig.model.script = lambda request: next(r for word, r in replies.items() if word in asked(request))
    rig.clock.advance(days=2)
    rig.restart()
    await rig.learner.run_once(drain=True)
    assert rig.facts == ["User lives in Lisbon"]
    assert {f.key: f.value for f in rig.memory.profile().fields} == {"goals": "learn Go", "company": "Acme"}
    assert "User moved to Porto" in [h.content for h in rig.memory.why(rig.memory.facts().facts[0].id).history]


async def test_what_faded_is_learned_again_from_an_earlier_mention(tmp_path: Path) -> None:
    rig = Rig(tmp_path, lambda _: FRIDAY)
    rig.offer(*TALK, session="talk")
    await rig.learner.run_once(drain=True)
    rig.offer(*TALK, session="again")
    rig.clock.advance(hours=1)
    rig.memory.consolidate((), [f.id for f in rig.memory.facts().facts])
    assert not rig.facts
    rig.clock.advance(hours=1)
    await rig.learner.run_once(drain=True)
    assert rig.facts == ["The billing service is written in Rust"]
