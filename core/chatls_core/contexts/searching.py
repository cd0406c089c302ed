"""Search over the files of contexts: read once, kept in memory, only changed files read again (spec/agent.md §2.3).

Reading a large knowledge base takes seconds (docs/ranking.md), a question to it milliseconds.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chatls_core.contexts.model import Context
from chatls_core.contexts.reading import segments, shown_paths

if TYPE_CHECKING:
    from chatls_core.text.ranking import PassageIndex

MAX_SEGMENTS = 50_000
"""Most passages of one context, and most that are kept in memory beside it."""
_DISPLACED = 0.1
"""Share of passages that may stand behind their file's others before all are put in order again."""


@dataclass(frozen=True, slots=True)
class Found:
    """A passage: its file as shown, its first line (from 1) and text."""

    source: str
    line: int
    text: str
    score: float


class ContextSearch:
    """The indexes of the contexts that were searched last. Thread-safe; methods take CPU: call them in a thread."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._kept: OrderedDict[str, _Indexed] = OrderedDict()

    def search(self, context: Context, query: str, limit: int = 8) -> tuple[Found, ...]:
        """The passages of ``context`` as it is now that answer ``query`` best."""
        with self._guard:
            indexed = self._kept.pop(context.id, None) or _Indexed()
            self._kept[context.id] = indexed
        found = indexed.search(context, query, limit)
        with self._guard:
            while len(self._kept) > 1 and sum(len(i) for i in self._kept.values()) > MAX_SEGMENTS:
                self._kept.popitem(last=False)
        return found

    def forget(self, context_id: str) -> None:
        """The context is gone."""
        with self._guard:
            self._kept.pop(context_id, None)


class _Indexed:
    """One context's index, following the context."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._index: PassageIndex | None = None
        self._contents: Mapping[str, str] = {}
        self._places: dict[str, dict[str, Found]] = {}
        self._displaced = 0

    def __len__(self) -> int:
        return sum(map(len, self._places.values()))

    def search(self, context: Context, query: str, limit: int) -> tuple[Found, ...]:
        with self._guard:
            index = self._follow({source: file.content for source, file in shown_paths(context).items()})
            places = self._places
            hits = index.search(query, limit)
            found = ((places[hit.id.rpartition(":")[0]][hit.id], hit.score) for hit in hits)
            return tuple(Found(p.source, p.line, p.text, score) for p, score in found)

    def _follow(self, contents: Mapping[str, str]) -> PassageIndex:
        from chatls_core.text.ranking import PassageIndex

        changed = [s for s, text in contents.items() if self._contents.get(s) != text]
        gone = self._contents.keys() - contents.keys()
        if self._index is None or self._displaced > _DISPLACED * max(len(self), 1):
            self._index, self._places, self._displaced = PassageIndex(), {}, 0
            changed, gone = list(contents), set()
        for source in gone:
            for key in self._places.pop(source, {}):
                self._index.remove(key)
        for source in changed:
            self._read(self._index, source, contents[source])
        self._contents = contents
        return self._index

    def _read(self, index: PassageIndex, source: str, text: str) -> None:
        from chatls_core.text.passages import Passage

        before = self._places.pop(source, {})
        places: dict[str, Found] = {}
        room = MAX_SEGMENTS - len(self)
        for number, (line, piece) in enumerate(segments(text)[: max(room, 0)]):
            key = f"{source}:{number}"
            places[key] = Found(source, line, piece, 0.0)
            index.add(Passage(key, f"{source}\n{piece}"))
        for key in before.keys() - places.keys():
            index.remove(key)
        if before:
            self._displaced += len(places.keys() - before.keys())
        self._places[source] = places
