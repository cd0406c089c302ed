"""Which skills a turn is about, and how they are told within a budget (spec/agent.md §1.10).

A body is left out only where a call brings it back, and only while the model really has it or can fetch it.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from chatls_core.instructions.globs import PatternSet
from chatls_core.llm.messages import Message, TextPart
from chatls_core.prompt.skills import Skill
from chatls_core.prompt.system import Section
from chatls_core.sessions.conversation import Conversation
from chatls_core.tools.base import Mode

BUDGET_CHARS = 24_000
"""Of all bodies in one turn's context."""

PINNED_KEY = "pinned_skills"
PULL_KEY = "skills_pull"
"""In ``Conversation.state``: ``context_pull`` is offered, so bodies may be left out."""

MAX_LISTED = 100
MAX_LISTED_DESCRIPTION = 200
_INVOKED = re.compile(r"/([\w-]+)(?=\s|$)")


@dataclass(frozen=True, slots=True)
class ToldSkill:
    """A skill as it rides in the turn: with its body, or with the call that brings it."""

    skill: Skill
    text: str
    whole: bool


def carried_key(name: str) -> str:
    """Where ``Conversation.carried`` keeps the digest of a skill's text that was told."""
    return f"skill:{name.lower()}"


def recovery_call(skill: Skill, mode: Mode) -> str:
    """The exact call that returns a skill's body."""
    if mode != "chat" and skill.in_workspace:
        return f"read_file {json.dumps({'path': str(skill.path)}, ensure_ascii=False)}"
    return f"context_pull {json.dumps({'kind': 'skill', 'name': skill.name}, ensure_ascii=False)}"


def called(skills: Iterable[Skill], text: str) -> Skill | None:
    """The skill the user calls by ``/name``."""
    named = _INVOKED.match(text)
    if named is None:
        return None
    return next((s for s in skills if s.invocable and named.group(1).lower() == command_word(s)), None)


def matching(skills: Sequence[Skill], text: str, paths: Sequence[Path], pinned: Iterable[str]) -> tuple[Skill, ...]:
    """The skills a request is about: called by name, then by trigger, then by path; pinned ones stand elsewhere."""
    by_name = called(skills, text)
    words = set(re.findall(r"\w+", text.lower()))
    lowered = text.lower()
    out = {name.lower() for name in pinned}
    first, triggered, placed = [], [], []
    for skill in skills:
        if skill.name.lower() in out:
            continue
        if skill is by_name:
            first.append(skill)
        elif skill.automatic and any(_fires(trigger, lowered, words) for trigger in skill.triggers):
            triggered.append(skill)
        elif skill.automatic and skill.paths and _touches(skill, paths):
            placed.append(skill)
    return (*first, *triggered, *placed)


def command_word(skill: Skill) -> str:
    """What follows the slash when the user calls a skill."""
    return re.sub(r"[^\w-]+", "-", skill.name.lower()).strip("-")


def told(
    skills: Sequence[Skill],
    conversation: Conversation,
    mode: Mode,
    *,
    recoverable: bool,
    readable: bool | None = None,
    budget: int = BUDGET_CHARS,
) -> tuple[ToldSkill, ...]:
    """How ``skills`` ride in this turn, ``budget`` characters of bodies at most (0: no limit).

    ``recoverable`` says that ``context_pull`` is offered, ``readable`` that files of the workspace can be read outside
    chat (``None``: where ``recoverable`` is). A skill that neither brings back is never withheld, and nothing is
    remembered of it.
    """
    if readable is None:
        readable = recoverable
    left = budget or sys.maxsize
    found = []
    for skill in skills:
        can_return = readable if mode != "chat" and skill.in_workspace else recoverable
        heading = f"Skill “{skill.name}”" + (f": {skill.description}" if skill.description else "")
        key = carried_key(skill.name)
        call = recovery_call(skill, mode)
        if can_return and conversation.carried.get(key) == skill.digest and _present(skill.body, conversation.messages):
            note = f"Its text stands earlier in this conversation, is unchanged and still binds. Again in full: {call}"
            found.append(ToldSkill(skill, f"{heading}\n{note}", False))
            continue
        if can_return and len(skill.body) > left:
            note = f"Its text is left out for space. Before you work on what it is about, read it: {call}"
            found.append(ToldSkill(skill, f"{heading}\n{note}", False))
            continue
        left -= len(skill.body)
        if can_return:
            conversation.carried[key] = skill.digest
        found.append(ToldSkill(skill, f"{heading}\nSource: {skill.path}\n\n{skill.body}", True))
    return tuple(found)


def pinned(conversation: Conversation) -> tuple[str, ...]:
    """Names of the skills pinned to a conversation."""
    stored = conversation.state.get(PINNED_KEY)
    return tuple(map(str, stored)) if isinstance(stored, list) else ()


def pinned_sections(skills: Sequence[Skill], names: Sequence[str], mode: Mode) -> tuple[Section, ...]:
    """Pinned skills, whole, as sections of the system text."""
    wanted = {name.lower() for name in names}
    return tuple(
        Section(f"skill {s.name}", f"{_pinned_heading(s)}\n\n{s.body}", recovery=recovery_call(s, mode))
        for s in skills
        if s.name.lower() in wanted
    )


def fold_pinned(
    sections: Sequence[Section], skills: Sequence[Skill], excess: int
) -> tuple[tuple[Section, ...], tuple[str, ...]]:
    """The ``sections`` of pinned skills with ``excess`` characters fewer where that can be, the largest folded first
    into the call that reads them (spec/agent.md §1.3); and the names of those."""
    note = "Its text is left out for space. Before you work on what it is about, read it:"
    short = {f"skill {s.name}": f"{_pinned_heading(s)}\n{note}" for s in skills}
    found, folded = list(sections), []
    for index in sorted(range(len(found)), key=lambda i: len(found[i].text), reverse=True):
        section = found[index]
        text = f"{short[section.name]} {section.recovery}"
        if excess <= 0 or len(text) >= len(section.text):
            break
        excess -= len(section.text) - len(text)
        found[index] = replace(section, text=text)
        folded.append(section.name)
    return tuple(found), tuple(folded)


def _pinned_heading(skill: Skill) -> str:
    return f"Pinned skill “{skill.name}”: {skill.description}"


def catalogue(skills: Sequence[Skill], names: Sequence[str]) -> Section | None:
    """The skills the model may ask for, by name; pinned ones stand in full already."""
    out = {name.lower() for name in names}
    offered = [s for s in skills if s.automatic and s.name.lower() not in out]
    if not offered:
        return None
    rows = [f"- {s.name}: {s.description[:MAX_LISTED_DESCRIPTION]}".rstrip(": ") for s in offered[:MAX_LISTED]]
    if len(offered) > MAX_LISTED:
        rows.append(f'- and {len(offered) - MAX_LISTED} more: context_pull {{"kind": "skills"}}')
    how = 'Skills, by name; when one fits the task, read it first: context_pull {"kind": "skill", "name": "…"}.'
    return Section("skills", "\n".join([how, *rows]), recovery="context_pull")


def _fires(trigger: str, text: str, words: set[str]) -> bool:
    plain = trigger.lower().strip()
    parts = re.findall(r"\w+", plain)
    return bool(plain) and (plain in text or (len(parts) > 1 and words.issuperset(parts)))


def _touches(skill: Skill, paths: Sequence[Path]) -> bool:
    patterns = PatternSet(skill.paths)
    names = [name for path in paths for name in (path.as_posix().lstrip("/"), *_tails(path))]
    return any(patterns.matches(name) for name in names)


def _tails(path: Path) -> list[str]:
    parts = path.as_posix().strip("/").split("/")
    return ["/".join(parts[i:]) for i in range(len(parts))]


def _present(body: str, messages: Sequence[Message]) -> bool:
    return bool(body) and any(
        body in part.text
        for message in reversed(messages)
        if message.kind == "turn_context"
        for part in message.parts
        if isinstance(part, TextPart)
    )
