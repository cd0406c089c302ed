"""Brings an older memory in: a ``MEMORY.md`` from before facts had an index, and a folder from elsewhere
(spec/memory.md §11.4).

Nothing is overwritten and the source is never changed. A process killed at any point leaves what the next start needs
to go on. What cannot be done is logged and tried again at the next start: memory opens in any case.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from chatls_core.memory.facts import clean_content
from chatls_core.memory.identity import CATEGORIES, classify, fact_id, split_category, tags_of
from chatls_core.memory.records import Details, Fact, Origin
from chatls_core.memory.scoring import EXTRACTED_CONFIDENCE
from chatls_core.memory.stores import Stores
from chatls_core.store import Clock, LockTimeoutError, StoreReadOnlyError, UnopenableError, atomic_write_bytes

if TYPE_CHECKING:
    from chatls_core.memory.facts import FactBook

logger = logging.getLogger(__name__)

LEGACY_VARIABLE = "CHATCLI_MEMORY_LEGACY_DIR"
ADOPTED, ADOPTING = ".migrated-from-legacy", ".migrating-from-legacy"
MIN_LINE_BYTES = 5
LOCK_SECONDS = 10.0

_OWN_FILES = ("memory_learning.json", "memory_review.json", "vector_index.json")
_MONTH = re.compile(r"\d{6}\Z")
_NOTE = re.compile(r"\d{8}\.md\Z")
_HEADING = re.compile(r"\s*#{1,6}\s+(?P<title>.*?)\s*#*\s*\Z")
_MARKER = re.compile(r"\A\s*(?:(?:[-*•+]|\d{1,3}[.)])\s+)?(?:\[[ xX]\]\s+)?")
_SKIPPED = re.compile(r"\s*(?:<!--.*|-{3,}|\*{3,}|_{3,}|```.*|~~~.*|[-*•+]\s*….*)\Z")
_WORDS_OF_CATEGORIES: Mapping[str, str] = {
    "architect": "architecture",
    "arquitet": "architecture",
    "pattern": "pattern",
    "convention": "pattern",
    "padr": "pattern",
    "prefer": "preference",
    "gotcha": "gotcha",
    "pitfall": "gotcha",
    "known issue": "gotcha",
    "project": "project",
    "projet": "project",
    "personal": "personal",
    "pessoa": "personal",
    "about me": "personal",
}


def is_due(stores: Stores, environment: Mapping[str, str]) -> bool:
    """Whether there may be something to bring in; four looks at the disk at most."""
    fs = stores.fs
    if not fs.writable(stores.folder):
        return False
    if environment.get(LEGACY_VARIABLE, "").strip() and fs.signature(stores.folder / ADOPTED) is None:
        return True
    return fs.signature(stores.facts.path) is None and fs.signature(stores.folder / "MEMORY.md") is not None


def bring_in(stores: Stores, facts: FactBook, environment: Mapping[str, str], clock: Clock) -> bool:
    """Adopt the folder of ``CHATCLI_MEMORY_LEGACY_DIR``, then make facts of a lone ``MEMORY.md``.

    Returns whether facts came from ``MEMORY.md``: it is to be written anew. One process at a time; never raises for
    what the disk or a file refuses.
    """
    try:
        stores.fs.make_folder(stores.folder)
        with stores.fs.lock(stores.folder / f"{ADOPTED}.lock", LOCK_SECONDS):
            if legacy := environment.get(LEGACY_VARIABLE, "").strip():
                _adopt(stores, Path(legacy).expanduser(), clock())
            return _migrate(stores, facts, clock())
    except (OSError, LockTimeoutError, StoreReadOnlyError, UnopenableError) as error:
        logger.warning("The older memory is not brought in yet and is tried again at the next start: %s", error)
        return False


# A folder from elsewhere


def _adopt(stores: Stores, legacy: Path, now: datetime) -> None:
    fs, folder = stores.fs, stores.folder
    if fs.signature(folder / ADOPTED) is not None or fs.signature(legacy) is None or _same(legacy, folder):
        return
    begun = fs.signature(folder / ADOPTING) is not None
    if not begun:
        if not _is_empty(stores):
            return
        _write(stores, folder / ADOPTING, f"{legacy}\n")
    left = 0
    for path in _known_files(stores, legacy):
        target = folder / path.relative_to(legacy)
        try:
            _take(stores, path, target)
        except ValidationError:
            logger.warning("%s does not parse and is left where it is", path)
        except (UnopenableError, StoreReadOnlyError) as error:
            logger.warning("%s is not adopted yet: %s", path, error)
            left += 1
    if left:
        logger.warning("%d files of %s wait for the next start", left, legacy)
        return
    _write(stores, folder / ADOPTED, f"{legacy} {now.astimezone(UTC).isoformat(timespec='seconds')}\n")
    fs.delete(folder / ADOPTING)


def _same(a: Path, b: Path) -> bool:
    return a.resolve() == b.resolve()


def _is_empty(stores: Stores) -> bool:
    return next(_known_files(stores, stores.folder), None) is None


def _known_files(stores: Stores, folder: Path) -> Iterator[Path]:
    """The files of a memory folder; locks, caches and files set aside are none."""
    fs = stores.fs
    names = {*(s.path.name for s in stores.all()), *_OWN_FILES}
    for path in fs.list(folder):
        if path.name in names or path.name == "MEMORY.md" or path.name.startswith("MEMORY.md.bak"):
            yield path
        elif _MONTH.match(path.name):
            yield from (note for note in fs.list(path) if _NOTE.match(note.name))
        elif path.name in ("weekly", "monthly"):
            yield from (digest for digest in fs.list(path) if digest.suffix == ".md")
        elif path.name == "pending":
            waiting = (w for w in fs.list(path) if w.name.startswith("seg-") and w.suffix == ".json")
            yield from waiting


def _take(stores: Stores, path: Path, target: Path) -> None:
    """Copy one file, dressed by the present key. One that exists here already is united with it, or left alone."""
    plain = stores.codec.decode(path.name, stores.fs.read(path))
    if stores.fs.signature(target) is None:
        stores.fs.make_folder(target.parent)
        atomic_write_bytes(target, stores.codec.encode(target.name, plain), fs=stores.fs)
        return
    for store in stores.all():
        if store.path == target:
            store.unite(plain)


def _write(stores: Stores, path: Path, line: str) -> None:
    atomic_write_bytes(path, line.encode("utf-8", "surrogateescape"), fs=stores.fs)


# MEMORY.md


def _migrate(stores: Stores, facts: FactBook, now: datetime) -> bool:
    fs = stores.fs
    path = stores.folder / "MEMORY.md"
    found = fs.signature(path)
    # While a folder is half adopted, its index may still be on the way.
    if found is None or any(fs.signature(p) is not None for p in (stores.facts.path, stores.folder / ADOPTING)):
        return False
    raw = fs.read(path)
    text = stores.codec.decode(path.name, raw).decode("utf-8", "replace")
    written = min(now, datetime.fromtimestamp(found.modified_ns / 1e9, UTC))
    incoming = [(fact, _details(written)) for fact in facts_in(text, written, now)]
    if not incoming:
        return False
    _back_up(stores, path, raw, now)
    count = facts.adopt(incoming)
    logger.info("%d facts were made of MEMORY.md", count)
    return True


def _details(written: datetime) -> Details:
    return Details(valid_from=written, sources=(Origin(kind="import", time=written),))


def _back_up(stores: Stores, path: Path, raw: bytes, now: datetime) -> None:
    """``MEMORY.md.bak``, or one with the time in its name where an older copy is to stay."""
    copy = path.with_name("MEMORY.md.bak")
    if stores.fs.signature(copy) is not None:
        if stores.fs.read(copy) == raw:
            return
        copy = path.with_name(f"MEMORY.md.bak.{now.astimezone():%Y%m%d%H%M%S}")
    atomic_write_bytes(copy, raw, fs=stores.fs)


def facts_in(text: str, written: datetime, now: datetime) -> list[Fact]:
    """One fact per line of at least five bytes; headings set the category, bullets and numbers go (spec §11.4).

    All that is known of their age is when the file was ``written``; they begin to fade ``now``.
    """
    category = ""
    found: dict[str, Fact] = {}
    for line in text.splitlines():
        if heading := _HEADING.match(line):
            category = _category_of(heading["title"])
            continue
        if _SKIPPED.match(line):
            continue
        tagged, content = split_category(_MARKER.sub("", line, count=1))
        content = clean_content(content)
        if len(content.encode("utf-8", "surrogatepass")) < MIN_LINE_BYTES:
            continue
        key = fact_id(content)
        found.setdefault(
            key,
            Fact(
                id=key,
                content=content,
                category=tagged or category or classify(content),
                tags=tags_of(content),
                created_at=written,
                last_accessed=now,
                confidence=EXTRACTED_CONFIDENCE,
                provenance="import",
            ),
        )
    return list(found.values())


def _category_of(heading: str) -> str:
    """The category a heading names, empty for any other."""
    title = heading.strip().casefold()
    if title in CATEGORIES:
        return title
    return next((c for words, c in _WORDS_OF_CATEGORIES.items() if words in title), "")
