"""What is known already, told so that vendors' caches keep holding it.

The text that was sent before stays the beginning of the next request as it was; what came since follows behind it. Once
that is much, or something of the former text no longer holds, all of it is told anew.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chatls_core.memory.worker.request import existing_memory
from chatls_core.text.cut import byte_length

if TYPE_CHECKING:
    from chatls_core.memory.memory import Memory

MAX_SINCE_BYTES = 2000


class Known:
    """What one worker told about one memory so far, by the size it was told in."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._told: dict[int, str] = {}

    def parts(self, limit: int) -> tuple[str, str]:
        """What is known in at most ``limit`` bytes, and what came since that was told first (often empty)."""
        whole = existing_memory(self._memory, limit)
        before = self._told.get(limit)
        if before is not None:
            old, new = before.splitlines(), whole.splitlines()
            since = "\n".join(line for line in new if line not in set(old))
            if set(old) <= set(new) and byte_length(since) <= MAX_SINCE_BYTES:
                return before, since
        self._told[limit] = whole
        return whole, ""
