"""Who said what is remembered, in which conversation and message, when: kept per item id in ``memory_details.json``.

Ids are those of :class:`~chatls_core.memory.views.MemoryChange`; entries of the profile are ``profile:<field>`` or
``profile:<list>:<entry>``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from chatls_core.memory import merges
from chatls_core.memory.records import Details, Origin
from chatls_core.memory.stores import Stores
from chatls_core.memory.views import Source, SourceView

MAX_SOURCES = 20
"""Sources that are kept of an item that comes up again and again."""


def capped(known: tuple[Origin, ...]) -> tuple[Origin, ...]:
    """Not too many sources: the first tells where an item comes from, the last that it still holds."""
    return known if len(known) <= MAX_SOURCES else (*known[:1], *known[-(MAX_SOURCES - 1) :])


def origin_of(source: Source, now: datetime) -> Origin:
    """A source as it is written down."""
    return Origin(kind=source.kind, session=source.session, message=source.message, time=source.time or now)


def note(stores: Stores, ids: Iterable[str], source: Source, now: datetime) -> None:
    """Add a source to what is known of some items."""
    wanted = tuple(ids)
    new = Details(sources=(origin_of(source, now),))

    def told(known: Details | None) -> Details:
        joined = merges.details(known or Details(), new)
        return joined.model_copy(update={"sources": capped(joined.sources)})

    if wanted:
        stores.side.update(
            lambda s: (s.model_copy(update={"items": {**s.items, **{i: told(s.items.get(i)) for i in wanted}}}), None)
        )


def shown(origins: Iterable[Origin]) -> tuple[SourceView, ...]:
    """Sources as they are told to a person."""
    return tuple(SourceView(o.kind, o.session, o.message, o.time) for o in origins)


def sources(details: Mapping[str, Details], item_id: str) -> tuple[SourceView, ...]:
    """Who said an item, oldest first; empty where nobody wrote it down."""
    known = details.get(item_id)
    return shown(known.sources) if known else ()


def latest(details: Mapping[str, Details], item_id: str) -> SourceView | None:
    """Who said an item last."""
    found = sources(details, item_id)
    return found[-1] if found else None
