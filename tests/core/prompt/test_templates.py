"""Slash templates: found in every tool's folder, filled with arguments; their commands are only found."""

from __future__ import annotations

from pathlib import Path

import pytest

from chatls_core.prompt.skills_templates import Template, expand, templates


@pytest.mark.parametrize(
    ("body", "arguments", "text"),
    [
        ("Review $ARGUMENTS now", "the parser", "Review the parser now"),
        ("Review {{args}}", "a b", "Review a b"),
        ("From $1 to $2", "'one two' three", "From one two to three"),
        ("From $1 to $2", "one", "From one to "),
        ("Costs $$5", "", "Costs $5"),
        ("Deploy $ENV", "ENV=staging", "Deploy staging"),
        ("Keep $PATH and $10", "x", "Keep $PATH and $10\n\nx"),
        ("Review it", "don't break it", "Review it\n\ndon't break it"),
        ("Say $ARGUMENTS", "$1 and \\1", "Say $1 and \\1"),
    ],
)
def test_placeholders(body: str, arguments: str, text: str) -> None:
    assert expand(Template("t", "", body), arguments).text == text


@pytest.mark.parametrize(
    ("body", "arguments", "commands"),
    [
        ("Say:\n! git diff\nPlease.", "", ("git diff",)),
        ("Look: !`git status` and !`git log -1`", "", ("git status", "git log -1")),
        ("Look: !{git log}", "", ("git log",)),
        ("!{git log $1}", "'a b; rm x' c", ("git log 'a b; rm x'",)),
        ("!`grep -r {{args}} .`", "don't $(rm x)", ("grep -r 'don'\"'\"'t' '$(rm' 'x)' .",)),
        ("!`echo $$HOME $KEY`", "KEY=1;2", ("echo $HOME '1;2'",)),
        ("```\n! git diff\n```", "", ()),
        ("![logo](logo.png)\nWatch out!\n!", "", ()),
        ("Say $ARGUMENTS", "!`rm x`", ()),
        ("!`a` !`a`", "", ("a",)),
    ],
)
def test_commands_are_found_and_arguments_stay_single_words(
    body: str, arguments: str, commands: tuple[str, ...]
) -> None:
    assert expand(Template("t", "", body), arguments).commands == commands


def test_folders_of_other_tools_are_read_and_the_own_come_first(tmp_path: Path) -> None:
    root, home = tmp_path / "ws", tmp_path / "home"
    for folder, name, text in [
        (root / ".chatcli/commands", "review.md", "---\nargument-hint: [file, depth]\nmode: coder\n---\nours"),
        (root / ".claude/commands", "review.md", "theirs"),
        (root / ".claude/commands/git", "commit.md", "---\ndescription: commit it\nmodel: inherit\n---\ncommit"),
        (root / ".github/prompts", "plan.prompt.md", "plan"),
        (home / "commands", "mine.md", "mine"),
    ]:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    for folder, name, text in [
        (root / ".gemini/commands/git", "sum.toml", 'description = "sum up"\nprompt = """Sum up {{args}}"""'),
        (root / ".qwen/commands", "review.toml", 'prompt = "later"'),
        (root / ".qwen/commands", "broken.toml", "prompt = "),
        (root / ".qwen/commands", "empty.toml", 'description = "nothing to say"'),
        (tmp_path / "user/.codex/prompts", "tidy.md", "tidy up"),
    ]:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    secret = tmp_path / "secret.md"
    secret.write_text("secret")
    (root / ".claude/commands/leak.md").symlink_to(secret)
    found = {t.name: t for t in templates((root,), home, tmp_path / "user")}
    assert set(found) == {"review", "git:commit", "git:sum", "plan", "mine", "tidy"}
    assert (found["git:sum"].description, expand(found["git:sum"], "it").text) == ("sum up", "Sum up it")
    assert (found["review"].body, found["review"].mode, found["review"].argument_hint) == (
        "ours",
        "coder",
        "file depth",
    )
    assert (found["git:commit"].description, found["git:commit"].hint.model) == ("commit it", "")
