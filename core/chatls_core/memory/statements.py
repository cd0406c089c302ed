"""A statement as read: its content words, numbers, negations, choices, the change it reports, and its slots."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise

from chatls_core.memory import slot_patterns as patterns
from chatls_core.memory import slot_words as words
from chatls_core.memory.holders import Held, Passing, held_in, passing_in
from chatls_core.memory.statement_words import bag, content, fold, in_english, is_number, stem, tokens_of
from chatls_core.memory.transitions import Transition, main_part, transition_in
from chatls_core.text import tokenizer


@dataclass(frozen=True, slots=True)
class Slot:
    """One attribute of one entity, and its value, as sets of stems."""

    entity: frozenset[str]
    attribute: str
    value: frozenset[str]


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement as read.

    ``words`` are all its words without case and accents, ``numbers`` those that are numbers. ``stems`` are its content
    words in order, and ``bag`` as a set, without numbers, negations and fillers. ``labels`` are numbers and letters
    that name something ("server 2", "plan B"), sorted; ``value_numbers`` say how much or which version.
    ``chosen``/``rejected`` are the sides of a preference. ``past``: it tells what happened once; ``now``: it is said to
    be so at present; ``besides``: together with others; ``tentative``: it is only thought of.
    ``frame`` is the bag without values of a known kind, ``kinds`` those values; both are empty when the verb goes with
    many values.
    """

    text: str
    folded: str
    words: frozenset[str]
    numbers: frozenset[str]
    stems: tuple[str, ...]
    bag: frozenset[str]
    labels: tuple[str, ...]
    value_numbers: tuple[str, ...]
    negations: int
    chosen: frozenset[str]
    rejected: frozenset[str]
    changes: bool
    now: bool
    besides: bool
    tentative: bool
    dated: bool
    past: bool
    directed: bool
    slots: tuple[Slot, ...]
    frame: frozenset[str]
    kinds: tuple[tuple[str, frozenset[str]], ...]

    @property
    def of_user(self) -> bool:
        """Whether it speaks of the user."""
        return not self.words.isdisjoint(words.PERSON)

    @property
    def transition(self) -> Transition:
        """The change it reports."""
        return transition_in(self.folded)

    @property
    def held(self) -> tuple[Held, ...]:
        """Who leads or keeps what."""
        return held_in(self.folded)

    @property
    def passing(self) -> Passing | None:
        """What passed from one to another."""
        return passing_in(self.folded)

    @property
    def ours(self) -> frozenset[str]:
        """The subject where it is a thing of the work at hand, else nothing."""
        return _ours(self.folded, self.text)

    @property
    def spoken(self) -> tuple[str, ...]:
        """Its words in order, without fillers and signs of the present."""
        return tuple(t for t in tokens_of(words.PRESENT_MARKS.sub(" ", self.folded)) if t not in words.FILLERS)

    @property
    def by_us(self) -> bool:
        """Whether "we" say or do it; a Portuguese verb alone tells."""
        return self.of_group or _WE_DO.match(self.folded) is not None

    @property
    def changing(self) -> frozenset[str]:
        """Stems of its verbs that only say that something changed."""
        return frozenset(stem(t) for t in tokens_of(self.folded) if t in words.CHANGE_VERBS)

    @property
    def of_group(self) -> bool:
        """Whether it speaks of the work at hand."""
        return not self.words.isdisjoint(words.GROUP)


_STATE = re.compile(r"(?:\w+(?:ed|[ai]d[ao]s?)|slow|fast|flaky|stable|lent[oa]|rapid[oa])")
_WE_DO = re.compile(r"\w{3,}mos\b")
_OUR_THING = re.compile(
    r"(?:(?:the|our|[oa]s?|noss[oa]s?) (?P<named>[\w-]+)|(?P<plural>[\w-]+(?: \w+ing)?)) "
    r"(?:uses?|usam?|runs? on|rodam? (?:em|n[oa]s?)|is|are|e|sao|ficam?)\b"
)
"""A thing and what it uses or how it is done."""
_PLURAL_VERB = re.compile(r"(?:are|use|run|sao|usam|rodam|ficam)\b")
_IS_DONE = re.compile(
    r"\b(?:is|are|e|sao|esta|estao|fica|ficam) (?:now |agora )?(\w+(?:ed|en|wn|[aiou]d[oa]s?|eit[oa]s?)|done|built|sent"
    r"|held|made|kept|run|put) (?:with|by|on|in|at|via|through|to|com|por|pel[oa]s?|em|n[oa]s?|via)\b"
)
_YEAR = re.compile(r"(?:19|20)\d\d")
_ISO_DATE = re.compile(r"(?:19|20)\d\d-[01]\d(?:-[0-3]\d)?")
_PAST = re.compile(r"\w{2,}(?:[^\We]ed|\wou|\weu|\wiu)")
"""A verb that tells what happened once."""


@cache
def stems_of(wordlist: frozenset[str]) -> frozenset[str]:
    """The stems of a list of words."""
    return frozenset(map(stem, wordlist))


@cache
def participle_stems() -> frozenset[str]:
    """Stems of "stored", "built", …: how something is in its place."""
    return frozenset(stem(p) for p in patterns.PARTICIPLES.split("|") if p.isalpha())


def how_it_is(statement: Statement) -> frozenset[str]:
    """Stems of the participles of a statement: ``are generated with``, ``é feita com``."""
    return participle_stems() | {stem(m[1]) for m in _IS_DONE.finditer(statement.folded)}


@lru_cache(maxsize=16384)
def read(text: str) -> Statement:
    """Read a statement."""
    folded = fold(text)
    tokens = tokens_of(folded)
    numbers, values = _numbers(tokens, folded, text)
    labels = tuple(sorted((*numbers, *_names(tokens))))
    pair = words.PAIR.match(folded) or words.PREFERENCE.search(folded)
    chosen = bag(pair["chosen"]) if pair else frozenset()
    rejected = bag(main_part(pair["rejected"])) if pair else frozenset()
    portuguese = not words.PORTUGUESE.isdisjoint(tokens)
    negations = sum(t in words.NEGATIONS and not (portuguese and t == "no") for t in tokens)
    negations += sum(t in words.OPPOSITES for t in tokens)
    if chosen and rejected:
        negations = 0
    stems = content(tokens)
    frame, kinds = _frame(tokens, stems)
    return Statement(
        text=text,
        folded=folded,
        words=frozenset(tokens),
        numbers=frozenset(filter(is_number, tokens)),
        stems=stems,
        bag=frozenset(stems),
        labels=labels,
        value_numbers=values,
        negations=negations,
        chosen=chosen,
        rejected=rejected,
        changes=bool(words.UPDATE_MARKS.search(folded)),
        now=bool(words.PRESENT_MARKS.search(folded)),
        besides=bool(words.ADDITIONS.search(folded)),
        tentative=bool(words.TENTATIVE.search(folded)),
        dated=_is_dated(tokens),
        past=_tells_an_event(tokens),
        directed=any(t in words.DIRECTED for t in tokens),
        slots=tuple(_slots(folded, text)),
        frame=frame,
        kinds=kinds,
    )


def _ours(folded: str, text: str) -> frozenset[str]:
    """The subject, where it is a thing that nobody else has: "The worker uses …", "Images are hosted on …"."""
    match = _OUR_THING.match(folded)
    if match is None:
        return frozenset()
    thing = match["named"] or match["plural"]
    said = text.split()[: len(folded[: match.end(match.lastgroup or 0)].split())]
    named = any(w[:1].isupper() for w in said[1:])
    sure = match["named"] or " " in thing or _PLURAL_VERB.match(folded[match.end("plural") :].lstrip())
    return frozenset() if named or not sure or not words.OTHERS.isdisjoint(thing.split()) else bag(thing)


def _numbers(tokens: list[str], folded: str, text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """``(labels, values)``: a number is a value behind a verb or preposition, or as a version or port; else a name."""
    verb = next((i for i, t in enumerate(tokens) if t in words.VERBS), len(tokens))
    labels = [letter.lower() for letter in _LETTER.findall(text)]
    values: list[str] = []
    for position, token in enumerate(tokens):
        if not is_number(token):
            continue
        before = next((t for t in reversed(tokens[:position]) if t not in words.FILLERS), "")
        if position and is_number(tokens[position - 1]):  # one number written in groups
            (values if tokens[position - 1] in values else labels).append(token)
            continue
        counts = position + 1 < len(tokens) and bool(content([tokens[position + 1]]))
        if position > 1 and tokens[position - 1] in ("with", "com"):
            before = tokens[position - 2]  # "indents with 4 spaces"
            (values if counts and before in words.VERBS else labels).append(token)
        elif position < verb < len(tokens) or not _is_value(token, before, counts, folded, text):
            labels.append(token)
        else:
            values.append(token)
    return tuple(labels), tuple(values)


def _names(tokens: list[str]) -> list[str]:
    """Words that tell one thing from another though they are dropped elsewhere: "other", a foreign stop word."""
    english = sum(t in words.ENGLISH_ONLY for t in tokens)
    portuguese = sum(t in words.PORTUGUESE_ONLY for t in tokens)
    foreign: frozenset[str] = frozenset()
    if english > portuguese:
        foreign = words.PORTUGUESE_ONLY
    elif portuguese > english:
        foreign = words.ENGLISH_ONLY
    return [t for t in tokens if t in words.DISTINGUISHING or t in foreign]


def _is_value(number: str, before: str, counts: bool, folded: str, text: str) -> bool:
    if before in words.LABELS or not before:
        return False
    if before in words.BEFORE_VALUES or before in words.NUMBERED or "." in number or _YEAR.fullmatch(before):
        return True
    if before in words.VERBS:
        return counts or before not in words.NOUN_LIKE
    if re.search(rf"\b{re.escape(before)}\s*[:=]\s*v?{re.escape(number)}\b", folded):
        return True
    product = re.search(rf"(?<=.)\b{re.escape(before)}\b", text, re.IGNORECASE)
    return product is not None and product[0][:1].isupper() and bool(_USES.search(folded))


_LETTER = re.compile(r"(?<=\w )(?<!\bin )(?<!\bem )[A-HJ-Z]\b(?![\w+#'’-])")
_USES = re.compile(
    r"\b(?:uses?|using|runs?|requires?|needs?|targets?|supports?|upgraded|downgraded|migrated|moved|switched|usa|usam"
    r"|bumped|requer|precisa|migrou|atualizou|(?:atualiz|migr|mud|pass)amos)\b"
)


def _frame(tokens: list[str], stems: tuple[str, ...]) -> tuple[frozenset[str], tuple[tuple[str, frozenset[str]], ...]]:
    if any(t in words.MULTIPLE for t in tokens) or _tells_an_event(tokens):
        return frozenset(), ()
    kinds: dict[str, set[str]] = {}
    values: set[str] = set()
    verb = next((i for i, t in enumerate(tokens) if t in words.VERBS or t in words.CHANGE_VERBS), 1)
    for token in tokens[verb:]:
        kind = words.KIND_OF.get(token) or ("address" if "://" in token or "/" in token.strip("/") else None)
        if kind is not None and not is_number(token):
            kinds.setdefault(kind, set()).add(token.rstrip("s") if kind == "weekday" else token)
            values.add(stem(token))
    rest = frozenset(stems) - values - stems_of(words.GROUP)
    return rest, tuple(sorted((kind, frozenset(found)) for kind, found in kinds.items()))


_BEFORE_NOUNS = frozenset({"", "the", "a", "an", "our", "my", "o", "os", "um", "uma", "nosso", "nossa", "be", "been"})


def _tells_an_event(tokens: list[str]) -> bool:
    """Whether the first verb is in the past and no auxiliary stands before it."""
    for before, token in pairwise(["", *tokens]):
        if token in words.VERBS or token in words.CHANGE_VERBS:
            return False
        if _PAST.fullmatch(token) and before not in _BEFORE_NOUNS:
            return True
    return False


def _is_dated(tokens: list[str]) -> bool:
    """Whether the numbers are a date that tells one event from another."""
    if any(map(_ISO_DATE.fullmatch, tokens)):
        return True
    named = [t for t in tokens if t not in ("of", "de", "the")]
    for before, token in pairwise(["", *named]):
        if token in words.MONTHS and before.isdigit():
            return True
        if is_number(token) and (before in words.MONTHS or _YEAR.fullmatch(before)):
            return True
    prepositions = {"in", "em", "on", "since", "of", "de", *words.MONTHS}
    return any(_YEAR.fullmatch(token) and before in prepositions for before, token in pairwise(["", *tokens]))


_CLAUSE_END = re.compile(r"[;.](?:\s|$)|\b(?:but|mas|over|rather|instead|not|nao|because|porque|since)\b")


def _slots(folded: str, text: str) -> list[Slot]:
    found: list[Slot] = []
    for name, pattern in patterns.PATTERNS:
        match = pattern.search(folded)
        if match is None:
            continue
        entity = _entity(match["who"])
        value = bag(match["value"]) or frozenset(tokens_of(match["value"])) - words.FILLERS - words.PERSON
        if not value:
            continue
        if name == "use-for":
            if purpose := bag(match["what"]):
                found.append(Slot(entity, "use:" + " ".join(sorted(purpose)), value))
        elif name == "placed":
            if entity:
                found.append(Slot(entity, "placed:" + stem(match["what"]), value))
        elif name == "boss":
            thing = re.match(r"(?:the|an?|[oa]s?) (?!user|usuari)", match["who"])  # "the worker reports to Sentry"
            if _is_named(match["value"], text) and not _is_group(match["who"]) and not thing:
                found += [Slot(entity | {stem(office)}, "is", value) for office in ("boss", "manager")]
        elif name == "license":
            found.append(Slot(entity | {stem(name)}, "is", value))
        elif name == "set":
            if any((in_english(t) or t) in words.ATTRIBUTES for t in tokens_of(match["who"])):
                found.append(Slot(entity, "is", value))
        elif name == "called":
            if named := frozenset(content(tokens_of(match["who"]))):  # "the team" has a name, "the project" another
                found.append(Slot(named, name, value))
        elif name == "when":
            if (entity or "born" in folded or "nasceu" in folded) and (
                kinds_of(match["value"]) & {"month", "weekday"} or _YEAR.search(match["value"])
            ):
                found.append(Slot(entity, name, value))
        elif name in ("located", "sent"):
            if entity and (_is_named(match["value"], text) or match["value"][0] in "#@/"):
                found.append(Slot(entity, name, value))
        elif name == "holds":
            if any(t in words.ATTRIBUTES for t in tokens_of(match["who"])) and len(value) <= 3:
                found.append(Slot(entity, "is", value))
        elif name == "call me":
            if _is_named(match["value"], text):
                found.append(Slot(entity, "name", value))
        elif name == "is":
            if entity == {stem("name")} and not words.PERSON.isdisjoint(tokens_of(match["who"])):
                found.append(Slot(frozenset(), "name", value))
            if _has_one_value(match["who"], match["value"], text):
                found.append(Slot(entity, "state" if _STATE.fullmatch(match["value"]) else "is", value))
        elif name in ("residence", "employer") and not _is_place(match["value"], text):
            continue
        elif name == "residence" and _is_group(match["who"]):
            continue  # a project that "moved to" something did not move house
        else:
            found.append(Slot(entity, name, value))
    return [*found, *_class_slots(folded)]


_NEW = re.compile(r"\b(?:new|nov[oa]|current) (?=(\w+)(?: (\w+))?)")
"""A new manager takes the place of the manager."""


def _is_group(text: str) -> bool:
    return any(t in words.GROUP for t in tokens_of(text))


def _entity(text: str) -> frozenset[str]:
    text = _NEW.sub(lambda m: "" if {m[1], m[2]} & words.ATTRIBUTES else m[0], text)
    return frozenset(content(tokens_of(text))) - stems_of(words.GROUP) - stems_of(words.CHANGE_VERBS)


def _has_one_value(subject: str, value: str, text: str) -> bool:
    """Whether ``subject is value`` names a thing that has one value at a time: by the subject, or by an exact value."""
    tokens = tokens_of(subject)
    if any(t in words.ATTRIBUTES for t in tokens):
        return True
    exact = len(value.split()) == 1 and bool(re.search(r"[/\d_@:]|\.\w", value))
    proper = len(value.split()) <= 2 and _is_named(value, text)
    return (exact or proper) and bool(content(tokens))


def kinds_of(text: str) -> frozenset[str]:
    """The kinds of values that a text names."""
    return frozenset(words.KIND_OF[t] for t in tokens_of(text) if t in words.KIND_OF)


def _is_place(value: str, text: str) -> bool:
    """Whether one may live or be employed there: "Porto", "the Times"; not "night", "the gym", "Neovim"."""
    place = re.sub(r"^(?:the|[oa]s?) ", "", value)
    words_of = place.split()
    if any(w in words.CLASS_OF for w in words_of):
        return False
    if text.islower():  # one who writes without capitals names places so, too
        return len(words_of) <= 3 and place == value and words_of[0] not in words.NO_PLACE and len(words_of[0]) > 2
    return _is_named(place, text) and (place == value or _is_named(words_of[-1], text))


def _is_named(value: str, text: str) -> bool:
    """Whether a value is written as a name."""
    first = value.split()[0]
    spellings = (word for word in re.split(r"[^\w#@/.+-]+", text)[1:] if tokenizer.fold(word).startswith(first))
    return next(spellings, "")[:1].isupper()


def _labels_of(name: str) -> frozenset[str]:
    return frozenset(map(stem, words.CLASS_LABELS.get(name, ())))


def _class_slots(folded: str) -> list[Slot]:
    """Slots filled by a thing of which one is used at a time: ``uses vim``, ``prefers dark mode``.

    What else the clause says ("for Go files") belongs to the entity: it must be the same in both statements.
    """
    found: dict[str, set[str]] = {}
    beside: set[str] = set()
    for match in patterns.CLASS_VERB.finditer(folded):
        clause = _CLAUSE_END.split(folded[match.end() :])[0]
        tokens = tokens_of(clause)
        for token in tokens:
            if (name := words.CLASS_OF.get(token)) is not None:
                word = in_english(token) or token
                found.setdefault(name, set()).add(words.ALIKE.get(word, word))
        beside |= set(content([t for t in tokens if t not in words.CLASS_OF and t not in words.NEUTRAL]))
    beside -= participle_stems()
    if not found:
        return []
    subject = _entity(patterns.CLASS_VERB.split(folded)[0])
    entity = subject | (beside - stems_of(words.GROUP) - stems_of(words.VERBS))
    return [
        Slot(subject if name == "marital" else entity - _labels_of(name), f"one of {name}", frozenset(values))
        for name, values in found.items()
    ]
