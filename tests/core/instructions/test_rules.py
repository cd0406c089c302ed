"""Rules: where they come from, when they apply, in which order (spec/memory.md §2, §18.1 rows 34, 35)."""

from __future__ import annotations

import pytest

from .conftest import Tree


def rule(paths: str, body: str = "the rule") -> str:
    return f"---\npaths: {paths}\n---\n\n{body}\n"


def test_rule_without_paths_always_applies(tree: Tree) -> None:
    """memory.md §18.1 row 34: also in a turn that names no path, and before the rules of paths in a fixed order."""
    tree.write("repo/.chatcli/rules/tone.md", "be kind")

    assert tree.system() == "## Path-Specific Rules\n\n### Rule: tone\n\nbe kind"
    assert tree.turn("repo/any.py") == ""


def test_rule_with_paths_applies_to_files_that_match(tree: Tree) -> None:
    tree.write("repo/.chatcli/rules/py.md", rule('["**/*.py", "*.pyi"]'))

    assert tree.system() == ""
    assert tree.turn("repo/src/a.py") == "### Rule: py (paths: **/*.py, *.pyi)\n\nthe rule"
    assert tree.turn(None, "repo/src/a.pyi") != ""
    assert tree.turn("repo/src/a.js") == ""


def test_rules_join_as_one_section(tree: Tree) -> None:
    """memory.md §18.1 row 34: in one order, always."""
    tree.write("repo/.chatcli/rules/b.md", "second")
    tree.write("repo/.chatcli/rules/a.md", "first")

    assert tree.system() == ("## Path-Specific Rules\n\n### Rule: a\n\nfirst\n\n---\n\n### Rule: b\n\nsecond")


@pytest.mark.parametrize(
    "head",
    [
        "paths: src/**",
        "paths: 'src/**'",
        "paths: [src/**]",
        'paths: ["src/**", lib/**]',
        "paths:\n  - src/**",
        "paths:\n- lib/**\n\n# a comment\n- 'src/**'",
        "paths: src/**, lib/**",
        "paths: [\n  'src/**',\n  'lib/**',\n]",
        "description: x\npaths: src/**\nunknown: [1, 2]",
        "globs: src/**",
        "applyTo: 'src/**,lib/**'",
        "paths: '{src,lib}/**'",
        "paths: {src,lib}/**",
        "paths: [{src,lib}/**, *.md]",
        "paths: **/*.py",
        "paths: *.py",
    ],
)
def test_spellings_of_patterns(tree: Tree, head: str) -> None:
    """memory.md §18.1 row 34: a scalar is a pattern, braces are braces."""
    tree.write("repo/.chatcli/rules/r.md", f"---\n{head}\n---\nthe rule")

    assert tree.system() == ""
    assert "the rule" in tree.turn("repo/src/a.py")
    assert tree.turn("repo/other/a.js") == ""


@pytest.mark.parametrize("lead", ["", "\n\n", "\ufeff"])
@pytest.mark.parametrize("close", ["---", "...", "---  "])
def test_frames_of_frontmatter(tree: Tree, lead: str, close: str) -> None:
    tree.write("repo/.chatcli/rules/r.md", f"{lead}--- \npaths: '*.py'\n{close}\nbody with --- dashes\n---\nmore")

    assert tree.turn("repo/a.py").endswith("body with --- dashes\n---\nmore")


def test_dashes_inside_a_value_do_not_end_the_frontmatter(tree: Tree) -> None:
    tree.write("repo/.chatcli/rules/r.md", "---\ndescription: a --- b\npaths: '*.py'\n---\nthe rule")

    assert tree.turn("repo/a.py").endswith("the rule")


def test_unclosed_frontmatter_is_text(tree: Tree) -> None:
    tree.write("repo/.chatcli/rules/r.md", "---\njust a line above")

    assert "just a line above" in tree.system()


@pytest.mark.parametrize(
    "head", ["paths: [unclosed", "key: *alias", "\tpaths: x", "paths: {a: b}", "- a list", "a: b: c"]
)
def test_rule_with_broken_frontmatter_applies_nowhere_and_is_reported(tree: Tree, head: str) -> None:
    tree.write("repo/.chatcli/rules/r.md", f"---\n{head}\n---\nthe rule")

    assert tree.system() == ""
    assert tree.turn("repo/a.py") == ""
    (entry,) = tree.loaded.show(None).rules
    assert entry.status == "unreadable"
    assert entry.why


def test_yaml_bomb_is_refused(tree: Tree) -> None:
    bomb = "a: &a [x,x]\nb: &b [*a,*a]\nc: &c [*b,*b]\npaths: [*c,*c]"
    tree.write("repo/.chatcli/rules/r.md", f"---\n{bomb}\n---\nthe rule")

    assert tree.turn("repo/x") == ""


def test_empty_rule_is_dropped_and_shadows_nothing(tree: Tree) -> None:
    tree.write("repo/.claude/rules/r.md", "from claude")
    tree.write("repo/.chatcli/rules/r.md", "---\npaths: '*.py'\n---\n\n")

    assert "from claude" in tree.system()


class TestPlaces:
    def test_same_name_the_strongest_place_wins(self, tree: Tree) -> None:
        always = {
            "home/rules/r.md": "global",
            "repo/.github/instructions/r.instructions.md": "---\napplyTo: '**'\n---\ncopilot",
            "repo/.cursor/rules/r.mdc": "---\nalwaysApply: true\n---\ncursor",
            "repo/.claude/rules/r.md": "claude",
            "repo/.chatcli/rules/r.md": "chatcli",
        }
        for path, text in always.items():
            tree.write(path, text)
            tree.open()
            assert tree.system().endswith(f"\n\n{text.rsplit(chr(10), 1)[-1]}")
            assert tree.system().count("### Rule") == 1

    def test_different_names_all_apply(self, tree: Tree) -> None:
        tree.write("home/rules/a.md", "global")
        tree.write("repo/.claude/rules/b.md", "claude")
        tree.write("repo/.chatcli/rules/c.md", "chatcli")

        assert tree.system().count("### Rule") == 3

    def test_folders_below_are_read(self, tree: Tree) -> None:
        tree.write("repo/.claude/rules/front/react.md", "hooks")

        assert "### Rule: front/react\n\nhooks" in tree.system()

    def test_bare_rules_folder_of_a_repository_is_not_read(self, tree: Tree) -> None:
        """memory.md §18.1 row 34."""
        tree.write("repo/rules/r.md", "not a rule")

        assert tree.system() == ""

    def test_nested_rules_speak_for_their_folder(self, tree: Tree) -> None:
        tree.write("repo/api/.chatcli/rules/all.md", "api always")
        tree.write("repo/api/.chatcli/rules/sql.md", rule("'db/*.sql'", "api sql"))

        assert tree.system() == ""
        assert tree.turn("repo/api/db/x.sql").count("### Rule") == 2
        assert "api sql" not in tree.turn("repo/api/x.py")
        assert tree.turn("repo/db/x.sql") == ""

    def test_rules_of_the_repository_around_the_opened_folder_apply(self, tree: Tree) -> None:
        tree.write("repo/.chatcli/rules/r.md", rule("'packages/*/src/**'"))
        (tree.root / "packages" / "api" / "src").mkdir(parents=True)
        tree.open("repo/packages/api")

        assert "the rule" in tree.turn("repo/packages/api/src/a.py")

    def test_global_rule_with_paths_counts_from_the_opened_folder(self, tree: Tree) -> None:
        tree.write("home/rules/py.md", rule("'src/*.py'"))

        assert "the rule" in tree.turn("repo/src/a.py")

    def test_global_rules_are_not_read_twice_when_home_is_opened(self, tree: Tree) -> None:
        tree.write("user/.chatcli/rules/r.md", "mine")
        tree.open("user", globalFolder=str(tree.base / "user" / ".chatcli"))

        assert tree.system().count("mine") == 1


class TestOtherToolsDialects:
    def test_copilot_needs_apply_to(self, tree: Tree) -> None:
        tree.write("repo/.github/instructions/ts.instructions.md", "---\napplyTo: '**/*.ts,**/*.tsx'\n---\nstrict")
        tree.write("repo/.github/instructions/hand.instructions.md", "by hand only")
        tree.write("repo/.github/instructions/readme.md", "no instructions")

        assert tree.system() == ""
        assert "strict" in tree.turn("repo/a/b.tsx")
        assert [(e.title, e.status) for e in tree.loaded.show(None).rules] == [
            ("Rule: hand", "manual"),
            ("Rule: ts", "unmatched"),
        ]

    def test_cursor_rules(self, tree: Tree) -> None:
        tree.write("repo/.cursor/rules/always.mdc", "---\ndescription:\nglobs:\nalwaysApply: true\n---\nalways")
        tree.write("repo/.cursor/rules/globs.mdc", "---\nglobs: *.ts,src/**\nalwaysApply: false\n---\nmatched")
        tree.write("repo/.cursor/rules/asked.mdc", "---\ndescription: when\nglobs:\nalwaysApply: false\n---\nasked")
        tree.write("repo/.cursor/rules/notes.md", "not read by Cursor either")

        assert tree.system().endswith("### Rule: always\n\nalways")
        assert tree.turn("repo/lib/x.ts").endswith("matched")
        assert "asked" not in tree.system() + tree.turn("repo/lib/x.ts")

    def test_rule_for_everything_is_an_always_rule(self, tree: Tree) -> None:
        tree.write("repo/.claude/rules/r.md", rule("'**/*'"))

        assert "the rule" in tree.system()
        assert tree.turn("repo/x.py") == ""

    def test_hand_applied_rule_does_not_silence_one_that_applies(self, tree: Tree) -> None:
        tree.write("repo/.cursor/rules/r.mdc", "---\ndescription: x\n---\nby hand")
        tree.write("home/rules/r.md", "global")

        assert "global" in tree.system()


def test_rule_reached_through_a_link_still_matches(tree: Tree) -> None:
    tree.write("repo/packages/api/a.py", "")
    (tree.root / "current").symlink_to("packages/api")
    tree.write("repo/.chatcli/rules/r.md", rule("packages/api/**"))

    assert "the rule" in tree.turn("repo/current/a.py")


def test_upper_case_paths_match(tree: Tree) -> None:
    """memory.md §18.1 row 34."""
    tree.write("repo/.chatcli/rules/r.md", rule("Src/**/*.PY"))

    assert "the rule" in tree.turn("repo/Src/x/A.PY")


def test_identities_survive_a_change_of_text(tree: Tree) -> None:
    tree.write("repo/.chatcli/rules/r.md", rule("'*.py'", "old"))
    (before,) = tree.loaded.for_paths(tree.root / "a.py", [])
    tree.write("repo/.chatcli/rules/r.md", rule("'*.py'", "new"))
    tree.loaded.refresh()
    (after,) = tree.loaded.for_paths(tree.root / "a.py", [])

    assert before.id == after.id == "rule:r"
    assert before.digest != after.digest
