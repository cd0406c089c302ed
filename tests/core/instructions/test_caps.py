"""What happens to text beyond the caps (spec/memory.md §1.4, §18.1 row 32)."""

from __future__ import annotations

import pytest

from chatls_core.instructions.model import HIERARCHY_LIMIT, RULES_LIMIT

from .conftest import Tree

KIB = 1024


def lines(word: str, size: int) -> str:
    """Numbered lines of about ``size`` bytes."""
    text = "".join(f"{word} line {number}\n" for number in range(size // (len(word) + 8)))
    return text[:size]


def size(text: str) -> int:
    return len(text.encode())


def test_nearest_file_stays_whole_and_the_farther_one_is_cut(tree: Tree) -> None:
    """memory.md §18.1 row 32: the most specific instructions are the last to be cut."""
    tree.write("home/AGENTS.md", lines("global", 20 * KIB))
    tree.write("repo/AGENTS.md", near := lines("near", 20 * KIB).strip())

    text = tree.system()

    assert near in text
    assert "global line 0\n" in text
    assert "truncated at 32 KiB: AGENTS.md (global) has" in text
    assert size(text) < HIERARCHY_LIMIT + 20


def test_large_root_file_does_not_cost_the_package_its_own(tree: Tree) -> None:
    """memory.md §18.1 row 32: 33 KiB at the root and a small file in the package, be it opened or only touched."""
    tree.write("repo/AGENTS.md", lines("root", 33 * KIB))
    tree.write("repo/api/AGENTS.md", "the package")

    assert "truncated at 32 KiB" in tree.system()
    assert "the package" in tree.turn("repo/api/x.py")
    tree.open("repo/api")
    assert "the package" in tree.system()
    assert "truncated at 32 KiB" in tree.system()


def test_what_fits_together_is_not_cut(tree: Tree) -> None:
    tree.write("home/AGENTS.md", "short")
    tree.write("repo/AGENTS.md", "x" * (HIERARCHY_LIMIT - 100))

    assert "truncated" not in tree.system()


def test_cut_ends_at_a_line_and_keeps_the_beginning(tree: Tree) -> None:
    tree.write("repo/AGENTS.md", lines("word", 40 * KIB))

    body = tree.system().removeprefix("## AGENTS.md\n\n").split("\n\n<!-- instruction files truncated")[0]

    assert body.startswith("word line 0\n")
    assert body.splitlines()[-1].startswith("word line ")
    assert body in lines("word", 40 * KIB)


def test_cut_never_splits_a_character(tree: Tree) -> None:
    tree.write("repo/AGENTS.md", "é€😀" * 12_000)

    text = tree.system()

    assert "�" not in text
    assert size(text) <= HIERARCHY_LIMIT + 20


def test_farthest_file_without_any_room_is_named(tree: Tree) -> None:
    tree.write("home/AGENTS.md", lines("global", 2 * KIB))
    tree.write("repo/AGENTS.md", lines("root", 40 * KIB))
    tree.write("repo/sub/AGENTS.md", lines("opened", 32 * KIB - 700))
    tree.open("repo/sub")

    report = tree.loaded.show(None)

    assert "opened line 0" in tree.system()
    assert {entry.title for entry in report.cut} >= {"AGENTS.md (global)", "../AGENTS.md"}


def test_nested_files_beyond_the_cap_are_named_nearest_kept(tree: Tree) -> None:
    tree.write("repo/a/AGENTS.md", lines("outer", 20 * KIB))
    tree.write("repo/a/b/AGENTS.md", lines("inner", 20 * KIB))

    text = tree.turn("repo/a/b/x.py")

    assert "inner line 0" in text
    assert "outer line 0" not in text
    assert "a/AGENTS.md (20,4" in text
    assert str(tree.root / "a" / "AGENTS.md") in text
    assert size(text) < HIERARCHY_LIMIT + 2 * KIB


def test_huge_nested_file_is_shortened_not_dropped(tree: Tree) -> None:
    tree.write("repo/a/AGENTS.md", lines("big", 100 * KIB))

    text = tree.turn("repo/a/x.py")

    assert "big line 0" in text
    assert "truncated at 32 KiB: a/AGENTS.md has" in text


def test_active_documents_instructions_outrank_touched_ones(tree: Tree) -> None:
    tree.write("repo/deep/er/AGENTS.md", lines("touched", 20 * KIB))
    tree.write("repo/here/AGENTS.md", lines("active", 20 * KIB))

    text = tree.turn("repo/here/x.py", "repo/deep/er/y.py")

    assert "active line 0" in text
    assert "touched line 0" not in text


@pytest.mark.parametrize("name", ["SOUL.md", "RULES.md"])
def test_other_files_have_a_cap_too(tree: Tree, name: str) -> None:
    tree.write(f"repo/{name}", lines("word", 100 * KIB))

    text = tree.system()

    assert f"truncated at 32 KiB: {name} has" in text
    assert size(text) < 33 * KIB


def test_rules_beyond_the_cap_are_left_out_farthest_first_and_named(tree: Tree) -> None:
    """memory.md §18.1 row 34: rules have a cap."""
    tree.write("home/rules/far.md", lines("global", 20 * KIB))
    tree.write("repo/.chatcli/rules/near.md", lines("near", 20 * KIB))

    text = tree.system()

    assert "near line 0" in text
    assert "global line 0" not in text
    assert "Rule: far (" in text
    assert size(text) < RULES_LIMIT + 2 * KIB


def test_text_of_a_rule_does_not_depend_on_its_company(tree: Tree) -> None:
    for name in "abcd":
        tree.write(f"repo/.chatcli/rules/{name}.md", f"---\npaths: '*.{name}'\n---\n" + lines(name, 12 * KIB))

    alone = tree.loaded.for_paths(tree.root / "x.a", [])
    crowded = tree.loaded.for_paths(tree.root / "x.a", [tree.root / f"x.{name}" for name in "bcd"])

    assert alone[0] in crowded


def test_large_rule_is_shortened(tree: Tree) -> None:
    tree.write("repo/.chatcli/rules/big.md", lines("big", 100 * KIB))

    text = tree.system()

    assert "big line 0" in text
    assert "truncated at 32 KiB: big.md has" in text


def test_report_says_what_was_cut(tree: Tree) -> None:
    """memory.md §18.1 row 32: the user is told."""
    tree.write("repo/AGENTS.md", lines("root", 50 * KIB))

    (entry,) = tree.loaded.show(None).cut

    assert entry.title == "AGENTS.md"
    assert entry.size_bytes == 50 * KIB
    assert entry.shown_bytes <= HIERARCHY_LIMIT
    assert "shortened" in entry.why
