"""The stored contexts: one JSON file each below ``<home>/contexts``."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Sequence
from pathlib import Path

from pydantic import TypeAdapter
from pydantic_core import from_json

from chatls_core.contexts.gathering import Walk, gather
from chatls_core.contexts.model import (
    MAX_DESCRIPTION,
    MAX_STORED_BYTES,
    Context,
    ContextError,
    ContextHead,
    checked_mode,
    checked_name,
)
from chatls_core.contexts.searching import ContextSearch
from chatls_core.store import Clock, JsonStore

log = logging.getLogger(__name__)

HEAD_BYTES = 16_384
"""Of a context's file, holds all that stands before its files."""
_ADAPTER: TypeAdapter[Context | None] = TypeAdapter(Context | None)


class ContextStore:
    """Creates, reads and deletes contexts. Methods read the disk: call them off the event loop.

    Raises :class:`ContextError` for what the user can mend, :class:`OSError` for the disk.
    """

    def __init__(self, folder: Path, index: Path, walk: Walk, clock: Clock) -> None:
        """``folder`` holds the contexts, ``index`` is the file by which their text is searched."""
        self._folder = folder
        self._walk = walk
        self._clock = clock
        self._stores: dict[str, JsonStore[Context | None]] = {}
        self.searching = ContextSearch(index)

    def create(
        self, name: str, paths: Sequence[Path], *, mode: str = "full", watch: bool = False, description: str = ""
    ) -> Context:
        """Gather ``paths`` into a new context. A name is taken once, whatever its case."""
        name = checked_name(name)
        if self._get(name) is not None:
            raise ContextError(f"name: there is a context {name!r} already; update it, or take another name.")
        return self._save(name, None, paths, mode, watch, description)

    def update(
        self,
        name: str,
        paths: Sequence[Path] | None = None,
        *,
        mode: str | None = None,
        watch: bool | None = None,
        description: str | None = None,
    ) -> Context:
        """Gather a context anew, from other paths, in another mode or as it was."""
        old = self.get(name)
        return self._save(
            old.name,
            old,
            [Path(p) for p in old.source_paths] if paths is None else paths,
            old.mode if mode is None else mode,
            old.watch if watch is None else watch,
            old.description if description is None else description,
        )

    def refreshed(self, name: str) -> Context:
        """The context; a watched one is gathered anew first when a file of it changed, appeared or went."""
        context = self.get(name)
        if not context.watch:
            return context
        try:
            found = gather([Path(p) for p in context.source_paths], context.mode, self._walk)
        except ContextError as error:
            log.warning("context %s keeps what it had: %s", context.name, error)
            return context
        if found.files == context.files:
            return context
        return self.update(name)

    def get(self, name: str) -> Context:
        """The context called ``name``."""
        found = self._get(checked_name(name))
        if found is None:
            known = ", ".join(c.name for c in self.all()) or "none yet"
            raise ContextError(f"name: there is no context {name!r}. Contexts: {known}.")
        return found

    def all(self) -> tuple[Context, ...]:
        """All contexts by name."""
        if not self._folder.is_dir():
            return ()
        found = [self._store(path.stem).read() for path in self._folder.glob("*.json")]
        return tuple(sorted((c for c in found if c is not None), key=lambda c: c.name.lower()))

    def heads(self) -> tuple[ContextHead, ...]:
        """All contexts by name without their files, of which nothing is read: they may be many megabytes."""
        found = []
        for path in self._folder.glob("*.json") if self._folder.is_dir() else ():
            try:
                with path.open("rb") as file:
                    begun = file.read(HEAD_BYTES).decode("utf-8", "ignore")
                found.append(ContextHead.model_validate(from_json(begun, allow_partial=True)))
            except (OSError, ValueError) as error:
                log.info("context %s is left out of a list: %s", path.stem, error)
        return tuple(sorted(found, key=lambda c: c.name.lower()))

    def delete(self, name: str) -> Context:
        """Remove a context; conversations it is attached to lose it at their next turn."""
        context = self.get(name)
        self._store(_stem(context.name)).update(lambda _: (None, None))
        self._store(_stem(context.name)).path.unlink(missing_ok=True)
        self.searching.keep({path.stem for path in self._folder.glob("*.json")})
        return context

    def _get(self, name: str) -> Context | None:
        return self._store(_stem(name)).read()

    def _save(
        self, name: str, old: Context | None, paths: Sequence[Path], mode: str, watch: bool, description: str
    ) -> Context:
        if not paths:
            raise ContextError("paths: name at least one file or folder.")
        if len(description) > MAX_DESCRIPTION:
            raise ContextError(f"description: at most {MAX_DESCRIPTION} characters.")
        chosen = checked_mode(mode)
        gathered = gather(paths, chosen, self._walk)
        others = sum(c.size for c in self.all() if old is None or c.id != old.id)
        if others + sum(f.size for f in gathered.files) > MAX_STORED_BYTES:
            raise ContextError("All contexts together may take 200 MB; delete one first.")
        now = self._clock()
        fields = {
            "name": name,
            "description": description,
            "mode": chosen,
            "source_paths": tuple(map(str, paths)),
            "watch": watch,
            "files": gathered.files,
            "skipped": gathered.skipped,
            "updated_at": now,
        }
        new = old.model_copy(update=fields) if old else Context(id=_stem(name), created_at=now, **fields)
        return self._store(_stem(name)).update(lambda _: (new, new))

    def _store(self, stem: str) -> JsonStore[Context | None]:
        if stem not in self._stores:
            self._stores[stem] = JsonStore(
                self._folder / f"{stem}.json", _ADAPTER, empty=lambda: None, merge=_latest, indent=None
            )
        return self._stores[stem]


def _latest(mine: Context | None, disk: Context | None) -> Context | None:
    """The one gathered last; a deletion gives way to what was written meanwhile."""
    if mine is None or disk is None:
        return mine or disk
    return max(mine, disk, key=lambda c: (c.updated_at, c.model_dump_json()))


def _stem(name: str) -> str:
    """A file name for any context name: readable, and distinct where only letters beyond ASCII differ."""
    folded = " ".join(name.lower().split())
    readable = "".join(c if c.isascii() and c.isalnum() else "-" for c in folded)
    return f"{readable}-{hashlib.sha256(folded.encode()).hexdigest()[:8]}"
