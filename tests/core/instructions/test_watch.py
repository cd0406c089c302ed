"""Changes are told to those who watch, within bounds (spec/memory.md §1.9)."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from chatls_core.instructions.watch import InstructionWatcher, watch_plan

from .conftest import Tree


class Listener:
    """Gathers what the watcher tells."""

    def __init__(self) -> None:
        self.seen: set[Path] = set()
        self._news = threading.Condition()

    def __call__(self, paths: tuple[Path, ...]) -> None:
        with self._news:
            self.seen |= set(paths)
            self._news.notify_all()

    def hears_of(self, *paths: Path) -> bool:
        with self._news:
            return self._news.wait_for(lambda: set(paths) <= self.seen, timeout=10)


@pytest.fixture
def listener() -> Listener:
    return Listener()


@pytest.fixture
def watchers() -> Iterator[list[InstructionWatcher]]:
    started: list[InstructionWatcher] = []
    yield started
    for watcher in started:
        watcher.stop()


def test_writes_creations_renames_and_deletions_are_told(
    tree: Tree, listener: Listener, watchers: list[InstructionWatcher]
) -> None:
    soul = tree.write("repo/SOUL.md", "old")
    watchers.append(watcher := InstructionWatcher(tree.open(), listener, settle_seconds=0))
    assert watcher.start().partial == ""

    soul.write_text("new")
    agents = tree.write("repo/AGENTS.md", "created")
    assert listener.hears_of(soul, agents)
    agents.rename(renamed := tree.root / "CLAUDE.md")
    assert listener.hears_of(renamed)
    listener.seen.clear()
    renamed.unlink()
    assert listener.hears_of(renamed)


def test_folder_created_later_is_watched_with_what_is_in_it(
    tree: Tree, listener: Listener, watchers: list[InstructionWatcher]
) -> None:
    watchers.append(watcher := InstructionWatcher(tree.open(), listener, settle_seconds=0))
    watcher.start()

    first = tree.write("repo/new/deep/AGENTS.md", "text")
    assert listener.hears_of(first)
    second = tree.write("repo/new/deep/CLAUDE.md", "text")
    assert listener.hears_of(second)


def test_ignored_and_noise_folders_are_not_watched_but_ignored_rules_are(
    tree: Tree, listener: Listener, watchers: list[InstructionWatcher]
) -> None:
    tree.write("repo/.gitignore", "build/\n.chatcli\n")
    for path in ("build/x", "node_modules/x", ".chatcli/rules/x", "src/x"):
        tree.write(f"repo/{path}/file", "")
    watchers.append(watcher := InstructionWatcher(tree.open(), listener, settle_seconds=0))
    watcher.start()

    unheard = {tree.write(f"repo/{path}/AGENTS.md", "text") for path in ("build/x", "node_modules/x")}
    heard = [tree.write("repo/.chatcli/rules/x/r.md", "text"), tree.write("repo/src/x/AGENTS.md", "text")]

    assert listener.hears_of(*heard)
    assert not listener.seen & unheard


def test_global_folder_and_parents_are_watched_for_every_client(
    tree: Tree, listener: Listener, watchers: list[InstructionWatcher]
) -> None:
    (tree.home / "rules").mkdir()
    (tree.root / "opened").mkdir()
    loaded = tree.open("repo/opened")
    watchers.append(watcher := InstructionWatcher(loaded, listener, workspace=False, settle_seconds=0))
    watcher.start()

    tree.write("repo/opened/AGENTS.md", "the editor watches this")
    heard = [tree.write(p, "text") for p in ("home/AGENTS.md", "home/rules/r.md", "repo/AGENTS.md")]

    assert listener.hears_of(*heard)
    assert listener.seen == set(heard)


def test_too_many_folders_make_a_partial_watch_that_says_so(
    tree: Tree, listener: Listener, watchers: list[InstructionWatcher], caplog: pytest.LogCaptureFixture
) -> None:
    for number in range(20):
        tree.write(f"repo/d{number}/file", "")
    watchers.append(watcher := InstructionWatcher(tree.open(), listener, most_folders=10))

    state = watcher.start()

    assert state.folders == 10
    assert "more than 10 folders" in state.partial
    assert "watched in part" in caplog.text


def test_other_files_are_not_told(tree: Tree, listener: Listener, watchers: list[InstructionWatcher]) -> None:
    watchers.append(watcher := InstructionWatcher(tree.open(), listener, settle_seconds=0))
    watcher.start()

    tree.write("repo/main.py", "code")
    agents = tree.write("repo/AGENTS.md", "text")

    assert listener.hears_of(agents)
    assert listener.seen == {agents}


def test_imported_file_is_told_once_it_is_loaded(
    tree: Tree, listener: Listener, watchers: list[InstructionWatcher]
) -> None:
    tree.write("repo/AGENTS.md", "@docs/style.md")
    style = tree.write("repo/docs/style.md", "old")
    tree.open().stable()
    watchers.append(watcher := InstructionWatcher(tree.loaded, listener, settle_seconds=0))
    watcher.start()

    style.write_text("new")

    assert listener.hears_of(style)


def test_failing_listener_is_logged_and_told_again(
    tree: Tree, watchers: list[InstructionWatcher], caplog: pytest.LogCaptureFixture
) -> None:
    calls = threading.Semaphore(0)

    def fail(paths: tuple[Path, ...]) -> None:
        calls.release()
        raise RuntimeError("listener is broken")

    watchers.append(watcher := InstructionWatcher(tree.open(), fail, settle_seconds=0))
    watcher.start()

    tree.write("repo/AGENTS.md", "one")
    assert calls.acquire(timeout=10)
    tree.write("repo/SOUL.md", "two")
    assert calls.acquire(timeout=10)
    watcher.stop()
    assert "listener is broken" in caplog.text


def test_stopped_watcher_says_nothing_and_leaves_no_thread(tree: Tree, listener: Listener) -> None:
    before = threading.active_count()
    watcher = InstructionWatcher(tree.open(), listener, settle_seconds=0)
    watcher.start()
    watcher.stop()

    tree.write("repo/AGENTS.md", "text")

    assert threading.active_count() == before
    assert not listener.seen


def test_system_without_any_watch_left_is_survived(tree: Tree, listener: Listener) -> None:
    resource = pytest.importorskip("resource")
    watcher = InstructionWatcher(tree.open(), listener)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))
    try:
        state = watcher.start()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))

    assert state.folders == 0
    assert "no more file watches" in state.partial
    watcher.stop()


def test_folders_of_imports_are_watched_beyond_the_plan_as_long_as_they_are_imported(
    tree: Tree, listener: Listener, watchers: list[InstructionWatcher]
) -> None:
    tree.write("repo/.gitignore", "build/\n")
    tree.write("repo/AGENTS.md", "@build/one/a.md\n@build/two/b.md")
    one, two = tree.write("repo/build/one/a.md", "a"), tree.write("repo/build/two/b.md", "b")
    tree.open().stable()
    watchers.append(watcher := InstructionWatcher(tree.loaded, listener, settle_seconds=0))
    watcher.start()

    watcher.follow(tree.loaded.rests_on(), workspace=True)
    one.write_text("new")
    assert listener.hears_of(one)

    watcher.follow([str(two), str(tree.root / "AGENTS.md")], workspace=True)
    listener.seen.clear()
    one.write_text("newer")
    two.write_text("new")
    agents = tree.write("repo/AGENTS.md", "the tree itself stays watched")
    assert listener.hears_of(two, agents)
    assert listener.seen == {two, agents}


def test_followed_folders_count_among_those_that_may_be_watched(
    tree: Tree, listener: Listener, watchers: list[InstructionWatcher]
) -> None:
    paths = [tree.write(f"repo/node_modules/{number}/a.md", "") for number in range(20)]
    tree.write("repo/AGENTS.md", "".join(f"@node_modules/{number}/a.md\n" for number in range(20)))
    tree.open().stable()
    watchers.append(watcher := InstructionWatcher(tree.loaded, listener, settle_seconds=0, most_folders=10))
    watched = watcher.start().folders
    watcher.follow(map(str, paths), workspace=True)

    for path in paths:
        path.write_text("new")
    agents = tree.write("repo/AGENTS.md", "last of all")

    assert listener.hears_of(agents)
    assert len(listener.seen) == 10 - watched + 1


def test_where_whole_trees_are_watched_imports_from_elsewhere_are_too(tree: Tree, listener: Listener) -> None:
    from chatls_core.instructions.watch_observer import ObserverBackend

    outside = tree.write("shared/docs/a.md", "a")
    tree.open()
    backend = ObserverBackend(
        watch_plan(tree.loaded, workspace=True),
        lambda paths: listener(tuple(p for p in map(Path, paths) if p.is_file())),
    )
    backend.start()
    try:
        backend.follow(frozenset({str(outside.parent), str(tree.root / "src")}))
        outside.write_text("b")
        assert listener.hears_of(outside)
        backend.follow(frozenset())
        inside = tree.write("repo/AGENTS.md", "text")
        assert listener.hears_of(inside)
    finally:
        backend.stop()
