"""What an update leaves of a statement that says more than the update speaks of."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatls_core.memory import Memory
from chatls_core.memory.clauses import clauses
from tests.core.memory.conftest import EXTRACTED, USER, MakeMemory, SetClock, contents


@pytest.mark.parametrize(
    ("old", "new", "left"),
    [
        ("User lives in Porto and has two cats", "User moved to Lisbon", ["User has two cats"]),
        ("User works at Acme and runs marathons", "User joined Globex", ["User runs marathons"]),
        ("The API uses Postgres 14 and the worker uses Redis", "The API uses Postgres 16", ["The worker uses Redis"]),
        ("O usuário mora em Lisboa e tem dois gatos", "O usuário mudou-se para o Porto", ["O usuário tem dois gatos"]),
        ("Standup is at 9:15; it lasts 10 minutes", "Standup moved to 10:00", ["Standup lasts 10 minutes"]),
        ("User is called Inês and lives in Porto", "User moved to Lisbon", ["User is called Inês"]),
        # What is no clause of its own goes with the rest.
        ("User uses React and Redux for the frontend", "User no longer uses React and Redux", []),
        ("User lives in Porto and Lisbon", "User moved to Faro", []),
    ],
)
def test_what_an_update_does_not_speak_of_still_holds(memory: Memory, old: str, new: str, left: list[str]) -> None:
    memory.remember(old, source=USER)
    memory.remember(new, source=USER)
    assert contents(memory) == sorted([new, *left])
    assert old in [past.content for past in memory.why(memory.remember(new, source=USER).id).history]


def test_what_is_left_keeps_who_said_it_when_and_its_marks(memory: Memory, make: MakeMemory, clock: SetClock) -> None:
    said = memory.remember("User lives in Porto and has two cats", source=USER)
    memory.sensitive(said.id)
    clock.forward(days=30)
    memory.remember("User moved to Lisbon", source=EXTRACTED)
    # An extraction does not overrule the user, so nothing is parted by it.
    assert contents(memory) == ["User lives in Porto and has two cats"]
    memory.remember("User moved to Lisbon", source=USER)
    left = next(f for f in make().facts().facts if "cats" in f.content)
    assert (left.content, left.sensitive) == ("User has two cats", True)
    assert [s.message for s in left.sources] == ["m1"]


def test_undoing_the_update_makes_it_one_statement_again(memory: Memory) -> None:
    memory.remember("User lives in Porto and has two cats", source=USER)
    memory.undo(memory.remember("User moved to Lisbon", source=USER).undo_token)
    assert contents(memory) == ["User lives in Porto and has two cats"]


def test_what_is_known_in_other_words_is_not_kept_twice(memory: Memory) -> None:
    memory.remember("The user has two cats", source=USER)
    memory.remember("User lives in Porto and has two cats", source=USER)
    memory.remember("User moved to Lisbon", source=USER)
    assert contents(memory) == ["The user has two cats", "User moved to Lisbon"]


def test_of_what_is_learned_late_the_part_that_still_holds_is_taken_in(memory: Memory, clock: SetClock) -> None:
    memory.remember("User moved to Lisbon", source=USER)
    memory.remember("User lives in Porto and has two cats", source=EXTRACTED)
    assert contents(memory) == ["User has two cats", "User moved to Lisbon"]


@given(st.lists(st.sampled_from(["User lives in Porto", "has two cats", "and", "e", ";", "tools", "(", ")", "."])))
def test_parting_loses_no_word(words: list[str]) -> None:
    text = " ".join(words)
    kept = " ".join(clauses(text)).lower()
    assert all(word.lower() in kept for word in ("cats", "Porto", "tools") if word in text)


def test_a_long_text_is_one_statement() -> None:
    assert clauses("User lives in Porto and has two cats. " * 20) == ("User lives in Porto and has two cats. " * 20,)
