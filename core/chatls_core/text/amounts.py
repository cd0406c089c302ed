"""Numbers with their nouns in English sentences."""

from __future__ import annotations


def amount(number: int, noun: str, plural: str = "") -> str:
    """``1 fact``, ``2 facts``, ``1,200 facts``; ``plural`` where it is no mere ``s`` more."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
