"""An append-only journal that tolerates torn lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from chatls_core.store import JsonLines, UnopenableError, codec_for
from tests.fakes.file_system import FailingFileSystem, full_disk


def test_records_come_back_in_order(tmp_path: Path) -> None:
    journal = JsonLines(tmp_path / "j" / "e.jsonl")
    journal.append([{"n": 1}, {"n": 2, "text": "ção\nline"}])
    size = journal.append([{"n": 3}])
    page = JsonLines(tmp_path / "j" / "e.jsonl").read()
    assert [r["n"] for r in page.records] == [1, 2, 3]
    assert page.records[1]["text"] == "ção\nline"
    assert page.next_offset == size == (tmp_path / "j" / "e.jsonl").stat().st_size


def test_reading_goes_on_where_it_stopped(tmp_path: Path) -> None:
    journal = JsonLines(tmp_path / "e.jsonl")
    journal.append([{"n": 1}])
    offset = journal.read().next_offset
    journal.append([{"n": 2}])
    assert [r["n"] for r in journal.read(offset).records] == [2]
    assert journal.read(journal.read().next_offset).records == ()


def test_a_journal_that_is_not_there_is_empty(tmp_path: Path) -> None:
    assert JsonLines(tmp_path / "e.jsonl").read().records == ()


def test_a_torn_line_hides_neither_what_is_before_nor_what_comes_after(tmp_path: Path) -> None:
    journal = JsonLines(tmp_path / "e.jsonl")
    journal.append([{"n": 1}])
    with (tmp_path / "e.jsonl").open("ab") as file:
        file.write(b'{"n": 2, "te')
    assert [r["n"] for r in journal.read().records] == [1]
    journal.append([{"n": 3}])
    page = journal.read()
    assert [r["n"] for r in page.records] == [1, 3]
    assert page.damaged == 1


def test_half_a_line_is_not_read_before_its_end_is_there(tmp_path: Path) -> None:
    path = tmp_path / "e.jsonl"
    path.write_bytes(b'{"n": 1}\n{"n": ')
    page = JsonLines(path).read()
    assert [r["n"] for r in page.records] == [1]
    with path.open("ab") as file:
        file.write(b"2}\n")
    assert [r["n"] for r in JsonLines(path).read(page.next_offset).records] == [2]


def test_a_full_disk_tears_one_record_and_no_other(tmp_path: Path) -> None:
    fs = FailingFileSystem()
    journal = JsonLines(tmp_path / "e.jsonl", fs=fs)
    journal.append([{"n": 1}])
    fs.fail("append", full_disk(), written=6)
    with pytest.raises(OSError, match="No space"):
        journal.append([{"n": 22222}])
    journal.append([{"n": 3}])
    assert [r["n"] for r in journal.read().records] == [1, 3]


def test_a_sealed_journal_needs_its_key_and_shows_no_text(tmp_path: Path) -> None:
    sealed = JsonLines(tmp_path / "e.jsonl", codec=codec_for({"CHATCLI_ENCRYPTION_KEY": "k1"}))
    sealed.append([{"text": "whisper"}])
    sealed.append([{"text": "again"}])
    assert b"whisper" not in (tmp_path / "e.jsonl").read_bytes()
    assert [r["text"] for r in sealed.read().records] == ["whisper", "again"]
    with pytest.raises(UnopenableError):
        JsonLines(tmp_path / "e.jsonl").read()
