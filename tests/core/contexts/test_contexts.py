"""Contexts: gathered files under a name, kept on disk, read and searched."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatls_core.contexts import ContextError, ContextStore
from chatls_core.contexts.model import Context, ContextFile
from chatls_core.contexts.reading import PAGE_CHARS, chunks, page, segments, shown_paths
from chatls_core.contexts.searching import ContextSearch, Found

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def walk(folder: Path) -> list[Path]:
    return [p for p in folder.rglob("*") if p.is_file()]


@pytest.fixture
def make_store(tmp_path: Path) -> Callable[[], ContextStore]:
    return lambda: ContextStore(tmp_path / "home", tmp_path / "home" / "index.sqlite3", walk, lambda: NOW)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "my project"
    (root / "docs").mkdir(parents=True)
    (root / "docs" / "retry.md").write_text("Retries wait two seconds and double.\n")
    (root / "docs" / "deploy.md").write_text("Deploys go out on Fridays.\n")
    (root / "logo.png").write_bytes(b"\x89PNG\0\0")
    return root


def test_a_context_survives_a_restart(make_store: Callable[[], ContextStore], project: Path) -> None:
    made = make_store().create("API docs", [project], mode="knowledge", description="how it works")
    assert [Path(f.path).name for f in made.files] == ["deploy.md", "retry.md"]
    assert any("logo.png" in reason for reason in made.skipped)
    assert make_store().get("api docs") == made
    assert [c.name for c in make_store().all()] == ["API docs"]


def test_a_name_is_taken_once_and_free_after_deleting(make_store: Callable[[], ContextStore], project: Path) -> None:
    store = make_store()
    store.create("docs", [project])
    with pytest.raises(ContextError, match="already"):
        store.create("DOCS", [project])
    store.delete("docs")
    assert store.all() == ()
    with pytest.raises(ContextError, match="none yet"):
        store.get("docs")
    store.create("docs", [project])


@pytest.mark.parametrize("name", ["ab", "x" * 65, "a/b/c", "../up"])
def test_names_that_cannot_be(make_store: Callable[[], ContextStore], project: Path, name: str) -> None:
    with pytest.raises(ContextError, match="name"):
        make_store().create(name, [project])


def test_what_is_wrong_is_said(make_store: Callable[[], ContextStore], project: Path) -> None:
    store = make_store()
    with pytest.raises(ContextError, match="does not exist"):
        store.create("docs", [project / "nowhere"])
    with pytest.raises(ContextError, match="mode"):
        store.create("docs", [project], mode="everything")
    with pytest.raises(ContextError, match="no text file"):
        store.create("docs", [project / "logo.png"])
    with pytest.raises(ContextError, match="at least one"):
        store.create("docs", [])


def test_updating_reads_the_files_again(make_store: Callable[[], ContextStore], project: Path) -> None:
    store = make_store()
    store.create("docs", [project / "docs"], mode="summary")
    (project / "docs" / "new.md").write_text("new\n")
    updated = store.update("docs", mode="full")
    assert (updated.mode, len(updated.files)) == ("full", 3)


def test_a_watched_context_follows_its_files_others_do_not(
    make_store: Callable[[], ContextStore], project: Path
) -> None:
    store = make_store()
    store.create("watched", [project / "docs"], watch=True)
    store.create("still", [project / "docs"])
    (project / "docs" / "retry.md").write_text("Retries wait ten seconds.\n")
    assert "ten seconds" in str(store.refreshed("watched").files)
    assert "ten seconds" not in str(store.refreshed("still").files)
    for file in (project / "docs").iterdir():
        file.unlink()
    assert "ten seconds" in str(store.refreshed("watched").files)


def context(**files: str) -> Context:
    rows = tuple(ContextFile(path=f"/x/{n}.md", content=t, size=len(t.encode())) for n, t in files.items())
    return Context(id="c", name="c", files=rows, created_at=NOW, updated_at=NOW)


def test_search_finds_the_passage_and_its_line() -> None:
    text = "\n".join(f"Paragraph {n} about weather and walks." for n in range(200))
    subject = context(a=text, b=text + "\nThe staging database is called heron.\n")
    found = ContextSearch(None).search([subject], "what is staging called", 3)
    assert found[0].source == "b.md"
    assert "heron" in found[0].text and found[0].line > 150


def test_search_follows_a_context_that_is_gathered_anew_and_reads_only_what_changed() -> None:
    filler = {f"n{n}": f"Note {n} is about walk number {n}.\n" * 60 for n in range(30)}
    searching = ContextSearch(None)

    def search(subject: Context, query: str, limit: int) -> tuple[Found, ...]:
        return searching.search([subject], query, limit)

    assert search(context(**filler, api="The staging database is called heron."), "staging database", 1)[0].line == 1
    later = context(**filler, api="\n\nThe staging database is called osprey.", more="Alpha releases go to Bruno.")
    assert search(later, "staging database", 1)[0].text == "The staging database is called osprey."
    assert search(later, "alpha releases", 1)[0].source == "more.md"
    assert search(later, "heron", 3) == ()
    assert search(context(**filler), "osprey", 3) == ()


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.dictionaries(
            st.sampled_from("abcd"),
            st.integers(1, 5).map(lambda n: "heron osprey\nstaging wren\n" * 30 * n),
            min_size=1,
        ),
        min_size=2,
        max_size=4,
    )
)
def test_a_search_that_followed_changes_finds_what_a_fresh_one_does(versions: list[dict[str, str]]) -> None:
    following = ContextSearch(None)
    for files in versions:
        found = following.search([context(**files)], "osprey wren", 50)
    fresh = ContextSearch(None).search([context(**versions[-1])], "osprey wren", 50)
    assert {(f.source, f.line) for f in found} == {(f.source, f.line) for f in fresh}


def test_a_knowledge_base_is_searched_after_a_restart_without_being_read_again(tmp_path: Path) -> None:
    subject = context(a="The staging database is called heron.", b="Alpha releases go to Bruno.")
    path = tmp_path / "index.sqlite3"
    written = []
    for _ in range(2):
        searching = ContextSearch(path)
        assert searching.search([subject], "staging database", 1)[0].text == "The staging database is called heron."
        searching.close()
        written.append(path.read_bytes())
    assert written[0] == written[1]


def test_several_contexts_are_ranked_together_and_each_passage_names_its_own(tmp_path: Path) -> None:
    one = context(a="The staging database is called heron.")
    two = context(a="The production database is called osprey.").model_copy(update={"id": "d", "name": "d"})
    other = context(a="Another staging database is called wren.").model_copy(update={"id": "e", "name": "e"})
    searching = ContextSearch(tmp_path / "index.sqlite3")
    searching.search([other], "staging", 1)
    found = searching.search([one, two], "staging database", 5)
    assert [f.context for f in found] == ["c", "d"]


def test_a_damaged_index_is_built_again(tmp_path: Path) -> None:
    subject = context(a="The staging database is called heron.")
    path = tmp_path / "index.sqlite3"
    for _ in range(2):
        searching = ContextSearch(path)
        assert len(searching.search([subject], "staging", 1)) == 1
        searching.close()
        path.write_bytes(b"not a database" * 1000)


def test_a_deleted_context_leaves_nothing_on_the_disk(
    make_store: Callable[[], ContextStore], project: Path, tmp_path: Path
) -> None:
    store = make_store()
    (project / "docs" / "retry.md").write_text("The vault word is zanzibarian.\n")
    subject = store.create("docs", [project / "docs"], mode="knowledge")
    assert store.searching.search([subject], "vault word", 1)
    store.delete("docs")
    store.searching.close()
    left = [p for p in (tmp_path / "home").rglob("*") if p.is_file() and b"zanzibar" in p.read_bytes()]
    assert left == []


def test_a_file_is_found_by_the_end_of_its_path_and_questions_are_answered_with_names() -> None:
    subject = context(one="1", two="2")
    assert page(subject, "two.md").text == "2"
    with pytest.raises(ContextError, match=r"one\.md"):
        page(subject, "three.md")


def test_files_with_a_folder_in_common_are_shown_relative_to_it() -> None:
    assert list(shown_paths(context(a="", b=""))) == ["a.md", "b.md"]


@settings(max_examples=50, deadline=None)
@given(st.text(alphabet=st.sampled_from("ab é🙂\n\r"), max_size=3 * PAGE_CHARS // 1000).map(lambda t: t * 1000))
def test_pages_put_together_are_the_file(text: str) -> None:
    subject, offset, got = context(a=text), 0, ""
    while True:
        found = page(subject, "a.md", offset)
        got += found.text
        if found.next_offset is None:
            break
        offset = found.next_offset
    assert got == text


@settings(max_examples=50, deadline=None)
@given(st.lists(st.text(alphabet="ab ", max_size=2500), max_size=12))
def test_segments_miss_no_line(lines: list[str]) -> None:
    text = "\n".join(lines)
    covered = {line for _, piece in segments(text) for line in piece.split("\n")}
    assert {line.strip() for line in lines if line.strip()} <= {line.strip() for line in covered}


def test_chunks_hold_every_file_once() -> None:
    subject = context(**{f"f{n}": "x" * 50_000 for n in range(7)})
    groups = chunks(subject.files)
    assert [f.path for g in groups for f in g] == [f.path for f in subject.files]
    assert all(sum(len(f.content) for f in g) <= 120_000 for g in groups)


@pytest.mark.skipif(os.geteuid() == 0 if hasattr(os, "geteuid") else True, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_named(make_store: Callable[[], ContextStore], project: Path) -> None:
    (project / "docs" / "retry.md").chmod(0)
    made = make_store().create("docs", [project / "docs"])
    assert any("retry.md" in reason for reason in made.skipped)
