"""The profile: keys, lists, freshness, privacy (spec/memory.md §5, §18.1 rows 23-27)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from chatls_core.memory import Memory, Source
from chatls_core.memory.profile_text import is_sensitive_key, split_items, stem
from tests.core.memory.conftest import EXTRACTED, USER, MakeMemory, SetClock


def entries(memory: Memory, key: str) -> list[str]:
    return [f.value for f in memory.profile().fields if f.key == key]


@pytest.mark.parametrize(
    ("key", "value", "field", "shown"),
    [
        ("name", "Ana", "name", "Ana"),
        ("Level", "sênior", "expertise_level", "expert"),
        ("lang", "pt", "preferred_language", "pt"),
        ("employer", "Acme", "company", "Acme"),
        ("timezone", "Europe/Lisbon", "location", "Europe/Lisbon"),
        ("env_GPU", "none", "env_GPU", "none"),
        ("Favourite Tea", "Assam", "Favourite Tea", "Assam"),
    ],
)
def test_keys_and_their_aliases(memory: Memory, key: str, value: str, field: str, shown: str) -> None:
    memory.profile({key: value}, source=USER)
    assert entries(memory, field) == [shown]


def test_lists_are_split_outside_brackets_and_upserted_by_stem(memory: Memory) -> None:
    memory.profile({"goals": "Quiz X (Vendor, 60 questions) — in progress (8/60), learn Go"}, source=USER)
    memory.profile({"goal": "Quiz X (Vendor, 60 questions) — in progress (17/60)"}, source=USER)
    assert entries(memory, "goals") == ["Quiz X (Vendor, 60 questions) — in progress (17/60)", "learn Go"]


def test_list_operations(memory: Memory) -> None:
    """memory.md §18.1 row 24: an empty replacement clears a list."""
    memory.profile({"skills": "Go; Rust\n- SQL"}, source=USER)
    memory.profile({"skills_remove": "rust"}, source=USER)
    assert entries(memory, "skills") == ["Go", "SQL"]
    memory.profile({"replace_skills": "C, C, C++"}, source=USER)
    assert entries(memory, "skills") == ["C", "C++"]
    memory.profile({"skills_replace": ""}, source=USER)
    assert entries(memory, "skills") == []


def test_an_empty_value_changes_nothing_and_says_so(memory: Memory) -> None:
    memory.profile({"name": "Ana"}, source=USER)
    view = memory.profile({"name": " "}, source=USER)
    assert entries(memory, "name") == ["Ana"]
    assert "name" in view.refused


def test_a_fragment_is_refused_with_a_reason(memory: Memory) -> None:
    view = memory.profile({"certifications": "CKA (Kubernetes"}, source=USER)
    assert entries(memory, "certifications") == []
    assert "parentheses" in view.refused["certifications"]


def test_completed_goals_and_requests_about_goals_are_no_goals(memory: Memory) -> None:
    memory.profile({"goals": "ship v2, write docs — done, remove X from my goals"}, source=USER)
    assert entries(memory, "goals") == ["ship v2"]


def test_a_milestone_keeps_the_date_in_its_text(memory: Memory) -> None:
    """memory.md §18.1 row 26: it is dated today only where it names no date."""
    memory.profile({"milestone": "earned the CKA in March 2025"}, source=USER)
    assert entries(memory, "milestones") == ["[2025-03-01] earned the CKA in March 2025"]
    memory.profile({"milestone": "first talk given"}, source=USER)
    assert "[2026-06-01] first talk given" in entries(memory, "milestones")


def test_a_stance_is_replaced_by_its_position(memory: Memory) -> None:
    memory.profile({"stance": "monorepos are better :: one build"}, source=USER)
    memory.profile({"stance": "Monorepos are better :: atomic changes"}, source=USER)
    assert entries(memory, "stances") == ["Monorepos are better (why: atomic changes)"]


def test_an_extraction_does_not_overwrite_what_the_user_set(memory: Memory) -> None:
    memory.profile({"role": "architect", "tea": "Assam"}, source=USER)
    view = memory.profile({"role": "intern", "tea": "none"}, source=EXTRACTED)
    assert (entries(memory, "role"), entries(memory, "tea")) == (["architect"], ["Assam"])
    assert view.refused
    memory.profile({"role": "principal"}, source=USER)
    assert entries(memory, "role") == ["principal"]


def test_freshness_is_kept_and_staleness_shown(memory: Memory, clock: SetClock) -> None:
    memory.profile({"company": "Acme"}, source=USER)
    clock.forward(days=130)
    assert memory.profile().fields[0].stale
    memory.profile({"company": "Acme"}, source=USER)
    assert not memory.profile().fields[0].stale


@pytest.mark.parametrize(
    "key", ["salary", "monthly_salary", "cardNumber", "home-address", "saúde", "conta_bancaria", "wife", "rg", "pix",
            "client_email", "health_insurance", "family_name", "api key", "apiKey", "ssh-key", "senha", "access_token",
            "clientSecret", "chave pix"]
)  # fmt: skip
def test_private_keys_are_known_by_word(key: str) -> None:
    assert is_sensitive_key(key)


@pytest.mark.parametrize(
    "key",
    ["org", "organization", "target_branch", "merge_strategy", "large_files", "container_runtime", "karma_runner",
     "pixel_ratio", "contact_style", "dashboard", "font_family", "health_check_path", "ip_address", "email_client",
     "child_process", "passport_strategy", "test_email", "endereco_ip", "monkey", "keyboard", "key_bindings",
     "max_tokens", "token_limit", "primary_key", "secretary", "tokenizer"],
)  # fmt: skip
def test_names_of_technical_things_are_not_taken_for_private_ones(memory: Memory, key: str) -> None:
    """memory.md §18.1 row 23: by bare substring "karma_runner" (arma) was a weapon and "pixel_ratio" (pix) money."""
    (field,) = memory.profile({key: "as agreed"}, source=USER).fields
    assert not field.sensitive
    assert "Private values" not in memory.recall("as agreed").context


def test_private_preferences_are_marked_and_the_mark_can_be_changed(memory: Memory) -> None:
    """memory.md §18.1 row 25: a mark meets its preference whatever its case."""
    memory.profile({"salary": "4000", "GitHub": "ana"}, source=USER)
    assert {f.key: f.sensitive for f in memory.profile().fields} == {"salary": True, "GitHub": False}
    memory.profile({"sensitive_mark": "GitHub", "sensitive_unmark": "salary"}, source=USER)
    assert {f.key: f.sensitive for f in memory.profile().fields} == {"salary": False, "GitHub": True}
    memory.profile({"mark_sensitive": "github", "unmark_sensitive": "GITHUB"}, source=USER)
    assert {f.key: f.sensitive for f in memory.profile().fields} == {"salary": False, "GitHub": False}


def test_settings_of_the_machine_move_to_the_environment(memory: Memory) -> None:
    (memory.folder).mkdir(parents=True)
    raw = {"preferences": {"editor": "vim", "mac_model": "M3", "tea": "Assam"}, "skills": None}
    (memory.folder / "user_profile.json").write_text(json.dumps(raw))
    assert entries(memory, "env_editor") == ["vim"]
    assert entries(memory, "env_mac_model") == ["M3"]
    assert entries(memory, "tea") == ["Assam"]


@pytest.mark.parametrize(
    ("given", "removed", "kept"),
    [
        ({"goals": "learn Go, learn Rust"}, {"goals_done": "learn Go"}, {"goals": ["learn Rust"]}),
        ({"milestones": "ran 10 km; read K&R"}, {"milestones_remove": "10 km"}, {"milestones": "read K&R"}),
        ({"stances": "tabs :: width; small PRs"}, {"stances_remove": "tabs"}, {"stances": ["small PRs"]}),
        ({"company": "Acme", "name": "Ana"}, {"company_remove": "Acme"}, {"company": [], "name": ["Ana"]}),
        ({"tea": "Assam", "color": "red"}, {"preferences_remove": "tea"}, {"tea": [], "color": ["red"]}),
        ({"env_gpu": "T4", "env_os": "linux"}, {"env_remove": "gpu"}, {"env_gpu": [], "env_os": ["linux"]}),
    ],
)
def test_what_was_removed_stays_removed_though_another_process_writes_it_back(
    memory: Memory,
    make: MakeMemory,
    clock: SetClock,
    given: dict[str, str],
    removed: dict[str, str],
    kept: dict[str, Any],
) -> None:
    """memory.md §18.1 row 27: the other process holds the profile and unites it with the file, without tombstones."""
    memory.profile(given, source=USER)
    held = json.loads((memory.folder / "user_profile.json").read_text())
    before = {key: entries(memory, key) for key in kept}
    clock.forward(seconds=10)
    memory.profile(removed, source=USER)
    held["last_updated"] = "2026-06-02T00:00:00Z"
    (memory.folder / "user_profile.json").write_text(json.dumps(held))
    for key, left in kept.items():
        shown = entries(make(), key)
        assert shown == left if isinstance(left, list) else [left in s for s in shown] == [True]
    clock.forward(seconds=10)
    memory.profile(given, source=USER)
    assert {key: sorted(entries(make(), key)) for key in kept} == {key: sorted(before[key]) for key in kept}


def test_two_servers_keep_both_changes(memory: Memory, make: MakeMemory) -> None:
    other = make()
    memory.profile({"skills": "Go"}, source=USER)
    other.profile({"skills": "Rust", "tea": "Assam"}, source=USER)
    memory.profile({"name": "Ana"}, source=USER)
    assert entries(other, "skills") == ["Go", "Rust"]
    assert entries(other, "name") == ["Ana"]


def test_rules_of_another_project_are_left_out_of_the_context(memory: Memory) -> None:
    from pathlib import Path

    memory.profile({"directives": "[scope:atlas] never use print; always answer in English"}, source=Source("user"))
    here = memory.recall("print", project=Path("/src/other")).context
    there = memory.recall("print", project=Path("/src/atlas/cmd")).context
    assert "never use print" not in here.split("## Long-term")[0]
    assert "MUST follow: [atlas] never use print; always answer in English" in there


def test_splitting_and_stems() -> None:
    assert split_items("a (b, c), d; e\n* f") == ["a (b, c)", "d", "e", "f"]
    assert stem("Éxito — done (3/3).") == stem("**exito**")
    assert stem("AWS — Solutions Architect") != stem("AWS — Developer")


def test_a_change_is_told_by_the_key_that_was_given(memory: Memory) -> None:
    view = memory.profile({"nome": "Ana", "env_shell": "fish", "goals": "sail"}, source=USER)
    assert view.plain.startswith("Changed: nome, env_shell, goals.")
