"""Arguments as text, cleaned of what models put around them (spec/agent.md §3.8 steps 1–7).

Valid JSON is never touched: what looks like an entity or a stray backslash there is the user's own text.
"""

from __future__ import annotations

import html
import json
import re
from collections import deque
from collections.abc import Iterator

MAX_UNESCAPES = 2
_STRAY_VALUE = re.compile(r"(?<!\S)(--[\w-]+)[ \t]+\\[^\w\s\"'\\]?(?=[ \t]+(?!--)\S)")


def clean_arguments(text: str) -> str:
    """``text`` as it was meant; what parses as JSON at some stage is returned from that stage unchanged."""
    if is_json(text):
        return text
    text = html.unescape(text).replace("\r\n", "\n")
    text = unescape_json(text)
    if is_json(text) or text.lstrip()[:1] in ("{", "["):
        return text  # nearly JSON: the recovery reads it, and shell rules would break its strings
    text = drop_stray_blanks(join_continued_lines(text))
    return collapse_blanks(drop_stray_values(close_last_quote(text)))


def is_json(text: str) -> bool:
    """Whether ``text`` is a JSON object or array."""
    if text.lstrip()[:1] not in ("{", "["):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def join_continued_lines(text: str) -> str:
    """A backslash before a line's end joins the lines: with a space, or with nothing inside quotes (step 3)."""
    return "".join(("" if quote else " ") if token == "\\\n" else token for token, quote in _tokens(text))


def unescape_json(text: str) -> str:
    """JSON whose very first quote is escaped was escaped once or twice too often (step 3b)."""
    for _ in range(MAX_UNESCAPES):
        first = text.find('"')
        if text.lstrip()[:1] not in ("{", "[") or first < 1 or text[first - 1] != "\\":
            break
        text = re.sub(r'\\(["\\])', r"\1", text)
    return text


def drop_stray_blanks(text: str) -> str:
    """A backslash and blank that stand alone are left out; ``my\\ file`` stays one word (step 4)."""
    out: list[str] = []
    for token, quote in _tokens(text):
        if token == "\\ " and not quote and (not out or out[-1][-1:].isspace()):
            continue
        out.append(token)
    return "".join(out)


def close_last_quote(text: str) -> str:
    """A backslash at the very end stands for the missing quote, or for nothing (steps 4b and 5)."""
    token, quote = next(iter(deque(_tokens(text.rstrip()), maxlen=1)), ("", ""))
    if token != "\\":
        return text
    return text.rstrip()[:-1] + quote if quote else text.rstrip().rstrip("\\").rstrip()


def collapse_blanks(text: str) -> str:
    """Runs of spaces outside quotes are one space (step 6)."""
    out: list[str] = []
    for token, quote in _tokens(text):
        if token == " " and not quote and out and out[-1] == " ":
            continue
        out.append(token)
    return "".join(out)


def drop_stray_values(text: str) -> str:
    """``--flag \\ value`` and ``--flag \\, value`` mean ``--flag value`` (step 7)."""
    return _STRAY_VALUE.sub(r"\1", text)


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    """Characters, or a backslash with the one behind it, each with the quote it stands in (empty: none)."""
    quote, at = "", 0
    while at < len(text):
        token = text[at : at + 2] if text[at] == "\\" else text[at]
        at += len(token)
        yield token, quote
        if token == quote:
            quote = ""
        elif not quote and token in ('"', "'"):
            quote = token
