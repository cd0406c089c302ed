"""Which ways there are to bring back what was left out: what has none is not left out (DESIGN.md, shape 6)."""

from __future__ import annotations

from dataclasses import dataclass

from chatls_core.config import Settings
from chatls_core.tools.base import Mode


@dataclass(frozen=True, slots=True)
class Recovery:
    """``pull`` brings skills (``context_pull``, outside chat also ``read_file``; one switch for both: with it off no
    mode leaves a skill out), ``knowledge`` attached contexts, ``memory`` facts. Switching one off is a natural rebuild.
    """

    pull: bool
    knowledge: bool
    memory: bool

    @classmethod
    def of(cls, settings: Settings, mode: Mode, *, tools: bool) -> Recovery:
        """The ways in a mode; ``tools`` says whether the model can call anything."""
        return cls(
            pull=tools and settings.prompt.context_pull,
            knowledge=tools and settings.prompt.knowledge,
            memory=tools and (mode != "chat" or settings.memory.chat_tool),
        )

    @property
    def key(self) -> str:
        """A suffix for what the system text was built for; empty where every way is open."""
        off = [name for name in ("pull", "knowledge", "memory") if not getattr(self, name)]
        return f":no-{'-'.join(off)}" if off else ""
