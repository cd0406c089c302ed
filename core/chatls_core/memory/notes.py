"""Daily notes and the digests made from them (spec/memory.md §11.2, §11.3). Reading here; appending for the worker."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import date, datetime, timedelta
from pathlib import Path

from chatls_core.memory.stores import Stores
from chatls_core.memory.withheld import scrub_record
from chatls_core.store import FILE_MODE, UnopenableError, atomic_write_bytes

_MONTH = re.compile(r"\d{6}\Z")
_DAY = re.compile(r"(\d{4})(\d\d)(\d\d)\.md\Z")


def note_path(folder: Path, day: date) -> Path:
    """``YYYYMM/YYYYMMDD.md``."""
    return folder / f"{day:%Y%m}" / f"{day:%Y%m%d}.md"


def _read(stores: Stores, path: Path) -> str:
    """A note's text, empty when there is none. One that may not be read, or is sealed without key, says so instead."""
    try:
        raw = stores.fs.read(path)
    except FileNotFoundError:
        return ""
    except PermissionError as error:
        return f"({path.name} cannot be read: {error.strerror})"
    try:
        return stores.codec.decode(path.name, raw).decode("utf-8-sig", "replace")
    except UnopenableError as error:
        return f"({error})"


def append_note(stores: Stores, entry: str, time: datetime) -> Path:
    """Add an entry under its local time to the note of its day; on return it is on the disk."""
    path = note_path(stores.folder, time.date())
    stores.fs.make_folder(path.parent)
    with stores.fs.lock(path.with_name(path.name + ".lock"), 30.0):
        try:
            old = stores.codec.decode(path.name, stores.fs.read(path))
        except FileNotFoundError:
            old = b""
        new = old + f"\n## {time:%H:%M}\n\n{scrub_record(entry.strip())}\n".encode()
        atomic_write_bytes(path, stores.codec.encode(path.name, new), mode=FILE_MODE, fs=stores.fs)
    return path


def days(stores: Stores) -> list[date]:
    """Days with a note, newest first."""
    found = []
    for month in stores.fs.list(stores.folder):
        if _MONTH.match(month.name):
            for path in stores.fs.list(month):
                if match := _DAY.match(path.name):
                    try:
                        found.append(date(*map(int, match.groups())))
                    except ValueError:
                        continue  # a file name like 20261345.md names no day
    return sorted(found, reverse=True)


def note(stores: Stores, day: date) -> str:
    """The note of a day; empty when there is none."""
    return _read(stores, note_path(stores.folder, day))


def recent(stores: Stores, until: date, count: int = 3) -> Iterator[tuple[date, str]]:
    """Notes of the last ``count`` days, newest first."""
    for back in range(count):
        day = until - timedelta(days=back)
        if text := note(stores, day).strip():
            yield day, text


def clean_up(stores: Stores, before: date) -> list[str]:
    """Delete notes older than ``before`` and the folders of months without a note; returns the notes' days."""
    removed = []
    for day in days(stores):
        if day < before:
            path = note_path(stores.folder, day)
            stores.fs.delete(path)
            stores.fs.delete(path.with_name(path.name + ".lock"))
            removed.append(day.isoformat())
    for month in stores.fs.list(stores.folder):
        if _MONTH.match(month.name) and month.name <= f"{before:%Y%m}":
            stores.fs.delete_folder(month)
    return removed


def digests(stores: Stores) -> list[tuple[str, Path]]:
    """Weekly and monthly digests as ``(name, path)``, newest first within each kind; weekly ones first."""
    found: list[tuple[str, Path]] = []
    for kind in ("weekly", "monthly"):
        files = [p for p in stores.fs.list(stores.folder / kind) if p.suffix == ".md"]
        found += [(f"{kind}/{p.stem}", p) for p in reversed(files)]
    return found


def digest_text(stores: Stores, path: Path) -> str:
    """The text of a digest."""
    return _read(stores, path)


def trajectory(stores: Stores, limit: int = 600) -> str:
    """The latest monthly and two weekly digests, whole lines within ``limit`` bytes (spec/memory.md §11.3)."""
    from chatls_core.text.cut import byte_length

    all_digests = digests(stores)
    monthly = [p for name, p in all_digests if name.startswith("monthly/")][:1]
    weekly = [p for name, p in all_digests if name.startswith("weekly/")][:2]
    parts = []
    for paths, share in ((monthly, limit // 2), (weekly, limit // 3)):
        for path in paths:
            room, kept = share, []
            for line in digest_text(stores, path).strip().splitlines():
                if byte_length(line) + 1 > room:
                    break
                kept.append(line)
                room -= byte_length(line) + 1
            if kept:
                parts.append("\n".join(kept))
    return "\n\n".join(parts)


def notes_with(stores: Stores, hits: Callable[[str], bool]) -> tuple[str, ...]:
    """Days whose note a matcher hits, oldest first."""
    return tuple(day.isoformat() for day in reversed(days(stores)) if hits(note(stores, day)))


def parse_day(text: str, today: date) -> date | None:
    """``2026-04-12``, ``20260412``, ``12/04/2026``, ``today``, ``yesterday``, ``hoje``, ``ontem``; else ``None``."""
    word = text.strip().lower()
    if word in ("", "today", "hoje"):
        return today
    if word in ("yesterday", "ontem"):
        return today - timedelta(days=1)
    for form in ("%Y-%m-%d", "%Y%m%d", "%d/%m/%Y"):
        try:
            return datetime.strptime(word, form).date()
        except ValueError:
            continue
    return None
