"""A model's answer is read with leniency, and what is none is not taken for one."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatls_core.memory.worker.parsing import Learned, LearnedEpisode, UnreadableReplyError, parse_reply


@pytest.mark.parametrize(
    "reply",
    [
        "NOTHING_NEW",
        "nothing new.",
        "**NOTHING-NEW**",
        "N/A",
        "None.",
        "Nothing new to record.",
        "```\nNOTHING_NEW\n```",
        "Nada de novo.",
        "<think>hm, what is new?</think>NOTHING_NEW",
        '{"answer": "NOTHING_NEW"}',
    ],
)
def test_nothing_new(reply: str) -> None:
    assert not parse_reply(reply)


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "I can't help with that.",
        "Error: context length exceeded",
        "The user works on billing.",
        "{ torn",
        "[1, 2]",
        '{"error": "overloaded"}',
    ],
)
def test_a_refusal_or_an_error_is_no_answer(reply: str) -> None:
    with pytest.raises(UnreadableReplyError):
        parse_reply(reply)


@pytest.mark.parametrize(
    "header",
    [
        "## LONGTERM",
        "##LONGTERM",
        "# longterm",
        "**LONGTERM**",
        "**LONG-TERM:**",
        "### Long_Term facts",
        "## Long term",
        "##  LONGTERM:",
        "> ## LONGTERM",
        "## **LONGTERM**",
        "__LONGTERM__",
    ],
)
def test_headers(header: str) -> None:
    facts = parse_reply(f"Here is what I found:\n\n{header}\n- [gotcha] Port 80 is taken\n").facts
    assert [(f.category, f.content) for f in facts] == [("gotcha", "Port 80 is taken")]


@pytest.mark.parametrize("bullet", ["- ", "* ", "• ", "1. ", "2) ", ""])
def test_bullets(bullet: str) -> None:
    assert parse_reply(f"## LONGTERM\n{bullet}[pattern] Errors are wrapped").facts[0].content == "Errors are wrapped"


def test_sections_with_nothing_leave_nothing() -> None:
    reply = "\n".join(
        f"## {name}\n{word}"
        for name, word in (
            ("DAILY", "NOTHING_NEW"),
            ("LONGTERM", "- None"),
            ("PROFILE_UPDATE", "N/A"),
            ("TOPICS", "nothing new"),
            ("PROJECTS", "NOTHING-NEW."),
            ("EPISODES", "(none)"),
        )
    )
    assert parse_reply(reply) == Learned()


def test_nothing_beside_the_header() -> None:
    assert parse_reply("**DAILY:** NOTHING_NEW\n## TOPICS: NOTHING_NEW\n## LONGTERM - none") == Learned()


def test_a_section_given_twice_has_both() -> None:
    reply = "## LONGTERM\n- The first one\n## DAILY\n- x happened\n## LONGTERM\n- The second one"
    assert [f.content for f in parse_reply(reply).facts] == ["The first one", "The second one"]


def test_a_bold_beginning_is_no_header() -> None:
    learned = parse_reply("## LONGTERM\n**Projects** are built with make\n- and deployed with helm")
    assert [f.content for f in learned.facts] == ["**Projects** are built with make", "and deployed with helm"]


def test_an_unknown_category_keeps_its_fact_and_links_stay_whole() -> None:
    facts = parse_reply("## LONGTERM\n- [tooling] Uses ruff\n- [docs](https://x.y) are generated").facts
    assert [(f.category, f.content) for f in facts] == [("", "Uses ruff"), ("", "[docs](https://x.y) are generated")]


@pytest.mark.parametrize(
    ("line", "pair"),
    [
        ("site: https://x?a=b", ("site", "https://x?a=b")),
        ("site=https://x:8080/?a=b", ("site", "https://x:8080/?a=b")),
        ("- name = Ana", ("name", "Ana")),
        ("goals_replace=", ("goals_replace", "")),
        ("goals_replace: NOTHING_NEW", ("goals_replace", "")),
        ("stance=tabs over spaces :: easier to read", ("stance", "tabs over spaces :: easier to read")),
        ("favourite editor: Neovim", ("favourite_editor", "Neovim")),
        ("**company**: Acme", ("company", "Acme")),
        ("preferência=café ☕", ("preferência", "café ☕")),
    ],
)
def test_profile_lines(line: str, pair: tuple[str, str]) -> None:
    """memory.md §18.1 rows 24 and 29."""
    assert parse_reply(f"## PROFILE_UPDATE\n{line}\n").profile == (pair,)


def test_a_key_may_come_again_and_empty_values_say_nothing() -> None:
    learned = parse_reply("## PROFILE\nmilestone=CKA\nmilestone=CKAD\nname=\nnothing here\nrole: N/A")
    assert learned.profile == (("milestone", "CKA"), ("milestone", "CKAD"))


def test_topics() -> None:
    """memory.md §18.1 row 29."""
    reply = "## TOPICS\n- std::vector: how it grows\nRust, C++ , Go\nhttps://x.y\n`k8s`: the cluster: its nodes"
    assert parse_reply(reply).topics == (
        ("std::vector", "how it grows"),
        ("Rust", ""),
        ("C++", ""),
        ("Go", ""),
        ("https://x.y", ""),
        ("k8s", "the cluster: its nodes"),
    )


def test_several_projects() -> None:
    """memory.md §18.1 row 29."""
    reply = (
        "## PROJECTS\nproject_name=billing\nproject_path=/a?x=1:2\nproject_technologies=rust, sql\n\n"
        "- project_name: web\n- status: active\n"
    )
    assert parse_reply(reply).projects == (
        {"name": "billing", "path": "/a?x=1:2", "technologies": "rust, sql"},
        {"name": "web", "status": "active"},
    )


def test_a_project_without_a_name_is_none() -> None:
    assert parse_reply("## PROJECTS\nproject_status=active").projects == ()


def test_episodes() -> None:
    reply = (
        "## EPISODES\n- Moved std::string out :: works :: a.cpp, #12\n- Wrote the docs\n- a::b::c\n- x :: none :: none"
    )
    assert parse_reply(reply).episodes == (
        LearnedEpisode("Moved std::string out", "works", ("a.cpp", "#12")),
        LearnedEpisode("Wrote the docs"),
        LearnedEpisode("a", "b", ("c",)),
        LearnedEpisode("x"),
    )


def test_an_answer_cut_off_loses_only_its_last_line() -> None:
    learned = parse_reply("## LONGTERM\n- The first one\n- The seco", cut=True)
    assert [f.content for f in learned.facts] == ["The first one"]


def test_letters_that_change_length_in_upper_case_shift_nothing() -> None:
    """memory.md §18.1 row 29."""
    assert parse_reply("ıııß\n## daily\n- ok done\n## topics\nİstanbul: a city").topics == (("İstanbul", "a city"),)


def test_json() -> None:
    tree = {
        "daily": ["Set up CI"],
        "longterm": [{"category": "odd", "content": "Uses tox"}, "Port 80 is taken"],
        "profile": [{"key": "skills", "value": ["Go", "Rust"]}, {"key": "goals_replace", "value": ""}],
        "topics": [{"name": "CI", "summary": "how it runs"}, "Go"],
        "projects": [{"name": "a", "status": None}, {"project_name": "b"}],
        "episodes": [{"summary": "Did it", "outcome": "ok", "refs": ["x"]}],
    }
    learned = parse_reply("```json\n" + json.dumps(tree) + "\n```")
    assert learned.daily == "- Set up CI"
    assert [(f.category, f.content) for f in learned.facts] == [("", "Uses tox"), ("", "Port 80 is taken")]
    assert learned.profile == (("skills", "Go, Rust"), ("goals_replace", ""))
    assert learned.topics == (("CI", "how it runs"), ("Go", ""))
    assert learned.projects == ({"name": "a"}, {"name": "b"})
    assert learned.episodes == (LearnedEpisode("Did it", "ok", ("x",)),)


@given(st.text(max_size=300))
@settings(max_examples=150, deadline=None)
def test_any_text_is_read_or_refused(text: str) -> None:
    for reply in (text, f"## LONGTERM\n{text}\n## PROFILE\n{text}\n## EPISODES\n{text}", f"## DAILY {text}"):
        try:
            parse_reply(reply, cut=len(text) % 2 == 0)
        except UnreadableReplyError:
            assert reply is text or not reply.splitlines()[1:] or len(text) % 2 == 0


@pytest.mark.parametrize(
    ("reply", "facts", "daily"),
    [
        (
            '{"daily": ["ran the build"], "longterm": [{"category": "project", "content": "Uses Bazel 7"}, {"cat',
            1,
            True,
        ),
        ('{"daily": ["ran the build", "and then the same the sa', 0, True),
        ('{"daily": ["ran the build"], "longterm": [{"category": "project", "content": "Uses Ba', 0, True),
        ('{"daily": ["said \\"done, [ok]\\""], "longterm": [], "episodes": [{"summary": "x', 0, True),
    ],
)
def test_json_that_was_cut_off_keeps_its_whole_items(reply: str, facts: int, daily: bool) -> None:
    learned = parse_reply(reply, cut=True)
    assert (len(learned.facts), bool(learned.daily)) == (facts, daily)
    with pytest.raises(UnreadableReplyError):
        parse_reply(reply, cut=False)


def test_json_cut_within_its_first_item_is_unreadable() -> None:
    with pytest.raises(UnreadableReplyError):
        parse_reply('{"daily": ["the same the same the sa', cut=True)
