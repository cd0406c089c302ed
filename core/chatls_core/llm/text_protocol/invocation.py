"""What a text-protocol call asks for: a command, its options, what stands without a name (spec/agent.md §3.8).

ChatCLI flattens a call to an argument vector for its plugins. Our tools take objects, so every shape is brought to
one :class:`Invocation` instead, which means the same as the vector would.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from chatls_core.llm.text_protocol.cleanup import clean_arguments
from chatls_core.llm.text_protocol.recovery import UnreadableJsonError, loads

_ENVELOPE = frozenset({"cmd", "args", "argv"})
_POSITIONAL = ("positional", "_")
_TAKES_ANY_VALUE = frozenset({"content", "search", "replace", "cmd", "term", "diff", "edits"})
"""Options whose next word is their value even when it begins with a dash: text may begin with one."""


@dataclass(frozen=True, slots=True)
class Invocation:
    """A command with its options; flags that were given without a value are ``True``."""

    command: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    positional: tuple[str, ...] = ()


def read_invocation(text: str) -> Invocation:
    """The invocation that a call's argument text means, JSON or command line."""
    text = clean_arguments(text).strip()
    if text[:1] in ("{", "["):
        try:
            return invocation_of(loads(text), text)
        except UnreadableJsonError:
            if text.startswith("{"):
                raise
    return _from_words(_split(text))


def invocation_of(value: Any, text: str = "") -> Invocation:
    """The invocation of an object or a vector; ``text`` is what it was read from."""
    if isinstance(value, list):
        return _from_words([_word(item) for item in value])
    if not isinstance(value, dict):
        return Invocation(positional=(text or _word(value),))
    if isinstance(argv := value.get("argv"), list):
        return _from_words([_word(item) for item in argv])
    command = value.get("cmd")
    if not isinstance(command, str):
        return Invocation(positional=(text or json.dumps(value, ensure_ascii=False),))
    merged = {key: item for key, item in value.items() if key not in _ENVELOPE}
    args = value.get("args")
    if isinstance(args, str):
        inner = _reopened(args)
        if isinstance(inner, Invocation):
            return Invocation(command, {**merged, **inner.options}, inner.positional)
        args = inner
    if isinstance(args, list):
        words = _from_words([command, *map(_word, args)])
        return Invocation(command, {**merged, **words.options}, words.positional)
    return _from_object(command, {**merged, **args} if isinstance(args, dict) else merged)


def _reopened(args: str) -> Any:
    """``args`` that were encoded once more: the object inside, or what the words say."""
    cleaned = clean_arguments(args).strip()
    if cleaned[:1] in ("{", "["):
        return loads(cleaned)
    words = _from_words(["", *_split(cleaned)])
    return Invocation("", words.options, words.positional)


def _from_object(command: str, values: Mapping[str, Any]) -> Invocation:
    options: dict[str, Any] = {}
    positional: list[str] = []
    if command in ("exec", "test") and "cmd" not in values and "command" in values:
        values = {"cmd" if key == "command" else key: value for key, value in values.items()}
    for key, value in sorted(values.items()):
        if key in _POSITIONAL:
            positional += [_word(v) for v in value] if isinstance(value, list) else [_word(value)]
        elif value is not None and value is not False:
            options[key] = value
    return Invocation(command, options, tuple(positional))


def _from_words(words: Sequence[str]) -> Invocation:
    options: dict[str, Any] = {}
    positional: list[str] = []
    at = 1
    while at < len(words):
        word = words[at]
        at += 1
        if not word.startswith("--") or len(word) < 3:
            positional.append(word)
            continue
        name, equals, value = word[2:].partition("=")
        if equals:
            _add(options, name, value)
        elif at < len(words) and (name in _TAKES_ANY_VALUE or not words[at].startswith("--")):
            _add(options, name, words[at])
            at += 1
        else:
            options[name] = True
    return Invocation(words[0] if words else "", options, tuple(positional))


def _add(options: dict[str, Any], name: str, value: str) -> None:
    if name not in options:
        options[name] = value
    else:
        known = options[name]
        options[name] = [*(known if isinstance(known, list) else [known]), value]


def _split(text: str) -> list[str]:
    """Words of a command line over several lines; with a quote left open, plain words."""
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def _word(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
