"""What is learned may wait for the user's yes."""

from __future__ import annotations

from pathlib import Path

from chatls_core.memory import MemoryChange
from tests.core.memory.worker.rig import Rig
from tests.core.memory.worker.test_learner import FACT, TALK


async def test_with_review_nothing_is_remembered_before_the_user_says_so(tmp_path: Path) -> None:
    rig = Rig(tmp_path, lambda _: FACT, review="ask")
    messages = rig.offer(*TALK, session="talk")
    result = await rig.learner.run_once()
    assert not rig.facts and not rig.memory.timeline().episodes and not rig.memory.profile().fields
    waiting = rig.learner.pending().items
    assert result.notice == f"{len(waiting)} items wait for your review"
    assert {i.kind for i in waiting} == {"fact", "profile", "topic", "project", "episode", "note"}
    fact = next(i for i in waiting if i.kind == "fact")
    assert (fact.text, fact.session, fact.message) == ("The billing service is written in Rust", "talk", messages[0].id)


async def test_accepted_items_are_remembered_with_their_source_and_rejected_ones_never_asked_again(
    tmp_path: Path,
) -> None:
    rig = Rig(tmp_path, lambda _: FACT, review="ask")
    messages = rig.offer(*TALK, session="talk")
    await rig.learner.run_once()
    rig.clock.advance(days=2)
    rig.restart()
    by_kind = {i.kind: i.id for i in rig.learner.pending().items}
    done = rig.learner.accept([by_kind["fact"], by_kind["episode"], "unknown"])
    assert [i.kind for i in done.items] == ["fact", "episode"] and done.unknown == ("unknown",)
    assert rig.memory.facts().facts[0].sources[0].message == messages[0].id
    assert rig.memory.timeline().episodes[0].date == messages[1].time
    rig.learner.reject([i.id for i in rig.learner.pending().items])
    assert rig.learner.pending().markdown == "Nothing waits to be remembered."
    rig.offer(*TALK, session="talk")
    await rig.learner.run_once()
    assert "Acme" not in rig.learner.pending().markdown


async def test_what_a_conversation_with_outside_content_says_about_the_user_waits(tmp_path: Path) -> None:
    rig = Rig(tmp_path, lambda _: FACT)
    rig.offer(*TALK, external=True)
    await rig.learner.run_once()
    assert not rig.facts and not rig.memory.profile().fields
    assert {i.kind for i in rig.learner.pending().items} == {"fact", "profile"}
    assert rig.memory.timeline().episodes
    assert "outside content" in rig.learner.pending().markdown


async def test_what_waits_and_what_was_settled_is_told(tmp_path: Path) -> None:
    rig = Rig(tmp_path, lambda _: FACT, review="ask")
    told: list[MemoryChange] = []
    rig.memory.subscribe(told.append)
    rig.offer(*TALK)
    await rig.learner.run_once()
    ids = {i.id: i.kind for i in rig.learner.pending().items}
    assert [set(c.changed) for c in told] == [{f"review:{i}" for i in ids}]
    told.clear()
    rig.learner.accept([i for i, kind in ids.items() if kind == "fact"])
    assert [len(c.added) for c in told] == [1, 0]
    assert told[0].undo_token
    assert rig.memory.undo(told[0].undo_token).removed and not rig.facts


async def test_an_accepted_item_is_on_disk_before_it_leaves_the_list(tmp_path: Path) -> None:
    rig = Rig(tmp_path, lambda _: FACT, review="ask")
    rig.offer(*TALK)
    await rig.learner.run_once()
    ids = [i.id for i in rig.learner.pending().items]
    rig.learner.accept(ids)
    rig.learner.accept(ids)
    rig.restart()
    assert rig.facts == ["The billing service is written in Rust"]
    assert rig.memory.topics().topics[0].mentions == 1
