"""What still holds of a statement when a part of it does not: of "lives in Porto and has two cats", the cats.

A statement of several clauses may be ended by a new one that speaks of one of them alone; the others must not be lost
with it (spec/memory.md §18.1 row 2).
"""

from __future__ import annotations

import re
from functools import lru_cache

from chatls_core.memory import slot_words as words
from chatls_core.memory.slots import Relation, compare
from chatls_core.memory.statement_words import fold
from chatls_core.memory.successions import LONGEST
from chatls_core.memory.wordlists import word_set

_JOINT = re.compile(r"(\s*;\s+|\.\s+|,?\s+(?:and|but|while|whereas|e|mas|enquanto)\s+)", re.IGNORECASE)
_VERBS = (
    words.VERBS
    | words.MULTIPLE
    | words.OWNING
    | words.RELATIONS
    | words.CHANGE_VERBS
    | word_set(
        """
        hates dislikes drinks eats teaches swims collects sings writes reads leads manages maintains goes comes builds
        sends sits stands means says opens closes begins detesta odeia bebe come ensina coleciona canta escreve lidera
        cuida mantem vai envia abre comeca cannot can must should could will would may deve devem pode podem
        """
    )
) - word_set("called named chamado chamada chamados chamadas")
_BASE_FORM = re.compile(r"(?!(?:is|are|has|have|had|was|were|runs?)$)[a-z]+(?<!s)(?<!ed)")
_SPEAKS = re.compile(r"(?:i|we)\b", re.IGNORECASE)
_ADVERB = word_set("also now never always only usually often still tambem agora nunca sempre ainda so")
_PRONOUN = word_set("it he she they ele ela eles elas")
_NO_PART = re.compile(r"(?:'s name| se| não| not)$", re.IGNORECASE)
"""Of what stands before the verb, what does not belong to its subject."""
_FURTHEST_VERB = 6
"""Words of a subject."""


@lru_cache(maxsize=16384)
def clauses(text: str) -> tuple[str, ...]:
    """The clauses of a statement, each with its subject; one alone where it has no others, or is long."""
    if len(text) > LONGEST:
        return (text,)
    first, *rest = _JOINT.split(text.strip())
    found = [first]
    subject = _subject(first)
    for joint, piece in zip(rest[::2], rest[1::2], strict=True):
        said, verb = piece.split(), _verb_place(piece)
        apart = verb is not None and len(said) > 1 and (verb > 0 or subject)
        if not apart or _verb_place(found[-1]) is None or found[-1].count("(") != found[-1].count(")"):
            found[-1] += joint + piece
        elif verb == 0:
            found.append(f"{subject} {piece}")
        elif fold(said[0]) in _PRONOUN and subject:
            found.append(f"{subject} {' '.join(said[1:])}")
        else:
            found.append(piece[:1].upper() + piece[1:])
    return tuple(clause.strip(" ,.;") for clause in found)


def _subject(clause: str) -> str:
    place = _verb_place(clause)
    said = "" if place is None else " ".join(clause.split()[:place])
    return _NO_PART.sub("", said)


def _verb_place(piece: str) -> int | None:
    """Where in a piece its verb stands, in words; 0 where it begins with it."""
    said = [fold(word) for word in piece.split()]
    start = 1 if said and said[0] in _ADVERB else 0
    for place, word in enumerate(said[start : start + _FURTHEST_VERB]):
        if word not in _VERBS:
            continue
        if place == 0:
            # "lives and works in Porto" has two verbs, "likes to live and work in Porto" one.
            return None if word in words.NOUN_LIKE and _BASE_FORM.fullmatch(word) else 0
        if word not in words.NOUN_LIKE or place > 1 or _SPEAKS.match(piece):
            return place + start
    return None


def relate(old: str, new: str, *, names: frozenset[str] = frozenset()) -> Relation:
    """As :func:`~chatls_core.memory.slots.compare`, and an update also where one clause ends one of the other's.

    What else the old one says, :func:`left_of` tells.
    """
    found = compare(old, new, names=names)
    mine, theirs = clauses(old), clauses(new)
    if found is not Relation.UNRELATED or len(mine) + len(theirs) == 2:
        return found
    ended = any(compare(a, b, names=names) is Relation.UPDATES for a in mine for b in theirs)
    return Relation.UPDATES if ended else found


def left_of(old: str, new: str, *, names: frozenset[str] = frozenset()) -> tuple[str, ...]:
    """The clauses of ``old`` that ``new``, which ends it, does not speak of; nothing where all of it has ended.

    ``names`` are stems that mean the user.
    """
    parts = clauses(old)
    if len(parts) < 2:
        return ()
    relations = {part: relate(part, new, names=names) for part in parts}
    if Relation.UPDATES not in relations.values():
        return ()
    return tuple(part for part, relation in relations.items() if relation is Relation.UNRELATED)
