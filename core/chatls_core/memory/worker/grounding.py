"""What a small model invents is left out.

A model without tools of its own is held to a JSON schema, and the smaller it is the more it fills that form with what
nobody said, or says one thing over and over (docs/memory-learning.md has figures). Only items are kept at least half of
whose telling words were said, all of whose numbers were said, and that do not repeat themselves. Larger models put
things into words of their own; they are trusted to.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Protocol

from chatls_core.memory.worker.parsing import Learned
from chatls_core.memory.worker.segment import Segment
from chatls_core.memory.worker.words import telling

SHARE_SAID = 0.5
"""Smallest share of an item's telling words that were said."""

SHARE_DISTINCT = 0.5
"""Smallest share of an item's words that are not repetitions of others."""

MIN_WORDS = 2
"""A single word says too little to be learned on its own; a profile entry's value and a topic's name may be one."""

_NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)*")


class Told(Protocol):
    """Says whether an item is borne out; ``least`` telling words are needed."""

    def __call__(self, item: str, least: int = MIN_WORDS) -> bool: ...


def borne_out_by(text: str, days: Iterable[str] = ()) -> Told:
    """The judge over what ``text`` bears out; ``days`` (ISO) may be named beside its numbers."""
    said = _words(text)
    numbers = {*_NUMBER.findall(text), *days}

    def told(item: str, least: int = MIN_WORDS) -> bool:
        words = _words(item)
        every = item.split()
        return (
            len(words) >= least
            and len(words & said) >= SHARE_SAID * len(words)
            and numbers.issuperset(_NUMBER.findall(item))
            and len(set(every)) >= SHARE_DISTINCT * len(every)
        )

    return told


def only_said(learned: Learned, segment: Segment) -> Learned:
    """``learned`` without the items that the segment does not bear out."""
    text = "\n".join((segment.workspace.replace("/", " "), *(line.text for line in segment.lines)))
    told = borne_out_by(text, {f"{line.time.astimezone():%Y-%m-%d}" for line in segment.lines})
    return replace(
        learned,
        daily="\n".join(dict.fromkeys(line for line in learned.daily.splitlines() if told(line))),
        facts=tuple(dict.fromkeys(f for f in learned.facts if told(f.content))),
        profile=tuple((k, v) for k, v in learned.profile if told(v, 1)),
        topics=tuple((n, s) for n, s in learned.topics if told(n, 1) and (not s or told(s))),
        projects=tuple(p for p in learned.projects if all(told(v, 1) for k, v in p.items() if k != "status")),
        episodes=tuple(e for e in learned.episodes if told(e.summary)),
    )


def _words(text: str) -> frozenset[str]:
    """Telling words that are more than a number."""
    return frozenset(word for word in telling(text) if any(c.isalpha() for c in word))
