"""What is whole of a JSON answer that was cut off."""

from __future__ import annotations

import json
import re

_TOKEN = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"|[\[\]{}]')


def whole_items(text: str) -> str:
    """JSON that was cut off, up to the last item of a list that is whole; empty when there is none.

    An item is an element of a list directly in the outermost object; an unfinished one is left out.
    """
    open_at: list[str] = []
    end = 0
    position = 0
    while (match := _TOKEN.search(text, position)) is not None:
        token, position = match[0], match.end()
        if token in ("{", "["):
            open_at.append(token)
        elif token in ("}", "]") and (not open_at or {"{": "}", "[": "]"}[open_at.pop()] != token):
            return ""
        if open_at == ["{", "["] and (token == "}" or token.startswith('"')):
            end = position
        if open_at == ["{"] and token == "]":
            end = position
    if not end:
        return ""
    closed = text[:end]
    for tail in ("]}", "}"):
        try:
            json.loads(closed + tail)
        except ValueError:
            continue
        return closed + tail
    return ""
