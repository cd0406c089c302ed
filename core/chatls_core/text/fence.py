"""Outside text in a prompt: fenced as data with its source, so that nothing in it can pass for an instruction."""

from __future__ import annotations

import hashlib


def fence(source: str, text: str) -> str:
    """``text`` between a pair of tags it cannot close itself: the mark comes from the text, so bytes are stable."""
    mark = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    clean = source.replace('"', "'").replace("\n", " ")
    return f'<data-{mark} source="{clean}">\n{text}\n</data-{mark}>'
