"""Is a new statement the same as an old one, its update, or something else? (spec/memory.md §18.1 rows 1-5)

A bag of words cannot tell "Python 3.11" from "3.12", "tabs over spaces" from "spaces over tabs" or "lives in Lisbon"
from "moved to Porto". Here two statements are compared by their numbers, negations, what they prefer over what, the
change they report, and their slots: attributes of an entity with one value at a time. In doubt both are kept: an update
that is missed leaves two facts to choose from, a wrong one hides a fact that holds.
"""

from __future__ import annotations

import re
from collections import Counter
from difflib import SequenceMatcher
from enum import StrEnum

from chatls_core.memory import slot_words as words
from chatls_core.memory.endings import FOR_ONCE
from chatls_core.memory.statement_words import bag, stem
from chatls_core.memory.statements import (
    Slot,
    Statement,
    how_it_is,
    read,
    stems_of,
)
from chatls_core.memory.succession_words import NOT_FOR_GOOD, OF_ONE_OCCASION, ON_ONE_DAY, ONE_OCCASION, WHOSE
from chatls_core.memory.successions import succeeds
from chatls_core.memory.transitions import beside
from chatls_core.memory.typed_values import at_other_times, exact_values
from chatls_core.memory.wordlists import word_set
from chatls_core.text import tokenizer

_SIDES = tuple({*words.SIDES.items(), *((b, a) for a, b in words.SIDES.items())})

SAME_SHARE = 0.8
"""Jaccard similarity from which two statements say the same, numbers, negations and order aside."""


class Relation(StrEnum):
    """How a new statement relates to an old one."""

    UNRELATED = "unrelated"
    SAME = "same"
    REFINES = "refines"
    UPDATES = "updates"


def compare(old: str, new: str, *, names: frozenset[str] = frozenset()) -> Relation:
    """How ``new`` relates to ``old``. ``names`` are stems that mean the user (from the profile)."""
    a, b = read(old), read(new)
    if (
        _of_two_bounds(a, b)
        or (OF_ONE_OCCASION.search(new) and not OF_ONE_OCCASION.search(old))
        or _other_activity(a, b)
    ):
        return Relation.UNRELATED
    found = _compare(a, b, names)
    if found is Relation.UNRELATED and (outcome := _OUTCOME.search(new)):
        found = _compare(a, read(outcome["then"]), names)
    if found is Relation.UNRELATED and succeeds(a, b, names):
        found = Relation.UPDATES
    return Relation.UNRELATED if found is Relation.UPDATES and _goes_on(a, b) else found


def _goes_on(a: Statement, b: Statement) -> bool:
    """Whether what ``a`` says goes on: ``b`` adds to it, tells of other times, or of what was undone or not done."""
    if NOT_FOR_GOOD.search(b.folded) or (b.besides and not a.besides):
        return True
    if ON_ONE_DAY.search(b.folded) and exact_values(a.folded).keys() & {"weekday", "clock", "rhythm"}:
        return True
    return (a.negations > 0) != (b.negations > 0) and at_other_times(a.folded, b.folded)


def _compare(a: Statement, b: Statement, names: frozenset[str]) -> Relation:
    if a.folded == b.folded:
        return Relation.SAME
    if a.tentative != b.tentative or not _of_one_label(a, b):
        return Relation.UNRELATED
    decided = _by_holder(a, b, names) or _by_choice(a, b) or _by_words(a, b) or _by_denial(a, b)
    if decided is not None:
        return decided
    if _reports_end(a, b, names):
        return Relation.UPDATES
    return _by_slots(a, b, names) or _by_frame(a, b) or _by_complement(a, b) or Relation.UNRELATED


_BOUNDS = tuple(
    (word_set(first), word_set(last))
    for first, last in (
        (
            "start starts begin begins began open opens comeca comecam abre abrem inicia",
            "end ends finish finishes close closes expire expires termina terminam acaba acabam fecha fecham vence",
        ),
        ("minimum min least minimo", "maximum max most maximo"),
        ("leaves leave departs sai parte", "arrives arrive chega"),
    )
)
"""Of two times or amounts of one thing, which: one does not replace the other."""


_FINISHED = re.compile(r"\b(?:finished|done|completed|terminou de|acabou de) (\w+ing|\w+[aei]r)\b")


def _other_activity(a: Statement, b: Statement) -> bool:
    """Whether ``b`` ends doing something that ``a`` does not tell of: who finished reading a contract still has it."""
    return (done := _FINISHED.search(b.folded)) is not None and stem(done[1]) not in a.bag


def _of_two_bounds(a: Statement, b: Statement) -> bool:
    """Whether one tells the beginning of a thing, the other its end, or its minimum and maximum."""
    return any(
        a.words & mine and b.words & theirs and not a.words & theirs and not b.words & mine
        for first, last in _BOUNDS
        for mine, theirs in ((first, last), (last, first))
    )


_OUTCOME = re.compile(
    r"(?:, (?:so|and now|e agora|ent[ãa]o)|; now|; agora) (?P<then>(?:the|our|[oa]s?|user|\w+ \w+) .+)", re.IGNORECASE
)
"""What a statement tells last, as the outcome of the rest."""


def _of_one_label(a: Statement, b: Statement) -> bool:
    """Whether both speak of the same numbered thing: "server 1" is not "server 2". What a change brings may be new."""
    if a.labels == b.labels:
        return True
    mine, theirs = Counter(b.labels), Counter(a.labels)
    return bool(b.transition.adopted) and not theirs - mine and set(mine - theirs) <= b.transition.adopted


def _by_holder(a: Statement, b: Statement, names: frozenset[str]) -> Relation | None:
    """Who leads, runs or keeps a thing: "led by Rui" and "Rui took over" end "Ana leads"."""
    if a.negations or b.negations or b.besides or a.besides:
        return None
    for mine in b.held:
        for theirs in a.held:
            if mine.role != theirs.role or mine.thing != theirs.thing:
                continue
            if not _who(mine.holder, names) & _who(theirs.holder, names) and (mine.sole or b.now):
                return Relation.UPDATES
    if b.passing is None or not b.passing.thing:
        return None
    offices = stems_of(words.OFFICES)
    held = [(h.thing, h.holder) for h in a.held] + [
        (s.entity, s.value) for s in a.slots if s.attribute == "is" and s.entity & offices
    ]
    old, new = _who(b.passing.old, names), _who(b.passing.new, names)
    for thing, holder in held:
        mine_now = _who(holder, names)
        if thing == b.passing.thing and (not old or old <= mine_now) and not new & mine_now:
            return Relation.UPDATES
    return None


def _who(holder: frozenset[str], names: frozenset[str]) -> frozenset[str]:
    """Who is meant, with one word for the user; two teams are not one for being teams."""
    if holder and not holder - names:
        return frozenset({"user"})
    return holder - names - stems_of(words.GROUP) or holder


def _by_choice(a: Statement, b: Statement) -> Relation | None:
    """Reversed preferences: ``tabs over spaces`` → ``spaces over tabs``; ``MySQL`` → ``Postgres, not MySQL``."""
    if b.rejected and a.rejected:
        reversed_ = b.rejected & a.chosen and b.chosen & a.rejected
        return Relation.UPDATES if reversed_ else None
    if b.rejected:
        rest = a.bag - b.rejected - stems_of(words.GROUP) - stems_of(words.VERBS) - _what_it_is(a, b.rejected)
        if b.rejected <= a.bag and a.negations == 0 and rest <= b.bag and not a.words & words.MULTIPLE:
            return Relation.UPDATES
    elif a.rejected and a.rejected <= b.bag and b.negations == 0 and not b.changes and not b.words & words.MULTIPLE:
        rest = b.bag - a.rejected - stems_of(words.GROUP) - stems_of(words.VERBS)
        if rest <= a.bag and a.chosen - b.bag:
            return Relation.UPDATES
    return None


def _by_words(a: Statement, b: Statement) -> Relation | None:
    """Statements of (nearly) the same words: numbers, negation and order decide."""
    if not a.bag or not b.bag or _of_other_kinds(a, b):
        return None
    if len(a.bag & b.bag) / len(a.bag | b.bag) < SAME_SHARE:
        if not a.value_numbers or not b.value_numbers or Counter(a.value_numbers) == Counter(b.value_numbers):
            return None
        core, rest = a.bag - stems_of(words.VERBS), b.bag - stems_of(words.VERBS)
        bare = core - stems_of(words.UNITS) - a.changing
        alike = bare == rest - stems_of(words.UNITS) - b.changing if bare else core == rest
        return _by_numbers(a, b) if core and (alike or _core(a) == _core(b)) else None
    if (a.negations > 0) != (b.negations > 0):
        return Relation.UPDATES if not a.value_numbers or a.value_numbers == b.value_numbers else None
    if Counter(a.value_numbers) != Counter(b.value_numbers):
        return _by_numbers(a, b)
    if a.directed and b.directed and _inverted(a.stems, b.stems):
        return Relation.UNRELATED
    if any(word in a.words and other in b.words and word not in b.words for word, other in _SIDES):
        return Relation.UPDATES
    if _core(a) == _core(b):
        return Relation.SAME
    return _by_slots(a, b, frozenset()) or _by_frame(a, b) or (Relation.SAME if _one_spelling(a, b) else None)


def _of_other_kinds(a: Statement, b: Statement) -> bool:
    """Whether both hold values, and none of one kind ("lasts 10 minutes", "at 10:00"), or of two rhythms ("the monthly
    plan costs 12", "the yearly plan costs 110")."""
    mine, theirs = exact_values(a.folded), exact_values(b.folded)
    shared = mine.keys() & theirs.keys()
    if "rhythm" in shared and len(shared) > 1:
        return not mine["rhythm"] & theirs["rhythm"]
    return bool(mine) and bool(theirs) and not shared


def _by_denial(a: Statement, b: Statement) -> Relation | None:
    """One denies what the other says: ``has no license`` → ``has an MIT license``."""
    if (a.negations > 0) == (b.negations > 0) or a.rejected or b.rejected or b.transition.retired:
        return None
    denial, claim = (a, b) if a.negations else (b, a)
    if (a.bag ^ b.bag) & WHOSE:
        return None
    if a.of_user != b.of_user or (claim.bag ^ denial.bag) & stems_of(words.VERBS):
        return None
    said, denied = claim.bag - stems_of(words.VERBS), denial.bag - stems_of(words.VERBS)
    alike = denied and denied <= said and len(said - denied) <= 1
    return Relation.UPDATES if alike and a.value_numbers == b.value_numbers else None


def _by_numbers(a: Statement, b: Statement) -> Relation:
    """The same words with other numbers behind the verb."""
    if not b.value_numbers:
        return Relation.SAME
    if not a.value_numbers:
        return Relation.REFINES
    if a.dated and b.dated and not any(s.attribute in ("is", "when") for s in b.slots):
        return Relation.UNRELATED
    return Relation.UPDATES


def _one_spelling(a: Statement, b: Statement) -> bool:
    """Whether the words that differ are spellings of one: another value must not pass for a rephrasing."""
    mine, theirs = sorted(a.bag - b.bag), sorted(b.bag - a.bag)
    if not len(mine) == len(theirs) == 1 or not (mine[0].isalpha() and theirs[0].isalpha()):
        return False
    return min(len(mine[0]), len(theirs[0])) >= 6 and SequenceMatcher(None, mine[0], theirs[0]).ratio() >= 0.88


def _core(statement: Statement) -> frozenset[str]:
    """What is said, without common verbs and words for the work at hand (unless there is nothing else)."""
    return statement.bag - stems_of(words.VERBS) - stems_of(words.GROUP) or statement.bag


def _inverted(a: tuple[str, ...], b: tuple[str, ...]) -> bool:
    common = set(a) & set(b)
    first = list(dict.fromkeys(s for s in a if s in common))
    second = list(dict.fromkeys(s for s in b if s in common))
    return first != second


def _reports_end(a: Statement, b: Statement, names: frozenset[str]) -> bool:
    """``no longer uses Redis`` ends ``uses Redis for caching``; ``migrated from X to Y`` ends ``uses X``."""
    change = b.transition
    if not change.retired or not _may_be_ended(a, b, names):
        return False
    if FOR_ONCE.search(b.folded) and ONE_OCCASION.search(b.folded):
        return False  # who left Porto at 8 this morning still lives there
    unsaid = a.bag - b.bag - change.retired - stems_of(words.GROUP) - stems_of(words.VERBS) - how_it_is(a)
    unsaid -= _what_it_is(a, change.retired)
    if change.lost:
        return not unsaid - stems_of(words.OWNING)
    unsaid -= stems_of(words.RELATIONS)
    if not unsaid:
        return True
    more = b.bag - a.bag - change.retired - change.adopted
    if more - stems_of(words.GROUP) - stems_of(words.VERBS) - stems_of(words.CHANGE_VERBS):
        return False  # it speaks of more than the change, so perhaps not of all of ``a``
    return unsaid <= beside(a.folded, change.retired) or (b.by_us and not change.actor and unsaid <= a.ours)


def _what_it_is(a: Statement, thing: frozenset[str]) -> frozenset[str]:
    """What ``a`` calls ``thing``: a phone, by "the user's phone is a Pixel"."""
    named = [s.entity for s in a.slots if s.attribute == "is" and s.value <= thing]
    return frozenset().union(*(entity for entity in named if entity <= stems_of(words.ATTRIBUTES)))


def _may_be_ended(a: Statement, b: Statement, names: frozenset[str]) -> bool:
    """Whether ``a`` says of what ``b`` retires that it is, and of the same holder and place."""
    change, known = b.transition, a.bag | a.numbers
    if a.negations or a.transition.retired or (a.past and not a.slots):
        return False  # what never was, and what happened once, does not end
    if a.of_user & b.of_group or a.of_group & b.of_user:
        return False
    if not change.retired & known or change.retired - known - stems_of(words.VERBS):
        return False
    if change.adopted and change.adopted <= known and not change.adopted <= change.retired:
        return False
    if change.lost and not a.words & words.OWNING and not any(s.value <= change.retired for s in a.slots):
        return False  # what was done with a thing stays true when it is gone
    return not change.scope - known and not change.actor - change.retired - names - known


def _by_slots(a: Statement, b: Statement, names: frozenset[str]) -> Relation | None:
    shared = False
    for mine in b.slots:
        for theirs in a.slots:
            if mine.attribute != theirs.attribute or mine.entity - names != theirs.entity - names:
                continue
            if mine.attribute in ("is", "state") and not (mine.entity and _comparable(a, b)):
                continue
            if mine.attribute in ("sent", "team") and not b.changes:
                continue
            if (left := _MOVED_FROM.search(b.folded)) and not bag(left["old"]) & theirs.value:
                continue  # who moved from Leith to Dundee lives in Scotland still
            shared = shared or (mine.value == theirs.value and a.value_numbers == b.value_numbers)
            if (decided := _by_values(mine, theirs)) is None or (a.negations > 0) != (b.negations > 0):
                continue
            return decided
    alike = len(a.bag & b.bag) / max(1, len(a.bag | b.bag)) >= 0.5
    if not shared or not alike or (a.negations > 0) != (b.negations > 0):
        return None
    if _core(b) <= _core(a):
        return Relation.SAME
    return Relation.REFINES if _core(a) < _core(b) else None


_MOVED_FROM = re.compile(
    r"\b(?:moved|relocated|mud(?:ou|aram)(?:-se)?) (?:house )?(?:from|d[eoa]s?) (?P<old>.+?) (?:to|para|pra)\b"
)


def _by_values(mine: Slot, theirs: Slot) -> Relation | None:
    """Two values of one slot; ``None`` when they agree or may stand together."""
    if mine.value == theirs.value:
        return None
    if not mine.value & theirs.value:
        return Relation.UPDATES
    if mine.attribute.startswith(("one of", "use:")):
        return None
    if mine.value > theirs.value:
        return Relation.REFINES
    return Relation.SAME if mine.value < theirs.value else Relation.UPDATES


def _comparable(a: Statement, b: Statement) -> bool:
    """Values of one kind: a number is not replaced by an adjective, nor a rhythm by a date."""
    if _of_other_kinds(a, b):
        return False
    mine, theirs = {k for k, _ in a.kinds}, {k for k, _ in b.kinds}
    if mine and theirs and not mine & theirs:
        return False
    return bool(a.value_numbers) == bool(b.value_numbers) or a.changes or b.changes


def _by_frame(a: Statement, b: Statement) -> Relation | None:
    """The same words around other values of one kind: ``meets on Tuesdays`` → ``meets on Thursdays``."""
    if (
        not a.kinds
        or a.dated
        or b.dated
        or a.frame != b.frame
        or not (a.frame or any(k in words.CLASSES for k, _ in a.kinds))
    ):
        return None
    if [k for k, _ in a.kinds] != [k for k, _ in b.kinds] or a.kinds == b.kinds:
        return None
    if (a.negations > 0) != (b.negations > 0):
        return None
    changed = [(mine, theirs) for (_, mine), (_, theirs) in zip(a.kinds, b.kinds, strict=True) if mine != theirs]
    # Two that differ at once make it another statement: "React lives in src/ui", "Vue lives in src/legacy".
    return Relation.UPDATES if len(changed) == 1 and not changed[0][0] & changed[0][1] else None


def _by_complement(a: Statement, b: Statement) -> Relation | None:
    """The same words up to the last part, which is another now: ``authenticates with JWT now``."""
    if not b.now or a.negations or b.negations or a.besides or b.besides or (a.words | b.words) & words.MULTIPLE:
        return None
    old, new = a.spoken, b.spoken
    shared = next((n for n, (x, y) in enumerate(zip(old, new, strict=False)) if x != y), 0)
    if not 2 <= shared <= len(old) - 1 or max(len(old), len(new)) - shared > _LONGEST_COMPLEMENT:
        return None
    verb = old[shared - 1]
    if verb in words.MEANS and shared >= 3:
        verb = old[shared - 2]
        done = old[shared - 3] in words.TO_BE and old[shared - 1] not in ("on", "at") and _PARTICIPLE.fullmatch(verb)
        sole = verb in words.ONE_BY_MEANS or bool(done)
    else:
        sole = verb in words.ONE_AT_A_TIME and not tokenizer.is_stop_word(old[shared])
    return Relation.UPDATES if sole and not set(old[shared:]) & set(new[shared:]) else None


_LONGEST_COMPLEMENT = 4
_PARTICIPLE = re.compile(r"\w+(?:ed|en|[aiou]d[oa]s?)|done|built|sent|held|made|kept|run|paid|feit[oa]s?")


def related_words(text: str) -> str:
    """Words under which a statement's rivals may be found: other values and other phrasings of its slots."""
    extra: list[str] = []
    for slot in read(text).slots:
        if slot.attribute.startswith("one of "):
            extra += sorted(words.CLASSES[slot.attribute.removeprefix("one of ")])
        extra += _PHRASINGS.get(slot.attribute, ())
        if not slot.entity.isdisjoint(_OFFICES):
            extra += _OFFICE_PHRASINGS
    return " ".join(extra)


_OFFICES = frozenset({"boss", "manag"})
_OFFICE_PHRASINGS = ("boss", "manager", "reports", "chefe", "gerente", "reporta", "responde")


def asked_with(text: str) -> tuple[str, ...]:
    """Words of questions that a statement answers without saying them: ``moved to Porto`` tells where one lives."""
    if not _ASKED_HINT.search(text):
        return ()
    found: list[str] = []
    for slot in read(text).slots:
        if slot.attribute in _ASKED and (slot.attribute in ("called", "name") or len(slot.entity) <= 1):
            found += _ASKED[slot.attribute]
    return tuple(dict.fromkeys(found))


_ASKED = {
    "residence": ("live", "home", "city", "moro", "casa", "cidade"),
    "employer": ("work", "job", "company", "employer", "trabalho", "emprego", "empresa"),
    "role": ("work", "job", "role", "title", "trabalho", "cargo", "profissao"),
    "name": ("name", "called", "nome"),
    "called": ("name", "called", "nome"),
}
_ASKED_HINT = re.compile(
    r"mov(?:ed|ing)|relocat|liv(?:es?|ing)|based|resid|work|employ|joined|started at|called|named|goes by|promoted"
    r"| is an? |became|mor[ao]|viv[eo]|mud(?:ou|ei)|trabalh|entrou|cham[ao]|promovid| é ",
    re.IGNORECASE,
)
"""What a text must hold to tell one of these; reading 100,000 texts as statements takes a while."""

_PHRASINGS: dict[str, tuple[str, ...]] = {
    "residence": ("lives", "living", "based", "resides", "moved", "relocated", "mora", "vive", "reside", "mudou"),
    "employer": ("works", "working", "employed", "joined", "trabalha", "entrou", "employer", "company"),
    "team": ("team", "squad", "equipe", "time"),
    "located": ("located", "moved", "relocated", "mudou", "fica"),
    "role": ("works", "role", "promoted", "trabalha", "cargo", "title"),
    "name": ("name", "called", "nome", "chama"),
}
