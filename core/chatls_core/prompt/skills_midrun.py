"""Skills that a run comes to need, and how they leave again (spec/agent.md §1.10).

After a step, the skills of the files it touched and of what the user said meanwhile are appended, each once in a run,
three at a time. Appended text is never rewritten while a provider may have it cached: an old one leaves when the prefix
has to be written anew in any case, and the note in its place names the call that brings it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from chatls_core.llm.messages import Message, TextPart
from chatls_core.prompt.skills import Skill
from chatls_core.prompt.skills_matching import ToldSkill, carried_key, recovery_call
from chatls_core.prompt.turn_context import HEADER
from chatls_core.sessions.conversation import Conversation
from chatls_core.tools.base import Mode

SKILLS_KEY = "skills"
"""In ``Message.meta`` of what a run was told: skill name -> the call that brings its text."""

MAX_PER_STEP = 3
RUN_BUDGETS = 2
"""A run may be told so many times the budget of one turn."""


def not_yet_told(
    skills: Iterable[Skill], messages: Sequence[Message], turn_id: str, before: Iterable[str]
) -> tuple[Skill, ...]:
    """The first skills that the run ``turn_id`` was not told; ``before`` are names told at its beginning.

    History is asked, so what compaction took away is told again.
    """
    told = {name.lower() for name in before}
    for message in messages:
        if message.turn_id == turn_id:
            told |= {name.lower() for name in calls(message)}
    return tuple(s for s in skills if s.name.lower() not in told)[:MAX_PER_STEP]


def room(budget: int, told_chars: int) -> int:
    """Characters of bodies the next step may bring within ``budget`` for one turn (0: no limit); at least one, which
    no body fits, so that further ones are named with their call."""
    return max(1, min(budget, RUN_BUDGETS * budget - told_chars)) if budget else 0


def tag(told: Iterable[ToldSkill], mode: Mode, *, recoverable: bool) -> dict[str, object]:
    """The ``meta`` of a message that tells skills; where none could be brought back, none may leave."""
    return {SKILLS_KEY: {one.skill.name: recovery_call(one.skill, mode) if recoverable else "" for one in told}}


def calls(message: Message) -> Mapping[str, str]:
    """The skills a message of a run tells, with their calls; empty for all others."""
    stored = message.meta.get(SKILLS_KEY)
    return {str(k): str(v) for k, v in stored.items()} if isinstance(stored, Mapping) else {}


def let_go(conversation: Conversation, age: int) -> bool:
    """Leave only the names of skills that runs were told ``age`` or more answers ago (0: all stay); says whether any
    went. To be called only where the prefix is written anew."""
    answers, changed = 0, False
    messages = conversation.messages
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        answers += message.role == "assistant"
        ways = calls(message)
        if not age or answers < age or not ways or not all(ways.values()):
            continue
        notes = [
            f"Skill “{name}”: its text, told here earlier, is left out now. Before you work on what it is "
            f"about, read it: {way}"
            for name, way in ways.items()
        ]
        text = "\n\n".join([HEADER, *notes])
        if text == message.text:
            continue
        messages[index] = replace(message, parts=(TextPart(text),))
        for name in ways:
            conversation.carried.pop(carried_key(name), None)
        changed = True
    return changed
