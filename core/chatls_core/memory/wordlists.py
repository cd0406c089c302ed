"""Word lists written as text."""

from __future__ import annotations


def word_set(text: str) -> frozenset[str]:
    """The words of a text that are separated by white space."""
    return frozenset(text.split())


def word_pairs(text: str) -> dict[str, str]:
    """``a:b`` words as a map."""
    return dict(pair.split(":") for pair in text.split())


def word_table(text: str) -> dict[str, frozenset[str]]:
    """``name: words …`` lines as sets by name; lines of one name are united."""
    table: dict[str, frozenset[str]] = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        name, _, words = line.partition(":")
        table[name] = table.get(name, frozenset()) | frozenset(words.split())
    return table
