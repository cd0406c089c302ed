"""What can be read of JSON that strict parsers refuse: half characters, another encoding, stray commas, broken records.

Only for files that are set aside as damaged anyway: ninety-nine facts carried over are better than none
(spec/memory.md §3.2).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from pydantic_core import from_json

_TRAILING_COMMA = re.compile(r",(\s*[\]}])")
_COMMENT = re.compile(r"^\s*(?://|#).*$", re.MULTILINE)
_DECODER = json.JSONDecoder(strict=False)


def read_leniently(plain: bytes, *, half_texts: bool = False) -> object:
    """The value of damaged JSON, as far as it can be read. Raises :class:`ValueError` when nothing can.

    Of a file that was cut short all but what was cut, with ``half_texts`` the beginning of the text that was cut, too;
    of a list with a broken record all the other records.
    """
    try:
        return from_json(plain, allow_partial="trailing-strings" if half_texts else True)
    except ValueError:
        text = _decoded(plain)
    for attempt in (text, _TRAILING_COMMA.sub(r"\1", _COMMENT.sub("", text))):
        try:
            return _whole(_DECODER.decode(attempt.strip()))
        except (ValueError, RecursionError):
            continue
    if text.lstrip().startswith("[") and (records := list(_records(text))):
        return _whole(records)
    raise ValueError("no JSON")


def _decoded(plain: bytes) -> str:
    try:
        return plain.decode("utf-8")
    except UnicodeDecodeError:
        return plain.decode("cp1252", "replace")


def _records(text: str) -> Iterator[object]:
    """The objects of a list that parse, one by one."""
    at = text.find("{")
    while at >= 0:
        try:
            record, at = _DECODER.raw_decode(text, at)
            yield record
        except (ValueError, RecursionError):
            at += 1
        at = text.find("{", at)


def _whole(tree: object) -> object:
    """``tree`` without halves of characters, which no file can hold."""
    if isinstance(tree, str):
        return tree if tree.isascii() else tree.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(tree, list):
        return [_whole(item) for item in tree]
    if isinstance(tree, dict):
        return {_whole(key): _whole(value) for key, value in tree.items()}
    return tree
