"""What of a user's message is asked, and what is only pasted (spec/memory.md §18.1 row 13).

A long log in a message must not flood the search for what is known: its hundred words would leave the question's five
without weight.
"""

from __future__ import annotations

import re

MAX_CHARS = 4000
"""A longer text is searched for by its beginning and end: it is a paste, and the question stands around it."""

SHORT_CHARS, SHORT_LINES = 300, 3
"""A message up to here is all asked."""

EDGE_LINES = 3
MANY_LINES = 4 * EDGE_LINES
"""Of so many lines of prose, those at the beginning and the end ask."""

_FENCE = re.compile(r"^ {0,3}(```+|~~~+)[^\n]*\n.*?(?:^ {0,3}\1[`~]*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_MACHINE = re.compile(
    r"^\s*(?:[\[(]?\d{1,4}[-/:.]\d{1,2}[-/:.]\d|at \S+[(:]|File \"|Traceback|E  |[|>+$#%] |\d+\s*[|:]|\S+:\d+[:\s]"
    r"|FAILED|PASSED|\s{4}\S|\t)"
    r"|\b(?:ERROR|ERR|WARN|WARNING|INFO|DEBUG|TRACE|FATAL|CRITICAL)\b|[{};]\s*$"
)
_PROSE_SHARE = 0.7
"""Letters and blanks of a line that somebody wrote."""


def asked_of(text: str) -> str:
    """The part of a message that asks: without fenced blocks and lines that a machine wrote.

    Where nothing else is left it is the whole text; at most :data:`MAX_CHARS` characters.
    """
    if len(text) > SHORT_CHARS or text.count("\n") >= SHORT_LINES:
        lines = [line.strip() for line in _FENCE.sub("\n", text[: 50 * MAX_CHARS]).splitlines() if _is_prose(line)]
        if len(lines) > MANY_LINES:
            lines = [*lines[:EDGE_LINES], *lines[-EDGE_LINES:]]
        text = "\n".join(lines) or text
    return shortened(text)


def shortened(text: str) -> str:
    """A text's beginning and end, at most :data:`MAX_CHARS` characters and a line break."""
    return text if len(text) <= MAX_CHARS else f"{text[: MAX_CHARS // 2]}\n{text[-MAX_CHARS // 2 :]}"


def _is_prose(line: str) -> bool:
    bare = line.strip()
    if not bare or _MACHINE.search(line):
        return False
    return sum(c.isalpha() or c.isspace() for c in bare) >= _PROSE_SHARE * len(bare)
