"""The LSP answers about instruction files: right types, right places in the client's units."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol import types

from chatls_server.lsp import instruction_actions as actions
from chatls_server.lsp import instruction_features as features
from chatls_server.lsp.lines import Encoding

from .conftest import Tree


def place(start: int, end: int, line: int = 0) -> types.Range:
    return types.Range(types.Position(line, start), types.Position(line, end))


@pytest.mark.parametrize(("encoding", "start"), [("utf-8", 5), ("utf-16", 3), ("utf-32", 2)])
def test_places_are_in_the_clients_units(tree: Tree, encoding: Encoding, start: int) -> None:
    path = tree.root / "AGENTS.md"

    (diagnostic,) = features.diagnostics(tree.loaded, path.as_uri(), path, "😀 @none.md", encoding)

    assert diagnostic.range == place(start, start + 8)
    assert diagnostic.code == "import-missing"
    assert diagnostic.source == features.SOURCE


def test_text_the_model_will_not_see_is_faded(tree: Tree) -> None:
    path = tree.root / "AGENTS.md"

    (diagnostic,) = features.diagnostics(tree.loaded, path.as_uri(), path, "some words\n" * 5000, "utf-16")

    assert diagnostic.tags == [types.DiagnosticTag.Unnecessary]
    assert diagnostic.severity == types.DiagnosticSeverity.Warning


def test_hover_tells_where_an_import_leads(tree: Tree) -> None:
    tree.write("repo/docs/a.md", "four" * 100 + "\n@none.md")
    path = tree.root / "AGENTS.md"

    hover = features.hover(tree.loaded, path.as_uri(), path, "see @docs/a.md", types.Position(0, 8), "utf-16")

    assert hover is not None
    assert isinstance(hover.contents, types.MarkupContent)
    assert str(tree.root / "docs" / "a.md") in hover.contents.value
    assert "409 bytes, about 102 tokens" in hover.contents.value
    assert "`none.md`: there is no such file" in hover.contents.value
    assert hover.range == place(4, 14)
    assert features.hover(tree.loaded, path.as_uri(), path, "see @docs/a.md", types.Position(0, 1), "utf-16") is None


def test_hover_tells_what_a_pattern_matches(tree: Tree) -> None:
    for name in ("a.py", "b.py", "c.js"):
        tree.write(f"repo/{name}", "")
    path = tree.root / ".chatcli" / "rules" / "r.md"

    hover = features.hover(
        tree.loaded, path.as_uri(), path, "---\npaths: '*.py'\n---\n", types.Position(1, 9), "utf-16"
    )

    assert hover is not None
    assert isinstance(hover.contents, types.MarkupContent)
    assert hover.contents.value == "Matches 2 files of 3.\n- `a.py`\n- `b.py`"


def test_links_and_definitions_lead_to_the_file(tree: Tree) -> None:
    target = tree.write("repo/my docs/a ü.md", "text")
    path = tree.root / "AGENTS.md"
    text = '@"my docs/a ü.md"\n@none.md\n[[my docs/a ü]]'

    links = features.document_links(tree.loaded, path.as_uri(), path, text, "utf-16")

    assert [(link.target, link.range) for link in links] == [
        (features.uri_of(target), place(2, 16)),
        (features.uri_of(target), place(2, 13, 2)),
    ]
    location = features.definition(tree.loaded, path.as_uri(), path, text, types.Position(0, 5), "utf-16")
    assert location is not None
    assert location.uri == features.uri_of(target)
    assert features.definition(tree.loaded, path.as_uri(), path, text, types.Position(1, 3), "utf-16") is None


def test_completion_replaces_what_is_typed(tree: Tree) -> None:
    tree.write("repo/docs/a.md", "text")
    path = tree.root / "AGENTS.md"

    (item,) = features.completion(tree.loaded, path.as_uri(), path, "😀 @docs/", types.Position(0, 9), "utf-16").items

    assert item.label == "a.md"
    assert item.text_edit == types.TextEdit(place(4, 9), "docs/a.md")


def test_lens_counts_files_tokens_and_order(tree: Tree) -> None:
    tree.write("home/AGENTS.md", "global")
    tree.write("repo/AGENTS.md", "word " * 80)
    path = tree.root / "AGENTS.md"

    (lens,) = features.code_lens(tree.loaded, path.as_uri(), path, "word " * 80, "utf-16")

    assert lens.command is not None
    assert lens.command.title == "applies to 1 file · 100 tokens · loaded 2nd of 2"
    assert lens.command.command == "chatls.instructions.show"
    assert lens.command.arguments == [{"uri": path.as_uri()}]


def test_other_documents_get_nothing(tree: Tree) -> None:
    path = tree.root / "README.md"
    text = "@none.md"
    uri, position = path.as_uri(), types.Position(0, 2)

    assert features.diagnostics(tree.loaded, uri, path, text, "utf-16") == []
    assert features.hover(tree.loaded, uri, path, text, position, "utf-16") is None
    assert features.document_links(tree.loaded, uri, path, text, "utf-16") == []
    assert features.definition(tree.loaded, uri, path, text, position, "utf-16") is None
    assert features.completion(tree.loaded, uri, path, text, position, "utf-16").items == []
    assert features.code_lens(tree.loaded, uri, path, text, "utf-16") == []
    assert actions.code_actions(tree.loaded, uri, path, text, place(0, 0), "utf-16") == []


class TestActions:
    def fixes(self, tree: Tree, path: Path, text: str, line: int = 0) -> list[types.CodeAction]:
        return actions.code_actions(tree.loaded, path.as_uri(), path, text, place(0, 0, line), "utf-16")

    def test_missing_file_is_created(self, tree: Tree) -> None:
        (action,) = self.fixes(tree, tree.root / "AGENTS.md", "@docs/new.md")

        assert action.title == "Create new.md"
        assert action.edit is not None
        (change,) = action.edit.document_changes or []
        assert isinstance(change, types.CreateFile)
        assert change.uri == (tree.root / "docs" / "new.md").as_uri()
        assert change.options == types.CreateFileOptions(overwrite=False, ignore_if_exists=True)

    def test_fixes_are_those_of_the_asked_lines(self, tree: Tree) -> None:
        assert self.fixes(tree, tree.root / "AGENTS.md", "@docs/new.md\n\n\n", 2) == []

    def test_misplaced_rule_is_moved(self, tree: Tree) -> None:
        (action,) = self.fixes(tree, tree.root / "rules" / "r.md", "text")

        assert action.title == "Move to .chatcli/rules/r.md"
        assert action.edit is not None
        (change,) = action.edit.document_changes or []
        assert isinstance(change, types.RenameFile)
        assert change.new_uri == (tree.root / ".chatcli" / "rules" / "r.md").as_uri()

    def test_misspelt_key_is_replaced(self, tree: Tree) -> None:
        tree.write("repo/a.py", "")
        (action,) = self.fixes(tree, tree.root / ".chatcli" / "rules" / "r.md", "---\npahts: '*.py'\n---\nx", 1)

        assert action.title == "Replace by paths"
        assert action.edit is not None
        (change,) = action.edit.document_changes or []
        assert isinstance(change, types.TextDocumentEdit)
        assert change.edits == [types.TextEdit(place(0, 5, 1), "paths")]

    def test_invisible_characters_are_removed(self, tree: Tree) -> None:
        (action,) = self.fixes(tree, tree.root / "AGENTS.md", "a\u200bb😀\u202ec")[:1]

        assert action.edit is not None
        (change,) = action.edit.document_changes or []
        assert isinstance(change, types.TextDocumentEdit)
        assert change.edits == [types.TextEdit(place(0, 7), "ab😀c")]

    def test_long_file_is_split_at_a_section(self, tree: Tree) -> None:
        long = "some words\n" * 4000
        text = f"# Project\n\n## Style\n\n{long}\n## SQL of `db/migrations/`\n\nuse capitals\n\n## Last\n\nend"
        cut = text[: text.index("## SQL")].count("\n")

        (action,) = self.fixes(tree, tree.root / "AGENTS.md", text, cut)

        assert action.title == "Move “Style” into the rule style.md"
        tree.write("repo/AGENTS.md", text)
        moved, rest = self.apply(action, text)
        assert "some words" in moved
        assert rest == "# Project\n\n## SQL of `db/migrations/`\n\nuse capitals\n\n## Last\n\nend"

    def test_paths_a_section_names_become_its_patterns(self, tree: Tree) -> None:
        text = "intro\n" + "some words\n" * 4000 + "## SQL\n\nIn `db/migrations/` and `db/*.sql` use capitals."

        (action,) = self.fixes(tree, tree.root / "AGENTS.md", text, 4001)
        moved, rest = self.apply(action, text)

        assert moved.startswith('---\npaths:\n  - "db/migrations/**"\n  - "db/*.sql"\n---\n\n## SQL\n')
        assert rest == "intro\n" + "some words\n" * 4000

    def test_long_file_without_sections_has_no_fix_and_no_failure(self, tree: Tree) -> None:
        assert self.fixes(tree, tree.root / "AGENTS.md", "some words\n" * 4000, 3999) == []

    def apply(self, action: types.CodeAction, text: str) -> tuple[str, str]:
        """The new file's text and what is left of the old one."""
        assert action.edit is not None
        create, fill, take = action.edit.document_changes or []
        assert isinstance(create, types.CreateFile)
        assert isinstance(fill, types.TextDocumentEdit)
        assert isinstance(take, types.TextDocumentEdit)
        (new,), (removed,) = fill.edits, take.edits
        lines = text.split("\n")
        start, end = removed.range.start, removed.range.end
        rest = "\n".join([*lines[: start.line], "" + lines[end.line][end.character :], *lines[end.line + 1 :]])
        assert start.character == 0
        return new.new_text, rest
