"""An older memory comes along: a lone ``MEMORY.md``, and a folder from elsewhere (spec/memory.md §11.4)."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import pytest

from chatls_core.memory import Memory
from tests.core.memory.conftest import USER, MakeMemory, SetClock, contents
from tests.fakes.file_system import Crash, FailingFileSystem, full_disk

OLD = """\
# Long-term Memory

## Architecture
- The API gateway terminates TLS
1. Orders are kept in Postgres 16

## Known issues
* Port 8080 is taken by the proxy

## Anything else
- [personal] User plays the cello
- [ ] Uses gofumpt for formatting
---
- ok
<!-- generated -->
"""


def lone_file(folder: Path, text: str = OLD) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "MEMORY.md"
    path.write_text(text)
    return path


def legacy(tmp_path: Path, make: MakeMemory, **environment: str) -> dict[str, str]:
    """A used memory in a folder of another name."""
    old = make("old", environment=environment)
    old.remember("Service mesh is Linkerd", "architecture", source=USER)
    old.profile({"name": "Ana"})
    old.record_episode("Moved the mesh", source=USER)
    old.note("- moved the mesh", time=old.clock())
    for name in ("weekly/2026-W20.md", "monthly/2026-05.md"):
        (tmp_path / "old" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "old" / name).write_text("# Digest\n\n- moved the mesh\n")
    pending = tmp_path / "old" / "pending"
    pending.mkdir()
    (pending / f"seg-{1:020d}.json").write_text(json.dumps({"created_at": "2026-05-20T09:00:00Z", "messages": []}))
    return {"CHATCLI_MEMORY_LEGACY_DIR": str(tmp_path / "old"), **environment}


def files(folder: Path) -> dict[str, bytes]:
    return {
        str(p.relative_to(folder)): p.read_bytes()
        for p in folder.rglob("*")
        if p.is_file() and p.suffix in (".md", ".json")
    }


def test_a_lone_memory_md_becomes_facts_and_keeps_a_copy(tmp_path: Path, make: MakeMemory) -> None:
    path = lone_file(tmp_path / "memory")
    memory = make()
    assert {f.content: f.category for f in memory.facts().facts} == {
        "The API gateway terminates TLS": "architecture",
        "Orders are kept in Postgres 16": "architecture",
        "Port 8080 is taken by the proxy": "gotcha",
        "User plays the cello": "personal",
        "Uses gofumpt for formatting": "general",
    }
    assert path.with_name("MEMORY.md.bak").read_text() == OLD
    assert "Postgres 16" in path.read_text() and "1. " not in path.read_text()
    assert memory.why(memory.facts().facts[0].id).fact.sources[0].kind == "import"


def test_it_happens_once(tmp_path: Path, make: MakeMemory) -> None:
    lone_file(tmp_path / "memory")
    memory = make()
    memory.forget("cello")
    assert "User plays the cello" not in contents(make())
    assert len(list((tmp_path / "memory").glob("MEMORY.md.bak*"))) == 1


def test_an_earlier_copy_stays_beside_the_new_one(tmp_path: Path, make: MakeMemory) -> None:
    path = lone_file(tmp_path / "memory")
    path.with_name("MEMORY.md.bak").write_text("older")
    make()
    copies = sorted((tmp_path / "memory").glob("MEMORY.md.bak*"))
    assert [p.read_text() for p in copies] == ["older", OLD]


def test_what_was_forgotten_after_it_was_written_stays_forgotten(
    tmp_path: Path, make: MakeMemory, clock: SetClock
) -> None:
    clock.set(2100, 1, 1)  # later than the file's own time
    memory = make()
    memory.remember("User plays the cello", "personal", source=USER)
    memory.forget("cello")
    (tmp_path / "memory" / "memory_index.json").unlink()
    lone_file(tmp_path / "memory")
    assert "User plays the cello" not in contents(make())


def test_an_index_or_an_empty_file_leaves_it_alone(tmp_path: Path, make: MakeMemory) -> None:
    make().remember("Deploys on Thursdays", source=USER)
    lone_file(tmp_path / "memory")
    assert contents(make()) == ["Deploys on Thursdays"]
    empty = lone_file(tmp_path / "empty", "# Long-term Memory\n")
    assert contents(make("empty")) == [] and empty.read_text() == "# Long-term Memory\n"


@pytest.mark.parametrize("step", range(6))
def test_killed_while_it_is_made_into_facts_the_next_start_goes_on(tmp_path: Path, make: MakeMemory, step: int) -> None:
    lone_file(tmp_path / "memory")
    failing = FailingFileSystem()
    failing.fail("replace", Crash(), after=step)
    with contextlib.suppress(Crash):
        make(fs=failing)
    assert len(contents(make())) == 5
    assert (tmp_path / "memory" / "MEMORY.md.bak").read_text() == OLD


def test_a_disk_that_refuses_is_no_reason_not_to_open(tmp_path: Path, make: MakeMemory) -> None:
    lone_file(tmp_path / "memory")
    failing = FailingFileSystem()
    failing.fail("create", full_disk())
    make(fs=failing)
    assert (tmp_path / "memory" / "MEMORY.md").read_text() == OLD
    assert len(contents(make())) == 5


def test_a_folder_from_elsewhere_is_adopted_once(tmp_path: Path, make: MakeMemory) -> None:
    environment = legacy(tmp_path, make)
    before = files(tmp_path / "old")
    memory = make(environment=environment)
    assert contents(memory) == ["Service mesh is Linkerd"]
    assert files(tmp_path / "memory") == before == files(tmp_path / "old")
    assert (tmp_path / "memory" / ".migrated-from-legacy").read_text().startswith(str(tmp_path / "old"))
    memory.forget("Linkerd")
    make("old").remember("Came too late", source=USER)
    assert contents(make(environment=environment)) == []


def test_a_memory_in_use_adopts_nothing(tmp_path: Path, make: MakeMemory) -> None:
    environment = legacy(tmp_path, make)
    make().remember("Deploys on Thursdays", source=USER)
    assert contents(make(environment=environment)) == ["Deploys on Thursdays"]


def test_a_folder_that_is_missing_or_the_same_changes_nothing(tmp_path: Path, make: MakeMemory) -> None:
    for folder in ("nowhere", "memory"):
        memory = make(environment={"CHATCLI_MEMORY_LEGACY_DIR": str(tmp_path / folder)})
        assert contents(memory) == [] and not (tmp_path / "memory" / ".migrated-from-legacy").exists()


@pytest.mark.parametrize("step", range(14))
def test_killed_while_adopting_the_next_start_goes_on(tmp_path: Path, make: MakeMemory, step: int) -> None:
    environment = legacy(tmp_path, make)
    failing = FailingFileSystem()
    failing.fail("replace", Crash(), after=step)
    with contextlib.suppress(Crash):
        make(environment=environment, fs=failing)
    make(environment=environment)
    assert files(tmp_path / "memory") == files(tmp_path / "old")


def test_sealed_files_wait_for_their_key_and_what_was_learned_meanwhile_is_kept(
    tmp_path: Path, make: MakeMemory
) -> None:
    environment = legacy(tmp_path, make, CHATCLI_ENCRYPTION_KEY="the old passphrase")
    key = environment.pop("CHATCLI_ENCRYPTION_KEY")
    memory: Memory = make(environment=environment)
    assert contents(memory) == []
    memory.remember("Deploys on Thursdays", source=USER)
    fresh = {"CHATCLI_ENCRYPTION_KEY": "the new passphrase", "CHATCLI_ENCRYPTION_KEY_PREVIOUS": key}
    memory = make(environment={**environment, **fresh})
    assert contents(memory) == ["Deploys on Thursdays", "Service mesh is Linkerd"]
    assert (tmp_path / "memory" / ".migrated-from-legacy").exists()
    assert not (tmp_path / "memory" / ".migrating-from-legacy").exists()
    only_new = {"CHATCLI_ENCRYPTION_KEY": "the new passphrase"}
    assert contents(make(environment=only_new)) == ["Deploys on Thursdays", "Service mesh is Linkerd"]
