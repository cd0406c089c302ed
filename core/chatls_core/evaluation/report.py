"""What a run measured, as data and as text."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from chatls_core.llm.events import Usage

ALL, ABSTENTION, MEAN_OF_TYPES = "all", "abstention", "mean of types"


@dataclass(frozen=True, slots=True)
class Outcome:
    """One question: the figures of its retrieval, and, end to end, the answer and whether it is right.

    ``failure`` says why there is no answer or no verdict; such a question counts as wrong. ``kept``: an earlier run
    asked for it.
    """

    id: str
    type: str
    abstention: bool
    sessions: int
    figures: Mapping[str, float]
    milliseconds: float
    hypothesis: str | None = None
    right: bool = False
    failure: str = ""
    kept: bool = False


@dataclass(frozen=True, slots=True)
class Report:
    """A whole run. ``usage`` is by ``provider:model``, of all answers, those that an earlier run paid for included."""

    file: str
    sha256: str
    seed: int
    through: str
    pooled: bool
    reader: str
    judge: str
    outcomes: Sequence[Outcome]
    usage: Mapping[str, Usage] = field(default_factory=dict)

    @property
    def retrieval(self) -> dict[str, dict[str, float]]:
        """Mean figures by type of question, and of all; questions without evidence are left out."""
        table = {}
        for name, rows in self._by_type(o for o in self.outcomes if o.figures):
            keys = dict.fromkeys(key for row in rows for key in row.figures)
            means = {k: round(statistics.fmean(r.figures[k] for r in rows if k in r.figures), 4) for k in keys}
            table[name] = {"questions": len(rows), **means}
        return table

    @property
    def answers(self) -> dict[str, dict[str, float]]:
        """Right answers by type of question, of all, of those that must not be answered, and the mean over types."""
        answered = [o for o in self.outcomes if o.hypothesis is not None or o.failure]
        if not answered:
            return {}
        table = {name: _accuracy(rows) for name, rows in self._by_type(answered)}
        types = [row["accuracy"] for name, row in table.items() if name != ALL]
        table[MEAN_OF_TYPES] = {"accuracy": round(statistics.fmean(types), 4)}
        if abstained := [o for o in answered if o.abstention]:
            table[ABSTENTION] = _accuracy(abstained)
        return table

    @staticmethod
    def _by_type(outcomes: Any) -> list[tuple[str, list[Outcome]]]:
        rows: dict[str, list[Outcome]] = {}
        everything = list(outcomes)
        for outcome in everything:
            rows.setdefault(outcome.type, []).append(outcome)
        return [*sorted(rows.items()), *([(ALL, everything)] if everything else [])]

    def payload(self) -> dict[str, Any]:
        """The report as JSON values."""
        times = sorted(o.milliseconds for o in self.outcomes)
        return {
            "benchmark": "LongMemEval",
            "file": {"name": self.file, "sha256": self.sha256},
            "questions": len(self.outcomes),
            "sessions_per_question": round(statistics.fmean(o.sessions for o in self.outcomes), 1) if times else 0.0,
            "pooled": self.pooled,
            "seed": self.seed,
            "through": self.through,
            "reader": self.reader or None,
            "judge": self.judge or None,
            "retrieval": self.retrieval,
            "search_ms": {"median": round(statistics.median(times), 1), "max": round(times[-1], 1)} if times else {},
            "answers": self.answers,
            "failed": {o.id: o.failure for o in self.outcomes if o.failure},
            "kept": sum(o.kept for o in self.outcomes),
            "usage": {name: _usage(usage) for name, usage in self.usage.items()},
        }

    def text(self) -> str:
        """The report for a person."""
        data = self.payload()
        lines = [
            f"LongMemEval: {self.file} (sha256 {self.sha256[:12]}…), {data['questions']} questions, "
            f"{data['sessions_per_question']} sessions each, seed {self.seed}",
            f"searched through {self.through}; reader: {self.reader or 'none'}; judge: {self.judge or 'none'}",
        ]
        if self.pooled:
            lines.append("Haystacks are pooled from other questions: not comparable with the benchmark's own.")
        if self.reader and self.reader == self.judge:
            lines.append("Reader and judge are the same model, which is lenient with itself.")
        lines += ["", "Retrieval (evidence among the first k; questions without evidence left out)"]
        lines += _table(data["retrieval"]) if data["retrieval"] else ["  no question names evidence"]
        if data["search_ms"]:
            lines.append(f"  search: {data['search_ms']['median']} ms median, indexing included")
        if data["answers"]:
            lines += ["", "Answers (judged by the benchmark's rules in our words)", *_table(data["answers"])]
        for name, reason in data["failed"].items():
            lines.append(f"  {name} counts as wrong: {reason}")
        if data["usage"]:
            lines += ["", f"Cost ({data['kept']} answers were kept from an earlier run)" if data["kept"] else "Cost"]
        for name, used in data["usage"].items():
            cost = "price unknown" if used["cost_usd"] is None else f"{used['cost_usd']:.4f} US dollars"
            lines.append(
                f"  {name}: {used['input_tokens']} input, {used['cached_tokens']} cached, "
                f"{used['output_tokens']} output tokens, {cost}"
            )
        return "\n".join(lines)


def _accuracy(rows: Sequence[Outcome]) -> dict[str, float]:
    right = sum(o.right for o in rows)
    return {"questions": len(rows), "right": right, "accuracy": round(right / len(rows), 4)}


def _usage(usage: Usage) -> dict[str, Any]:
    return {
        "input_tokens": usage.input_tokens,
        "cached_tokens": usage.cache_read_tokens + usage.cache_write_tokens,
        "output_tokens": usage.output_tokens,
        "cost_usd": None if usage.cost_usd is None else round(usage.cost_usd, 6),
    }


def _table(rows: Mapping[str, Mapping[str, float]]) -> list[str]:
    keys = list(dict.fromkeys(key for row in rows.values() for key in row))
    lines = [["", *keys], *([name, *(f"{row[k]:g}" if k in row else "-" for k in keys)] for name, row in rows.items())]
    widths = [max(len(line[column]) for line in lines) for column in range(len(keys) + 1)]
    return [
        "  "
        + line[0].ljust(widths[0])
        + "".join(f"  {cell:>{w}}" for cell, w in zip(line[1:], widths[1:], strict=True))
        for line in lines
    ]
