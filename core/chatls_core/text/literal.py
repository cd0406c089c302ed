"""Text of others inside Markdown of ours: shown as it stands, whatever it holds."""

from __future__ import annotations

import re
from collections.abc import Callable

_UNSEEN = re.compile(r"[\x00-\x08\x0e-\x1f\x7f\u202a-\u202e\u2066-\u2069]")
"""Control characters, and those that turn the direction of all that follows them."""

_ACTIVE = re.compile(
    r"""
      (?P<code> (?<!`)`(?![`\s])[^`]*(?<!\s)`(?!`) )
    | [\\`$]                         # escapes, code, formulas
    | \[(?=.*\][(\[:])               # links
    | \*(?=\S) | (?<=\S)\*
    | (?<![^\W_])_ | _(?![^\W_])     # an underscore inside a word is none of Markdown's
    | <(?=\S)
    | ~(?=~) | (?<=~)~
    | &(?=\#?\w+;)                   # entities
    | (?<=\s)\#(?=\#*\Z)             # what a heading leaves out at its end
    """,
    re.VERBOSE,
)
_BLOCK = re.compile(r"\#{1,6}(?=\s|\Z)|[-+*](?=\s|\Z)|>|={2,}\Z|-{2,}\Z|(?P<number>\d{1,9})(?=[.)](?:\s|\Z))")
"""What makes a heading, a list, a quotation or a rule of a line it begins."""


def one_line(text: str) -> str:
    """The text on one line, without characters that are not seen."""
    return " ".join(_UNSEEN.sub("", text).split())


def literal(text: str) -> str:
    """Markdown that shows ``text`` on one line as it is written; only `code` in backticks is set as such.

    For text within a line or at its beginning. In a cell of a table, bars must be escaped as well.
    """
    shown = _ACTIVE.sub(lambda found: found.group() if found["code"] else "\\" + found.group(), one_line(text))
    if begin := _BLOCK.match(shown):
        cut = len(begin["number"] or "")
        shown = f"{shown[:cut]}\\{shown[cut:]}"
    return shown


class Readable:
    """A result that is written out in Markdown of ours, with words of others in it."""

    __slots__ = ()

    @property
    def markdown(self) -> str:
        """For a person: what others wrote is shown as it stands, never taken for markup."""
        return self._written(literal)

    @property
    def plain(self) -> str:
        """For a model, which reads the characters as they are; what would command it is blanked (memory.md §1.7)."""
        from chatls_core.text.injection import blank

        return blank(self._written(one_line), "memory")

    def _written(self, quote: Callable[[str], str]) -> str:
        raise NotImplementedError
