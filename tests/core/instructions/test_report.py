"""``chatls.instructions.show``: which files, imports and rules apply to a document, and why (PROTOCOL.md)."""

from __future__ import annotations

import json
import re
from pathlib import Path

from .conftest import Tree


def test_everything_that_applies_stands_in_prompt_order(tree: Tree) -> None:
    tree.write("home/AGENTS.md", "global")
    tree.write("repo/AGENTS.md", "root")
    tree.write("repo/SOUL.md", "soul")
    tree.write("repo/api/AGENTS.md", "api")
    tree.write("repo/.chatcli/rules/all.md", "always")
    tree.write("repo/.chatcli/rules/py.md", "---\npaths: '*.py'\n---\npython")
    tree.write("repo/.chatcli/rules/js.md", "---\npaths: '*.js'\n---\njavascript")

    report = tree.loaded.show(tree.root / "api" / "x.py")

    assert [(e.title, e.status) for e in report.files] == [
        ("AGENTS.md (global)", "system"),
        ("AGENTS.md", "system"),
        ("SOUL.md", "system"),
        ("api/AGENTS.md", "turn"),
    ]
    assert [(e.title, e.status) for e in report.rules] == [
        ("Rule: all", "system"),
        ("Rule: py (paths: *.py)", "turn"),
        ("Rule: js", "unmatched"),
    ]
    assert "6 of 7 files and rules apply" in report.markdown


def test_report_agrees_with_what_the_model_gets(tree: Tree) -> None:
    tree.write("repo/AGENTS.md", "root text")
    tree.write("repo/api/AGENTS.md", "api text")
    active = tree.root / "api" / "x.py"

    shown = {e.id: e.shown_bytes for e in tree.loaded.show(active).files}

    sent = {i.id: len(i.text.encode()) for i in (*tree.loaded.stable(), *tree.loaded.for_paths(active, []))}
    assert shown == sent


def test_what_does_not_apply_says_why(tree: Tree) -> None:
    tree.write("repo/AGENTS.md", "root")
    tree.write("repo/CLAUDE.md", "claude")
    tree.write("repo/SOUL.md", " ")
    tree.write("repo/.claude/rules/r.md", "weaker")
    tree.write("repo/.chatcli/rules/r.md", "stronger")
    tree.write("home/rules/r.md", "weakest")

    report = tree.loaded.show(None)

    assert {(e.path.name, e.status) for e in report.files} == {
        ("AGENTS.md", "system"),
        ("CLAUDE.md", "shadowed"),
        ("SOUL.md", "empty"),
    }
    assert [(e.path.relative_to(tree.base).as_posix(), e.status) for e in report.rules] == [
        ("repo/.chatcli/rules/r.md", "system"),
        ("home/rules/r.md", "shadowed"),
        ("repo/.claude/rules/r.md", "shadowed"),
    ]


def test_imports_are_listed_with_their_fate(tree: Tree) -> None:
    tree.write("repo/AGENTS.md", "one\n@a.md\n@none.md")
    tree.write("repo/AGENTS.local.md", "@b.md")
    tree.write("repo/a.md", "aaaa")
    tree.write("repo/b.md", "bb")

    imports = tree.loaded.show(None).imports

    assert [(i.written, i.status, i.size_bytes, i.line) for i in imports] == [
        ("a.md", "expanded", 4, 1),
        ("none.md", "missing", 0, 2),
        ("b.md", "expanded", 2, 0),
    ]


def test_data_is_json_with_uris(tree: Tree) -> None:
    tree.write("repo/AGENTS.md", "@a.md")
    tree.write("repo/a.md", "text")

    data = json.loads(json.dumps(tree.loaded.show(None).data()))

    assert data["files"][0]["uri"] == (tree.root / "AGENTS.md").as_uri()
    assert data["imports"][0]["uri"] == (tree.root / "a.md").as_uri()
    assert set(data) >= {"files", "imports", "rules", "cut"}


def test_names_cannot_break_the_markdown(tree: Tree) -> None:
    tree.write("repo/.chatcli/rules/a|b](x) `c`.md", "text")
    tree.write("repo/a\nb/AGENTS.md", "text")

    markdown = tree.loaded.show(tree.root / "a\nb" / "x.py").markdown

    assert "a\\|b\\](x) \\`c\\`" in markdown
    assert "a\nb" not in markdown


def test_file_names_that_are_no_text_are_harmless(tree: Tree) -> None:
    folder = Path(str(tree.root)) / "caf\udce9"
    folder.mkdir()
    (folder / "AGENTS.md").write_text("odd name")

    items = tree.loaded.for_paths(folder / "x.py", [])
    report = tree.loaded.show(folder / "x.py")

    assert "odd name" in items[0].text
    assert items[0].title.encode()
    assert report.markdown.encode()


def test_untrusted_workspace_is_named(tree: Tree) -> None:
    tree.open(trusted=False)

    assert "not trusted" in tree.loaded.show(None).markdown


def test_instruction_files_are_known_by_name_and_place(tree: Tree) -> None:
    def known(path: str) -> bool:
        return tree.loaded.is_instruction_file(tree.base / path)

    assert all(
        known(p)
        for p in (
            "repo/AGENTS.md",
            "repo/deep/down/CLAUDE.md",
            "repo/AGENTS.local.md",
            "home/SOUL.md",
            "home/rules/x.md",
            "repo/.chatcli/rules/x.md",
            "repo/a/.claude/rules/b/c.md",
            "repo/.cursor/rules/x.mdc",
            "repo/.github/instructions/x.instructions.md",
        )
    )
    assert not any(
        known(p) for p in ("repo/README.md", "repo/rules/x.md", "repo/.cursor/rules/x.md", "home/notes.md", "repo/a.py")
    )


def test_watch_globs_cover_every_kind_of_file(tree: Tree) -> None:
    from wcmatch import glob

    globs = list(tree.loaded.watch_globs())

    for path in (
        "AGENTS.md",
        "a/b/CLAUDE.local.md",
        "SOUL.md",
        ".chatcli/rules/x.md",
        "a/.claude/rules/b/x.md",
        ".cursor/rules/x.mdc",
        ".github/instructions/x.instructions.md",
    ):
        assert glob.globmatch(path, globs, flags=glob.GLOBSTAR | glob.BRACE | glob.DOTGLOB), path
    assert not glob.globmatch("src/main.py", globs, flags=glob.GLOBSTAR | glob.BRACE | glob.DOTGLOB)


def test_the_comparison_names_tests_that_exist() -> None:
    root = Path(__file__).resolve().parents[3]
    text = (root / "docs" / "instructions.md").read_text(encoding="utf-8")
    table = text.partition("## How others do it")[2].partition("### Sources")[0]
    rows = [line for line in table.splitlines() if line.startswith("| ")][2:]
    for row in rows:
        named = re.findall(r"`(test_\w+)(?:::(\w+))?`|`(tests/[\w/.]+)`", row.rsplit("|", 2)[1])
        assert named, f"no test proves: {row.split('|')[1]}"
        for module, name, path in named:
            file = root / path if path else Path(__file__).with_name(f"{module}.py")
            assert file.is_file(), row
            assert not name or re.search(rf"\b(def|class) {name}\b", file.read_text(encoding="utf-8")), name
