"""The event journal: what a reloaded window gets back, and which turns a restart cut."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from chatls_core.sessions import Journal, OpenTurn


def event(turn: str, seq: int, kind: str = "text", **fields: object) -> dict[str, object]:
    return {"turnId": turn, "seq": seq, "kind": kind, **fields}


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "journal")


def test_a_new_server_reads_what_the_old_one_appended(journal: Journal, tmp_path: Path) -> None:
    for number in range(1, 6):
        journal.append("s", event("t1", number, delta=f"part {number} ✓"))
    journal.append("s", event("t2", 1, delta="other"))
    again = Journal(tmp_path / "journal")
    assert [e["delta"] for e in again.read("s", turn_id="t1", after_seq=3)] == ["part 4 ✓", "part 5 ✓"]
    assert len(again.read("s")) == 6
    assert again.read("unknown") == []


def test_sessions_do_not_mix_even_when_their_ids_are_paths(journal: Journal, tmp_path: Path) -> None:
    journal.append("../a", event("t", 1))
    journal.append("..-a", event("t", 2))
    assert [e["seq"] for e in journal.read("../a")] == [1]
    assert {p.parent for p in tmp_path.rglob("*.jsonl")} == {tmp_path / "journal"}


def test_a_torn_last_line_costs_only_itself(journal: Journal, tmp_path: Path) -> None:
    journal.append("s", event("t", 1))
    journal.close()
    path = next((tmp_path / "journal").glob("*.jsonl"))
    with path.open("ab") as file:
        file.write(b'{"turnId":"t","seq":2,"ki')
    again = Journal(tmp_path / "journal")
    assert [e["seq"] for e in again.read("s")] == [1]
    again.append("s", event("t", 3))
    assert [e["seq"] for e in again.read("s")] == [1, 3]


def test_a_turn_of_a_killed_server_is_interrupted_a_running_one_is_not(journal: Journal, tmp_path: Path) -> None:
    code = (
        "import os, sys; from pathlib import Path; from chatls_core.sessions import Journal\n"
        "j = Journal(Path(sys.argv[1]))\n"
        "j.append('s', {'turnId': 'done', 'seq': 1, 'kind': 'text'})\n"
        "j.append('s', {'turnId': 'done', 'seq': 2, 'kind': 'ended'})\n"
        "j.append('s', {'turnId': 'cut', 'seq': 1, 'kind': 'started', 'text': 'Fix it'})\n"
        "j.append('s', {'turnId': 'cut', 'seq': 2, 'kind': 'text'})\n"
        "print('ready', flush=True); sys.stdin.read(); os._exit(9)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path / "journal")], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdin and process.stdout
    assert process.stdout.readline().strip() == b"ready"
    assert journal.open_turns("s") == []
    process.stdin.close()
    process.wait(10)
    process.stdout.close()
    journal.append("s", event("mine", 1))
    assert journal.open_turns("s") == [OpenTurn("cut", 2, "Fix it")]
    journal.append("s", event("cut", 3, "ended"))
    assert journal.open_turns("s") == []


def test_the_journal_stays_bounded_and_keeps_the_newest_turn(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal", max_bytes=5000)
    for turn in range(20):
        journal.append("s", event(f"t{turn}", 1, delta="x" * 900))
        journal.append("s", event(f"t{turn}", 2, "ended"))
    size = sum(p.stat().st_size for p in (tmp_path / "journal").glob("*.jsonl"))
    assert size <= 6000
    assert [e["seq"] for e in journal.read("s", turn_id="t19")] == [1, 2]
    assert journal.read("s", turn_id="t0") == []


def test_a_second_process_keeps_writing_to_a_journal_the_first_one_shortened(tmp_path: Path) -> None:
    one, two = Journal(tmp_path / "journal", max_bytes=2000), Journal(tmp_path / "journal", max_bytes=2000)
    two.append("s", event("running", 1))
    for turn in range(5):
        one.append("s", event(f"t{turn}", 1, delta="x" * 900))
        one.append("s", event(f"t{turn}", 2, "ended"))
    two.append("s", event("running", 2))
    assert 2 in [e["seq"] for e in one.read("s", turn_id="running")]
