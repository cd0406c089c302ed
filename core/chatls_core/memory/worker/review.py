"""What was learned and waits for the user's yes (issue "Memory's life"; ``memory_review.json``)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from pydantic import Field, TypeAdapter

from chatls_core.memory import merges
from chatls_core.memory.records import EPOCH, LenientRecord, Origin, Time
from chatls_core.memory.stores import Stores
from chatls_core.store import JsonStore
from chatls_core.text.amounts import amount
from chatls_core.text.days import local_day
from chatls_core.text.literal import Readable

ItemKind = Literal["fact", "profile", "topic", "project", "episode", "note"]
SETTLED_DAYS = 90
"""How long a settled item is not asked about again."""
MAX_ITEMS = 500


class ReviewItem(LenientRecord):
    """One item: ``kind`` says what ``fields`` mean; ``origin`` is where it was said."""

    id: str = ""
    kind: str = "fact"
    fields: dict[str, str] = Field(default_factory=dict)
    origin: Origin = Origin()
    workspace: str = ""
    external: bool = False
    created_at: Time = EPOCH


class ReviewFile(LenientRecord):
    """``settled`` are items accepted or rejected, by id, with the time."""

    schema_version: int = 1
    items: dict[str, ReviewItem] = Field(default_factory=dict)
    settled: dict[str, Time] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PendingItem:
    """An item as a person sees it."""

    id: str
    kind: str
    text: str
    category: str
    date: datetime
    session: str
    message: str
    external: bool


@dataclass(frozen=True, slots=True)
class PendingView(Readable):
    """What waits, oldest first."""

    items: tuple[PendingItem, ...]

    def _written(self, quote: Callable[[str], str]) -> str:
        if not self.items:
            return "Nothing waits to be remembered."
        rows = (
            f"- `{i.id}` {quote(i.text)} ({quote(i.category or i.kind)}, {local_day(i.date)}"
            f"{', from a conversation with outside content' if i.external else ''})"
            for i in self.items
        )
        how = "`/memory accept` with their ids, or `all`, keeps them; `/memory reject` drops them."
        return "Waiting to be remembered:\n\n" + "\n".join(rows) + f"\n\n{how}"


@dataclass(frozen=True, slots=True)
class Settled(Readable):
    """What was accepted or rejected; ``unknown`` ids were not waiting."""

    verb: str
    items: tuple[PendingItem, ...]
    unknown: tuple[str, ...] = ()

    def _written(self, quote: Callable[[str], str]) -> str:
        """One line and what it was about."""
        lines = "".join(f"\n- {quote(i.text)}" for i in self.items)
        more = f"\n\nNot waiting: {', '.join(map(quote, self.unknown))}." if self.unknown else ""
        return f"{self.verb} {amount(len(self.items), 'item')}.{lines}{more}"


def item_id(kind: str, fields: dict[str, str]) -> str:
    """The same item has the same id in every process."""
    tree = json.dumps([kind, {k: " ".join(v.split()).casefold() for k, v in fields.items()}], sort_keys=True)
    return hashlib.sha256(tree.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def shown(item: ReviewItem) -> PendingItem:
    """An item for a person."""
    f = item.fields
    text = {
        "fact": f.get("content", ""),
        "profile": f"{f.get('key', '')} = {f.get('value', '')}",
        "topic": f"{f.get('name', '')}: {f.get('summary', '')}".rstrip(": "),
        "project": ", ".join(f"{k}={v}" for k, v in f.items()),
        "episode": " → ".join(filter(None, (f.get("summary", ""), f.get("outcome", "")))),
        "note": f.get("text", ""),
    }.get(item.kind, str(f))
    return PendingItem(
        item.id,
        item.kind,
        text,
        f.get("category", ""),
        item.origin.time,
        item.origin.session,
        item.origin.message,
        item.external,
    )


class ReviewStore:
    """The items that wait. Thread- and process-safe."""

    def __init__(self, stores: Stores) -> None:
        self._store = JsonStore(
            stores.folder / "memory_review.json",
            TypeAdapter(ReviewFile),
            empty=ReviewFile,
            merge=_merge,
            fs=stores.fs,
            codec=stores.codec,
        )

    def items(self) -> tuple[ReviewItem, ...]:
        """What waits, oldest first."""
        file = self._store.read()
        return tuple(
            sorted((i for i in file.items.values() if i.id not in file.settled), key=lambda i: (i.created_at, i.id))
        )

    def add(self, items: Sequence[ReviewItem]) -> int:
        """Let items wait; those that wait already or were settled lately are left out. Returns how many are new."""

        def change(file: ReviewFile) -> tuple[ReviewFile, int]:
            new = {i.id: i for i in items if i.id not in file.items and i.id not in file.settled}
            if not new:
                return file, 0
            kept = dict(sorted({**file.items, **new}.items(), key=lambda e: e[1].created_at)[-MAX_ITEMS:])
            return file.model_copy(update={"items": kept}), len(new)

        return self._store.update(change)

    def settle(self, ids: Sequence[str], now: datetime) -> None:
        """Take items off the list for good."""
        wanted = set(ids)
        limit = now - timedelta(days=SETTLED_DAYS)

        def change(file: ReviewFile) -> tuple[ReviewFile, None]:
            settled = {i: t for i, t in file.settled.items() if t >= limit} | dict.fromkeys(wanted, now)
            items = {i: x for i, x in file.items.items() if i not in wanted}
            return file.model_copy(update={"items": items, "settled": settled}), None

        if wanted:
            self._store.update(change)


def _merge(a: ReviewFile, b: ReviewFile) -> ReviewFile:
    settled = merges.times(a.settled, b.settled)
    items = merges.union(a.items, b.items, lambda x, y: x if (x.created_at, x.id) <= (y.created_at, y.id) else y)
    return a.model_copy(update={"settled": settled, "items": {k: v for k, v in items.items() if k not in settled}})
