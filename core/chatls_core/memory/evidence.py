"""Did an answer make use of a fact that was shown? (spec/memory.md §8.8)"""

from __future__ import annotations

from chatls_core.text import tokenizer


def used(content: str, reply: str) -> bool:
    """Whether enough of a fact's topic words occur in the reply: a third of them, and two at least where it has two."""
    wanted = {tokenizer.stem(w.folded, "en") for w in tokenizer.topic_words(content)}
    if not wanted:
        return False
    said = {tokenizer.stem(w.folded, "en") for w in tokenizer.words(reply)}
    need = max(min(2, len(wanted)), int(0.34 * len(wanted) + 0.999))
    return len(wanted & said) >= need
