"""What other rooms tell memory's graph: saved conversations, skills, knowledge bases (spec/memory.md §12.1)."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from chatls_core.memory.graph import MAX_SESSIONS, Neighbour
from chatls_core.sessions import SessionError
from chatls_core.text.days import local_day

if TYPE_CHECKING:
    from datetime import datetime

    from chatls_core.turn.services import Services

log = logging.getLogger(__name__)

FRESH = timedelta(minutes=1)
"""How long an answer holds: every recall asks."""


class GraphNeighbours:
    """Asks the rooms. Thread-safe; a room that cannot answer is left out."""

    def __init__(self, services: Callable[[], Services], roots: Callable[[], Sequence[Path]]) -> None:
        self._services = services
        self._roots = roots
        self._guard = threading.Lock()
        self._asked: datetime | None = None
        self._known: tuple[Neighbour, ...] = ()

    def __call__(self) -> tuple[Neighbour, ...]:
        with self._guard:
            now = self._services().clock()
            if self._asked is None or abs(now - self._asked) >= FRESH:
                self._known = tuple(n for room in (self._sessions, self._skills, self._contexts) for n in _told(room))
                self._asked = now
            return self._known

    def _sessions(self) -> Iterator[Neighbour]:
        for one in self._services().sessions.list(limit=MAX_SESSIONS).sessions:
            day = local_day(one.updated) if one.updated is not None else None
            yield Neighbour("session", one.name, one.title, day=day)

    def _skills(self) -> Iterator[Neighbour]:
        services = self._services()
        for skill in services.curation.skills.all(self._roots(), scan=services.settings.instructions.scan):
            yield Neighbour("skill", skill.name, skill.name, skill.description, skill.triggers)

    def _contexts(self) -> Iterator[Neighbour]:
        for context in self._services().curation.contexts.heads():
            if context.mode == "knowledge":
                yield Neighbour("kbcontext", context.id, context.name, context.description, context.tags)


def _told(room: Callable[[], Iterator[Neighbour]]) -> list[Neighbour]:
    try:
        return list(room())
    except (OSError, SessionError) as error:
        log.warning("A part of the graph is missing: %s", error)
        return []
