"""The words that carry what a text is about: stems without stop words."""

from __future__ import annotations

from chatls_core.text import tokenizer


def telling(text: str) -> frozenset[str]:
    """Those of ``text``."""
    return frozenset(term for term, word in tokenizer.analysed(text, "en") if not tokenizer.is_stop_word(word))
