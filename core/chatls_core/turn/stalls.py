"""Noticing that a model goes in circles: the same step again and again, the same call failing (spec/agent.md §3.11)."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Sequence

from chatls_core.llm.messages import ToolCallPart

SAME_FAILURES = 2
TOOL_FAILURES = 3


class Repeats:
    """Whether the same calls came ``turns`` steps in a row, in whatever order and however spaced."""

    def __init__(self, turns: int) -> None:
        self._turns = turns
        self._last = ""
        self._count = 0

    def stalled(self, calls: Sequence[ToolCallPart]) -> bool:
        """Take the calls of a step."""
        step = hashlib.sha256("\n".join(sorted(map(_fingerprint, calls))).encode()).hexdigest()
        self._count = self._count + 1 if step == self._last else 1
        self._last = step
        return self._count >= self._turns


class Failures:
    """Advice for a model whose calls keep failing; a success begins the count of a tool anew."""

    def __init__(self) -> None:
        self._by_tool: Counter[str] = Counter()
        self._by_call: Counter[str] = Counter()

    def advice(self, call: ToolCallPart, *, failed: bool) -> str:
        """What to add to the result of a call; mostly nothing."""
        mark = _fingerprint(call)
        if not failed:
            self._by_tool[call.name] = self._by_call[mark] = 0
            return ""
        self._by_tool[call.name] += 1
        self._by_call[mark] += 1
        if self._by_call[mark] >= SAME_FAILURES:
            return (
                f"[This very call failed {self._by_call[mark]} times. Do not send it again: look at what it is about, "
                "change the arguments, or take another way.]"
            )
        if self._by_tool[call.name] >= TOOL_FAILURES:
            return (
                f"[{call.name} failed {self._by_tool[call.name]} times in a row. Read again what it works on before "
                "the next try, take another tool, or ask the user.]"
            )
        return ""


def _fingerprint(call: ToolCallPart) -> str:
    arguments = json.dumps(call.arguments, sort_keys=True, default=str)
    return " ".join(f"{call.name} {arguments}{call.raw if call.error else ''}".split())
