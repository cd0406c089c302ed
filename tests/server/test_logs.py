"""The log file: rotated, shared by several servers, readable by its owner only, without secrets."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from chatls_server.logs import RedactingFormatter, SharedRotatingFile

SECRET = "sk-ant-api03-" + "Qq7" * 20


def record(text: str) -> logging.LogRecord:
    return logging.LogRecord("test", logging.WARNING, __file__, 1, text, None, None)


@pytest.fixture
def two(tmp_path: Path) -> Iterator[tuple[SharedRotatingFile, SharedRotatingFile]]:
    handlers = tuple(SharedRotatingFile(tmp_path / "chatls.log", maxBytes=1000, backupCount=4) for _ in range(2))
    for handler in handlers:
        handler.setFormatter(RedactingFormatter("%(message)s"))
    yield handlers[0], handlers[1]
    for handler in handlers:
        handler.close()


def test_two_servers_share_one_log_through_its_rotations(
    tmp_path: Path, two: tuple[SharedRotatingFile, SharedRotatingFile]
) -> None:
    for number in range(120):
        two[number % 2].emit(record(f"{number:03d} " + "x" * 60))
    files = sorted(tmp_path.iterdir())
    assert [path.name for path in files] == ["chatls.log", *(f"chatls.log.{n}" for n in range(1, 5))]
    assert all(path.stat().st_size <= 1100 for path in files)
    kept = [int(line[:3]) for path in reversed(files) for line in path.read_text().splitlines()]
    assert kept == list(range(kept[0], 120))


def test_secrets_are_masked_in_messages_and_tracebacks(two: tuple[SharedRotatingFile, SharedRotatingFile]) -> None:
    try:
        raise ValueError(f"key {SECRET}")
    except ValueError as error:
        failed = logging.LogRecord(
            "test", logging.ERROR, __file__, 1, "with %s", (SECRET,), (ValueError, error, error.__traceback__)
        )
    two[0].emit(failed)
    text = Path(two[0].baseFilename).read_text()
    assert "Traceback" in text
    assert "Qq7" not in text


def test_only_the_owner_may_read_it(two: tuple[SharedRotatingFile, SharedRotatingFile]) -> None:
    two[0].emit(record("private"))
    assert Path(two[0].baseFilename).stat().st_mode & 0o077 == 0
