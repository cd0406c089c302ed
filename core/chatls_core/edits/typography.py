"""Typographic characters and their plain ones: what a model, or the way to it, exchanges without being asked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

_CURLY = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019", "'"),
        **dict.fromkeys("\u201c\u201d", '"'),
    }
)
_PUNCTUATION = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u00b4\u0060", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d", "-"),
        **dict.fromkeys(
            "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000", " "
        ),
    }
)
_INVISIBLE = "\u200b\u200c\u200d\u2060\ufeff\u00ad"
_SPACELESS = str.maketrans(dict.fromkeys(_INVISIBLE, None))


def fold_punctuation(text: str) -> str:
    """``text`` with typographic quotes, dashes and spaces as their ASCII ones; offsets stay the same."""
    return text if text.isascii() else text.translate(_PUNCTUATION)


def spelled_freely(text: str) -> str:
    """A regular expression for ``text`` with any typographic spelling of its quotes, dashes and spaces."""
    spellings: dict[str, str] = {}
    for code, plain in _PUNCTUATION.items():
        spellings[plain] = spellings.get(plain, re.escape(plain)) + chr(code)
    folded = fold_punctuation(text)
    return "".join(f"[{spellings[c]}]" if c in spellings else c if c == "\n" else re.escape(c) for c in folded)


def has_invisible(text: str) -> bool:
    """Whether ``text`` has characters that :func:`fold_line` leaves out."""
    return any(character in text for character in _INVISIBLE)


def fold_line(line: str) -> str:
    """A line with plain punctuation, single blanks and no invisible characters, stripped."""
    folded = line if line.isascii() else line.translate(_PUNCTUATION).translate(_SPACELESS).replace("\u2026", "...")
    return " ".join(folded.split())


def plain_where_the_file_is(sent: Iterable[str], in_file: Iterable[str]) -> dict[int, str]:
    """A translation of the typographic characters of ``sent`` that the file's own text for it has as plain ones.

    A model that writes curly quotes where the file has straight ones does so in its new text too; there they would be
    written into the file. The other way round nothing is translated.
    """
    used = {ord(character) for line in sent if not line.isascii() for character in line}
    if not used & _PUNCTUATION.keys():
        return {}
    kept = {ord(character) for line in in_file for character in line}
    return {code: _PUNCTUATION[code] for code in used & _PUNCTUATION.keys() if code not in kept}


def throughout(slips: Mapping[int, str], text: str) -> dict[int, str]:
    """The translation for all new text of an edit with ``slips``: what the file ``text`` itself has stays.

    What makes one quotation mark curly makes all of them curly.
    """
    table = {**(_CURLY if slips.keys() & _CURLY.keys() else {}), **slips}
    return {code: plain for code, plain in table.items() if chr(code) not in text}
