"""JSON as models write it: single quotes, bare keys and values, trailing commas, plain strings (spec/agent.md §3.7).

What is not closed, or can be read in two ways, is not recovered: half a file is worse than a question.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

MAX_DEPTH = 64
_BARE_KEY = re.compile(r"[A-Za-z_$@][\w.$@-]*")
_BARE_VALUE = re.compile(r"[^,{}\[\]\"'\n]+")
_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?\Z")
_WORDS: Final[Mapping[str, object]] = {"true": True, "false": False, "null": None, "True": True, "False": False,
                                       "None": None}  # fmt: skip
_BLANK = re.compile(r"\s*")
_QUOTED = re.compile(r"""(["'])([^"']*)\1""")
_PAIR = re.compile(
    r"""\s*(?:"(?P<dk>\w+)"|'(?P<sk>\w+)'|(?P<key>[A-Za-z_]\w*))\s*[:=]\s*"""
    r"""(?:"(?P<dv>(?:[^"\\]|\\.)*)"|'(?P<sv>[^'\\]*)'|(?P<value>[^\s,"'{}\[\]=]+))\s*(?:[,;]|$|(?=\s))"""
)
_PLAIN_KEYS: Final[Mapping[str, str]] = {
    "read_file": "file", "read": "file", "exec": "cmd", "run_command": "cmd", "bash": "command", "shell": "command",
    "glob": "pattern", "find_files": "pattern", "search_files": "term", "search": "term", "grep": "pattern",
    "list_directory": "dir", "list_dir": "dir", "outline": "file",
}  # fmt: skip


class UnreadableJsonError(ValueError):
    """The text is no JSON under any reading; ``str()`` says where it stops being one."""


def recover(text: str, tool: str = "") -> dict[str, Any]:
    """The object that a call's argument text means. Raises :class:`UnreadableJsonError`.

    ``tool`` decides what a plain string is: a path, a command, a pattern.
    """
    stripped = text.strip()
    if not stripped:
        return {}
    if stripped[0] in "{[":
        value = loads(stripped)
        if not isinstance(value, dict):
            raise UnreadableJsonError("it is not one JSON object")
        return value
    if stripped.startswith('"{') and isinstance(inner := loads(stripped), str):
        return recover(inner)  # encoded twice
    name = tool.lstrip("@").replace("-", "_").lower()
    if key := _PLAIN_KEYS.get(name):
        return {key: quoted[2] if (quoted := _QUOTED.fullmatch(stripped)) else stripped}
    if pairs := _pairs(stripped):
        return pairs
    raise UnreadableJsonError("it is no JSON object")


def loads(text: str) -> Any:
    """JSON read strictly, then with its backslashes doubled (``C:\\Users`` in a string), then leniently."""
    value, end = parse_at(text.strip(), 0)
    if text.strip()[end:]:
        raise UnreadableJsonError("something follows the JSON")
    return value


def parse_at(text: str, at: int) -> tuple[Any, int]:
    """The value that begins at ``at`` and the index behind it. Raises :class:`UnreadableJsonError`."""
    decoder = json.JSONDecoder(strict=False)
    try:
        return decoder.raw_decode(text, at)
    except (ValueError, RecursionError):
        pass
    reader = _Reader(text, at)
    return reader.value(0), reader.at


def _pairs(text: str) -> dict[str, Any]:
    """``key: value`` and ``key=value`` pairs, if the text is nothing else."""
    found: dict[str, Any] = {}
    at = 0
    while at < len(text):
        match = _PAIR.match(text, at)
        if match is None or match.end() == at:
            return {}
        key = match["dk"] or match["sk"] or match["key"]
        if match["value"] is not None:
            found[key] = _bare(match["value"])
        else:
            quoted = match["dv"] if match["dv"] is not None else match["sv"]
            found[key] = re.sub(r"\\([\"\\])", r"\1", quoted)
        at = match.end()
    return found


def _bare(word: str) -> object:
    if word in _WORDS:
        return _WORDS[word]
    return json.loads(word) if _NUMBER.match(word) else word


class _Reader:
    """A recursive reader of nearly-JSON."""

    def __init__(self, text: str, at: int) -> None:
        self._text = text
        self.at = at

    def value(self, depth: int) -> Any:
        if depth > MAX_DEPTH:
            raise UnreadableJsonError("it is nested too deeply")
        self._blank()
        match self._peek():
            case "{":
                return self._object(depth)
            case "[":
                return self._array(depth)
            case '"' | "'":
                return self._string()
        found = _BARE_VALUE.match(self._text, self.at)
        if found is None or not found.group().strip() or depth == 0:
            raise self._stuck()
        self.at = found.end()
        return _bare(found.group().strip())

    def _object(self, depth: int) -> dict[str, Any]:
        self.at += 1
        found: dict[str, Any] = {}
        while not self._closes("}"):
            if self._peek() in ('"', "'"):
                key = self._string()
            elif bare := _BARE_KEY.match(self._text, self.at):
                key = bare.group()
                self.at = bare.end()
            else:
                raise self._stuck()
            self._blank()
            if self._peek() != ":":
                raise self._stuck()
            self.at += 1
            found[key] = self.value(depth + 1)
            self._comma("}")
        return found

    def _array(self, depth: int) -> list[Any]:
        self.at += 1
        found: list[Any] = []
        while not self._closes("]"):
            found.append(self.value(depth + 1))
            self._comma("]")
        return found

    def _string(self) -> str:
        quote = self._peek()
        end = self.at + 1
        while end < len(self._text) and self._text[end] != quote:
            end += 2 if self._text[end] == "\\" else 1
        if end >= len(self._text):
            raise UnreadableJsonError("a quote is not closed")
        body = self._text[self.at + 1 : end]
        self.at = end + 1
        if quote == "'":
            body = re.sub(r'\\(.)|(")', lambda m: '\\"' if m[2] else "'" if m[1] == "'" else m[0], body, flags=re.S)
        for attempt in (body, re.sub(r'\\(["\\]?)', lambda m: m[0] if m[1] else "\\\\", body)):
            try:
                return str(json.loads(f'"{attempt}"', strict=False))
            except ValueError:
                continue
        raise self._stuck()

    def _closes(self, bracket: str) -> bool:
        self._blank()
        if self._peek() != bracket:
            return False
        self.at += 1
        return True

    def _comma(self, bracket: str) -> None:
        self._blank()
        if self._peek() == ",":
            self.at += 1
        elif self._peek() != bracket:
            raise self._stuck()

    def _blank(self) -> None:
        self.at = _BLANK.match(self._text, self.at).end()  # type: ignore[union-attr]  # matches everywhere

    def _peek(self) -> str:
        return self._text[self.at : self.at + 1]

    def _stuck(self) -> UnreadableJsonError:
        if self.at >= len(self._text):
            return UnreadableJsonError("it is not closed")
        return UnreadableJsonError(f"at character {self.at} stands {self._text[self.at : self.at + 20]!r}")
