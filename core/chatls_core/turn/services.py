"""What a turn asks for help: one object with the rooms it uses, so that nothing reaches for globals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from chatls_core.config import Settings
from chatls_core.instructions import InstructionChanges, Instructions
from chatls_core.llm.models import Models
from chatls_core.mcp import McpServers
from chatls_core.memory import Memory
from chatls_core.memory.external import ExternalMemory
from chatls_core.memory.meaning import Meaning
from chatls_core.prompt.curation import Curation
from chatls_core.sessions import Journal, SessionStore
from chatls_core.sessions.checkpoints import Checkpoints
from chatls_core.store.clock import Clock
from chatls_core.tools.edit_journal import EditJournal
from chatls_core.tools.policy import Policy
from chatls_core.turn.counting import TokenCounts
from chatls_core.turn.spending import Spending


@dataclass(slots=True)
class Services:
    """The rooms below the turn. ``new_id`` makes ids (random; a parameter so that tests can say which)."""

    home: Path
    settings: Settings
    clock: Clock
    new_id: Callable[[], str]
    models: Models
    instructions: Instructions
    memory: Memory
    sessions: SessionStore
    journal: Journal
    checkpoints: Checkpoints
    policy: Policy
    edits: EditJournal
    mcp: McpServers
    instructions_changed: Callable[[InstructionChanges], None] = lambda _: None
    """Told when a turn finds that instruction files changed and nobody had noticed yet."""
    external: ExternalMemory = field(init=False)
    meaning: Meaning = field(init=False)
    curation: Curation = field(init=False)
    spending: Spending = field(init=False)
    counts: TokenCounts = field(init=False)

    def __post_init__(self) -> None:
        self.external = ExternalMemory(
            self.mcp,
            self.home / "chatls" / "memory-service",
            self.memory.stores,
            clock=self.clock,
            settings=lambda: self.settings.memory,
        )
        self.meaning = self.memory.meaning = Meaning(
            self.home / "chatls" / "vectors",
            settings=lambda: self.settings.embedding,
            embedder=lambda: self.models.embedder(),
            model=lambda: self.models.select(),
            texts=self.memory.texts,
            codec=self.memory.stores.codec,
        )
        self.curation = Curation(self.home, self.clock, self.mcp)
        self.spending = Spending(self.home / "chatls" / "costs", self.clock)
        self.counts = TokenCounts(self.curation.ratio, self.clock)
