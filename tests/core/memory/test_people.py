"""What rides along unasked in the everyday of invented people (people/): precision first, then as much as can."""

from __future__ import annotations

import pytest

from .conftest import USER, MakeMemory
from .people import MEASURING, TUNING, Person

KNOWN_DISTURBED = (
    "what is the OMOP common data model?",
    "why is the airport code of Frankfurt FRA and that of Munich MUC?",
    "I need a quiz for the Christmas party.",
    "A cidade do romance tem um portal de pedra,",
    "When should I use a record instead of a class in Java?",
    "css: fixed-width sidebar on the left, fluid main column,",
    "The neighbour's company runs Neo4j and their Cypher query is slow.",
)
"""Beginnings of messages that share more with a fact than words can tell apart."""


def by_name(person: Person) -> str:
    return person.name


@pytest.mark.parametrize("person", [*TUNING, *MEASURING], ids=by_name)
def test_nothing_rides_along_with_what_it_has_nothing_to_do_with(make: MakeMemory, person: Person) -> None:
    memory = make()
    for fact in person.facts:
        memory.remember(fact, source=USER)
    calm = [m for m in person.unrelated if not m.startswith(KNOWN_DISTURBED)]
    assert {m: [i.text for i in r.items] for m in calm if (r := memory.auto_recall(m)).items} == {}


@pytest.mark.parametrize("people", [TUNING, MEASURING], ids=["tuning", "measuring"])
def test_much_of_what_is_known_comes_by_the_words_alone(make: MakeMemory, people: tuple[Person, ...]) -> None:
    met = asked = 0
    for person in people:
        memory = make(person.name)
        for fact in person.facts:
            memory.remember(fact, source=USER)
        for message, wanted in person.answered:
            asked += 1
            met += any(item.text in wanted for item in memory.auto_recall(message).items)
    assert met >= 0.4 * asked, f"{met} of {asked}"


def test_of_a_long_message_the_beginning_and_the_end_are_read(make: MakeMemory) -> None:
    memory = make()
    memory.remember("The billing service listens on port 7443", source=USER)
    prose = "\n".join(f"I read chapter {n} and it was about boats." for n in range(3000))
    assert memory.auto_recall(f"which port does the billing service listen on?\n{prose}").items
    assert memory.auto_recall(f"{prose}\nwhich port does the billing service listen on?").items
    assert not memory.auto_recall(f"{prose}\nwhich port does the billing service listen on?\n{prose}").items
