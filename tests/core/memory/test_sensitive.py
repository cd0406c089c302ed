"""What is for the user alone: marked so, or by a number of a person or account in it (spec/memory.md §5.7)."""

from __future__ import annotations

from pathlib import Path

import pytest

from chatls_core.memory import Memory
from chatls_core.memory.worker.request import existing_memory
from tests.core.memory.conftest import EXTRACTED, USER, SetClock

IBAN = "DE89 3704 0044 0532 0130 00"
CPF = "529.982.247-25"
NUMBERS = (IBAN, CPF, "11.222.333/0001-81", "536-90-4399")


@pytest.fixture(params=[f"The landlord's account for the rent is {IBAN}", f"O CPF do senhorio do aluguel é {CPF}", ""])
def secret(memory: Memory, request: pytest.FixtureRequest) -> str:
    """A fact for the user alone, by its number or by a mark, among others."""
    for text in ("The rent is due on the first", "The landlord lives in Faro", "Lint runs first"):
        memory.remember(text, source=USER)
    text = request.param or "The landlord keeps a key for the rent money"
    fact = memory.remember(text, source=USER)
    if not request.param:
        memory.sensitive(fact.id)
    return str(text)


def test_it_is_kept_whole_and_shown_to_the_user_with_a_mark(memory: Memory, secret: str) -> None:
    fact = next(f for f in memory.facts().facts if f.content == secret)
    assert fact.sensitive
    assert f"🔒 {secret}" in memory.facts().plain
    assert secret in memory.recall("landlord rent aluguel senhorio").context


def test_it_is_brought_up_to_no_model_unasked(memory: Memory, secret: str) -> None:
    fact = next(f for f in memory.facts().facts if f.content == secret)
    memory.pin(fact.id)
    for question in ("what about the landlord and the rent?", "e o senhorio, e o aluguel?"):
        assert fact.id not in memory.auto_recall(question).ids
        pushed = memory.recall(question, private=False)
        assert secret not in [i.text for i in pushed.items]
        assert secret not in pushed.context
    told = (
        memory.index_digest(),
        memory.graph_card(),
        memory.map().text,
        memory.load("today").text,
        existing_memory(memory, 32_000),
        memory.neighbors("The landlord lives in Faro", private=False).plain,
        *memory.texts(private=False),
    )
    assert not [text for text in told if secret in text]
    assert "The rent is due on the first" in existing_memory(memory, 32_000)


def test_the_user_may_lift_the_mark(memory: Memory) -> None:
    fact = memory.remember(f"The club's account is {IBAN}", source=USER)
    assert fact.id not in memory.auto_recall("which account has the club?").ids
    memory.sensitive(fact.id, False)
    assert fact.id in memory.auto_recall("which account has the club?").ids


def test_a_value_that_was_true_once_stays_private(memory: Memory, clock: SetClock) -> None:
    old = memory.remember("User's salary is 4000 euros", source=USER)
    memory.sensitive(old.id)
    clock.forward(days=40)
    memory.remember("User's salary is 5000 euros", source=USER)
    found = memory.auto_recall("what was the previous salary of the user?")
    assert "4000" not in found.text


@pytest.mark.parametrize("key", ["payout", "goals", "env_wallet", "location", "stance", "milestone"])
def test_a_number_makes_a_profile_entry_sensitive_whatever_its_key(memory: Memory, key: str) -> None:
    memory.profile({key: f"move it to {IBAN}", "role": "tester"}, source=USER)
    fields = {f.key: f for f in memory.profile().fields}
    private = [f for f in fields.values() if f.sensitive]
    assert len(private) == 1 and IBAN in private[0].value
    assert not fields["role"].sensitive
    unasked = memory.recall("who is the tester?", private=False).context
    assert "tester" in unasked
    assert IBAN not in unasked
    assert IBAN not in memory.profile().discreet().plain
    assert IBAN not in existing_memory(memory, 32_000)
    assert IBAN not in memory.auto_recall(f"move it to which {key}?").text


def test_a_sensitive_value_comes_when_it_is_asked_for_by_its_name(memory: Memory) -> None:
    memory.profile({"salary": "4000 euros", "payout": IBAN, "role": "tester"}, source=USER)
    assert "4000" not in memory.recall("which role has the user?").context
    assert "salary [sensitive]: (private; recall it by its name)" in memory.recall("which role has the user?").context
    asked = memory.recall("what is the salary?").context
    assert "salary [sensitive]: 4000 euros" in asked
    assert IBAN not in asked
    assert IBAN in memory.recall("payout").context


@pytest.mark.parametrize("question", ["what do you know about me?", "o que você sabe sobre mim?"])
def test_a_question_for_everything_names_nothing_sensitive_to_a_model(memory: Memory, question: str) -> None:
    memory.profile({"salary": "4000 euros", "payout": IBAN, "role": "tester"}, source=USER)
    memory.remember(f"The club's account is {IBAN}", source=USER)
    found = memory.recall(question)
    assert "tester" in found.context
    assert IBAN not in found.context and "4000" not in found.context


@pytest.mark.parametrize("number", NUMBERS)
def test_what_no_mark_can_keep_from_models_is_written_without_the_number(
    memory: Memory, clock: SetClock, number: str
) -> None:
    text = f"Paid the bill of {number}"
    memory.record_episode(text, outcome=text, refs=(text,), source=EXTRACTED)
    memory.record_topics({"bills": text}, source=EXTRACTED)
    memory.record_project({"name": "atlas", "description": text}, source=EXTRACTED)
    memory.record_use(errors=[text])
    memory.note(text, time=clock.now)
    files = [p for p in Path(memory.folder).rglob("*") if p.is_file()]
    assert files
    assert not [p.name for p in files if number.encode() in p.read_bytes()]
    assert "Paid the bill of [REDACTED]" in memory.timeline().plain


@pytest.mark.parametrize(
    "text",
    [
        "Order 52998224725 was refunded",
        "Call +55 11 98765-4321 about the lease",
        "The tenant is 123e4567-e89b-12d3-a456-426614174000",
        "The firmware is 3.104.22-1",
        "The commit is 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b",
    ],
)
def test_other_numbers_are_as_public_as_any_fact(memory: Memory, text: str) -> None:
    fact = memory.remember(text, source=USER)
    assert not memory.why(fact.id).fact.sensitive
    assert fact.id in memory.auto_recall(text).ids
