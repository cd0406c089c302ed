"""Facts: the new wins, the old is kept, the user's word outranks what was guessed (spec/memory.md §4, §18.1)."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest

from chatls_core.memory import Memory, MemoryChange, Source
from tests.core.memory.conftest import EXTRACTED, USER, MakeMemory, SetClock, contents


def test_a_fact_survives_a_restart_with_its_source(memory: Memory, make: MakeMemory) -> None:
    result = memory.remember("Deploys go through the staging cluster first", source=USER)
    assert result.added
    fact = make().why(result.id).fact
    assert fact.content == "Deploys go through the staging cluster first"
    assert (fact.sources[0].kind, fact.sources[0].session, fact.sources[0].message) == ("user", "s1", "m1")


def test_ids_are_those_of_chatcli(memory: Memory) -> None:
    # SHA-256 of the lower-cased, trimmed text, first 12 bytes in hex (spec/memory.md §4.2)
    assert memory.remember("  Hello World ", source=USER).id == "b94d27b9934d3e08a52e52d7"


def test_blank_content_is_refused(memory: Memory) -> None:
    with pytest.raises(ValueError, match="empty"):
        memory.remember("  \n ", source=USER)


def test_an_unknown_category_is_refused_by_name(memory: Memory) -> None:
    with pytest.raises(ValueError, match="architecture"):
        memory.remember("x y z", "colour", source=USER)


def test_a_leading_category_tag_is_taken(memory: Memory) -> None:
    result = memory.remember("[gotcha] The mock server ignores headers", source=USER)
    assert (result.category, result.content) == ("gotcha", "The mock server ignores headers")
    assert memory.remember("[todo] call Bob", source=USER).content == "[todo] call Bob"


def test_a_long_fact_is_cut_at_a_character(memory: Memory) -> None:
    content = memory.remember("ção " * 1000, source=USER).content
    assert len(content.encode()) <= 2000
    assert content.endswith("…")


def test_secrets_are_never_stored(memory: Memory) -> None:
    memory.remember("Staging uses the key ghp_0123456789abcdefghijABCDEFGHIJ456789", source=USER)
    stored = "".join(p.read_text() for p in memory.folder.glob("*.json"))
    assert "ghp_0123456789" not in stored


def test_an_update_wins_and_the_old_value_is_history(memory: Memory, clock: SetClock) -> None:
    clock.set(2026, 1, 10)
    old = memory.remember("User lives in Lisbon", source=USER)
    clock.set(2026, 5, 2)
    new = memory.remember("User moved to Porto", source=USER)
    assert [p.content for p in new.superseded] == ["User lives in Lisbon"]
    assert contents(memory) == ["User moved to Porto"]
    history = memory.why(new.id).history
    assert [(h.content, h.valid_from.date().isoformat()) for h in history] == [("User lives in Lisbon", "2026-01-10")]
    assert history[0].valid_to is not None
    assert history[0].valid_to.date().isoformat() == "2026-05-02"
    assert old.id not in [f.id for f in memory.facts().facts]


def taken_over(memory: Memory, clock: SetClock, old: str, new: str, source: Source = EXTRACTED) -> None:
    """Say the one, then the other: the new one is what is known, the old one what was."""
    memory.remember(old, source=source)
    clock.forward(days=30)
    done = memory.remember(new, source=source)
    assert contents(memory) == [new]
    assert [p.content for p in done.superseded] == [old]
    assert [h.content for h in memory.why(done.id).history] == [old]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Project uses Python 3.11", "Project uses Python 3.12"),
        ("Team has 5 members", "Team has 6 members"),
        ("O time tem 5 pessoas", "O time tem 6 pessoas"),
        ("Sprint lasts 2 weeks", "Sprint lasts 3 weeks"),
        ("Max retries: 3", "Max retries: 5"),
        ("User has two kids", "User has 3 kids"),
    ],
)
def test_another_number_is_another_value_and_no_rephrasing(memory: Memory, clock: SetClock, old: str, new: str) -> None:
    """memory.md §18.1 row 1: short numbers count; by the words alone the two are the same."""
    taken_over(memory, clock, old, new)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("User prefers tabs over spaces", "User prefers spaces over tabs"),
        ("Postgres, not MySQL", "MySQL, not Postgres"),
        ("Use npm instead of yarn", "Use yarn instead of npm"),
        ("Never deploy on Fridays", "Always deploy on Fridays"),
        ("CI is required for docs", "CI is not required for docs"),
        ("Prefere tabs em vez de espaços", "Prefere espaços em vez de tabs"),
    ],
)
def test_the_same_words_the_other_way_round_say_the_contrary(
    memory: Memory, clock: SetClock, old: str, new: str
) -> None:
    """memory.md §18.1 row 2: word order and negation count."""
    taken_over(memory, clock, old, new)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("User lives in Lisbon", "User lives in Porto"),
        ("User lives in Lisbon", "User moved to Porto"),
        ("User works at Acme", "User joined Globex"),
        ("Standup is at 9:00", "Standup moved to 10:30"),
        ("The staging URL is https://a.example.com", "The staging URL is https://b.example.com"),
        ("Usuário mora em Lisboa", "Usuário se mudou para o Porto"),
    ],
)
def test_another_value_of_one_slot_takes_its_place(memory: Memory, clock: SetClock, old: str, new: str) -> None:
    """memory.md §18.1 row 3: the subject is not the first two words."""
    taken_over(memory, clock, old, new)


def test_an_update_crosses_categories(memory: Memory) -> None:
    """memory.md §18.1 row 5: what the extraction calls a thing does not matter."""
    memory.remember("The team has 5 members", "project", source=USER)
    memory.remember("The team has 6 members", "general", source=USER)
    assert contents(memory) == ["The team has 6 members"]
    memory.remember("User prefers tabs for indentation", "personal", source=EXTRACTED)
    again = memory.remember("The user prefers tabs for indentation.", "preference", source=EXTRACTED)
    assert not again.added
    assert len(contents(memory)) == 2


def test_a_rephrasing_strengthens_and_is_not_added(memory: Memory) -> None:
    first = memory.remember("User prefers concise answers", source=EXTRACTED)
    again = memory.remember("the user prefers concise answers.", source=EXTRACTED)
    assert not again.added
    assert again.id == first.id
    fact = memory.facts().facts[0]
    assert fact.access_count == 2
    assert fact.confidence > 0.6


def test_what_the_user_said_outranks_any_number_of_extractions(memory: Memory) -> None:
    memory.remember("User prefers tabs over spaces", source=USER)
    for _ in range(5):
        refused = memory.remember("User prefers spaces over tabs", source=EXTRACTED)
        assert not refused.added
        assert "user said" in refused.reason
    assert contents(memory) == ["User prefers tabs over spaces"]


def test_the_user_overrules_extractions_repeated_many_times(memory: Memory) -> None:
    for _ in range(20):
        memory.remember("Project uses Python 3.11", source=EXTRACTED)
    memory.remember("Project uses Python 3.12", source=USER)
    assert contents(memory) == ["Project uses Python 3.12"]


@pytest.mark.parametrize("times", [2, 6])
def test_a_later_extraction_replaces_an_earlier_one_however_often_repeated(memory: Memory, times: int) -> None:
    """memory.md §18.1 row 4: once repeated, a fact could never be contradicted again."""
    for _ in range(times):
        memory.remember("Project uses Python 3.11", source=EXTRACTED)
    assert memory.remember("Project uses Python 3.12", source=EXTRACTED).added
    assert contents(memory) == ["Project uses Python 3.12"]


def test_when_the_user_confirms_an_extraction_it_becomes_the_users_word(memory: Memory) -> None:
    memory.remember("User prefers tabs over spaces", source=EXTRACTED)
    memory.remember("User prefers tabs over spaces", source=USER)
    memory.remember("User prefers spaces over tabs", source=EXTRACTED)
    assert contents(memory) == ["User prefers tabs over spaces"]


def test_time_is_the_conversations_time(memory: Memory, clock: SetClock) -> None:
    clock.set(2026, 6, 8)
    friday = Source("extraction", "s3", "m2", datetime(2026, 6, 5, 17, 0, tzinfo=UTC))
    result = memory.remember("The cache moved to Valkey", source=friday)
    assert memory.why(result.id).fact.valid_from.date().isoformat() == "2026-06-05"


def test_an_older_statement_that_arrives_late_becomes_history(memory: Memory, clock: SetClock) -> None:
    memory.remember("User lives in Porto", source=USER)
    late = Source("user", "s0", "m1", datetime(2025, 3, 1, tzinfo=UTC))
    result = memory.remember("User lives in Lisbon", source=late)
    assert not result.added
    assert contents(memory) == ["User lives in Porto"]
    found = memory.recall("where does the user live?", as_of=datetime(2025, 4, 1, tzinfo=UTC))
    assert [i.text for i in found.items] == ["User lives in Lisbon"]


def test_a_value_that_comes_back_holds_again(memory: Memory, clock: SetClock) -> None:
    for city in ("Lisbon", "Porto", "Lisbon"):
        memory.remember(f"User lives in {city}", source=USER)
        clock.forward(days=30)
    assert contents(memory) == ["User lives in Lisbon"]


@pytest.mark.parametrize("step", [-1.0, -400.0, 400.0])
def test_a_clock_that_jumps_loses_no_fact(memory: Memory, make: MakeMemory, clock: SetClock, step: float) -> None:
    memory.remember("Uses tabs for indentation", source=USER)
    memory.remember("Uses spaces for indentation", source=USER)
    clock.forward(days=step)
    memory.remember("Uses tabs for indentation", source=Source("user", time=clock.now))
    memory.remember("The office dog is called Rex", source=USER)
    assert "The office dog is called Rex" in contents(make())
    current = [c for c in contents(make()) if "indentation" in c]
    assert len(current) == 1


def test_beyond_the_cap_the_weakest_goes_to_the_archive_and_pinned_facts_stay(
    make: MakeMemory, clock: SetClock
) -> None:
    memory = make(max_facts=3)
    first = memory.remember("Alpha service owns invoices", source=USER)
    memory.pin(first.id)
    for name in ("Beta", "Gamma", "Delta", "Epsilon"):
        clock.forward(days=10)
        memory.remember(f"{name} handles {name.lower()} payloads", source=USER)
    kept = contents(memory)
    assert len(kept) == 3
    assert "Alpha service owns invoices" in kept
    assert "Epsilon handles epsilon payloads" in kept
    assert memory.stats().archived == 2


def test_editing_keeps_the_old_wording_as_history(memory: Memory) -> None:
    """memory.md §18.1 row 4: a correction has the highest confidence there is."""
    fact = memory.remember("Release branch is called stable", source=EXTRACTED)
    edited = memory.edit(fact.id, "Release branch is called trunk")
    assert memory.why(edited.id).fact.confidence == 1.0
    memory.remember("Release branch is called stable", source=EXTRACTED)
    assert contents(memory) == ["Release branch is called trunk"]
    assert [h.content for h in memory.why(edited.id).history] == ["Release branch is called stable"]
    with pytest.raises(KeyError):
        memory.edit("no-such-id", "x")


def test_changing_the_category_only_keeps_the_fact(memory: Memory) -> None:
    fact = memory.remember("Release branch is called stable", source=USER)
    memory.edit(fact.id, category="project")
    assert memory.facts("project").total == 1


def test_undoing_an_update_brings_the_old_value_back(memory: Memory) -> None:
    memory.remember("Deploy branch is main", source=USER)
    new = memory.remember("Deploy branch is release", source=USER)
    memory.undo(new.undo_token)
    assert contents(memory) == ["Deploy branch is main"]
    assert memory.why(memory.facts().facts[0].id).history == ()


def test_listeners_hear_of_writes_and_a_broken_one_harms_nobody(memory: Memory) -> None:
    heard: list[MemoryChange] = []

    def broken(_: MemoryChange) -> None:
        raise RuntimeError("listener at fault")

    memory.subscribe(broken)
    stop = memory.subscribe(heard.append)
    result = memory.remember("Builds run on arm64", source=EXTRACTED)
    stop()
    memory.remember("Lint runs first", source=USER)
    assert [(c.added, c.background) for c in heard] == [((result.id,), True)]


def test_facts_are_paged_pinned_first(memory: Memory) -> None:
    ids = [memory.remember(f"Module {n} parses {n} grammars", source=USER).id for n in ("aa", "bb", "cc", "dd")]
    memory.pin(ids[2])
    page = memory.facts(limit=2)
    assert page.total == 4
    assert page.facts[0].id == ids[2]
    rest = memory.facts(limit=2, offset=2)
    assert {f.id for f in page.facts} | {f.id for f in rest.facts} == set(ids)


def test_what_is_handed_out_cannot_change_what_is_known_and_readers_meet_no_half_state(memory: Memory) -> None:
    """memory.md §18.1 row 38: ChatCLI hands out its own maps."""
    memory.profile({"editor": "vim", "goals": "learn Elixir"}, source=USER)
    written = threading.Event()

    def read() -> None:
        while not written.is_set():
            memory.recall("which room seats how many?")
            for view in (memory.stats(), memory.profile(), memory.facts(), memory.topics()):
                assert view.markdown
            memory.index_digest()

    with ThreadPoolExecutor(3) as pool:
        readers = [pool.submit(read) for _ in range(3)]
        for number in range(30):
            memory.remember(f"Room {chr(97 + number % 26) * 3} seats {number} people", source=USER)
            memory.profile({f"key{number}": "value"}, source=USER)
        written.set()
        for reader in readers:
            reader.result()
    for mapping in (memory.stats().facts, memory.snapshot().alive.counts):
        with pytest.raises(TypeError):
            mapping["gotcha"] = 99  # type: ignore[index]  # what a careless caller would do
    assert "gotcha" not in memory.stats().facts


def test_what_was_read_stays_as_it_was_read_whatever_is_written(memory: Memory) -> None:
    """memory.md §18.1 row 38: a recall that is under way works on facts and a profile that nobody changes."""
    memory.remember("Room A seats ten people", source=USER)
    memory.profile({"editor": "vim", "tea": "Assam", "goals": "learn Elixir"}, source=USER)
    held, fields = memory.snapshot(), memory.profile().fields
    facts, preferences = dict(held.alive.facts), dict(held.profile.preferences)
    memory.remember("Lint runs first", source=USER)
    memory.forget("Room A")
    memory.profile({"tea": "Earl Grey", "goals": "learn Rust", "preferences_remove": "editor"}, source=USER)
    assert (dict(held.alive.facts), dict(held.profile.preferences)) == (facts, preferences)
    assert held.profile.goals == ("learn Elixir",)
    assert [f.value for f in fields if f.key in ("tea", "goals")] == ["learn Elixir", "Assam"]


def test_a_fact_that_was_used_rises(memory: Memory, clock: SetClock) -> None:
    memory.remember("Queue workers restart nightly", source=USER)
    used = memory.remember("Payments retry with exponential backoff", source=USER)
    told: list[MemoryChange] = []
    memory.subscribe(told.append)
    memory.evidence([used.id], "I kept the exponential backoff for payments as it is.")
    memory.evidence([used.id], "Unrelated words only.")
    assert [(c.changed, c.background) for c in told] == [((used.id,), True)]
    assert memory.facts().facts[0].id == used.id
    assert memory.why(used.id).fact.access_count == 2


@pytest.mark.parametrize("hours", [1, 24, 24 * 365])
def test_what_the_user_says_now_holds_though_the_clock_was_set_back(
    memory: Memory, clock: SetClock, hours: int
) -> None:
    memory.remember("Deploy branch is main", source=USER)
    clock.forward(hours=-hours)
    said = memory.remember("Deploy branch is release", source=USER)
    assert [p.content for p in said.superseded] == ["Deploy branch is main"]
    assert contents(memory) == ["Deploy branch is release"]
    clock.forward(hours=hours + 1)
    assert memory.remember("Deploy branch is develop", source=USER).superseded
    assert contents(memory) == ["Deploy branch is develop"]
