"""Passages of attached contexts that ride with the question (spec/agent.md §1.2 row 4b, §2.1, §2.3).

A context that does not stand whole in the system text is searched for what the user asks. Shown unasked, so precision
counts: one irrelevant passage is a fault. What the model can see already, in the system text or in the history that is
sent, is not sent again; a text that changed, or that a compaction took away, is.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import get_args

from chatls_core.contexts import Context
from chatls_core.contexts.reading import PAGE_CHARS, shown_paths
from chatls_core.contexts.searching import ContextSearch, Found
from chatls_core.llm.messages import Message, TextPart, ToolResultPart
from chatls_core.prompt.knowledge_tool import NAME
from chatls_core.text import tokenizer
from chatls_core.text.fence import fence
from chatls_core.text.hits import STRONG_TELLING
from chatls_core.text.redaction import redact
from chatls_core.text.stopwords import ASKING, NUMBERS, REQUESTS, WEAK

BUDGET_CHARS = 4_000
"""Of all passages of one turn, …"""
SMALL_BUDGET_CHARS = 2_000
"""… where the model's window is small, …"""
FILES_BUDGET_CHARS = 24_000
"""… and of the whole files of ``smart`` contexts; a file beyond a page rides as its passages."""

_POOL = 24
"""Hits looked at: the best ones may stand in the prompt already."""
_CLEAR_SHARE = 0.6
"""Of the question's own topic words, to be met word by word; of a long question …"""
_LONG_SHARE = 0.35
"""… this much, if that is some three telling words."""
_LONE_TELLING = 0.6
"""How telling the only topic word of a question must be, …"""
_ORDER_TELLING = 1.2
"""… and all words together of what is no question: "write a report" wants none of the reports that are known."""
_NEAR_TERMS = 8
"""How many terms lie at most between two words of the question that a passage says together."""
_NEAR_BEST = 0.75
"""Share of the best passage's score that another one needs."""
_BLOCK = re.compile(
    r"^From the attached context “(?P<name>[^”\n]*)”, [^\n]*\n<data-(?P<mark>\w{8}) .*?^</data-(?P=mark)>", re.M | re.S
)
_FRAME = WEAK | NUMBERS


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a file of an attached context, ``start`` and ``end`` in characters of the file; ``first`` and ``last``
    are its lines, from 1."""

    context: str
    source: str
    path: Path
    content: str
    start: int
    end: int

    @property
    def text(self) -> str:
        """What the model is given, without secrets."""
        return redact(self.content[self.start : self.end])

    @property
    def title(self) -> str:
        """The file as the user and the model know it, with the lines."""
        if self.start == 0 and self.end == len(self.content):
            return self.source
        first = self.content.count("\n", 0, self.start) + 1
        last = first + self.content.count("\n", self.start, self.end)
        return f"{self.source} " + (f"lines {first}–{last}" if last > first else f"line {first}")

    def block(self, calls: bool) -> str:
        """The text for the turn's context, with the call that reads on where there is one (``calls``)."""
        rest = self.content[self.end :].strip()
        on = f"; it goes on: {self._call(self.end)}" if calls and rest else ""
        whole = f"; all of it: {self._call(0)}" if calls and not rest and self.content[: self.start].strip() else ""
        head = f"From the attached context “{self.context}”, {self.title}{on}{whole}"
        return f"{head}\n{fence(self.title, self.text)}"

    def _call(self, offset: int) -> str:
        call = {"command": "get", "kb": self.context, "source": self.source, **({"offset": offset} if offset else {})}
        return f"{NAME} {json.dumps(call, ensure_ascii=False)}"


def passages(
    search: ContextSearch,
    contexts: Sequence[Context],
    question: str,
    seen: Sequence[str],
    *,
    small: bool = False,
    without: Collection[Path] = (),
) -> tuple[Passage, ...]:
    """What of ``contexts`` clearly bears on ``question``, best first, within the budgets.

    ``seen`` are the texts the model has before it, ``without`` files that ride in full with this question. Reads and
    writes the index on disk. Raises :class:`~chatls_core.contexts.ContextError`.
    """
    topic = _Topic(question)
    if not contexts or not topic.words:
        return ()
    known = {context.name: context for context in contexts}
    paths = {name: shown_paths(context) for name, context in known.items()}
    room = SMALL_BUDGET_CHARS if small else BUDGET_CHARS
    files_room = 0 if small else FILES_BUDGET_CHARS
    chosen: list[Passage] = []
    for found in _clear(topic, search.search(contexts, question, _POOL, topic.generic)):
        file = paths[found.context].get(found.source)
        if file is None or Path(file.path) in without:
            continue
        passage = _placed(found, Path(file.path), file.content)
        if passage is None or _standing(passage, chosen) or _seen(passage, seen):
            continue
        whole = replace(passage, start=0, end=len(file.content))
        if known[found.context].mode == "smart" and whole.end <= min(files_room, PAGE_CHARS):
            files_room -= whole.end
            chosen = [p for p in chosen if p.path != whole.path] + [whole]
        elif passage.end - passage.start <= room:
            room -= passage.end - passage.start
            chosen.append(passage)
    return tuple(_joined(chosen))


def _clear(topic: _Topic, hits: Iterable[Found]) -> Iterator[Found]:
    """The hits that bear on the question, best first, as long as they are nearly as good as the best of them."""
    least = 0.0
    for found in hits:
        if found.hit.score < least:
            return
        if topic.met_by(found):
            least = least or _NEAR_BEST * found.hit.score
            yield found


def told_chars(messages: Iterable[Message]) -> Counter[str]:
    """Characters of passages in these messages, by the lower-case names of their contexts."""
    found: Counter[str] = Counter()
    for message in messages:
        if message.kind == "turn_context":
            for part in message.parts:
                for block in _BLOCK.finditer(part.text if isinstance(part, TextPart) else ""):
                    found[block["name"].lower()] += len(block[0])
    return found


def texts(system: Iterable[str], messages: Iterable[Message]) -> tuple[str, ...]:
    """What a model is shown: the system text, and what was put before it in the history."""
    told = [
        part.text
        for message in messages
        if message.role == "user"
        for part in message.parts
        if isinstance(part, TextPart | ToolResultPart)
    ]
    return (*system, *told)


class _Topic:
    """What a question is about, without the words of nearly every request."""

    def __init__(self, question: str) -> None:
        words = [word.folded for word in tokenizer.topic_words(question)]
        self.generic = frozenset(word for word in words if word in _FRAME or _stems(word) & _common_stems())
        self.words = frozenset(words) - self.generic
        first = next((word.folded for word in tokenizer.words(question)), "")
        self._asks = "?" in question or first in ASKING

    def met_by(self, found: Found) -> bool:
        """Whether a passage clearly bears on the question, by the words it holds itself."""
        if found.hit.words < min(2, len(self.words)):
            return False
        language = tokenizer.detect_language(found.text) or "en"
        asked = {tokenizer.stem(word, language) for word in self.words}
        name, terms = tokenizer.terms(found.source, language), tokenizer.terms(found.text, language)
        met = asked & {*name, *terms}
        if len(asked) == 1:
            return bool(met) and self._asks and found.hit.telling >= _LONE_TELLING
        if len(met) < 2 or not (self._asks or found.hit.telling >= _ORDER_TELLING):
            return False
        if not met.intersection(name) and not _together(terms, met):
            return False
        share = len(met) / len(asked)
        long = share >= _LONG_SHARE and found.hit.telling >= STRONG_TELLING
        return share >= _CLEAR_SHARE or long


def _together(terms: Sequence[str], met: Collection[str]) -> bool:
    """Whether two different words of the question stand near each other: a list of words holds any two."""
    last: tuple[int, str] | None = None
    for place, term in enumerate(terms):
        if term in met:
            if last is not None and last[1] != term and place - last[0] <= _NEAR_TERMS:
                return True
            last = (place, term)
    return False


def _stems(word: str) -> set[str]:
    return {tokenizer.stem(word, language) for language in get_args(tokenizer.Language)}


@cache
def _common_stems() -> frozenset[str]:
    return frozenset(stem for word in REQUESTS for stem in _stems(word))


def _placed(found: Found, path: Path, content: str) -> Passage | None:
    """Where a passage stands in its file; ``None`` where it stands there no longer."""
    before = sum(len(line) + 1 for line in content.split("\n", found.line - 1)[: found.line - 1])
    start = content.find(found.text, before)
    return None if start < 0 else Passage(found.context, found.source, path, content, start, start + len(found.text))


def _standing(passage: Passage, chosen: Iterable[Passage]) -> bool:
    return any(p.path == passage.path and p.start <= passage.start and passage.end <= p.end for p in chosen)


def _seen(passage: Passage, texts: Sequence[str]) -> bool:
    """Whether the model has a passage before it, as the file has it or without its secrets."""
    forms = {passage.content[passage.start : passage.end], passage.text}
    return any(form in text for form in forms for text in texts)


def _joined(chosen: Sequence[Passage]) -> Iterator[Passage]:
    """The passages file by file, those that touch each other as one."""
    order = {path: place for place, path in enumerate(dict.fromkeys(p.path for p in chosen))}
    last: Passage | None = None
    for passage in sorted(chosen, key=lambda p: (order[p.path], p.context, p.start)):
        if last and (last.context, last.path) == (passage.context, passage.path) and passage.start <= last.end:
            last = replace(last, end=max(last.end, passage.end))
            continue
        if last:
            yield last
        last = passage
    if last:
        yield last
