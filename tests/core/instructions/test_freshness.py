"""What changed on disk is in the next turn, whoever changed it (spec/memory.md §1.6, §18.1 row 31)."""

from __future__ import annotations

import gc
import os
import threading
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from .conftest import Tree


def test_nothing_changed_says_so(tree: Tree) -> None:
    tree.write("repo/AGENTS.md", "text")
    tree.system()

    assert not tree.loaded.refresh()
    assert tree.loaded.refresh().paths == ()


def test_loading_more_is_no_change(tree: Tree) -> None:
    tree.write("repo/a/AGENTS.md", "a")
    tree.system()
    tree.turn("repo/a/x.py")

    assert not tree.loaded.refresh()


def test_what_is_loaded_holds_until_refresh(tree: Tree) -> None:
    tree.write("repo/AGENTS.md", "old")
    before = tree.system()
    tree.write("repo/AGENTS.md", "new")

    assert tree.system() == before
    tree.loaded.refresh()
    assert "new" in tree.system()


def test_edit_of_the_same_size_at_the_same_time_is_seen(tree: Tree) -> None:
    path = tree.write("repo/AGENTS.md", "aaaa")
    stat = path.stat()
    tree.system()
    path.write_text("bbbb")
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))

    assert tree.loaded.refresh().changed == (path,)
    assert "bbbb" in tree.system()


def test_older_time_is_seen(tree: Tree) -> None:
    """memory.md §18.1 row 31: a checkout of an older revision."""
    path = tree.write("repo/AGENTS.md", "new version")
    tree.system()
    path.write_text("old version")
    os.utime(path, (1_000_000_000, 1_000_000_000))

    assert tree.loaded.refresh().changed == (path,)


def test_touch_without_a_change_is_no_change(tree: Tree) -> None:
    path = tree.write("repo/AGENTS.md", "text")
    tree.system()
    os.utime(path)

    assert not tree.loaded.refresh()


def test_file_replaced_by_rename_is_seen(tree: Tree) -> None:
    path = tree.write("repo/AGENTS.md", "old")
    tree.system()
    tree.write("repo/tmp", "new").replace(path)

    assert tree.loaded.refresh().changed == (path,)


@pytest.mark.parametrize(
    "new",
    [
        "repo/AGENTS.md",
        "repo/SOUL.md",
        "repo/AGENTS.local.md",
        "repo/.chatcli/rules/a.md",
        "repo/.claude/rules/a.md",
        "repo/.cursor/rules/a.mdc",
        "repo/.github/instructions/a.instructions.md",
        "repo/.claude/rules/sub/a.md",
        "repo/pkg/AGENTS.md",
        "repo/pkg/.chatcli/rules/a.md",
        "home/AGENTS.md",
        "home/USER.md",
        "home/rules/a.md",
        "AGENTS.md",
    ],
)
def test_file_that_appears_is_seen(tree: Tree, new: str) -> None:
    """memory.md §18.1 row 31."""
    (tree.base / ".git").mkdir()
    (tree.root / ".git").rmdir()
    tree.write("repo/pkg/x.py", "")
    tree.system()
    tree.turn("repo/pkg/x.py")

    path = tree.write(new, "---\nalwaysApply: true\npaths: '**'\n---\nhello" if "/a." in new else "hello")

    assert tree.loaded.refresh().added == (path,)
    assert "hello" in tree.system() + tree.turn("repo/pkg/x.py")


def test_file_that_goes_is_seen(tree: Tree) -> None:
    path = tree.write("repo/AGENTS.md", "hello")
    tree.system()
    path.unlink()

    assert tree.loaded.refresh().removed == (path,)
    assert tree.system() == ""


def test_whole_folder_that_goes_and_comes_back_is_seen(tree: Tree) -> None:
    path = tree.write("repo/pkg/AGENTS.md", "hello")
    assert "hello" in tree.turn("repo/pkg/x.py")
    (tree.root / "pkg").rename(tree.base / "away")

    assert tree.loaded.refresh().removed == (path,)
    assert tree.turn("repo/pkg/x.py") == ""

    (tree.base / "away").rename(tree.root / "pkg")
    tree.loaded.refresh()
    assert "hello" in tree.turn("repo/pkg/x.py")


def test_stronger_file_takes_the_place_and_gives_it_back(tree: Tree) -> None:
    tree.write("repo/CLAUDE.md", "claude")
    assert "claude" in tree.system()
    tree.write("repo/AGENTS.md", "agents")
    tree.loaded.refresh()
    assert tree.system() == "## AGENTS.md\n\nagents"
    tree.remove("repo/AGENTS.md")
    tree.loaded.refresh()
    assert tree.system() == "## AGENTS.md\n\nclaude"


def test_link_that_points_elsewhere_now_is_seen(tree: Tree) -> None:
    tree.write("repo/one.md", "one")
    tree.write("repo/two.md", "two")
    link = tree.root / "AGENTS.md"
    link.symlink_to("one.md")
    assert "one" in tree.system()
    link.unlink()
    link.symlink_to("two.md")

    assert tree.loaded.refresh()
    assert "two" in tree.system()


def test_repository_that_appears_around_the_folder_is_seen(tree: Tree) -> None:
    tree.write("outer/AGENTS.md", "outer")
    tree.write("outer/inner/AGENTS.md", "inner")
    tree.open("outer/inner")
    assert "outer" not in tree.system()

    (tree.base / "outer" / ".git").mkdir()
    tree.loaded.refresh()

    assert "outer" in tree.system()


def test_rule_that_gets_other_paths_is_seen(tree: Tree) -> None:
    tree.write("repo/.chatcli/rules/r.md", "---\npaths: '*.py'\n---\nthe rule")
    assert tree.turn("repo/a.js") == ""

    tree.write("repo/.chatcli/rules/r.md", "---\npaths: '*.js'\n---\nthe rule")
    changes = tree.loaded.refresh()

    assert (changes.files, changes.rules) == (0, 1)
    assert "the rule" in tree.turn("repo/a.js")


def test_file_that_is_gone_blank_or_shadowed_is_loaded_no_more(tree: Tree) -> None:
    gone, blank, shadowed = (tree.write(f"repo/{name}/CLAUDE.md", "text") for name in ("a", "b", "c"))
    paths = [f"repo/{name}/x.py" for name in "abc"]
    tree.turn(None, *paths)
    assert all(tree.loaded.is_loaded(path) for path in (gone, blank, shadowed))

    gone.unlink()
    blank.write_text("")
    tree.write("repo/c/AGENTS.md", "stronger")
    tree.loaded.refresh()

    assert not any(tree.loaded.is_loaded(path) for path in (gone, blank, shadowed))
    assert tree.loaded.is_loaded(tree.root / "c" / "AGENTS.md")


def test_every_save_of_many_in_a_row_is_in_the_next_look(tree: Tree) -> None:
    path = tree.write("repo/AGENTS.md", "0")
    tree.system()

    for number in range(1, 151):
        path.write_text(f"version {number % 10}")
        tree.loaded.refresh()
        assert f"version {number % 10}" in tree.system()


def test_many_saves_leak_nothing(tree: Tree) -> None:
    path = tree.write("repo/AGENTS.md", "@docs/0.md")
    for number in range(20):
        tree.write(f"repo/docs/{number}.md", f"text {number}")

    def save(number: int) -> None:
        path.write_text(f"@docs/{number % 20}.md\n{number}")
        tree.loaded.refresh()
        tree.system()

    for number in range(100):
        save(number)
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for number in range(100, 250):
            save(number)
        gc.collect()
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert grown < 50_000


def test_threads_may_ask_while_files_change(tree: Tree) -> None:
    path = tree.write("repo/AGENTS.md", "version 0")
    tree.write("repo/pkg/AGENTS.md", "package")
    failures: list[Exception] = []
    done = threading.Event()

    def ask() -> None:
        try:
            while not done.is_set():
                tree.loaded.refresh()
                assert "version" in tree.system()
                assert "package" in tree.turn("repo/pkg/x.py")
        except Exception as error:  # noqa: BLE001 - the test's own thread hands its failure over
            failures.append(error)

    tree.system()
    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    for number in range(50):
        tree.write("repo/tmp", f"version {number}").replace(path)
    done.set()
    for thread in threads:
        thread.join()

    assert not failures


_FILES = ("AGENTS.md", "CLAUDE.md", "SOUL.md", ".chatcli/rules/r.md", "pkg/AGENTS.md", "docs/a.md")
_TEXTS = ("", "text", "@docs/a.md", "---\npaths: '*.py'\n---\nrule", "<!-- quiet -->", None)


@given(st.lists(st.tuples(st.sampled_from(_FILES), st.sampled_from(_TEXTS)), min_size=1, max_size=8))
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_refreshed_loader_equals_a_new_one(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, str | None]]
) -> None:
    tree = Tree(tmp_path_factory.mktemp("walk"))
    (tree.root / ".git").mkdir(parents=True)
    (tree.root / "pkg").mkdir()
    tree.home.mkdir()
    kept = tree.open()
    paths = [tree.root / "pkg" / "x.py"]
    kept.stable(), kept.for_paths(None, paths)

    for name, text in steps:
        full = Path(tree.root / name)
        if text is None:
            full.unlink(missing_ok=True)
        else:
            tree.write(f"repo/{name}", text)
        kept.refresh()
        new = tree.open()
        assert kept.stable() == new.stable()
        assert kept.for_paths(None, paths) == new.for_paths(None, paths)
