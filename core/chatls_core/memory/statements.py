"""A statement as read: its content words, numbers, negations, choices, the change it reports, and its slots."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise

from chatls_core.memory import slot_patterns as patterns
from chatls_core.memory import slot_words as words
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

    ``stems`` are its content words in order without numbers, negations and fillers. ``labels`` are numbers and letters
    that name something ("server 2", "plan B"), sorted; ``value_numbers`` say how much or which version.
    ``chosen``/``rejected`` are the sides of a preference, ``retired``/``adopted`` those of a change. ``frame`` is the
    bag without values of a known kind, ``kinds`` those values; both are empty when the verb goes with many values.
    """

    folded: str
    stems: tuple[str, ...]
    labels: tuple[str, ...]
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
    frame: frozenset[str]
    kinds: tuple[tuple[str, frozenset[str]], ...]

    @property
    def words(self) -> frozenset[str]:
        """All words, as they stand there without case and accents."""
        return frozenset(tokens_of(self.folded))

    @property
    def of_user(self) -> bool:
        """Whether it speaks of the user."""
        return not self.words.isdisjoint(words.PERSON)

    @property
    def of_group(self) -> bool:
        """Whether it speaks of the work at hand."""
        return not self.words.isdisjoint(words.GROUP)

    @property
    def bag(self) -> frozenset[str]:
        """Content words as a set."""
        return frozenset(self.stems)


_TOKEN = re.compile(r"[a-z][a-z0-9+.\-]*://[^\s,;]+|\d+(?:[.:/,\-]\d+)*%?|[a-z][\w+#]*(?:[.\-/@][\w+#]+)*|[^\W_]+")
_WORD_VERSION = re.compile(r"([a-z]{3,})v?(\d+(?:\.\d+)+)")
_VERSION = re.compile(r"v(\d+(?:\.\d+)*)")
_ORDINAL = re.compile(r"\b(\d+)(?:st|nd|rd|th|o|a)\b")
_GO = re.compile(r"(?<=\w )Go\b")
"""The language, which the verb must not hide."""
_EVERY = re.compile(rf"\b(every|each|cada) ({'|'.join(sorted(words.UNITS))})\b")
_POSSESSIVE = re.compile(r"(\w+)'s\b")
_ENDINGS = (
    (re.compile(r"([cs])oes$"), r"\1ao"),
    (re.compile(r"(?<=\w\w)([ae])ndo$"), r"\1"),
    (re.compile(r"(?<=\w\w)indo$"), "e"),
)
"""Portuguese plurals and gerunds, which the English stemmer does not know."""
_AUXILIARY_NOT = re.compile(r"n['’]t\b")
_COMPOUND = re.compile(
    r"\bgithub actions\b|\bgitlab ci\b|\bvs code\b|\b(?:single|double) quotes\b|\baspas (?:simples|duplas)\b"
)
_STATE = re.compile(r"(?:\w+(?:ed|[ai]d[ao]s?)|slow|fast|flaky|stable|lent[oa]|rapid[oa])")
_YEAR = re.compile(r"(?:19|20)\d\d")
_ISO_DATE = re.compile(r"(?:19|20)\d\d-[01]\d(?:-[0-3]\d)?")
_PAST = re.compile(r"\w{2,}(?:[^\We]ed|\wou|\weu|\wiu)")
"""A verb that tells what happened once."""


def fold(text: str) -> str:
    """Lower case without accents, contractions written out."""
    text = _GO.sub("golang", " ".join(text.split()))
    text = tokenizer.fold(text).replace("’", "'")
    text = text.replace("can't", "can not").replace("won't", "will not")
    text = _COMPOUND.sub(lambda m: m[0].replace(" ", "-"), text)
    text = _ORDINAL.sub(r"\1", text)
    text = _EVERY.sub(r"\1 1 \2", text)
    text = _POSSESSIVE.sub(lambda m: m[1] + " is" * (m[1] in _BEFORE_IS), text)
    return _AUXILIARY_NOT.sub(" not", text).rstrip(" .!")


_BEFORE_IS = frozenset({"it", "that", "he", "she", "there", "what", "who", "where", "here"})
"""Words behind which ``'s`` is a verb."""


def tokens_of(folded: str) -> list[str]:
    """Words, numbers, identifiers, addresses; ``python3.12`` is parted, ``alpha7`` is not, number words are digits."""
    found: list[str] = []
    for token in _TOKEN.findall(folded):
        if match := _WORD_VERSION.fullmatch(token):
            found += match.groups()
        elif match := _VERSION.fullmatch(token):
            found.append(match[1])
        else:
            found.append(words.NUMBERS.get(token, token.rstrip(".")))
    return found


def is_number(token: str) -> bool:
    """Whether a token is a number, a version, a time or a share."""
    return token[0].isdigit()


def stem(token: str) -> str:
    """The stem of a token; a word that says the contrary of another becomes that word."""
    token = words.OPPOSITES.get(token, token)
    for ending, singular in _ENDINGS:
        token = ending.sub(singular, token)
    return tokenizer.stem(words.IN_ENGLISH.get(token, token), "en") if token.isascii() else token


def content(tokens: list[str]) -> tuple[str, ...]:
    """Stems that carry a statement: no numbers, negations, fillers, stop words or words for the user."""
    return tuple(
        stem(t)
        for t in tokens
        if not is_number(t)
        and t not in words.NEGATIONS
        and t not in words.FILLERS
        and t not in words.PERSON
        and not tokenizer.is_stop_word(t)
    )


def bag(text: str) -> frozenset[str]:
    """Content stems and numbers of a part of a statement."""
    tokens = tokens_of(text)
    return frozenset(content(tokens)) | {t for t in tokens if is_number(t)}


@cache
def group_stems() -> frozenset[str]:
    """Stems of words for the work at hand."""
    return frozenset(stem(w) for w in words.GROUP)


@cache
def verb_stems() -> frozenset[str]:
    """Stems of common verbs."""
    return frozenset(stem(v) for v in words.VERBS)


@cache
def change_stems() -> frozenset[str]:
    """Stems of verbs that only say that something changed."""
    return frozenset(stem(v) for v in words.CHANGE_VERBS)


@cache
def unit_stems() -> frozenset[str]:
    """Stems of units."""
    return frozenset(stem(u) for u in words.UNITS)


@cache
def participle_stems() -> frozenset[str]:
    """Stems of "stored", "built", …: how something is in its place."""
    return frozenset(stem(p) for p in patterns.PARTICIPLES.split("|") if p.isalpha())


@lru_cache(maxsize=16384)
def read(text: str) -> Statement:
    """Read a statement."""
    folded = fold(text)
    tokens = tokens_of(folded)
    labels, values = _numbers(tokens, folded, text)
    pair = words.PAIR.match(folded)
    chosen = bag(pair["chosen"]) if pair else frozenset()
    rejected = bag(_BESIDE.split(pair["rejected"])[0]) if pair else frozenset()
    portuguese = not words.PORTUGUESE.isdisjoint(tokens)
    negations = sum(t in words.NEGATIONS and not (portuguese and t == "no") for t in tokens)
    negations += sum(t in words.OPPOSITES for t in tokens)
    if chosen and rejected:
        negations = 0
    retired, adopted = _transition(folded)
    stems = content(tokens)
    frame, kinds = _frame(tokens, stems)
    return Statement(
        folded=folded,
        stems=stems,
        labels=labels,
        value_numbers=values,
        negations=negations,
        chosen=chosen,
        rejected=rejected,
        retired=retired,
        adopted=adopted,
        changes=bool(words.UPDATE_MARKS.search(folded)),
        dated=_is_dated(tokens),
        directed=any(t in words.DIRECTED for t in tokens),
        slots=tuple(_slots(folded, text)),
        frame=frame,
        kinds=kinds,
    )


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
        if position < verb < len(tokens) or not _is_value(token, before, counts, folded, text):
            labels.append(token)
        else:
            values.append(token)
    return tuple(sorted(labels)), tuple(values)


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


_LETTER = re.compile(r"(?<=\w )(?<!\bin )(?<!\bem )[A-HJ-Z]\b(?![\w+#'’])")
_USES = re.compile(
    r"\b(?:uses?|using|runs?|requires?|needs?|targets?|supports?|upgraded|downgraded|migrated|moved|switched|usa|usam"
    r"|requer|precisa|migrou|atualizou)\b"
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
    rest = frozenset(stems) - values - group_stems()
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


def _transition(folded: str) -> tuple[frozenset[str], frozenset[str]]:
    for pattern in words.TRANSITIONS:
        if match := pattern.search(folded):
            return bag(match["old"]), bag(_BESIDE.split(match["new"])[0])
    for pattern in words.RETIREMENTS:
        if match := pattern.search(folded):
            return bag(_INFINITIVE.sub(_present, match["old"])), frozenset()
    return frozenset(), frozenset()


_BESIDE = re.compile(
    r"\s(?:for|in|on|at|as|during|every|since|across|everywhere|when|para|em|n[oa]s?|como|durante|cada|desde|quando)\s"
)
"""Begins what is said beside a thing: for what, where, when."""
_INFINITIVE = re.compile(r"\b(\w{2,})([aei])r\b(?= |$)")


def _present(match: re.Match[str]) -> str:
    """A Portuguese infinitive as "he does": ``fumar`` → ``fuma``, ``dirigir`` → ``dirige``."""
    return match[1] + ("e" if match[2] == "i" else match[2])


def beside(statement: Statement, thing: frozenset[str]) -> frozenset[str]:
    """What a statement says behind the words of ``thing``, if that only tells for what, where or when."""
    rest = statement.folded
    while match := re.match(r"\s*[^\s,;]+", rest):
        if not thing & bag(rest):
            break
        rest = rest[match.end() :]
    return bag(rest) if _BESIDE.match(rest) else frozenset()


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
        elif name == "set":
            if any(words.IN_ENGLISH.get(t, t) in words.ATTRIBUTES for t in tokens_of(match["who"])):
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
        elif name == "is":
            if _has_one_value(match["who"], match["value"], text):
                found.append(Slot(entity, "state" if _STATE.fullmatch(match["value"]) else "is", value))
        elif name in ("residence", "employer") and not _is_place(match["value"], text):
            continue
        elif name == "residence" and _is_group(match["who"]):
            continue  # a project that "moved to" something did not move house
        else:
            found.append(Slot(entity, name, value))
    return [*found, *_class_slots(folded)]


def _is_group(text: str) -> bool:
    return any(t in words.GROUP for t in tokens_of(text))


def _entity(text: str) -> frozenset[str]:
    return frozenset(content(tokens_of(text))) - group_stems() - change_stems()


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
                word = words.IN_ENGLISH.get(token, token)
                found.setdefault(name, set()).add(words.ALIKE.get(word, word))
        beside |= set(content([t for t in tokens if t not in words.CLASS_OF and t not in words.NEUTRAL]))
    if not found:
        return []
    entity = _entity(patterns.CLASS_VERB.split(folded)[0]) | (beside - group_stems() - verb_stems())
    return [Slot(entity, f"one of {name}", frozenset(values)) for name, values in found.items()]
