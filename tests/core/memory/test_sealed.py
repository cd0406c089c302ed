"""Sealed stores: no plain text on the disk, notes and temporary files included; nothing lost without the key."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from chatls_core.memory import Memory
from chatls_core.store import StoreReadOnlyError
from tests.core.memory.conftest import USER, MakeMemory, SetClock, contents
from tests.fakes.file_system import FailingFileSystem, full_disk

KEY = {"CHATCLI_ENCRYPTION_KEY": "correct horse"}
SECRET = "xylophone"


class Watching(FailingFileSystem):
    """Remembers every byte that was to reach the disk, temporary files included."""

    def __init__(self) -> None:
        super().__init__()
        self.written: list[bytes] = []

    def create(self, path: Path, data: bytes, mode: int) -> None:
        self.written.append(data)
        super().create(path, data, mode)

    def append(self, path: Path, data: bytes, mode: int) -> int:
        self.written.append(data)
        return super().append(path, data, mode)


def fill(memory: Memory, clock: SetClock) -> None:
    memory.remember(f"The {SECRET} cluster has 3 nodes", source=USER)
    memory.remember(f"The {SECRET} cluster has 5 nodes", source=USER)
    memory.record_episode(f"Tuned the {SECRET}", source=USER)
    memory.record_topics({SECRET: SECRET}, source=USER)
    memory.record_project({"name": SECRET}, source=USER)
    memory.profile({"goals": f"play the {SECRET}", SECRET: SECRET}, source=USER)
    memory.record_use(errors=[f"{SECRET} out of tune"], commands=[f"{SECRET} push"], feature="chat")
    memory.note(f"Practised {SECRET}", time=clock.now)
    memory.write_longterm()
    memory.export(memory.folder.parent / "out.jsonl")
    memory.forget(ids=[memory.facts().facts[0].id])


def spoken(chunks: Sequence[bytes]) -> bool:
    return any(SECRET.encode() in chunk for chunk in chunks)


def test_no_plain_text_ever_reaches_the_disk(make: MakeMemory, clock: SetClock, tmp_path: Path) -> None:
    fs = Watching()
    fill(make(environment=KEY, fs=fs), clock)
    assert len(fs.written) > 10
    assert not spoken(fs.written)
    assert not spoken([p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()])


def test_with_the_key_everything_is_there(make: MakeMemory, clock: SetClock) -> None:
    fill(make(environment=KEY), clock)
    again = make(environment=KEY)
    assert SECRET in again.daily("2026-06-01").text
    assert SECRET in again.topics().markdown
    assert again.stats().sealed


@pytest.mark.parametrize("environment", [{}, {"CHATCLI_ENCRYPTION_KEY": "wrong"}])
def test_without_the_key_nothing_is_shown_written_or_lost(
    make: MakeMemory, clock: SetClock, environment: dict[str, str]
) -> None:
    sealed = make(environment=KEY)
    sealed.remember("The vault code word is heron", source=USER)
    before = {p.name: p.read_bytes() for p in sealed.folder.iterdir()}
    locked = make(environment=environment)
    assert contents(locked) == []
    assert locked.stats().problems
    with pytest.raises(StoreReadOnlyError):
        locked.remember("The vault code word is crane", source=USER)
    locked.write_longterm()
    assert {p.name: p.read_bytes() for p in sealed.folder.iterdir()} == before
    assert contents(make(environment=KEY)) == ["The vault code word is heron"]


def test_after_rotation_the_new_key_is_enough(make: MakeMemory, clock: SetClock) -> None:
    make(environment=KEY).remember("The vault code word is heron", source=USER)
    new = {"CHATCLI_ENCRYPTION_KEY": "staple"}
    rotating = make(environment={**new, "CHATCLI_ENCRYPTION_KEY_PREVIOUS": "correct horse"})
    assert contents(rotating) == ["The vault code word is heron"]
    rotating.reseal()
    assert contents(make(environment=new)) == ["The vault code word is heron"]


def test_plain_stores_are_sealed_as_a_whole_once_a_key_is_set(
    make: MakeMemory, clock: SetClock, tmp_path: Path
) -> None:
    fill(make(), clock)
    assert spoken([p.read_bytes() for p in (tmp_path / "memory").rglob("*.json")])
    make(environment=KEY).reseal()
    assert not spoken([p.read_bytes() for p in (tmp_path / "memory").rglob("*") if p.is_file()])


@pytest.mark.parametrize(
    "name",
    [
        *("graph.json", "memory_learning.json", "memory_review.json", "topics.json.corrupt", "MEMORY.md.bak.20260101"),
        *("202606/20260601.md", "weekly/2026-W01.md", "monthly/2026-01.md"),
        *("pending/seg-00000000000000000001.json", "pending/answers/ans-00000000000000000001.json"),
    ],
)
def test_what_stands_beside_the_stores_is_sealed_too_once_a_key_is_set(
    make: MakeMemory, tmp_path: Path, name: str
) -> None:
    path = tmp_path / "memory" / name
    path.parent.mkdir(parents=True)
    plain = f'{{"text": "{SECRET}"}}'.encode()
    path.write_bytes(plain)
    memory = make(environment=KEY)
    sealed = path.read_bytes()
    assert SECRET.encode() not in sealed
    assert memory.stores.codec.decode(path.name, sealed) == plain


@pytest.mark.parametrize("folder", [".", "202606", "weekly", "pending"])
def test_what_a_killed_writer_left_in_plain_text_goes_once_a_key_is_set(
    make: MakeMemory, tmp_path: Path, folder: str
) -> None:
    litter = tmp_path / "memory" / folder / ".MEMORY.md.0123456789ab.tmp"
    litter.parent.mkdir(parents=True)
    litter.write_text(SECRET)
    make(environment=KEY)
    assert not litter.exists()


def test_a_disk_that_refuses_to_be_encrypted_is_tried_again_at_the_next_start(make: MakeMemory) -> None:
    make().remember("The vault code word is heron", source=USER)
    fs = FailingFileSystem()
    fs.fail("create", full_disk())
    assert contents(make(environment=KEY, fs=fs)) == ["The vault code word is heron"]
    assert contents(make(environment=KEY)) == ["The vault code word is heron"]
    assert contents(make()) == []


def test_a_file_sealed_by_chatcli_is_left_alone(make: MakeMemory) -> None:
    memory = make()
    memory.folder.mkdir(parents=True)
    foreign = b"enc:" + b"Q0lQSEVS" * 30
    (memory.folder / "memory_index.json").write_bytes(foreign)
    with pytest.raises(StoreReadOnlyError, match="another program"):
        memory.remember("Lint runs first", source=USER)
    assert (memory.folder / "memory_index.json").read_bytes() == foreign
