"""What services say about their models, kept on disk for a day: a model picker must not wait for ten services."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from chatls_core.llm.backend import Listed
from chatls_core.store.json_store import JsonStore, StoreReadOnlyError

log = logging.getLogger(__name__)

FRESH = timedelta(days=1)


class _Row(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, defer_build=True)
    name: str
    title: str = ""
    window: int | None = None
    max_output: int | None = None
    tools: bool | None = None
    images: bool | None = None
    reasoning: bool | None = None


class _Listing(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, defer_build=True)
    at: datetime
    models: tuple[_Row, ...] = ()


class _File(BaseModel):
    model_config = ConfigDict(extra="allow", frozen=True, defer_build=True)
    listings: Mapping[str, _Listing] = Field(default_factory=dict)


class ListingCache:
    """The file ``cache/models.json``. All methods block; losing the file costs one more listing."""

    def __init__(self, home: Path) -> None:
        self._store: JsonStore[_File] = JsonStore(
            home / "cache" / "models.json", TypeAdapter(_File), empty=_File, merge=_merge
        )

    def read(self, provider: str, base_url: str) -> tuple[Sequence[Listed], datetime | None]:
        """The last listing of a service and when it was made; empty and ``None`` when there is none."""
        found = self._store.read().listings.get(_key(provider, base_url))
        if found is None:
            return (), None
        return [Listed(**row.model_dump()) for row in found.models], found.at

    def write(self, provider: str, base_url: str, models: Sequence[Listed], now: datetime) -> None:
        """Keep a listing. A disk that refuses is logged: the listing is only a convenience."""
        rows = tuple(
            _Row(
                name=m.name,
                title=m.title,
                window=m.window,
                max_output=m.max_output,
                tools=m.tools,
                images=m.images,
                reasoning=m.reasoning,
            )
            for m in models
        )

        def put(file: _File) -> tuple[_File, None]:
            key = _key(provider, base_url)
            return file.model_copy(update={"listings": {**file.listings, key: _Listing(at=now, models=rows)}}), None

        try:
            self._store.update(put)
        except (OSError, StoreReadOnlyError) as error:
            log.warning("the list of models could not be kept: %s", error)


def _key(provider: str, base_url: str) -> str:
    return f"{provider} {base_url}"


def _merge(mine: _File, disk: _File) -> _File:
    united = dict(disk.listings)
    for key, listing in mine.listings.items():
        if key not in united or united[key].at < listing.at:
            united[key] = listing
    return mine.model_copy(update={"listings": united})
