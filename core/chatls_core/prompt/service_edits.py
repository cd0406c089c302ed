"""What Claude's service leaves out of long runs, where the user lets it, stays within the model's reach (§1.5).

Our own history keeps everything: what is sent only grows. The service clears on its side; when it says so, the whole of
what it cleared goes into the archive, and a note names the call that returns it. Without the archive, or in chat, where
its tool is not always offered, the service is left no say.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from chatls_core.config import Settings
from chatls_core.llm.events import ContextCleared
from chatls_core.llm.messages import Message, ToolResultPart
from chatls_core.prompt.compaction_archive import Archive
from chatls_core.prompt.compaction_split import transcript
from chatls_core.prompt.compaction_tool import NAME as RECALL
from chatls_core.prompt.compaction_tool import recovery_call
from chatls_core.sessions.conversation import Conversation
from chatls_core.tools.base import Mode

TOLD_KEY = "service_cleared"
"""In ``Conversation.state``: the results that the model was told are cleared."""

UNREAD_KEY = "service_unread_tokens"
"""In ``Conversation.state``: tokens of the latest request that the model did not read."""

LEAST_UNREAD = 10_000
"""A smaller difference between our estimate and the service's count says nothing."""


def engine(settings: Settings, mode: Mode) -> Literal["builtin", "provider", "provider-compact"]:
    """Who makes room in the history of a request."""
    if mode == "chat" or not settings.prompt.archive:
        return "builtin"
    return settings.prompt.context_engine


def unread_tokens(conversation: Conversation) -> int:
    """Tokens that are sent but not read, by the latest answer."""
    found = conversation.state.get(UNREAD_KEY)
    return found if isinstance(found, int) else 0


def observe(conversation: Conversation, estimated: int, counted: int) -> bool:
    """Take in how much of a request was read, in tokens; says whether all of it was."""
    unread = max(0, estimated - counted)
    if unread < LEAST_UNREAD:
        conversation.state.pop(UNREAD_KEY, None)
        return True
    conversation.state[UNREAD_KEY] = unread
    return False


def note(conversation: Conversation, sent: Sequence[Message], cleared: ContextCleared, archive: Archive) -> str:
    """What the model is told of what the service cleared from the messages ``sent``, with the call that returns it;
    empty where it was told before. Writes to the disk. Raises :class:`OSError`."""
    if cleared.summarised:
        key = archive.put(transcript(sent))
        conversation.state.pop(TOLD_KEY, None)
        # The model no longer reads what contexts had told it: it is told again when it matters.
        conversation.carried.clear()
        return f"The service summarised what came before here; it is kept word for word: {recovery_call(key)}"
    parts = [(m, p) for m in sent for p in m.parts if isinstance(p, ToolResultPart) and p.name != RECALL]
    results = [(f"{m.id}:{p.call_id}", m, p) for m, p in parts[: cleared.tool_uses]]
    stored = conversation.state.get(TOLD_KEY)
    known = set(map(str, stored)) if isinstance(stored, list) else set()
    new = [Message(m.role, (p,), m.kind) for name, m, p in results if name not in known]
    if not new:
        return ""
    key = archive.put(transcript(new))
    conversation.state[TOLD_KEY] = [name for name, _, _ in results]
    which = "1 earlier call" if len(new) == 1 else f"{len(new)} earlier calls"
    return f"The service cleared the results of {which}; they are kept word for word: {recovery_call(key)}"
