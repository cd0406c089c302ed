"""History compaction: three levels, each lossier than the one before, all of them recoverable (spec/agent.md §7).

1. old large tool results, contexts and reasoning become short;
2. all but the recent messages become one structured summary by the model;
3. without a summary they become a notice, and what is still too large is cut.

Each is a natural rebuild (DESIGN.md, "The prompt's shape" 1): the system text is built afresh, and what the cut
messages had told the model counts as untold, so that it is sent again when it matters. On failure or cancellation
history is as it was; what was appended meanwhile stays.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from chatls_core.llm.events import ModelError, Usage
from chatls_core.llm.messages import Message, TextPart
from chatls_core.llm.model import Model
from chatls_core.prompt.compaction_archive import Archive
from chatls_core.prompt.compaction_split import openings, recent_start, total_chars, transcript
from chatls_core.prompt.compaction_summary import TIMEOUT_SECONDS, summarise
from chatls_core.prompt.compaction_tool import recovery_call
from chatls_core.prompt.compaction_trim import shrink_to, trim_old
from chatls_core.prompt.window import START_KEY
from chatls_core.sessions.conversation import Conversation
from chatls_core.store import Clock

log = logging.getLogger(__name__)

ARCHIVED_KEY = "archived"
"""In ``Conversation.state``: something was cut, so ``recall_archive`` is offered."""

CARRIES_KEY = "carries"
"""In ``Message.meta`` of a context: the keys of ``Conversation.carried`` that stand for what it says."""

ENOUGH_SHARE = 0.8
"""Level 1 must leave this much room, or the next step would rewrite the prefix again."""

RECENT_SHARE = 0.5
LEAST_MIDDLE = 4
LEAST_GUIDED_MIDDLE = 2
EMERGENCY_CAP = 4_000
LAST_KEEP = 4


class CompactionError(Exception):
    """Nothing can be compacted; ``str()`` says why and what to do."""


@dataclass(frozen=True, slots=True)
class Compacted:
    """What compaction did: ``level`` 1 to 3, sizes in messages and characters, ``key`` of the archived transcript."""

    level: int
    messages_before: int
    messages_after: int
    chars_before: int
    chars_after: int
    key: str = ""
    problem: str = ""
    """Why the model's summary is missing, where level 3 had to stand in for it."""


class Compactor:
    """Shortens a conversation in place.

    ``new_id`` makes message ids; ``on_usage`` is told what a summary cost; ``is_free`` says, when all is ready, whether
    the conversation may be changed (nobody began to work with it meanwhile).
    """

    def __init__(
        self,
        archive: Archive,
        clock: Clock,
        new_id: Callable[[], str],
        *,
        limit_seconds: float = TIMEOUT_SECONDS,
        on_usage: Callable[[Usage], None] = lambda _: None,
        is_free: Callable[[], bool] = lambda: True,
    ) -> None:
        self._is_free = is_free
        self._archive = archive
        self._clock = clock
        self._new_id = new_id
        self._limit_seconds = limit_seconds
        self._on_usage = on_usage

    async def run(
        self,
        conversation: Conversation,
        model: Model,
        *,
        budget_chars: int,
        keep: int,
        ratio: float,
        turn_id: str = "",
        instruction: str | None = None,
        attempt: int = 0,
    ) -> Compacted:
        """Bring the messages of ``conversation`` under ``budget_chars``, keeping about ``keep`` recent ones whole.

        ``turn_id`` is the running turn, whose question always stays. With an ``instruction`` (empty: no wishes) the
        user asked for a summary, so level 1 is passed over. ``attempt`` counts the model's refusals for size: from the
        second on no summary is tried, at the third four messages stay. Raises :class:`CompactionError` when there is
        too little to compact, :class:`OSError` when the archive cannot be written.
        """
        before = tuple(conversation.messages)
        if attempt >= 3:
            keep = LAST_KEEP
        start = recent_start(before, keep, int(budget_chars * RECENT_SHARE))
        if instruction is None and attempt <= 1:
            trimmed = await asyncio.to_thread(trim_old, before, start, turn_id, self._archive)
            if any(a is not b for a, b in zip(before, trimmed, strict=True)) and (
                total_chars(trimmed) <= budget_chars * ENOUGH_SHARE
            ):
                return self._commit(conversation, before, trimmed, 1)
        opening = openings(before, turn_id)
        middle = [m for i, m in enumerate(before[:start]) if i not in opening]
        rest = [m for i, m in enumerate(before) if i >= start or i in opening]
        least = LEAST_GUIDED_MIDDLE if instruction is not None else LEAST_MIDDLE
        if len(middle) < least:
            if instruction is not None:
                raise CompactionError("The conversation is too short to compact: nothing would be saved.")
            return await self._shrink(conversation, before, before, budget_chars, attempt)
        key = await asyncio.to_thread(self._archive.put, transcript(before[:start]))
        problem = ""
        if attempt <= 1:
            try:
                summary = await summarise(
                    model,
                    before[:start],
                    ratio=ratio / 2**attempt,
                    instruction=instruction or "",
                    limit_seconds=self._limit_seconds,
                    on_usage=self._on_usage,
                )
            except (ModelError, TimeoutError) as error:
                problem = str(error) or "the summary took too long"
                log.warning("no summary of %s: %s", conversation.id, problem)
                if instruction is not None:
                    raise CompactionError(f"The model could not write the summary: {problem}") from error
            else:
                shorter = [self._message(_banner(len(middle), key, summary)), *rest]
                if total_chars(shorter) <= budget_chars:
                    return self._commit(conversation, before, shorter, 2, key)
                return await self._shrink(conversation, before, shorter, budget_chars, attempt, key)
        shorter = [self._message(_notice(len(middle), key)), *rest]
        return await self._shrink(conversation, before, shorter, budget_chars, attempt, key, problem)

    async def _shrink(
        self,
        conversation: Conversation,
        before: tuple[Message, ...],
        messages: Sequence[Message],
        budget_chars: int,
        attempt: int,
        key: str = "",
        problem: str = "",
    ) -> Compacted:
        cap = EMERGENCY_CAP if attempt >= 3 else 0
        shorter = await asyncio.to_thread(shrink_to, messages, budget_chars, self._archive, cap)
        if len(shorter) == len(before) and all(a is b for a, b in zip(before, shorter, strict=True)):
            raise CompactionError("Nothing in the conversation can be made shorter.")
        return self._commit(conversation, before, shorter, 3, key, problem)

    def _message(self, text: str) -> Message:
        return Message("user", (TextPart(text),), "summary", self._new_id(), self._clock())

    def _commit(
        self,
        conversation: Conversation,
        before: tuple[Message, ...],
        after: Sequence[Message],
        level: int,
        key: str = "",
        problem: str = "",
    ) -> Compacted:
        now = conversation.messages
        if not self._is_free() or len(now) < len(before) or any(a is not b for a, b in zip(before, now, strict=False)):
            raise CompactionError("The conversation changed while it was being compacted; try again.")
        forget_carried(conversation, before, after)
        conversation.messages[: len(before)] = after
        conversation.state.pop(START_KEY, None)
        conversation.state[ARCHIVED_KEY] = True
        conversation.forget_prefix()
        return Compacted(level, len(before), len(after), total_chars(before), total_chars(after), key, problem)


def forget_carried(conversation: Conversation, before: Sequence[Message], after: Sequence[Message]) -> None:
    """Drop the record of what only messages that are gone, or were cut, had told the model.

    A context from before such records were kept may have said anything: with it all records go that no other holds.
    """
    whole = {id(message) for message in after}
    last_teller: dict[str, bool] = {}
    unknown_lost = False
    for message in before:
        if message.kind != "turn_context":
            continue
        carries = message.meta.get(CARRIES_KEY)
        stays = id(message) in whole
        if isinstance(carries, list):
            last_teller.update({str(key): stays for key in carries})
        elif not stays:
            unknown_lost = True
    for key in list(conversation.carried):
        if not last_teller.get(key, not unknown_lost):
            del conversation.carried[key]


def _banner(count: int, key: str, summary: str) -> str:
    return (
        f"[Structured summary covering {count} earlier messages; they are kept word for word: {recovery_call(key)}]\n\n"
        f"{summary}"
    )


def _notice(count: int, key: str) -> str:
    return f"[{count} earlier messages are left out here; they are kept word for word: {recovery_call(key)}]"
