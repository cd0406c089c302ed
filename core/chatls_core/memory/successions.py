"""Does a statement in passing words end an older one? "Dropped Flutter after the spike", "bumped CI to Node 20".

What is read here is no rephrasing of what was known, but the way people tell a change: a thing is named that ended,
there is something now that was not, or the thing has another value of the same kind; and the rest of the older one is
about the same (spec/memory.md §18.1 rows 1-3). Where it says more than that, or of somebody else, both are kept.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import pairwise

from chatls_core.memory import slot_words as words
from chatls_core.memory.endings import FOR_ONCE, Ending, endings_in
from chatls_core.memory.statement_words import bag, content, is_number, stem, tokens_of
from chatls_core.memory.statements import Slot, Statement, how_it_is, stems_of
from chatls_core.memory.succession_words import (
    AGE,
    AHEAD,
    CAME_TO_BE,
    CHANGED,
    CLAUSES,
    DECIDED,
    EMPLOYED,
    EVENT,
    GENERIC,
    LEAVING,
    NAME_HEADS,
    ONE_OCCASION,
    PLAN_ENDED,
    PRICES,
    RESCHEDULED,
    UNDER_WAY,
    WEAK,
    WHOSE,
    idle,
    measures,
    neutral,
)
from chatls_core.memory.transitions import REASONS
from chatls_core.memory.typed_values import RHYTHMS, at_other_times, typed_values, without_values
from chatls_core.text import tokenizer

LONGEST = 400
"""Characters of a statement that is looked at: a longer text tells no change in passing, and takes long to read."""

_ONE_AT_A_TIME = ("rhythm", "money", "port", "version", "host", "path")
"""Kinds of values of which a thing has one, whether or not a change is told."""
_STATUS = ("one of marital", "one of diet")
"""Kinds of which a person has one, whatever else is said."""
_POINTS_BACK = re.compile(r"(?:now |agora )?\w+ (?:on|at|in|to|is|been|moved|em|n[oa]|para|a)\b|(?:it|it's|ela|ele)\b")
"""Begins a clause without a subject of its own."""
_WHEN = ("weekday", "clock", "date")
_OF_ANOTHER = re.compile(
    r"\b(?:calls?|connects? to|talks? to|forwards? to|proxies to|polls?|queries|spent|gastou|gastei)\b"
)
"""What a thing does to another, or with a part of a sum."""
_OF = frozenset({"of", "for", "de", "da", "do", "das", "dos", "para"})
_VERBS = words.VERBS | words.OWNING | words.RELATIONS
_DOES = words.VERBS | words.CHANGE_VERBS
_WHO = words.PERSON | words.GROUP
_WHEN_WORDS = words.KIND_OF.keys() | REASONS | RHYTHMS.keys()
_MEASURED = words.UNITS | (words.NUMBERED - words.ATTRIBUTES)
"""Units, and products whose number is a version."""
_NAMING = frozenset({"called", "named", "chamado", "chamada"})


def succeeds(a: Statement, b: Statement, names: frozenset[str]) -> bool:
    """Whether ``b``, said later, ends what ``a`` says. ``names`` are stems that mean the user."""
    if max(len(a.text), len(b.text)) > LONGEST or b.tentative or a.bag & WHOSE != b.bag & WHOSE:
        return False
    if a.negations:
        return _came_to_be(a, b)
    if (
        (a.past or EVENT.search(a.folded))
        and not a.slots
        and not DECIDED.search(a.folded)
        and not RESCHEDULED.search(a.folded)
    ):
        return False  # what happened once does not end
    if (a.tentative or AHEAD.search(a.folded)) and not PLAN_ENDED.search(b.folded):
        return False
    return _ends_thing(a, b, names) or _has_other_value(a, b, names)


def _came_to_be(a: Statement, b: Statement) -> bool:
    """Whether there is now what ``a`` denies: "has no rate limiting" → "rate limiting was added"."""
    if b.negations or b.besides or not CAME_TO_BE.search(b.folded):
        return False
    denied = a.bag - idle()
    if len(denied) < 2 or not denied | (_subject(a) - neutral()) <= b.bag:
        return False
    return not any(_tells_apart(token, a.bag | idle()) for token in _heads(tokens_of(b.folded), denied))


def _ends_thing(a: Statement, b: Statement, names: frozenset[str]) -> bool:
    """Whether ``b`` names a thing of ``a`` as ended, and the rest of ``a`` is about that, or about what ``b`` tells."""
    endings = _endings(b)
    if not endings or b.besides or at_other_times(a.folded, b.folded):
        return False
    if a.of_user != a.of_group and b.of_user != b.of_group and a.of_user != b.of_user:
        return False  # what "we" end is not the user's own
    known = a.bag | a.numbers | names
    over = a.transition.retired.union(*(ending.thing for ending in endings_in(a.folded)))
    for ending in endings:
        named = ending.thing - WEAK - NAME_HEADS or ending.thing - WEAK or ending.thing
        if named <= WHOSE or not named <= known or named & over or ending.actor - known:
            continue
        if ending.scope - known - GENERIC or (ending.passing and _is_for_once(a, b, named)):
            continue
        if b.transition.scope - known and not LEAVING.search(b.folded):
            continue
        if any(_slot_ends(slot, named, a, b, names) for slot in a.slots) or _is_about(a, b, named, over, ending.gone):
            return True
    return False


def _is_for_once(a: Statement, b: Statement, named: frozenset[str]) -> bool:
    """Whether the thing may only have been left or ended for once: what ``a`` tells of it goes on."""
    if ONE_OCCASION.search(b.folded) or _subject(a) & named:
        return True
    return "finished" in b.words and not (a.tentative or AHEAD.search(a.folded) or UNDER_WAY.search(a.folded))


def _endings(b: Statement) -> tuple[Ending, ...]:
    change = b.transition
    told = endings_in(b.folded)
    if not change.retired:
        return told
    return (*told, Ending(change.retired, change.actor, change.scope, passing=bool(FOR_ONCE.search(b.folded))))


def _slot_ends(slot: Slot, named: frozenset[str], a: Statement, b: Statement, names: frozenset[str]) -> bool:
    """Whether the thing is what fills a slot of ``a``, and ``b`` speaks of what has that slot, too."""
    if slot.attribute in ("state", "set", "when") or not named <= slot.value:
        return False
    if named != slot.value and not LEAVING.search(b.folded) and slot.attribute in ("employer", "residence"):
        return False  # to drop Redis is not to leave Redis Labs
    if slot.attribute in ("called", "name"):
        return True  # no two things of one user have one name
    holder = slot.entity - names - idle()
    if slot.attribute == "is":
        return holder <= stems_of(words.ATTRIBUTES)
    return holder <= b.bag or (b.by_us and holder <= a.ours)


def _is_about(a: Statement, b: Statement, named: frozenset[str], over: frozenset[str], gone: bool) -> bool:
    """Whether all that ``a`` says is about the thing, or about what ``b`` tells."""
    phrase, behind, subject = _phrase(a, named), _behind(a, named), _subject(a)
    if not gone and any(map(is_number, phrase)):
        return False  # so many of a thing are not the thing
    unsaid = a.bag - phrase - over - idle() - how_it_is(a) - measures()
    if unsaid <= b.bag or (unsaid <= behind and not subject & named):
        return True
    if gone and (
        (subject and subject <= phrase)
        or AHEAD.search(a.folded)
        or (a.bag - phrase - over - neutral()) & (b.bag - named)
    ):
        return True
    # Whoever leaves a firm has no role there.
    return not a.words.isdisjoint(EMPLOYED) and not unsaid & (behind | subject)


def _phrase(a: Statement, named: frozenset[str]) -> frozenset[str]:
    """The words of ``a`` that belong to the named ones: "diesel Golf", "Pixel 6", "a beagle called Otto".

    Behind a name only numbers do, or more of an employer's: Redis Labs is not Redis.
    """
    tokens = [t for t in tokens_of(a.folded) if t not in _NAMING]
    carries = [bool(content([t])) and t not in _DOES for t in tokens]
    employed = not a.words.isdisjoint(EMPLOYED)
    found = set(named)
    for place, token in enumerate(tokens):
        if stem(token) not in named:
            continue
        for step in (-1, 1):
            at = place + step
            while 0 <= at < len(tokens) and (is_number(tokens[at]) or (carries[at] and (step < 0 or employed))):
                found |= bag(tokens[at])
                at += step
    return frozenset(found)


def _behind(a: Statement, named: frozenset[str]) -> frozenset[str]:
    """What ``a`` says behind the named thing: for what, where or when it is."""
    tokens = tokens_of(a.folded)
    last = max((n for n, t in enumerate(tokens) if stem(t) in named), default=len(tokens))
    return frozenset(content(tokens[last + 1 :]))


def _subject(a: Statement) -> frozenset[str]:
    """What stands before the verb; nothing where that is the user."""
    tokens = tokens_of(a.folded)
    start = next((n for n, t in enumerate(tokens) if t in words.PERSON or content([t])), 0)
    verb = next((n for n, t in enumerate(tokens) if n > start and (t in _VERBS or not content([t]))), len(tokens))
    return frozenset(content(tokens[:verb]))


def _has_other_value(a: Statement, b: Statement, names: frozenset[str]) -> bool:
    """Whether ``b`` gives another value of one kind for what ``a`` speaks of: "rent is 1,150" → "we pay 1,240 now"."""
    old, new = typed_values(a.folded), typed_values(b.folded)
    for kind in old.keys() & new.keys():
        fresh = new[kind] - old[kind]
        if len(old[kind]) != 1 or len(fresh) != 1:
            continue
        if kind != "rhythm" and _apart(old, new, "rhythm"):
            continue  # the monthly plan and the yearly one
        clause = _clause_with(b.folded, fresh, kind)
        about = _about(_PLACE_LAST.sub("", _clause_with(a.folded, old[kind], kind)), kind) - names
        if not about or not about <= bag(clause) or _is_qualified(clause, about, a) or words.ADDITIONS.search(clause):
            continue
        if _elsewhere(a.folded, clause) or _OF_ANOTHER.search(clause):
            continue
        if kind in _WHEN and _said_besides(clause) - a.bag - names:
            continue  # "works on Mondays", "is away on Fridays"
        labels = {label for label in a.labels if label not in old[kind] and label in a.folded.split()}
        if labels - set(tokens_of(clause)):
            continue
        if kind in _STATUS or CHANGED.search(b.folded):
            return True
        if kind.startswith(_ONE_AT_A_TIME) and about == _about(clause, kind) - names:
            return True
    return False


def _apart(old: Mapping[str, frozenset[str]], new: Mapping[str, frozenset[str]], kind: str) -> bool:
    """Whether both hold values of a kind, and no common one."""
    return bool(old.get(kind)) and bool(new.get(kind)) and not old[kind] & new[kind]


_PLACE = re.compile(r"\b(?:in|at|em|n[oa]s?) (?:the |[oa]s? )?([a-z][\w-]*)")
_PLACE_LAST = re.compile(r"(?<=\d) (?:in|at|em|n[oa]s?) (?:the |[oa]s? )?[a-z][\w-]*$|(?<=[a-z]) at the [\w-]+$")


def _elsewhere(a: str, b: str) -> bool:
    """Whether two folded texts tell of other places: "in the US", "in Europe"."""
    here, there = ({place for place in _PLACE.findall(without_values(text)) if place not in REASONS} for text in (a, b))
    return bool(here) and bool(there) and not here & there


def _said_besides(clause: str) -> frozenset[str]:
    """What a folded clause says besides its values and that they are others, as stems."""
    said = tokens_of(CHANGED.sub(" ", without_values(clause)))
    return frozenset(content([t for t in said if t not in _WHEN_WORDS])) - idle() - stems_of(words.ATTRIBUTES)


def _about(text: str, kind: str) -> frozenset[str]:
    """What a folded text speaks of, without its values and what adds nothing, unless there is nothing else."""
    said = [
        token
        for token in tokens_of(without_values(text))
        if token not in _WHEN_WORDS and token not in _MEASURED and not CHANGED.fullmatch(token)
    ]
    whole = frozenset(content(said)) - frozenset({kind.removeprefix("amount of ")})
    bare = whole - idle()
    bare = (bare - PRICES or bare) if kind == "money" else bare
    first = frozenset(content([t for t in said if content([t])][:1])) & (stems_of(words.VERBS) | GENERIC)
    return bare - stems_of(words.ATTRIBUTES) or bare or whole - neutral() - WEAK or whole - neutral() or first or whole


def _clause_with(folded: str, values: frozenset[str], kind: str) -> str:
    """The clause that holds a value; with the one before where it only points back: "…, it's 1,240 now"."""
    clauses = CLAUSES.split(folded)
    for place, clause in enumerate(clauses):
        if values & typed_values(clause).get(kind, frozenset()):
            alone = _about(clause, kind) and not _POINTS_BACK.match(clause)
            return clause if alone or not place else f"{clauses[place - 1]} {clause}"
    return folded


def _is_qualified(clause: str, about: frozenset[str], a: Statement) -> bool:
    """Whether a clause is about another thing of that name: "staging server", "launch of the beta", "release notes"."""
    tokens = tokens_of(clause)
    known = a.bag | about | AGE
    beside = _heads(tokens, about)
    for place, token in enumerate(tokens):
        if stem(token) not in about and token not in words.ATTRIBUTES:
            continue
        before = tokens[max(place - 1, 0) : place]
        begins = place < 2 or tokens[place - 2] in _WHO
        # "return the book" does something, "the return flight" names something.
        beside += [t for t in before if not (begins and t in _DOES)]
        if tokens[place + 1 : place + 2] and tokens[place + 1] in _OF:
            beside += [t for t in tokens[place + 2 : place + 4] if not tokenizer.is_stop_word(t)][:1]
    return any(_tells_apart(other, known) for other in beside)


def _heads(tokens: list[str], about: frozenset[str]) -> list[str]:
    """What stands right behind one of some words: of "the release notes", the notes."""
    return [
        behind
        for token, behind in pairwise(tokens)
        if stem(token) in about and not frozenset(content([behind])) <= idle()
    ]


def _tells_apart(token: str, known: frozenset[str]) -> bool:
    if token in words.DISTINGUISHING:
        return True
    return not is_number(token) and bool(frozenset(content([token])) - known) and not CHANGED.fullmatch(token)
