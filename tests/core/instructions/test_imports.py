"""What counts as an import and what it brings (spec/memory.md §1.5, §18.1 row 33)."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from .conftest import Tree


def test_import_line_is_replaced_by_the_file(tree: Tree) -> None:
    tree.write("repo/AGENTS.md", "before\n@docs/style.md\nafter")
    tree.write("repo/docs/style.md", "\nfour spaces\n")

    assert tree.system() == "## AGENTS.md\n\nbefore\n<!-- import style.md -->\nfour spaces\nafter"


@pytest.mark.parametrize(
    "line",
    [
        "@notes.md",
        "  @notes.md  ",
        "@import notes.md",
        "@import  ./notes.md",
        "- @notes.md",
        "* @notes.md",
        "1. @notes.md",
        "@./notes.md",
        "see @notes.md first",
        "@sub/../notes.md",
        '@"notes.md"',
        "@<notes.md>",
        "@import 'notes.md'",
        ">@notes.md",
    ],
)
def test_spellings_of_an_import(tree: Tree, line: str) -> None:
    """memory.md §18.1 row 33: also inline and in list items."""
    tree.write("repo/AGENTS.md", f"first\n\n{line}\n")
    tree.write("repo/notes.md", "brought in")
    (tree.root / "sub").mkdir()

    assert ("brought in" in tree.system()) is not line.startswith(">")


@pytest.mark.parametrize(
    "name", ["Notes.MD", "./Notes.MD", "n.mdx", "n.markdown", "n.txt", "README.Md", "mein größter Wunsch.md"]
)
def test_file_names_of_imports(tree: Tree, name: str) -> None:
    """memory.md §18.1 row 33: also in upper case and with spaces."""
    tree.write("repo/AGENTS.md", f'@"{name}"')
    tree.write(f"repo/{name}", "brought in")

    assert "brought in" in tree.system()


@pytest.mark.parametrize("name", ["code.py", "notes.md.bak", ".env", "data.json"])
def test_other_files_are_not_imported(tree: Tree, name: str) -> None:
    tree.write("repo/AGENTS.md", f"@{name}")
    tree.write(f"repo/{name}", "brought in")

    assert tree.system() == f"## AGENTS.md\n\n@{name}"


def test_import_in_a_sentence_keeps_the_sentence(tree: Tree) -> None:
    tree.write("repo/AGENTS.md", "See @style.md, and (@tests.md).\nNext line.")
    tree.write("repo/style.md", "the style")
    tree.write("repo/tests.md", "the tests")

    assert tree.system() == (
        "## AGENTS.md\n\nSee @style.md, and (@tests.md).\n<!-- import style.md -->\nthe style\n"
        "<!-- import tests.md -->\nthe tests\nNext line."
    )


@pytest.mark.parametrize(
    "text",
    [
        "```\n@notes.md\n```",
        "~~~ text\n@notes.md\n~~~",
        "````\n```\n@notes.md\n```\n````",
        "~~~\n```\n@notes.md\n~~~",
        "```\n@notes.md",
        "- item\n  ```\n  @notes.md\n  ```",
        "text\n\n    @notes.md",
        "use `@notes.md` here",
        "<!-- @notes.md -->",
        "<!--\n@notes.md\n-->",
        "mail someone@notes.md now",
        "@notes.md.bak",
    ],
)
def test_code_comments_and_addresses_import_nothing(tree: Tree, text: str) -> None:
    """memory.md §18.1 row 33: tilde fences are fences."""
    tree.write("repo/AGENTS.md", "rules\n\n" + text)
    tree.write("repo/notes.md", "brought in")

    assert "brought in" not in tree.system()


@pytest.mark.parametrize(
    "text", ["```\ncode\n```\n@notes.md", "````\n```\n````\n@notes.md", "- item\n\n    @notes.md", "a ``` b\n@notes.md"]
)
def test_imports_behind_code_and_in_lists_count(tree: Tree, text: str) -> None:
    tree.write("repo/AGENTS.md", text)
    tree.write("repo/notes.md", "brought in")

    assert "brought in" in tree.system()


def test_paths_count_from_the_importing_file(tree: Tree) -> None:
    tree.write("repo/AGENTS.md", "@docs/a.md")
    tree.write("repo/docs/a.md", "@b.md")
    tree.write("repo/docs/b.md", "beside a")

    assert "beside a" in tree.system()


def test_home_folder_and_absolute_paths(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tree.base))
    monkeypatch.setenv("USERPROFILE", str(tree.base))
    tree.write("repo/a.md", "from home")
    tree.write("repo/b.md", "from the root")
    tree.write("repo/AGENTS.md", f"@~/repo/a.md\n@{(tree.root / 'b.md').as_posix()}\n@~root/repo/a.md")

    text = tree.system()

    assert "from home" in text
    assert "from the root" in text
    assert text.endswith("@~root/repo/a.md")


def test_windows_separators_work_everywhere(tree: Tree) -> None:
    tree.write("repo/AGENTS.md", "@docs\\a.md")
    tree.write("repo/docs/a.md", "brought in")

    assert "brought in" in tree.system()


def test_four_hops_are_followed_and_the_fifth_is_not(tree: Tree) -> None:
    tree.write("repo/AGENTS.md", "@1.md")
    for number in range(1, 6):
        tree.write(f"repo/{number}.md", f"hop {number}\n@{number + 1}.md")

    text = tree.system()

    assert "hop 4" in text
    assert "hop 5" not in text
    assert text.endswith("@5.md")


def test_each_file_is_imported_once(tree: Tree) -> None:
    tree.write("repo/AGENTS.md", "@a.md\n@b.md\n@a.md\n@AGENTS.md")
    tree.write("repo/a.md", "text a")
    tree.write("repo/b.md", "text b\n@a.md")

    text = tree.system()

    assert text.count("text a") == 1
    assert text.endswith("text b\n@a.md\n@a.md\n@AGENTS.md")


def test_link_to_a_file_that_is_in_already_counts_as_the_same(tree: Tree) -> None:
    tree.write("repo/a.md", "text a")
    (tree.root / "alias.md").symlink_to("a.md")
    tree.write("repo/AGENTS.md", "@a.md\n@alias.md")

    assert tree.system().count("text a") == 1


def test_cycles_end(tree: Tree) -> None:
    tree.write("repo/AGENTS.md", "@a.md")
    tree.write("repo/a.md", "a\n@b.md")
    tree.write("repo/b.md", "b\n@a.md\n@AGENTS.md")

    assert tree.system().endswith("b\n@a.md\n@AGENTS.md")
    statuses = [record.status for record in tree.loaded.show(None).imports]
    assert statuses == ["expanded", "expanded", "cycle", "cycle"]


def test_missing_and_unreadable_targets_stay_as_written(tree: Tree) -> None:
    (tree.root / "folder.md").mkdir()
    tree.write("repo/binary.md", b"\x00\x01\x02")
    tree.write("repo/AGENTS.md", "@none.md\n@folder.md\n@binary.md")

    assert tree.system() == "## AGENTS.md\n\n@none.md\n@folder.md\n@binary.md"
    assert [r.status for r in tree.loaded.show(None).imports] == ["missing", "unreadable", "unreadable"]


def test_long_import_is_cut_for_itself(tree: Tree) -> None:
    tree.write("repo/AGENTS.md", "@long.md\nthe rest")
    tree.write("repo/long.md", "word\n" * 20_000)

    (record,) = tree.loaded.show(None).imports

    assert "the rest" not in tree.system().partition("<!-- instruction")[0]
    assert record.size_bytes == 100_000
    assert record.cut_bytes > 60_000


def test_other_bootstrap_files_and_rules_import_too(tree: Tree) -> None:
    tree.write("repo/SOUL.md", "@personas/calm.md")
    tree.write("repo/personas/calm.md", "be calm")
    tree.write("repo/.chatcli/rules/a.md", "@../../personas/strict.md")
    tree.write("repo/personas/strict.md", "be strict")

    text = tree.system()

    assert "be calm" in text
    assert "be strict" in text


class TestBoundary:
    def test_import_from_outside_is_left_as_text(self, tree: Tree) -> None:
        outside = tree.write("outside/secret.md", "secret")
        tree.write("repo/AGENTS.md", f"@../outside/secret.md\n@{outside.as_posix()}")

        assert tree.system() == f"## AGENTS.md\n\n@../outside/secret.md\n@{outside.as_posix()}"
        assert {r.status for r in tree.loaded.show(None).imports} == {"refused"}

    def test_link_out_of_the_workspace_is_refused(self, tree: Tree) -> None:
        tree.write("outside/secret.md", "secret")
        (tree.root / "docs").symlink_to(tree.base / "outside")
        (tree.root / "direct.md").symlink_to(tree.base / "outside" / "secret.md")
        tree.write("repo/AGENTS.md", "@docs/secret.md\n@direct.md")

        assert "secret\n" not in tree.system().replace("secret.md", "")
        assert {r.status for r in tree.loaded.show(None).imports} == {"refused"}

    def test_instruction_file_that_is_a_link_out_is_refused_and_reported(self, tree: Tree) -> None:
        tree.write("outside/x.md", "secret")
        (tree.root / "AGENTS.md").symlink_to(tree.base / "outside" / "x.md")
        (tree.root / ".chatcli" / "rules").mkdir(parents=True)
        (tree.root / ".chatcli" / "rules" / "r.md").symlink_to(tree.base / "outside" / "x.md")

        assert tree.system() == ""
        report = tree.loaded.show(None)
        assert [(e.path.name, e.status) for e in (*report.files, *report.rules)] == [
            ("AGENTS.md", "refused"),
            ("r.md", "refused"),
        ]

    def test_link_within_the_workspace_is_followed(self, tree: Tree) -> None:
        tree.write("repo/docs/agents.txt", "linked")
        (tree.root / "AGENTS.md").symlink_to("docs/agents.txt")

        assert "linked" in tree.system()

    def test_folder_that_is_a_link_out_gives_no_instructions(self, tree: Tree) -> None:
        tree.write("outside/AGENTS.md", "foreign")
        (tree.root / "vendor").symlink_to(tree.base / "outside")

        assert tree.turn("repo/vendor/x.py") == ""

    def test_workspace_and_global_folder_may_import_each_other_when_trusted(self, tree: Tree) -> None:
        tree.write("home/shared.md", "shared wishes")
        tree.write("repo/AGENTS.md", f"@{(tree.home / 'shared.md').as_posix()}")

        assert "shared wishes" in tree.system()
        tree.open(trusted=False)
        assert "shared wishes" not in tree.system()

    def test_sibling_with_the_same_beginning_is_outside(self, tree: Tree) -> None:
        tree.write("repo-secrets/x.md", "secret")
        tree.write("repo/AGENTS.md", "@../repo-secrets/x.md")

        assert {r.status for r in tree.loaded.show(None).imports} == {"refused"}

    def test_path_with_a_null_byte_or_absurd_length_is_harmless(self, tree: Tree) -> None:
        tree.write("repo/AGENTS.md", f"@a\0b.md\n@{'x' * 5000}.md\n@{'d/' * 3000}x.md")

        assert tree.loaded.stable() == () or tree.system()


def test_changed_import_is_noticed(tree: Tree) -> None:
    tree.write("repo/AGENTS.md", "@a.md")
    tree.write("repo/a.md", "old")
    assert "old" in tree.system()

    changed = tree.write("repo/a.md", "new")

    assert tree.loaded.refresh().changed == (changed,)
    assert "new" in tree.system()


def test_import_that_appears_later_is_noticed(tree: Tree) -> None:
    tree.write("repo/AGENTS.md", "@docs/later.md")
    assert "@docs/later.md" in tree.system()

    later = tree.write("repo/docs/later.md", "here now")

    assert tree.loaded.refresh().added == (later,)
    assert "here now" in tree.system()


def test_imported_file_counts_as_an_instruction_file(tree: Tree) -> None:
    tree.write("repo/AGENTS.md", "@docs/a.md")
    tree.write("repo/docs/a.md", "text")
    tree.system()

    assert tree.loaded.is_instruction_file(tree.root / "docs" / "a.md")
    assert not tree.loaded.is_instruction_file(Path(tree.root / "docs" / "b.md"))


@pytest.mark.parametrize(
    "text",
    [
        "".join("`" * number + " " for number in range(400)) + "@a.md",
        "<!-- -->" * 10_000 + "\n@a.md",
        "@x.md\n" * 20_000,
        "@" + "a/" * 50_000 + ".md",
        "[[" * 40_000 + "@a.md",
    ],
)
def test_no_text_takes_long_to_read(tree: Tree, text: str) -> None:
    tree.write("repo/AGENTS.md", text)
    start = time.process_time()

    tree.system()

    assert time.process_time() - start < 3
