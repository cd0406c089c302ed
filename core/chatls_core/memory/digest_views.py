"""The weekly and monthly digests as a person sees them (spec/memory.md §11.3)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta

from chatls_core.memory import notes
from chatls_core.memory.stores import Stores
from chatls_core.text.literal import literal


@dataclass(frozen=True, slots=True)
class DigestView:
    """One digest: ``kind`` weekly or monthly, ``title`` like ``2026-W07`` or ``2026-02``, ``end`` its last day."""

    name: str
    kind: str
    title: str
    start: date
    end: date
    text: str


@dataclass(frozen=True, slots=True)
class DigestList:
    """Digests, the newest first, months before the weeks within them."""

    digests: tuple[DigestView, ...]
    name: str = ""

    @property
    def markdown(self) -> str:
        """Their texts one below the other."""
        if not self.digests:
            return (
                f"There is no digest called {literal(self.name)}; without a name all are shown."
                if self.name
                else "No week or month is summed up yet."
            )
        return "\n\n".join(f"## {d.title} ({d.start} – {d.end})\n\n{d.text or '—'}" for d in self.digests)


def read(stores: Stores, name: str = "") -> DigestList:
    """All digests, or the one called ``name``; files of other names are left out."""
    found = []
    for known, path in notes.digests(stores):
        period = _period(known)
        if period is not None and name in ("", known):
            kind, _, title = known.partition("/")
            lines = notes.digest_text(stores, path).splitlines()
            text = "\n".join(line for line in lines if not line.startswith("# ")).strip()
            found.append(DigestView(known, kind, title, *period, text))
    return DigestList(tuple(sorted(found, key=lambda d: (d.end, d.kind), reverse=True)), name)


def _period(name: str) -> tuple[date, date] | None:
    kind, _, title = name.partition("/")
    try:
        if kind == "weekly":
            year, week = title.split("-W")
            start = date.fromisocalendar(int(year), int(week), 1)
            return start, start + timedelta(days=6)
        start = date.fromisoformat(f"{title}-01")
    except ValueError:
        return None
    return start, (start + timedelta(days=32)).replace(day=1) - timedelta(days=1)
