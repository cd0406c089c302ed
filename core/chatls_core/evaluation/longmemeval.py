"""LongMemEval's files: questions about the past, each with the sessions it must be answered from (spec/memory.md §17).

A file is one JSON array (``longmemeval_s*.json``, ``…_m*.json``, ``…_oracle.json``; 15 MB to 2.7 GB); it is read one
question at a time.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

Split = Literal["s", "m", "oracle"]
SPLITS: tuple[Split, ...] = ("s", "oracle", "m")

_READ_CHARS = 1 << 20
_DATE = re.compile(r"(\d{4})/(\d{1,2})/(\d{1,2})(?:.*?(\d{1,2}):(\d{2}))?")


class BenchmarkError(Exception):
    """The benchmark cannot be read; ``str()`` names the file and what is wrong."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One thing that was said; ``evidence`` marks the turns the authors name as holding the answer."""

    role: str
    text: str
    evidence: bool = False


@dataclass(frozen=True, slots=True)
class Session:
    """A conversation and when it took place (the file names no zone)."""

    id: str
    time: datetime
    turns: tuple[Turn, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """A question, asked at ``asked``; ``evidence`` are the ids of the sessions that hold its answer."""

    id: str
    type: str
    question: str
    answer: str
    asked: datetime
    sessions: tuple[Session, ...]
    evidence: frozenset[str]

    @property
    def abstention(self) -> bool:
        """Whether the right answer is that nothing is known."""
        return self.id.endswith("_abs")


class _Turn(BaseModel):
    model_config = ConfigDict(extra="ignore")

    role: str
    content: str
    has_answer: bool | None = None


class _Entry(BaseModel):
    model_config = ConfigDict(extra="ignore", coerce_numbers_to_str=True)

    question_id: str
    question_type: str
    question: str
    answer: str
    question_date: str
    haystack_session_ids: list[str]
    haystack_dates: list[str]
    haystack_sessions: list[list[_Turn]]
    answer_session_ids: list[str]


def file_in(folder: Path, split: Split | None = None) -> Path:
    """The benchmark's file in ``folder`` (or ``folder`` itself, where it is a file): S, then oracle, then M.

    Raises :class:`BenchmarkError` when there is none.
    """
    if folder.is_file():
        return folder
    if not folder.is_dir():
        raise BenchmarkError(f"{folder} does not exist.")
    for wanted in SPLITS if split is None else (split,):
        if found := sorted(folder.glob(f"longmemeval_{wanted}*.json")):
            return found[0]
    raise BenchmarkError(f"{folder} holds no longmemeval_{split or 's'}*.json; get it from the benchmark's page.")


def sha256(path: Path) -> str:
    """The file's SHA-256, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read(path: Path) -> Iterator[Case]:
    """The questions of a file in order. Raises :class:`BenchmarkError` for what is no LongMemEval file."""
    for number, value in enumerate(_elements(path), 1):
        try:
            yield _case(_Entry.model_validate(value))
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"]))
            raise BenchmarkError(f"{path.name}: question {number}: {where}: {first['msg']}") from error
        except ValueError as error:
            raise BenchmarkError(f"{path.name}: question {number}: {error}") from error


def _elements(path: Path) -> Iterator[object]:
    """The elements of a file's JSON array; never more than one of them in memory beside the read-ahead."""
    decoder = json.JSONDecoder()
    try:
        with path.open(encoding="utf-8") as file:
            text, opened, size = "", False, _READ_CHARS
            while True:
                text = text.lstrip() if not opened else text.lstrip(" \t\r\n,")
                if not opened and text:
                    if text[0] != "[":
                        raise BenchmarkError(f"{path.name}: no list of questions")
                    text, opened = text[1:], True
                    continue
                if text.startswith("]"):
                    return
                if text:
                    try:
                        value, end = decoder.raw_decode(text)
                    except json.JSONDecodeError:
                        size *= 2  # an element longer than what was read: twice as much next time
                    else:
                        yield value
                        text, size = text[end:], _READ_CHARS
                        continue
                more = file.read(size)
                if not more:
                    raise BenchmarkError(f"{path.name}: ends in the middle")
                text += more
    except (OSError, UnicodeDecodeError) as error:
        raise BenchmarkError(f"{path.name}: {error}") from error


def _case(entry: _Entry) -> Case:
    sessions = [
        Session(name, _time(date), tuple(Turn(t.role, t.content, bool(t.has_answer)) for t in turns))
        for name, date, turns in zip(
            entry.haystack_session_ids, entry.haystack_dates, entry.haystack_sessions, strict=True
        )
    ]
    return Case(
        entry.question_id,
        entry.question_type,
        entry.question,
        entry.answer,
        _time(entry.question_date),
        tuple(sorted(sessions, key=lambda s: s.time)),
        frozenset(entry.answer_session_ids),
    )


def _time(text: str) -> datetime:
    found = _DATE.match(text.strip())
    if found is None:
        raise ValueError(f"{text!r} is no date")
    year, month, day, hour, minute = (int(part or 0) for part in found.groups())
    return datetime(year, month, day, hour, minute)


def sample(cases: Sequence[Case], limit: int | None, seed: int) -> list[Case]:
    """``limit`` of the questions drawn with ``seed``, in their order; all of them without a limit."""
    if limit is None or limit >= len(cases):
        return list(cases)
    chosen = random.Random(seed).sample(range(len(cases)), limit)
    return [cases[place] for place in sorted(chosen)]


def pooled(case: Case, others: Sequence[Case], sessions: int, seed: int) -> Case:
    """``case`` with sessions of other questions beside its own until there are so many, drawn with ``seed``.

    They are other users' evidence, so figures are not comparable with those of the benchmark's own haystacks.
    """
    own = {s.id for s in case.sessions}
    spare = {s.id: s for other in others for s in other.sessions if s.id not in own}
    missing = min(max(0, sessions - len(case.sessions)), len(spare))
    drawn = random.Random(f"{seed}:{case.id}").sample(sorted(spare), missing)
    together = [*case.sessions, *(spare[name] for name in drawn)]
    return replace(case, sessions=tuple(sorted(together, key=lambda s: s.time)))
