"""Export and import as JSON lines (spec/memory.md §13.1): one record per line with its ``kind``, a header first."""

from __future__ import annotations

import base64
import json
import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from chatls_core.memory import merges
from chatls_core.memory.facts import clean_content, tombstoned
from chatls_core.memory.identity import CATEGORIES, episode_id, fact_id
from chatls_core.memory.records import Details, Episode, Fact, HistoryEntry, Profile, Project, Topic
from chatls_core.memory.stores import Stores, mend
from chatls_core.memory.views import Transfer
from chatls_core.memory.withheld import scrub
from chatls_core.store import PLAIN, UnopenableError, atomic_write_bytes

logger = logging.getLogger(__name__)

SCHEMA_VERSION = 1
MAX_TAGS = 16
_SEALED_LINE = "enc:"


class TransferError(Exception):
    """The file cannot be imported, or not be written; ``str()`` says why."""


def _check_place(stores: Stores, path: Path) -> None:
    """Let nothing be overwritten but an earlier export. Raises :class:`TransferError`."""
    try:
        start = stores.fs.read(path, 0, 64)
    except FileNotFoundError:
        return
    except OSError as error:
        raise TransferError(f"{path} cannot be written ({error.strerror}). Nothing was exported.") from error
    if start and not start.startswith((b'{"kind": "header"', _SEALED_LINE.encode())):
        raise TransferError(f"{path} holds something else; choose another name. Nothing was exported.")


def export(stores: Stores, facts: tuple[Fact, ...], path: Path, now: datetime) -> Transfer:
    """Write everything to ``path`` (mode 0600; every line sealed when a key is set).

    Raises :class:`TransferError` where a folder or a file that is no export stands there, or the disk refuses.
    """
    _check_place(stores, path)
    side = stores.side.read()
    records: list[tuple[str, Mapping[str, Any]]] = [
        ("header", {"schema_version": SCHEMA_VERSION, "exported_at": now.isoformat(), "program": "chatls"})
    ]
    records.append(("profile", stores.profile.read().model_dump(mode="json")))
    records += [("fact", f.model_dump(mode="json")) for f in facts]
    records += [("episode", e.model_dump(mode="json")) for e in stores.episodes.read()]
    records += [("topic", t.model_dump(mode="json")) for t in stores.topics.read()]
    records += [("project", p.model_dump(mode="json")) for p in stores.projects.read()]
    records += [("history", h.model_dump(mode="json")) for h in stores.history.read().entries]
    records += [("details", {"id": i, **d.model_dump(mode="json")}) for i, d in side.items.items()]
    lines = []
    for kind, record in records:
        line = json.dumps({"kind": kind, **record}, ensure_ascii=False)
        if stores.codec is not PLAIN:
            sealed = stores.codec.encode("export", line.encode("utf-8", "surrogatepass"))
            line = _SEALED_LINE + base64.b64encode(sealed).decode()
        lines.append(line)
    try:
        atomic_write_bytes(path, ("\n".join(lines) + "\n").encode("utf-8", "surrogatepass"), fs=stores.fs)
    except OSError as error:
        raise TransferError(f"{path} cannot be written ({error.strerror}). Nothing was exported.") from error
    counts = Counter(kind for kind, _ in records if kind != "header")
    return Transfer(str(path), counts)


def import_(stores: Stores, path: Path, adopt: Callable[[Sequence[tuple[Fact, Details | None]]], int]) -> Transfer:
    """Merge a file into memory; nothing is deleted.

    ``adopt`` takes in facts and says how many were new. Raises :class:`TransferError` for a file of a newer
    schema, sealed without its key, or one that cannot be read; :class:`OSError` for a disk that refuses.
    """
    trees, skipped = _read(stores, path)
    if not trees:
        held = f"none of its {skipped:,} lines is a record" if skipped > 1 else "it holds no record"
        raise TransferError(f"{path} is no export of memory: {held}. Nothing was imported.")
    details = {str(t.get("id", "")): d for t in trees.get("details", ()) if (d := mend(Details, _without(t, "id")))}
    counts: Counter[str] = Counter()
    incoming = []
    for tree in trees.get("fact", ()):
        fact = mend(Fact, tree)
        if fact is None or not fact.content.strip():
            skipped += 1
            continue
        incoming.append((_settled(fact), details.get(str(tree.get("id", "")))))
    counts["fact"] = adopt(incoming) if incoming else 0
    _merge_rest(stores, trees, details, counts)
    return Transfer(str(path), counts, skipped, "import")


def _merge_rest(
    stores: Stores, trees: Mapping[str, list[dict[str, Any]]], details: Mapping[str, Details], counts: Counter[str]
) -> None:
    gone = stores.side.read().list_tombstones

    def records(kind: str, model: type[Any]) -> tuple[Any, ...]:
        found: list[BaseModel] = [r for t in trees.get(kind, ()) if (r := mend(model, t)) is not None]
        counts[kind] += len(found)
        return tuple(found)

    if episodes := records("episode", Episode):
        named = tuple(
            e
            for e in (e.model_copy(update={"id": e.id or episode_id(e.date, e.project, e.summary)}) for e in episodes)
            if e.summary.strip() and not tombstoned(e.created_at, e.id, gone.get("episode", {}))
        )
        stores.episodes.update(lambda old: (merges.episodes(old, named), None))
    if topics := records("topic", Topic):
        stores.topics.update(lambda old: (merges.topics(old, tuple(t for t in topics if t.name.strip())), None))
    if projects := records("project", Project):
        stores.projects.update(lambda old: (merges.projects(old, tuple(p for p in projects if p.name.strip())), None))
    for profile in records("profile", Profile):
        stores.profile.update(lambda old, p=profile: (merges.profile(old, p), None))  # type: ignore[misc]  # the default binds the loop's profile
    if history := records("history", HistoryEntry):
        stores.history.update(lambda f: (f.model_copy(update={"entries": merges.history(f.entries, history)}), None))
    if details:
        stores.side.update(lambda s: (s.model_copy(update={"items": merges.all_details(s.items, dict(details))}), None))


def _settled(fact: Fact) -> Fact:
    """An imported fact by our rules: id from its content, known category, confidence in range (spec/memory.md §4.6)."""
    content = clean_content(fact.content)
    return fact.model_copy(
        update={
            "id": fact_id(content),
            "content": content,
            "category": fact.category if fact.category in CATEGORIES else "general",
            "confidence": min(1.0, max(0.0, fact.confidence)),
            "tags": tuple((fact.tags or ())[:MAX_TAGS]),
        }
    )


def _read(stores: Stores, path: Path) -> tuple[dict[str, list[dict[str, Any]]], int]:
    trees: dict[str, list[dict[str, Any]]] = {}
    skipped = 0
    try:
        data = stores.fs.read(path)
    except OSError as error:
        raise TransferError(f"{path} cannot be read ({error.strerror}). Nothing was imported.") from error
    for number, raw in enumerate(data.decode("utf-8", "replace").split("\n"), 1):
        line = raw.strip().removeprefix("\ufeff")
        if not line:
            continue
        if line.startswith(_SEALED_LINE):
            line = _opened(stores, line, number)
        try:
            tree = json.loads(line)
        except ValueError:
            tree = None
        if not isinstance(tree, dict) or not isinstance(tree.get("kind"), str):
            logger.warning("%s: line %d is no record and is skipped", path, number)
            skipped += 1
            continue
        kind = tree.pop("kind")
        version = tree.get("schema_version") if kind == "header" else None
        if isinstance(version, int) and version > SCHEMA_VERSION:
            raise TransferError(
                f"The file was written by a newer version (schema {version}); update first. Nothing was imported."
            )
        trees.setdefault(kind, []).append(_scrubbed(tree))
    return trees, skipped


def _scrubbed(tree: Any) -> Any:
    """A record without what memory never keeps."""
    match tree:
        case str():
            return scrub(tree)
        case dict():
            return {key: _scrubbed(value) for key, value in tree.items()}
        case list():
            return [_scrubbed(value) for value in tree]
        case _:
            return tree


def _opened(stores: Stores, line: str, number: int) -> str:
    try:
        raw = base64.b64decode(line.removeprefix(_SEALED_LINE), validate=True)
        return stores.codec.decode("export", raw).decode("utf-8", "replace")
    except (ValueError, UnopenableError) as error:
        raise TransferError(
            f"Line {number} is encrypted and cannot be opened: {error} Nothing was imported."
        ) from error


def _without(tree: Mapping[str, Any], key: str) -> dict[str, Any]:
    return {k: v for k, v in tree.items() if k != key}
