"""What learning in the background is worth: its cost beside what it brought and how often that was used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from chatls_core.memory.worker.state import open_state

if TYPE_CHECKING:
    from chatls_core.memory.memory import Memory


@dataclass(frozen=True, slots=True)
class Balance:
    """All learning on this data folder so far.

    ``items`` were learned in ``runs``; ``facts`` learned ones are still held, and were used in answers or confirmed
    ``used`` times. ``cost_usd`` leaves out ``unpriced`` runs, whose model has no known price.
    """

    items: int
    runs: int
    prompt_tokens: int
    cached_tokens: int
    output_tokens: int
    cost_usd: float
    unpriced: int
    facts: int
    used: int

    @property
    def per_item_usd(self) -> float | None:
        """US dollars of one learned item; ``None`` while nothing was learned or no price is known."""
        return self.cost_usd / self.items if self.items and self.unpriced < self.runs else None

    @property
    def markdown(self) -> str:
        """Two sentences; empty while nothing was asked."""
        if not self.runs:
            return ""
        each = "" if self.per_item_usd is None else f", ${self.per_item_usd:.4f} an item"
        share = f"{self.cached_tokens / self.prompt_tokens:.0%} cached" if self.prompt_tokens else "none cached"
        unpriced = f"; {self.unpriced} runs without a known price" if self.unpriced else ""
        return (
            f"Learning so far: {self.items} items in {self.runs} runs for ${self.cost_usd:.4f}{each} "
            f"({self.prompt_tokens:,} tokens in, {share}, {self.output_tokens:,} out{unpriced}). "
            f"{self.facts} learned facts are held; they were used in answers or confirmed {self.used} times."
        )


def balance(memory: Memory) -> Balance:
    """The balance now. Reads the disk."""
    spent = open_state(memory.stores).read().spent
    learned = [f for f in memory.snapshot().alive.facts.values() if f.provenance.startswith("extraction")]
    return Balance(
        spent.items,
        spent.runs,
        spent.prompt_tokens,
        spent.cached_tokens,
        spent.output_tokens,
        spent.cost_usd,
        spent.unpriced,
        len(learned),
        sum(max(0, f.access_count - 1) for f in learned),
    )
