"""``/context …`` in the chat box: the subcommands of spec/agent.md §2.4 as ours. Quotes hold words together."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

DETAIL = "what is in the prompt; /context create NAME PATH…, attach NAME, fold, detach, attached, delete, status"

_VERBS: Mapping[str, str] = {
    **dict.fromkeys(("create", "new"), "create"),
    **dict.fromkeys(("update", "edit"), "update"),
    **dict.fromkeys(("attach", "add"), "attach"),
    **dict.fromkeys(("detach", "remove"), "detach"),
    **dict.fromkeys(("delete", "del", "rm"), "delete"),
    **dict.fromkeys(("list", "ls"), "list"),
    **{verb: verb for verb in ("attached", "status", "fold", "unfold")},
}
_MODE_FLAGS = ("--mode", "-m")
_WATCH_FLAGS = ("--watch", "-w")


def parse(rest: str) -> tuple[str, Mapping[str, Any]] | None:
    """The command and its arguments, without a session; ``None`` where ``rest`` begins with no subcommand."""
    try:
        words = shlex.split(rest)
    except ValueError:
        words = rest.split()  # an apostrophe is no open quote
    verb = _VERBS.get(words[0].lower()) if words else None
    if verb is None:
        return None
    names: list[str] = []
    arguments: dict[str, Any] = {}
    waiting = iter(words[1:])
    for word in waiting:
        flag, has_value, value = word.partition("=")
        if flag in _MODE_FLAGS:
            arguments["mode"] = value if has_value else next(waiting, "")
        elif word in _WATCH_FLAGS:
            arguments["watch"] = True
        else:
            names.append(word)
    if verb in ("create", "update"):
        return f"chatls.context.{verb}", {"name": names[0] if names else "", "paths": names[1:], **arguments}
    if verb in ("list", "attached", "status"):
        return f"chatls.context.{verb}", {}
    name = {"name": " ".join(names)}
    if verb in ("fold", "unfold"):
        return "chatls.context.attach", {**name, "fold": verb == "fold"}
    return f"chatls.context.{verb}", name
