"""What was spent, by day and by conversation, on the disk: budgets hold across restarts and servers (§1.12)."""

from __future__ import annotations

import hashlib
import logging
import threading
from collections.abc import Mapping
from datetime import date, timedelta
from functools import partial
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from chatls_core.llm.events import Usage
from chatls_core.store import REAL, Clock, FileSystem, JsonStore, StoreReadOnlyError

log = logging.getLogger(__name__)

RETENTION = timedelta(days=90)
TURN, SUMMARY, LEARNING, WORKER = "turn", "summary", "learning", "worker"
"""Lanes: what the money was for."""


class Row(BaseModel):
    """Tokens and US dollars of all requests of one lane to one model; ``unpriced`` counts those without a price."""

    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True)
    requests: int = Field(0, ge=0)
    input_tokens: int = Field(0, ge=0)
    output_tokens: int = Field(0, ge=0)
    reasoning_tokens: int = Field(0, ge=0)
    cache_read_tokens: int = Field(0, ge=0)
    cache_write_tokens: int = Field(0, ge=0)
    cost_usd: float = Field(0.0, ge=0, allow_inf_nan=False)
    unpriced: int = Field(0, ge=0)

    @property
    def prompt_tokens(self) -> int:
        """Everything the models read: fresh, cached and newly cached input."""
        return self.input_tokens + self.cache_read_tokens + self.cache_write_tokens

    def __add__(self, other: Row) -> Row:
        return Row(**{name: getattr(self, name) + getattr(other, name) for name in Row.model_fields})


Rows = dict[str, Row]
"""``lane|provider:model`` -> what it cost."""


def known_usd(rows: Mapping[str, Row]) -> float:
    """US dollars of all requests whose price is known."""
    return sum(row.cost_usd for row in rows.values())


def _row(usage: Usage) -> Row:
    return Row(
        requests=1,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        reasoning_tokens=usage.reasoning_tokens,
        cache_read_tokens=usage.cache_read_tokens,
        cache_write_tokens=usage.cache_write_tokens,
        cost_usd=max(0.0, usage.cost_usd or 0.0),
        unpriced=int(usage.cost_usd is None),
    )


def _added(rows: Rows, more: Mapping[str, Row]) -> Rows:
    return {**rows, **{name: rows[name] + row if name in rows else row for name, row in more.items()}}


def _with(more: Rows, known: Rows) -> tuple[Rows, None]:
    return _added(known, more), None


def _larger(mine: Rows, disk: Rows) -> Rows:
    """Two states that grew apart without our lock: the larger count of each row, so that nothing is counted twice."""
    rows = dict(disk)
    for name, row in mine.items():
        if name not in rows or row.requests > rows[name].requests:
            rows[name] = row
    return rows


class Spending:
    """The book of one data folder, shared by all servers on it. Thread-safe.

    :meth:`add` only takes note; :meth:`flush` writes, and sums include what is not written yet.
    """

    def __init__(self, folder: Path, clock: Clock, fs: FileSystem = REAL) -> None:
        self._folder = folder
        self._clock = clock
        self._fs = fs
        self._stores: dict[Path, JsonStore[Rows]] = {}
        self._waiting: dict[Path, Rows] = {}
        self._guard = threading.Lock()
        self._writing = threading.Lock()
        self.warned: set[str] = set()
        """Warnings about the day's budget that were given already."""

    def add(self, usage: Usage, lane: str, session_id: str = "") -> None:
        """Take note of a request; the disk is not touched."""
        if not usage.prompt_tokens and not usage.output_tokens:
            return
        row = {f"{lane}|{usage.provider}:{usage.model}": _row(usage)}
        with self._guard:
            for path in (self._day(self._today()), *([self._session(session_id)] if session_id else [])):
                self._waiting[path] = _added(self._waiting.get(path, {}), row)

    def flush(self) -> None:
        """Bring what waits to the disk; what cannot be written waits on. Blocks."""
        with self._writing:
            with self._guard:
                waiting, self._waiting = self._waiting, {}
            for path, rows in waiting.items():
                try:
                    self._store(path).update(partial(_with, rows))
                except (OSError, StoreReadOnlyError) as error:
                    log.error("what was spent is not written yet: %s", error)
                    with self._guard:
                        self._waiting[path] = _added(self._waiting.get(path, {}), rows)

    def today(self) -> Rows:
        """What was spent on the clock's local day. Reads the disk when another server wrote."""
        return self._read(self._day(self._today()))

    def of_session(self, session_id: str) -> Rows:
        """What a conversation cost."""
        return self._read(self._session(session_id))

    def expire(self) -> None:
        """Delete what nobody added to for 90 days. Raises :class:`OSError`."""
        oldest = (self._clock() - RETENTION).timestamp() * 1e9
        for folder in (self._folder / "days", self._folder / "sessions"):
            for path in self._fs.list(folder):
                seen = self._fs.signature(path)
                if path.suffix == ".json" and seen is not None and seen.modified_ns < oldest:
                    self._fs.delete(path)

    def _read(self, path: Path) -> Rows:
        with self._writing:  # what is being written stands neither here nor there
            with self._guard:
                waiting = dict(self._waiting.get(path, {}))
            return _added(self._store(path).read(), waiting)

    def _today(self) -> date:
        return self._clock().astimezone().date()

    def _day(self, day: date) -> Path:
        return self._folder / "days" / f"{day.isoformat()}.json"

    def _session(self, session_id: str) -> Path:
        name = hashlib.sha256(session_id.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        return self._folder / "sessions" / f"{name}.json"

    def _store(self, path: Path) -> JsonStore[Rows]:
        with self._guard:
            if path not in self._stores:
                self._stores[path] = JsonStore(path, TypeAdapter(Rows), empty=dict, merge=_larger, fs=self._fs)
            return self._stores[path]
