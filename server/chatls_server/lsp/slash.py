"""Text that starts with ``/``: mode switches and commands, expanded by the server (PROTOCOL.md "Chat").

The word ends at any white space, a newline included. What is no command of ours reaches the model untouched.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from chatls_server.lsp import slash_context, slash_memory

Mode = Literal["chat", "agent", "coder"]

MODES: Mapping[str, Mode] = {"chat": "chat", "agent": "agent", "run": "agent", "plan": "agent", "coder": "coder"}


@dataclass(frozen=True, slots=True)
class Slash:
    """What a text asks for: another mode for ``text``, or a command with its arguments."""

    mode: Mode | None = None
    text: str = ""
    command: str = ""
    arguments: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class SlashCommand:
    """One command of the chat box. ``arguments`` makes the command's arguments of the words after it."""

    command: str
    detail: str
    arguments: Callable[[str, str], Mapping[str, Any]]


def _session(_: str, session_id: str) -> Mapping[str, Any]:
    return {"sessionId": session_id} if session_id else {}


def _compact(rest: str, session_id: str) -> Mapping[str, Any]:
    return {"sessionId": session_id, "instruction": rest} if rest else {"sessionId": session_id}


COMMANDS: Mapping[str, SlashCommand] = {
    "remember": SlashCommand(
        "chatls.memory.remember",
        "keep a fact: /remember we deploy on Fridays",
        lambda rest, _: slash_memory.named("content")(rest),
    ),
    "recall": SlashCommand("chatls.memory.recall", "what is known about something", lambda rest, _: {"query": rest}),
    "forget": SlashCommand("chatls.memory.forget", "forget what contains a text", lambda rest, _: {"match": rest}),
    "profile": SlashCommand(
        "chatls.memory.profile",
        "show the profile, or set key=value",
        lambda rest, _: slash_memory.profile_arguments(rest),
    ),
    "facts": SlashCommand(
        "chatls.memory.facts", "what is remembered", lambda rest, _: {"category": rest} if rest else {}
    ),
    "timeline": SlashCommand("chatls.memory.timeline", "what was done when", lambda rest, _: {"query": rest}),
    "memory": SlashCommand("chatls.memory.daily", slash_memory.DETAIL, lambda rest, _: slash_memory.parse(rest)[1]),
    "instructions": SlashCommand("chatls.instructions.show", "which instruction files apply", lambda *_: {}),
    "sessions": SlashCommand("chatls.session.list", "saved sessions", lambda *_: {}),
    "search": SlashCommand("chatls.session.search", "search earlier conversations", lambda rest, _: {"query": rest}),
    "cost": SlashCommand("chatls.cost.show", "tokens and money", _session),
    "context": SlashCommand("chatls.prompt.show", slash_context.DETAIL, _session),
    "compact": SlashCommand(
        "chatls.session.compact", "shorten the conversation: /compact keep the schema decisions", _compact
    ),
    "skills": SlashCommand("chatls.skill.list", "the skills of this workspace", _session),
    "persona": SlashCommand("chatls.persona.list", "choose a role: /persona reviewer, /persona off", _session),
    "contexts": SlashCommand("chatls.context.list", "named contexts", lambda *_: {}),
    "provider": SlashCommand("chatls.provider.list", "who could answer", lambda *_: {}),
    "policy": SlashCommand("chatls.policy.show", "rules for tools", lambda *_: {}),
    "config": SlashCommand("chatls.config.show", "all settings", lambda *_: {}),
    "doctor": SlashCommand("chatls.doctor.show", "what is configured, what is wrong", lambda *_: {}),
}


def called(text: str) -> tuple[str, str] | None:
    """The word after the slash, in lower case, and what follows it; a template may be called so."""
    match = re.match(r"/([\w:.-]+)(?:\s+(.*)|\s*)$", text, re.S)
    return (match.group(1).lower(), (match.group(2) or "").strip()) if match else None


def parse(text: str, session_id: str) -> Slash | None:
    """What ``text`` asks for, ``None`` when it is for the model as it is."""
    match = re.match(r"/([\w-]+)(?:\s+(.*)|\s*)$", text, re.S)
    if match is None:
        return None
    word, rest = match.group(1).lower(), (match.group(2) or "").strip()
    if word in MODES:
        return Slash(mode=MODES[word], text=rest) if rest else None
    if word == "memory":
        name, arguments = slash_memory.parse(rest)
        return Slash(command=name, arguments=arguments)
    if word == "context" and (asked := slash_context.parse(rest)) is not None:
        return Slash(command=asked[0], arguments=asked[1])
    if word == "persona" and rest:
        verb = "detach" if rest.lower() == "off" else "attach"
        return Slash(command=f"chatls.persona.{verb}", arguments={"name": rest})
    if (known := COMMANDS.get(word)) is not None:
        return Slash(command=known.command, arguments=known.arguments(rest, session_id))
    return None
