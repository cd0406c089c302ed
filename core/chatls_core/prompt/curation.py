"""What curates the prompt, in one place: the archive, and the learned size of a token."""

from __future__ import annotations

from pathlib import Path

from chatls_core.prompt.compaction import ARCHIVED_KEY
from chatls_core.prompt.compaction_archive import Archive
from chatls_core.prompt.compaction_tool import RecallArchive
from chatls_core.sessions.conversation import Conversation
from chatls_core.store import Clock
from chatls_core.text.tokens import TokenRatio
from chatls_core.tools.base import Mode, ToolSet


class Curation:
    """The rooms' shared objects of one agent. Cheap to make: nothing is read from disk before it is needed."""

    def __init__(self, home: Path, clock: Clock) -> None:
        self.archive = Archive(home / "chatls" / "archive", clock=clock)
        self.ratio = TokenRatio()

    def tools(self, tools: ToolSet, conversation: Conversation, mode: Mode) -> ToolSet:
        """``tools`` with the recovery calls the conversation needs; their set changes at natural rebuilds only."""
        chosen = [tool for name in tools.names() if (tool := tools.get(name)) is not None]
        if conversation.state.get(ARCHIVED_KEY):
            chosen.append(RecallArchive(self.archive))
        return ToolSet(chosen)
