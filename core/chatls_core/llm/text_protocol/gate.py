"""Shows an answer's text while it streams, but never the inside of a call (raw tags are nothing for a reader)."""

from __future__ import annotations

import re
from collections.abc import Collection

from chatls_core.llm.text_protocol import Reading, read_calls

_ANY_MARK = re.compile(r"<tool|\[tool|\{|```|~~~", re.I)
_TAG_MARK = re.compile(r"(?:\A|(?<=\n))[ \t]*<tool(?:_call)?[\s>/]", re.I)
_ANY_START = re.compile(r"(?:<(?:t(?:oo?)?)?|\[(?:t(?:oo?)?)?|`{1,2}|~{1,2})\Z", re.I)
_TAG_START = re.compile(r"(?:\A|(?<=\n))[ \t]*(?:<(?:t(?:o(?:o(?:l(?:_(?:c(?:a(?:ll?)?)?)?)?)?)?)?)?)?\Z", re.I)
_FENCE_LINE = re.compile(r"^[ \t]*(?:```|~~~)", re.M)


class TextGate:
    """Lets text through until a call may begin; from there on it is held to the end, and then read.

    ``tags_only``: see :func:`read_calls`.
    """

    def __init__(self, offered: Collection[str], *, tags_only: bool) -> None:
        self._offered = offered
        self._tags_only = tags_only
        self._shown = ""  # kept only back to the beginning of the line
        self._fenced = False
        self._waiting = ""
        self._held = False

    def feed(self, text: str) -> str:
        """Take more of the answer; what of it may be shown now."""
        self._waiting += text
        if self._held:
            return ""
        seen = self._shown + self._waiting
        mark, start = (_TAG_MARK, _TAG_START) if self._tags_only else (_ANY_MARK, _ANY_START)
        for found in mark.finditer(seen, 0):
            if found.end() <= len(self._shown) or self._inside_fence(seen[: found.start()]):
                continue
            self._held = True
            return self._let(max(found.start() - len(self._shown), 0))
        partial = start.search(seen)
        return self._let(len(self._waiting) - (len(seen) - partial.start() if partial else 0))

    def flush(self) -> str:
        """What waits only because a mark might follow; something else than text follows now."""
        return "" if self._held else self._let(len(self._waiting))

    def finish(self, *, cut: bool) -> Reading:
        """What remains: text to show and calls to run. Of a ``cut`` answer no call is run: it may be half of one."""
        held, self._waiting = self._waiting, ""
        if not self._held:
            return Reading(held, ())
        reading = read_calls(held, self._offered, tags_only=self._tags_only)
        return Reading(reading.text, ()) if cut else reading

    def _inside_fence(self, before: str) -> bool:
        return self._tags_only and self._fenced != bool(len(_FENCE_LINE.findall(before)) % 2)

    def _let(self, length: int) -> str:
        shown, self._waiting = self._waiting[: max(length, 0)], self._waiting[max(length, 0) :]
        seen = self._shown + shown
        line = seen.rfind("\n") + 1
        self._fenced ^= bool(len(_FENCE_LINE.findall(seen[:line])) % 2)
        self._shown = seen[line:]
        return shown
