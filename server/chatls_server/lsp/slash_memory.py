"""``/memory …`` in the chat box: every subcommand of spec/memory.md §13.1 as one of our commands."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from chatls_server.lsp.errors import INVALID_PARAMS, RpcError

Arguments = Mapping[str, Any]
Call = tuple[str, Arguments]


_WORDS = re.compile(r"[^\s,`]+")


def profile_arguments(rest: str) -> Arguments:
    """``set key=value`` or ``set key: value``; the word ``set`` may be left out. Nothing shows the profile."""
    words = re.sub(r"\Aset(?:\s+|\Z)", "", rest)
    places = [at for at in (words.find("="), words.find(":")) if at > 0]
    if not places:
        if rest:
            raise RpcError(INVALID_PARAMS, "Write a field with its value, such as /profile role=tester.")
        return {}
    at = min(places)
    return {"set": {words[:at].strip(): words[at + 1 :].strip()}}


def _optional(name: str) -> Callable[[str], Arguments]:
    return lambda rest: {name: rest} if rest else {}


def named(name: str) -> Callable[[str], Arguments]:
    """All the words behind a command as one argument."""
    return lambda rest: {name: rest}


def _none(_: str) -> Arguments:
    return {}


_SUBCOMMANDS: Mapping[str, tuple[str, Callable[[str], Arguments]]] = {
    "load": ("load", named("date")),
    "longterm": ("longterm", _none),
    "long-term": ("longterm", _none),
    "lt": ("longterm", _none),
    "list": ("list", _none),
    "profile": ("profile", profile_arguments),
    "remember": ("remember", named("content")),
    "forget": ("forget", named("match")),
    "undo": ("undo", named("undoToken")),
    "facts": ("facts", _optional("category")),
    "topics": ("topics", _none),
    "projects": ("projects", _none),
    "stats": ("stats", _none),
    "timeline": ("timeline", _optional("query")),
    "digests": ("digests", _optional("name")),
    "compact": ("compact", _none),
    "export": ("export", _optional("path")),
    "import": ("import", named("path")),
    "recall": ("recall", named("query")),
    "map": ("map", _none),
    "neighbors": ("neighbors", named("query")),
    "pending": ("pending", _none),
    "accept": ("accept", lambda rest: {"ids": _WORDS.findall(rest)}),
    "reject": ("reject", lambda rest: {"ids": _WORDS.findall(rest)}),
}
"""Subcommand → command (after ``chatls.memory.``) and how its arguments are made of the words behind it."""

DETAIL = "memory: today, week, facts, list, stats, digests, export …"
_DAY = re.compile(r"(?:today|yesterday|week|hoje|ontem|semana|[\d/-]{8,10})?\Z", re.IGNORECASE)


def parse(rest: str) -> Call:
    """What ``/memory rest`` asks for. Words that are no subcommand and no day are a question to memory."""
    if _DAY.match(rest):
        return "chatls.memory.daily", _optional("date")(rest)
    word, *tail = rest.split(maxsplit=1)
    known = _SUBCOMMANDS.get(word.lower())
    if known is None:
        return "chatls.memory.recall", {"query": rest}
    return f"chatls.memory.{known[0]}", known[1]("".join(tail))
