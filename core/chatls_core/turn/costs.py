"""What was spent and what may be spent, for ``chatls.cost.show`` (spec/agent.md §1.12)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from chatls_core.llm.model import Model
from chatls_core.prompt.cache_standing import CacheStanding, cache_standing
from chatls_core.sessions.conversation import Conversation
from chatls_core.turn.budget import Allowance, allowances
from chatls_core.turn.services import Services
from chatls_core.turn.spending import Row, known_usd

if TYPE_CHECKING:
    from chatls_core.memory.worker import Balance


@dataclass(frozen=True, slots=True)
class CostLine:
    """What one lane (``turn``, ``summary``, ``learning``, ``worker``) cost with one model; ``cost_usd`` is ``None``
    when no price is known, ``unpriced`` counts requests without one."""

    lane: str
    model: str
    requests: int
    input_tokens: int
    output_tokens: int
    reasoning_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    cost_usd: float | None
    unpriced: int


@dataclass(frozen=True, slots=True)
class Costs:
    """US dollars and tokens of a session, or of the day on all servers of this data folder."""

    scope: Literal["session", "day"]
    lines: tuple[CostLine, ...]
    total_usd: float
    today_usd: float
    unknown: tuple[str, ...]
    budgets: tuple[Allowance, ...]
    hard_stop: bool
    cache: CacheStanding | None = None
    learning: Balance | None = None

    @property
    def markdown(self) -> str:
        """The same for people."""
        lines = ["| for | model | input | cached | output | cost |", "| --- | --- | ---: | ---: | ---: | ---: |"]
        for line in self.lines:
            cost = "unknown" if line.cost_usd is None else f"${line.cost_usd:.4f}"
            fresh = line.input_tokens + line.cache_write_tokens
            lines.append(
                f"| {line.lane} | {line.model} | {fresh} | {line.cache_read_tokens} | {line.output_tokens} | {cost} |"
            )
        if not self.lines:
            lines = ["Nothing was spent yet."]
        lines += ["", f"${self.total_usd:.4f} in all; ${self.today_usd:.4f} today."]
        if self.unknown:
            lines.append(f"Without a known price, so not counted: {', '.join(self.unknown)}.")
        beyond = "beyond it requests are refused" if self.hard_stop else "beyond it you are warned"
        lines += [f"{each.words[0].upper()}{each.words[1:]} are spent; {beyond}." for each in self.budgets]
        if self.cache is not None:
            lines += ["", self.cache.markdown]
        if self.learning is not None and self.learning.markdown:
            lines += ["", self.learning.markdown]
        return "\n".join(lines)


def costs(services: Services, conversation: Conversation | None, model: Model | None) -> Costs:
    """What a conversation cost, or the day so far. Reads the disk."""
    today = services.spending.today()
    rows = today if conversation is None else services.spending.of_session(conversation.id)
    cache = None
    if conversation is not None and model is not None:
        cache = cache_standing(conversation, model, services.settings, services.clock())
    from chatls_core.memory.worker import balance

    lines = _lines(rows)
    return Costs(
        scope="day" if conversation is None else "session",
        lines=lines,
        total_usd=known_usd(rows),
        today_usd=known_usd(today),
        unknown=tuple(sorted({line.model for line in lines if line.unpriced})),
        budgets=allowances(services, conversation.id if conversation else None),
        hard_stop=services.settings.budget.hard_stop,
        cache=cache,
        learning=balance(services.memory),
    )


def _lines(rows: Mapping[str, Row]) -> tuple[CostLine, ...]:
    return tuple(
        CostLine(
            *name.partition("|")[::2],
            requests=row.requests,
            input_tokens=row.input_tokens,
            output_tokens=row.output_tokens,
            reasoning_tokens=row.reasoning_tokens,
            cache_read_tokens=row.cache_read_tokens,
            cache_write_tokens=row.cache_write_tokens,
            cost_usd=None if row.unpriced == row.requests else row.cost_usd,
            unpriced=row.unpriced,
        )
        for name, row in sorted(rows.items())
    )
