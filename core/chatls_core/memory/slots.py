"""Is a new statement the same as an old one, its update, or something else? (spec/memory.md §18.1 rows 1-5)

A bag of words cannot tell "Python 3.11" from "3.12", "tabs over spaces" from "spaces over tabs" or "lives in Lisbon"
from "moved to Porto". Here a statement is read for its numbers, its negations, what it prefers over what, the change it
reports, and its slots: (entity, attribute) with one value at a time.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from chatls_core.memory import slot_words as words
from chatls_core.text import tokenizer

SAME_SHARE = 0.8
"""Jaccard similarity from which two statements say the same, numbers, negations and order aside."""


class Relation(StrEnum):
    """How a new statement relates to an old one."""

    UNRELATED = "unrelated"
    SAME = "same"
    REFINES = "refines"
    UPDATES = "updates"


@dataclass(frozen=True, slots=True)
class Slot:
    """One attribute of one entity, and its value, as sets of stems."""

    entity: frozenset[str]
    attribute: str
    value: frozenset[str]


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement as read.

    ``stems`` are its content words in order without numbers, negations and fillers; ``identity_numbers`` stand before
    the verb ("server 2 runs …"), ``value_numbers`` behind it.
    """

    folded: str
    stems: tuple[str, ...]
    identity_numbers: tuple[str, ...]
    value_numbers: tuple[str, ...]
    negations: int
    chosen: frozenset[str]
    rejected: frozenset[str]
    retired: frozenset[str]
    adopted: frozenset[str]
    changes: bool
    dated: bool
    directed: bool
    slots: tuple[Slot, ...]

    @property
    def bag(self) -> frozenset[str]:
        """Content words as a set."""
        return frozenset(self.stems)


_TOKEN = re.compile(r"\d+(?:[.:/,]\d+)*%?|[a-z][\w+#]*(?:[.\-/@][\w+#]+)*|[^\W_]+")
_WORD_NUMBER = re.compile(r"([a-z]{3,})v?(\d+(?:\.\d+)*)")
_VERSION = re.compile(r"v(\d+(?:\.\d+)*)")
_AUXILIARY_NOT = re.compile(r"n['’]t\b")


def _folded(text: str) -> str:
    text = tokenizer.fold(" ".join(text.split())).replace("’", "'")
    text = text.replace("can't", "can not").replace("won't", "will not")
    return _AUXILIARY_NOT.sub(" not", text).rstrip(" .!")


def _tokens(folded: str) -> list[str]:
    found: list[str] = []
    for token in _TOKEN.findall(folded):
        if match := _WORD_NUMBER.fullmatch(token):
            found += match.groups()
        elif match := _VERSION.fullmatch(token):
            found.append(match[1])
        else:
            found.append(words.NUMBERS.get(token, token))
    return found


def _is_number(token: str) -> bool:
    return token[0].isdigit()


def _stem(token: str) -> str:
    return tokenizer.stem(words.OPPOSITES.get(token, token), "en") if token.isascii() else token


def _content(tokens: list[str]) -> tuple[str, ...]:
    """Stems that carry the statement: no numbers, negations, fillers, stop words or words for the user."""
    return tuple(
        _stem(t)
        for t in tokens
        if not _is_number(t)
        and t not in words.NEGATIONS
        and t not in words.FILLERS
        and t not in words.PERSON
        and not tokenizer.is_stop_word(t)
    )


def _bag(text: str) -> frozenset[str]:
    """Content stems and numbers of a part of a statement."""
    tokens = _tokens(text)
    return frozenset(_content(tokens)) | {t for t in tokens if _is_number(t)}


@lru_cache(maxsize=16384)
def read(text: str) -> Statement:
    """Read a statement."""
    folded = _folded(text)
    tokens = _tokens(folded)
    verb = next((i for i, t in enumerate(tokens) if t in words.VERBS), -1)
    numbers = [(i, t) for i, t in enumerate(tokens) if _is_number(t)]
    pair = words.PAIR.match(folded)
    chosen = _bag(pair["chosen"]) if pair else frozenset()
    rejected = _bag(pair["rejected"]) if pair else frozenset()
    negations = sum(t in words.NEGATIONS for t in tokens) + sum(t in words.OPPOSITES for t in tokens)
    if chosen and rejected:
        negations = 0
    retired, adopted = _transition(folded)
    return Statement(
        folded=folded,
        stems=_content(tokens),
        identity_numbers=tuple(t for i, t in numbers if i < verb),
        value_numbers=tuple(t for i, t in numbers if i > verb),
        negations=negations,
        chosen=chosen,
        rejected=rejected,
        retired=retired,
        adopted=adopted,
        changes=bool(words.UPDATE_MARKS.search(folded)),
        dated=_is_dated(tokens),
        directed=any(t in words.DIRECTED for t in tokens),
        slots=tuple(_slots(folded)),
    )


def _transition(folded: str) -> tuple[frozenset[str], frozenset[str]]:
    for pattern in words.TRANSITIONS:
        if match := pattern.search(folded):
            return _bag(match["old"]), _bag(match["new"])
    for pattern in words.RETIREMENTS:
        if match := pattern.search(folded):
            return _bag(match["old"]), frozenset()
    return frozenset(), frozenset()


def _is_dated(tokens: list[str]) -> bool:
    """Whether the numbers are a date that tells one event from another."""
    for before, token in zip(["", *tokens], tokens, strict=False):
        if re.fullmatch(r"(?:19|20)\d\d", token) and before in {"in", "em", "on", "since", "of", "de", *words.MONTHS}:
            return True
        if _is_number(token) and (before in words.MONTHS or re.fullmatch(r"(?:19|20)\d\d", before)):
            return True
    return False


_END = r"(?= (?:from|since|with|because|for|as|and|but|desde|com|porque|como|mas)\b|[,;.(]|$)"
_NOW = r"(?:now |currently |again |back |agora |atualmente )?"
_PATTERNS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (name, re.compile(pattern))
    for name, pattern in (
        (
            "residence",
            rf"^(?P<who>.{{0,40}}?)\b(?:is )?{_NOW}(?:lives?|living|resides?|based|mora(?:ndo)?|moro|vive|vivo|reside) "
            rf"{_NOW}(?:in|at|em|no|na) (?P<value>.+?){_END}",
        ),
        (
            "residence",
            rf"^(?P<who>.{{0,40}}?)\b(?:has |have |is |just |recently )*(?:moved|relocated|moving|mudou(?:-se)?|mudei(?:-me)?"
            rf"|se mudou|me mudei) (?:house |casa )?{_NOW}(?:from .+? )?(?:to|para|pra)(?: [oa])? (?P<value>.+?){_END}",
        ),
        (
            "employer",
            rf"^(?P<who>.{{0,40}}?)\b(?:is )?{_NOW}(?:works?|working|employed|trabalha(?:ndo)?|trabalho) {_NOW}"
            rf"(?:at|for|by|na|no|em|para a?) (?P<value>.+?){_END}",
        ),
        ("employer", rf"^(?P<who>.{{0,40}}?)\b(?:has |just |recently )*(?:joined|started at|entrou na) (?P<value>.+?){_END}"),
        (
            "role",
            rf"^(?P<who>.{{0,40}}?)\b(?:is )?{_NOW}(?:works?|working|trabalha(?:ndo)?) {_NOW}(?:as|como) (?:an? |the )?"
            rf"(?P<value>.+?){_END}",
        ),
        ("role", rf"^(?P<who>.{{0,40}}?)\b(?:was |got |foi )?(?:promoted to|promovid[oa] a) (?P<value>.+?){_END}"),
        ("name", rf"^(?P<who>.{{0,20}}?)\b(?:is called|goes by|chama-se|se chama) (?P<value>.+?){_END}"),
        (
            "use-for",
            r"^(?P<who>.{0,40}?)\b(?:uses?|using|usa|usam|utiliza) (?P<value>.+?) (?:for|as|para|como) (?:the |an? |[oa] )?"
            r"(?P<what>[^,;.]+)$",
        ),
        ("use-for", r"^(?:for|para) (?P<what>[^,;.]+?),? (?P<who>.{0,40}?)\b(?:uses?|usa|usam|utiliza) (?P<value>[^,;.]+)$"),
        (
            "is",
            r"^(?P<who>[^,;:=]{2,60}?)(?: (?:is|are|was|e|sao|fica|equals) (?:now |agora |set to |called |named |em )?"
            r"| (?:changed|moved|was changed|was moved|was renamed|mudou|changes) (?:from .+? )?(?:to|para) |\s*[:=] ?)"
            r"(?P<value>.+?)(?=[,;]|$)",
        ),
    )
)
_CLASS_VERB = re.compile(
    rf"\b(?:uses?|using|prefers?|likes?|switched to|moved to|migrated to|adopted|runs? on|develops on|works? on|deploys? (?:to|on)"
    rf"|deployed (?:to|on)|hosted (?:on|at)|wants?|(?:is|are) {_NOW}|usa|usam|utiliza|prefere|migrou para|passou a usar"
    r"|trocou para|roda em|hospedado n[ao]|quer) "
)


def _slots(folded: str) -> list[Slot]:
    found: list[Slot] = []
    for name, pattern in _PATTERNS:
        match = pattern.search(folded)
        if match is None:
            continue
        entity, value = _entity(match["who"]), _bag(match["value"])
        if not value:
            continue
        if name == "use-for":
            purpose = _bag(match["what"])
            if purpose:
                found.append(Slot(entity, "use:" + " ".join(sorted(purpose)), value))
        elif name == "is":
            if (attribute := _attribute(match["who"], match["value"])) is not None:
                found.append(Slot(entity, attribute, value))
        elif name == "residence" and entity & _GROUP_STEMS:
            continue  # a project that "moved to" something did not move house
        else:
            found.append(Slot(entity, name, value))
    found += _class_slots(folded)
    return found


def _entity(text: str) -> frozenset[str]:
    return frozenset(_content(_tokens(text))) - _GROUP_STEMS


_GROUP_STEMS = frozenset(_stem(w) for w in words.GROUP)


def _attribute(subject: str, value: str) -> str | None:
    """``is`` when the subject names a thing that has one value at a time."""
    tokens = _tokens(subject)
    if any(t in words.ATTRIBUTES for t in tokens):
        return "is"
    plain = value.split()
    exact = len(plain) == 1 and bool(re.search(r"[/\d_@:]|\.\w", value))
    return "is" if exact and _content(tokens) else None


def _class_slots(folded: str) -> list[Slot]:
    """Slots filled by a thing of which one is used at a time: ``uses vim``, ``prefers dark mode``."""
    found: dict[str, set[str]] = {}
    for match in _CLASS_VERB.finditer(folded):
        clause = re.split(r"[;.]|\bbut\b|\bmas\b|\bfor\b|\bpara\b|\bover\b|\brather\b|\binstead\b|\bnot\b|\bnao\b", folded[match.end() :])[0]
        for token in _tokens(clause)[:6]:
            if (name := words.CLASS_OF.get(token)) is not None:
                found.setdefault(name, set()).add(token)
    who = _CLASS_VERB.split(folded)[0]
    entity = _entity(who)
    qualifier = frozenset(_content(_tokens(re.sub(r".*?\b(?:for|para|in|on|em)\b", "", folded)))) if re.search(
        r"\b(?:for|para)\b", folded
    ) else frozenset()
    return [Slot(entity | qualifier, f"one of {name}", frozenset(values)) for name, values in found.items()]


def compare(old: str, new: str, *, names: frozenset[str] = frozenset()) -> Relation:
    """How ``new`` relates to ``old``. ``names`` are folded words that mean the user (from the profile)."""
    a, b = read(old), read(new)
    if a.folded == b.folded:
        return Relation.SAME
    if (decided := _by_choice(a, b)) is not None:
        return decided
    if (decided := _by_words(a, b)) is not None:
        return decided
    if _reports_end(a, b):
        return Relation.UPDATES
    if (decided := _by_slots(a, b, names)) is not None:
        return decided
    return Relation.UNRELATED


def _jaccard(a: frozenset[str], b: frozenset[str]) -> float:
    return len(a & b) / len(a | b) if a or b else 0.0


def _by_choice(a: Statement, b: Statement) -> Relation | None:
    """Reversed preferences: ``tabs over spaces`` → ``spaces over tabs``; ``MySQL`` → ``Postgres, not MySQL``."""
    if b.rejected and a.rejected:
        if b.rejected & a.chosen and b.chosen & a.rejected:
            return Relation.UPDATES
        return None
    if b.rejected:
        rest = a.bag - b.rejected
        if b.rejected & a.bag and a.negations == 0 and rest and rest <= b.bag:
            return Relation.UPDATES
    elif a.rejected and a.rejected & b.bag and b.negations == 0 and not b.changes:
        common = a.chosen & b.bag
        if common and not (a.chosen - common) & b.bag and len(a.chosen - b.bag) <= 2:
            return Relation.UPDATES
    return None


def _by_words(a: Statement, b: Statement) -> Relation | None:
    """Statements of (nearly) the same words: numbers, negation and order decide."""
    if not a.bag or not b.bag:
        return None
    share = _jaccard(a.bag, b.bag)
    if share < SAME_SHARE:
        return None
    if Counter(a.identity_numbers) != Counter(b.identity_numbers):
        return Relation.UNRELATED
    if (a.negations > 0) != (b.negations > 0):
        return Relation.UPDATES if not a.value_numbers or a.value_numbers == b.value_numbers else None
    if Counter(a.value_numbers) != Counter(b.value_numbers):
        if not b.value_numbers:
            return Relation.SAME
        if not a.value_numbers:
            return Relation.REFINES
        if a.dated and b.dated and not any(s.attribute == "is" for s in b.slots):
            return Relation.UNRELATED
        return Relation.UPDATES
    if a.directed and b.directed and _inverted(a.stems, b.stems):
        return Relation.UNRELATED
    if a.bag == b.bag or b.bag < a.bag:
        return Relation.SAME
    if a.bag < b.bag:
        return Relation.REFINES
    return _by_slots(a, b, frozenset()) or (Relation.SAME if _one_word_apart(a, b) else None)


def _one_word_apart(a: Statement, b: Statement) -> bool:
    """Whether the words that differ are spellings of one (a different value must not pass for a rephrasing)."""
    extra_a, extra_b = sorted(a.bag - b.bag), sorted(b.bag - a.bag)
    return len(extra_a) == len(extra_b) == 1 and (
        extra_a[0].startswith(extra_b[0][:4]) and len(extra_b[0]) >= 4 and len(extra_a[0]) >= 4
    )


def _inverted(a: tuple[str, ...], b: tuple[str, ...]) -> bool:
    common = set(a) & set(b)
    first = list(dict.fromkeys(s for s in a if s in common))
    second = list(dict.fromkeys(s for s in b if s in common))
    return first != second


def _reports_end(a: Statement, b: Statement) -> bool:
    """``no longer uses Redis`` ends ``uses Redis``; ``migrated from X to Y`` ends ``uses X``."""
    if not b.retired or a.retired:
        return False
    values = b.retired
    if not values & a.bag:
        return False
    if b.adopted and b.adopted & a.bag and not b.adopted <= values:
        return False
    missing = a.bag - b.bag - _GROUP_STEMS - _COMMON_VERBS
    return len(values - a.bag - _COMMON_VERBS) == 0 and not missing


_COMMON_VERBS = frozenset(_stem(v) for v in words.VERBS)


def _by_slots(a: Statement, b: Statement, names: frozenset[str]) -> Relation | None:
    for mine in b.slots:
        for theirs in a.slots:
            if mine.attribute != theirs.attribute or mine.entity - names != theirs.entity - names:
                continue
            if mine.attribute == "is" and not (mine.entity and _comparable(a, b)):
                continue
            if mine.value == theirs.value:
                continue
            if mine.value & theirs.value and not mine.attribute.startswith(("one of", "use:")):
                if mine.value > theirs.value:
                    return Relation.REFINES
                if mine.value < theirs.value:
                    return Relation.SAME
                return Relation.UPDATES
            if mine.value & theirs.value:
                continue
            if (a.negations > 0) != (b.negations > 0):
                continue
            return Relation.UPDATES
    if a.slots and b.slots and _same_slots(a, b, names):
        return Relation.SAME if _jaccard(a.bag, b.bag) >= 0.5 else None
    return None


def _comparable(a: Statement, b: Statement) -> bool:
    """Values of one kind: a number is not replaced by an adjective."""
    return bool(a.value_numbers) == bool(b.value_numbers) or a.changes or b.changes


def _same_slots(a: Statement, b: Statement, names: frozenset[str]) -> bool:
    def keys(s: Statement) -> set[tuple[frozenset[str], str, frozenset[str]]]:
        return {(slot.entity - names, slot.attribute, slot.value) for slot in s.slots}

    return bool(keys(a) & keys(b)) and a.value_numbers == b.value_numbers and (a.negations > 0) == (b.negations > 0)


def related_words(text: str) -> str:
    """Words under which a statement's rivals may be found: other values and other phrasings of its slots."""
    extra: list[str] = []
    for slot in read(text).slots:
        if slot.attribute.startswith("one of "):
            extra += sorted(words.CLASSES[slot.attribute.removeprefix("one of ")])
        extra += _PHRASINGS.get(slot.attribute, ())
    return " ".join(extra)


_PHRASINGS: dict[str, tuple[str, ...]] = {
    "residence": ("lives", "living", "based", "resides", "moved", "relocated", "mora", "vive", "reside", "mudou"),
    "employer": ("works", "working", "employed", "joined", "trabalha", "entrou", "employer", "company"),
    "role": ("works", "role", "promoted", "trabalha", "cargo", "title"),
    "name": ("name", "called", "nome", "chama"),
}
