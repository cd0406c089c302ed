"""Several writes told as one: what a run of the worker learned is one line for the user, with one way back."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Sequence

from chatls_core.memory.views import MemoryChange


class Together:
    """Holds back the changes of a thread while :meth:`held` is open there. Thread-safe."""

    def __init__(self) -> None:
        self._local = threading.local()

    @property
    def is_open(self) -> bool:
        """Whether this thread's changes are being held back."""
        return getattr(self._local, "changes", None) is not None

    def take(self, change: MemoryChange) -> bool:
        """Hold a change back; ``False`` when it is to be told at once."""
        if not self.is_open:
            return False
        self._local.changes.append(change)
        return True

    @contextlib.contextmanager
    def held(self, changes: list[MemoryChange]) -> Iterator[None]:
        """Hold this thread's changes back: they are added to ``changes``."""
        self._local.changes = changes
        try:
            yield
        finally:
            self._local.changes = None


def united(changes: Sequence[MemoryChange]) -> MemoryChange:
    """Several changes as one, each item by what became of it in the end. In the background if all were."""
    state: dict[str, str] = {}
    for change in changes:
        for item in change.added:
            state[item] = "changed" if state.get(item) == "removed" else "added"
        for item in change.changed:
            state.setdefault(item, "changed")
        for item in change.removed:
            if state.get(item) == "added":
                del state[item]
            else:
                state[item] = "removed"

    def those(wanted: str) -> tuple[str, ...]:
        return tuple(item for item, what in state.items() if what == wanted)

    return MemoryChange(
        those("added"), those("changed"), those("removed"), background=all(c.background for c in changes)
    )
