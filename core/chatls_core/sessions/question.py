"""What a search over past conversations asks for: words, exact phrases, words to leave out, a window of time."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from chatls_core.text import cut, query, tokenizer

if TYPE_CHECKING:
    from chatls_core.text.time_expressions import TimeWindow

_PHRASE = re.compile(r"(?<!\S)(-?)[\"“]([^\"”]+)[\"”]")
_LEFT_OUT = re.compile(r"(?<!\S)-([^\W\d_][\w.-]*)")

_ABOUT_TALKING = frozenset(
    {
        *("session", "sessions", "conversation", "conversations", "chat", "chats"),
        *("previous", "last", "earlier", "yesterday", "today", "ago", "week", "month"),
        *("tell", "told", "remind", "remember", "recall", "know", "mention", "mentioned", "said", "say", "says"),
        *("discuss", "discussed", "talk", "talked"),
        *("sessao", "sessoes", "conversa", "conversas", "anterior", "anteriores", "ultima", "ultimo"),
        *("ontem", "hoje", "semana", "mes", "lembra", "lembre", "lembrar", "recorda", "sabe", "diga", "conte"),
        *("falou", "falamos", "disse", "dissemos", "discutimos", "discutiu", "conversamos", "mencionou", "mencionei"),
    }
)
"""Words that say *that, when or where* something was said, not what (spec/memory.md §15.2); folded."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question taken apart. ``start`` and ``end`` bound when it was said (half-open, aware).

    ``text`` is what is left to be looked for; ``words`` are its topic as folded words, ``ignored`` those that are none.
    """

    text: str
    words: tuple[str, ...]
    ignored: frozenset[str] = _ABOUT_TALKING
    phrases: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    start: datetime | None = None
    end: datetime | None = None

    @property
    def timed(self) -> bool:
        """Whether a window of time was asked for."""
        return self.start is not None or self.end is not None

    def ignoring(self, words: Collection[str]) -> Question:
        """The same question with more folded words that are no topic."""
        return replace(self, words=tuple(w for w in self.words if w not in words), ignored=self.ignored.union(words))


def understand(text: str, now: datetime) -> Question:
    """Take a question apart. Relative time expressions count from ``now``.

    ``"quoted words"`` must stand so in the conversation, ``-word`` or ``-"quoted words"`` must not.
    """
    text = cut.encodable(text)
    phrases = tuple(tokenizer.fold(p) for sign, p in _PHRASE.findall(text) if not sign)
    left_out = tuple(tokenizer.fold(p) for sign, p in _PHRASE.findall(text) if sign)
    rest = _PHRASE.sub(lambda m: " " if m[1] else f" {m[2]} ", text)
    left_out += tuple(tokenizer.fold(w) for w in _LEFT_OUT.findall(rest))
    rest = _LEFT_OUT.sub(" ", rest)
    windows = _windows(rest, now)
    start = end = None
    if windows:
        start = min(w.start for w in windows)
        end = max(w.end for w in windows)
        for window in sorted(windows, key=lambda w: w.span, reverse=True):
            rest = rest[: window.span[0]] + " " + rest[window.span[1] :]
    topic = query.read(rest, verbatim=bool(phrases)).topic
    words = tuple(word.folded for word in topic if word.folded not in _ABOUT_TALKING)
    if phrases and not words:
        # A phrase of common words only ("to be or not to be") must still be found by something.
        return Question(rest, tuple(word.folded for word in topic), frozenset(), phrases, left_out, start, end)
    return Question(rest, words, _ABOUT_TALKING, phrases, left_out, start, end)


def _windows(text: str, now: datetime) -> Sequence[TimeWindow]:
    from chatls_core.text.time_expressions import find

    # A person's days are those of this machine's zone (spec/memory.md §7.3).
    return find(text, now.astimezone())
