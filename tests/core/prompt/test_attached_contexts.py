"""Attached contexts as the model is told of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from chatls_core.llm.events import ModelError
from chatls_core.prompt.attached_contexts import attach, attachments, card, detach, prefix_budget, rendered
from chatls_core.prompt.skills_matching import PINNED_KEY
from chatls_core.turn.exchange import ChatRequest
from chatls_core.turn.standing import attached_costs, standing
from tests.core.prompt.helpers import conversation
from tests.core.prompt.test_skills import write
from tests.core.turn.conftest import Desk
from tests.fakes.model_server import Call, ErrorReply, Reply, Tokens


def system_of(desk: Desk) -> str:
    return "".join(part["text"] for part in desk.models.requests[-1].json["system"])


@pytest.fixture
def docs(desk: Desk) -> Path:
    folder = desk.host.root / "docs"
    folder.mkdir()
    (folder / "retry.md").write_text("Retries wait two seconds.\n")
    (folder / "deploy.md").write_text("Deploys go out on Fridays.\n")
    return folder


async def test_an_attached_context_stands_in_the_system_text_until_it_is_detached(desk: Desk, docs: Path) -> None:
    contexts = desk.agent.services.curation.contexts
    contexts.create("docs", [docs])
    await desk.ask("hello")
    live = await desk.agent.session("s")
    attach(live.conversation, "docs")
    await desk.ask("when do we deploy?")
    attached = system_of(desk)
    assert "Deploys go out on Fridays." in attached and "deploy.md" in attached
    (docs / "deploy.md").write_text("Deploys go out on Mondays.\n")
    await desk.ask("and now?")
    assert system_of(desk) == attached
    desk.agent = desk.make_agent()
    await desk.ask("after a restart")
    assert system_of(desk) == attached
    live = await desk.agent.session("s")
    assert detach(live.conversation, "DOCS")
    await desk.ask("bye")
    assert "Fridays" not in system_of(desk)


@pytest.mark.parametrize("mode", ["full", "chunked"])
async def test_keys_in_an_attached_file_stay_here(desk: Desk, docs: Path, mode: str) -> None:
    key = "sk-ant-" + "api03-" + "Ab3x" * 10
    (docs / "deploy.md").write_text(f"Deploys use {key} on Fridays.\n")
    desk.agent.services.curation.contexts.create("docs", [docs], mode=mode)
    attach((await desk.agent.session("s")).conversation, "docs")
    await desk.ask("when do we deploy?")
    assert "on Fridays" in system_of(desk)
    assert key not in json.dumps(desk.models.requests[-1].json)


async def test_a_knowledge_context_is_read_and_searched_by_its_tool(desk: Desk, docs: Path) -> None:
    desk.agent.services.curation.contexts.create("docs", [docs], mode="knowledge")
    live = await desk.agent.session("s")
    attach(live.conversation, "docs")
    get = Call("knowledge", {"command": "get", "kb": "docs", "source": "retry.md"})
    find = Call("knowledge", {"command": "search", "query": "when do deploys go out"})
    desk.models.script(Reply(tool_calls=(get, find)), Reply(text="Fridays"))
    await desk.ask("when?")
    assert "Fridays" not in system_of(desk) and "deploy.md" in system_of(desk)
    results = str(desk.models.requests[-1].json["messages"][-1])
    assert "Retries wait two seconds." in results and "Deploys go out on Fridays." in results


async def test_a_deleted_context_leaves_at_the_next_rebuild(desk: Desk, docs: Path) -> None:
    contexts = desk.agent.services.curation.contexts
    contexts.create("docs", [docs])
    live = await desk.agent.session("s")
    attach(live.conversation, "docs")
    contexts.delete("docs")
    await desk.ask("hello")
    assert "Fridays" not in system_of(desk)
    assert attachments(live.conversation) == ()


async def test_the_largest_fold_first_and_name_the_call_that_reads_them(desk: Desk, docs: Path) -> None:
    (docs / "big.md").write_text("b" * 50_000)
    contexts = desk.agent.services.curation.contexts
    big = contexts.create("big", [docs / "big.md"])
    small = contexts.create("small", [docs / "retry.md"])
    whole = rendered([big, small], 100_000)
    assert not any(r.folded for r in whole)
    folded = rendered([big, small], 10_000)
    assert [(r.name, r.folded) for r in folded] == [("big", True), ("small", False)]
    assert "big.md" in folded[0].section.text
    assert 'knowledge {"command": "get", "kb": "big"' in folded[0].section.text
    assert len(folded[0].section.text) < 1_000


async def test_a_card_of_many_files_says_how_to_see_the_rest(desk: Desk) -> None:
    folder = desk.host.root / "many"
    folder.mkdir()
    for n in range(230):
        (folder / f"{n}.txt").write_text("x")
    made = desk.agent.services.curation.contexts.create("many", [folder], mode="summary")
    assert "30 more" in card(made, "") and "toc" in card(made, "")


def test_contexts_stand_in_the_order_of_their_priority() -> None:
    talk = conversation([])
    attach(talk, "later", 200)
    attach(talk, "first", 10)
    attach(talk, "Later", 5)
    assert [a.name for a in attachments(talk)] == ["Later", "first"]
    assert not detach(talk, "unknown")


def test_the_prefix_budget_has_a_floor() -> None:
    assert prefix_budget(200_000, 4.0) == 394_000
    assert prefix_budget(8_192, 4.0) == 24_000


async def test_status_says_what_fills_the_window_and_what_is_folded(desk: Desk, docs: Path) -> None:
    (docs / "big.md").write_text("b" * 200_000)
    desk.agent = desk.make_agent(contextWindow=20_000)
    desk.agent.services.curation.contexts.create("docs", [docs])
    live = await desk.agent.session("s")
    attach(live.conversation, "docs")
    await desk.ask("hello")
    found = await standing(desk.agent.services, live.conversation, desk.agent.model_of(live))
    assert found.folded == ("docs",)
    assert {"mode", "context docs"} <= {s.name for s in found.sections}
    assert found.window == 20_000 and 0 < found.used_share < 1
    assert "docs" in found.markdown
    (cost,) = attached_costs(desk.agent.services, live.conversation, desk.agent.model_of(live))
    assert cost.folded and cost.tokens < 1_000
    assert cost.cold_usd and cost.cached_usd and cost.cached_usd < cost.cold_usd / 5


async def test_the_size_of_a_token_is_learned_from_what_the_model_counted(desk: Desk) -> None:
    desk.models.script(Reply(text="ok", usage=Tokens(input=4_000)))
    await desk.ask("x" * 8_000)
    live = await desk.agent.session("s")
    found = await standing(desk.agent.services, live.conversation, desk.agent.model_of(live))
    assert found.learned and found.chars_per_token < 4.0


async def test_what_the_user_folds_stands_as_a_card_until_it_is_unfolded(desk: Desk, docs: Path) -> None:
    (docs / "long.md").write_text("a line of the manual\n" * 100)
    desk.agent.services.curation.contexts.create("docs", [docs])
    live = await desk.agent.session("s")
    for fold in (True, False):
        attach(live.conversation, "docs", fold=fold)
        await desk.ask("hello")
        assert ("a line of the manual" in system_of(desk)) is not fold
        assert 'knowledge {"command": "get", "kb": "docs"' in system_of(desk) or not fold
        found = await standing(desk.agent.services, live.conversation, desk.agent.model_of(live))
        assert found.folded == (("docs",) if fold else ())
    desk.agent = desk.make_agent(prompt={"knowledge": False})
    live = await desk.agent.session("s")
    attach(live.conversation, "docs", fold=True)
    await desk.ask("hello")
    assert "a line of the manual" in system_of(desk)


async def test_pinned_skills_fold_before_lists_and_lists_before_contexts(desk: Desk, docs: Path) -> None:
    (docs / "long.md").write_text("a line of the manual\n" * 1300)
    many = desk.host.root / "many"
    many.mkdir()
    for n in range(150):
        (many / f"chapter-with-a-long-name-{n}.md").write_text("text")
    write(desk.host.root / ".chatcli/skills", "deploy", "description: how we deploy", "Push the tag. " * 900)
    contexts = desk.agent.services.curation.contexts
    contexts.create("docs", [docs])
    contexts.create("many", [many], mode="knowledge")
    seen = []
    for window in (60_000, 26_000, 19_000, 9_000):
        desk.agent = desk.make_agent(contextWindow=window)
        live = await desk.agent.session(f"s{window}")
        live.conversation.state[PINNED_KEY] = ["deploy"]
        for name in ("docs", "many"):
            attach(live.conversation, name)
        await desk.ask("hello", session=f"s{window}")
        found = await standing(desk.agent.services, live.conversation, desk.agent.model_of(live))
        seen.append(found.folded)
        text = system_of(desk)
        assert ("Push the tag." in text) is ("skill deploy" not in found.folded)
        assert 'context_pull {"kind": "skill", "name": "deploy"}' in text or "skill deploy" not in found.folded
        assert ("chapter-with-a-long-name-77" in text) is ("many" not in found.folded)
        assert ("a line of the manual" in text) is ("docs" not in found.folded)
    assert seen == [(), ("skill deploy",), ("skill deploy", "many"), ("skill deploy", "docs", "many")]


async def test_what_is_attached_while_a_turn_fails_stays_attached(desk: Desk, docs: Path) -> None:
    desk.agent.services.curation.contexts.create("docs", [docs])
    await desk.ask("hello")
    desk.models.script(ErrorReply(400, "bad", hold_start=True))
    turn = await desk.agent.submit(ChatRequest("when?", "s"), desk.host)
    await desk.models.wait_held()
    live = await desk.agent.session("s")
    attach(live.conversation, "docs")
    await desk.agent.keep(live)
    desk.models.release()
    with pytest.raises(ModelError):
        await turn.outcome
    await desk.agent.close()
    desk.agent = desk.make_agent()
    assert len((await desk.agent.session("s")).conversation.messages) == 3, "the failed question is not kept"
    await desk.ask("when do we deploy?")
    assert "Deploys go out on Fridays." in system_of(desk)


async def test_going_back_detaches_nothing(desk: Desk, docs: Path) -> None:
    desk.agent.services.curation.contexts.create("docs", [docs])
    await desk.ask("one")
    await desk.ask("two")
    live = await desk.agent.session("s")
    attach(live.conversation, "docs")
    live.conversation.state[PINNED_KEY] = ["deploy"]
    checkpoints = desk.agent.services.checkpoints
    checkpoints.rewind(live.conversation, checkpoints.list(live.conversation)[0].id)
    assert [a.name for a in attachments(live.conversation)] == ["docs"]
    assert live.conversation.state[PINNED_KEY] == ["deploy"]
    await desk.ask("when do we deploy?")
    assert "Deploys go out on Fridays." in system_of(desk)
