"""A statement as read: its content words, numbers, negations, choices, the change it reports, and its slots."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache

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
    def bag(self) -> frozenset[str]:
        """Content words as a set."""
        return frozenset(self.stems)


_TOKEN = re.compile(r"[a-z][a-z0-9+.\-]*://[^\s,;]+|\d+(?:[.:/,]\d+)*%?|[a-z][\w+#]*(?:[.\-/@][\w+#]+)*|[^\W_]+")
_WORD_VERSION = re.compile(r"([a-z]{3,})v?(\d+(?:\.\d+)+)")
_VERSION = re.compile(r"v(\d+(?:\.\d+)*)")
_AUXILIARY_NOT = re.compile(r"n['’]t\b")
_COMPOUND = re.compile(r"\bgithub actions\b|\bgitlab ci\b|\bvs code\b")
_STATE = re.compile(r"(?:\w+(?:ed|[ai]d[ao]s?)|slow|fast|flaky|stable|lent[oa]|rapid[oa])")
_YEAR = re.compile(r"(?:19|20)\d\d")


def fold(text: str) -> str:
    """Lower case without accents, contractions written out."""
    text = tokenizer.fold(" ".join(text.split())).replace("’", "'")
    text = text.replace("can't", "can not").replace("won't", "will not")
    text = _COMPOUND.sub(lambda m: m[0].replace(" ", "-"), text)
    return _AUXILIARY_NOT.sub(" not", text).rstrip(" .!")


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
    return tokenizer.stem(words.OPPOSITES.get(token, token), "en") if token.isascii() else token


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


@lru_cache(maxsize=16384)
def read(text: str) -> Statement:
    """Read a statement."""
    folded = fold(text)
    tokens = tokens_of(folded)
    labels, values = _numbers(tokens, folded, text)
    pair = words.PAIR.match(folded)
    chosen = bag(pair["chosen"]) if pair else frozenset()
    rejected = bag(pair["rejected"]) if pair else frozenset()
    negations = sum(t in words.NEGATIONS for t in tokens) + sum(t in words.OPPOSITES for t in tokens)
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


_LETTER = re.compile(r"(?<=\w )[A-HJ-Z]\b(?![\w+#'’])")
_USES = re.compile(
    r"\b(?:uses?|using|runs?|requires?|needs?|targets?|supports?|upgraded|downgraded|migrated|moved|switched|usa|usam"
    r"|requer|precisa|migrou|atualizou)\b"
)


def _frame(tokens: list[str], stems: tuple[str, ...]) -> tuple[frozenset[str], tuple[tuple[str, frozenset[str]], ...]]:
    if any(t in words.MULTIPLE for t in tokens):
        return frozenset(), ()
    kinds: dict[str, set[str]] = {}
    values: set[str] = set()
    for token in tokens:
        kind = words.KIND_OF.get(token) or ("address" if "://" in token or "/" in token.strip("/") else None)
        if kind is not None and not is_number(token):
            kinds.setdefault(kind, set()).add(token.rstrip("s") if kind == "weekday" else token)
            values.add(stem(token))
    rest = frozenset(stems) - values - group_stems()
    return rest, tuple(sorted((kind, frozenset(found)) for kind, found in kinds.items()))


def _transition(folded: str) -> tuple[frozenset[str], frozenset[str]]:
    for pattern in words.TRANSITIONS:
        if match := pattern.search(folded):
            return bag(match["old"]), bag(match["new"])
    for pattern in words.RETIREMENTS:
        if match := pattern.search(folded):
            return bag(match["old"]), frozenset()
    return frozenset(), frozenset()


def _is_dated(tokens: list[str]) -> bool:
    """Whether the numbers are a date that tells one event from another."""
    for before, token in zip(["", *tokens], tokens, strict=False):
        if _YEAR.fullmatch(token) and before in {"in", "em", "on", "since", "of", "de", *words.MONTHS}:
            return True
        if is_number(token) and (before in words.MONTHS or _YEAR.fullmatch(before)):
            return True
    return False


_END = r"(?= (?:from|since|with|because|for|as|and|but|desde|com|porque|como|mas)\b|[,;.(]|$)"
_NOW = r"(?:now |currently |again |back |agora |atualmente )?"
_JUST = r"(?:has |have |is |just |recently )*"
_PARTICIPLES = (
    "stored|hosted|kept|located|deployed|written|published|saved|managed|scheduled|built|maintained|owned|handled|run"
    "|served|tracked|named|called|armazenad[oa]s?|hospedad[oa]s?|escrit[oa]s?|guardad[oa]s?|gerenciad[oa]s?|mantid[oa]s?"
)
_PATTERNS = tuple(
    (name, re.compile(pattern))
    for name, pattern in (
        (
            "residence",
            rf"^(?P<who>.{{0,40}}?)\b(?:is )?{_NOW}(?:lives?|living|resides?|based|mora(?:ndo)?|moro|vive|vivo|reside) "
            rf"{_NOW}(?:in|at|em|no|na) (?P<value>.+?){_END}",
        ),
        (
            "residence",
            rf"^(?P<who>.{{0,40}}?)\b{_JUST}(?:moved|relocated|moving|mudou(?:-se)?|mudei(?:-me)?|se mudou|me mudei) "
            rf"(?:house |casa )?{_NOW}(?:from .+? )?(?:to|para|pra)(?: [oa])? (?P<value>.+?){_END}",
        ),
        (
            "employer",
            rf"^(?P<who>.{{0,40}}?)\b(?:is )?{_NOW}(?:works?|working|employed|trabalha(?:ndo)?|trabalho) {_NOW}"
            rf"(?:at|for|by|na|no|em|para a?) (?P<value>.+?){_END}",
        ),
        ("employer", rf"^(?P<who>.{{0,40}}?)\b{_JUST}(?:joined|started at|entrou na) (?P<value>.+?){_END}"),
        (
            "role",
            rf"^(?P<who>.{{0,40}}?)\b(?:is )?{_NOW}(?:works?|working|trabalha(?:ndo)?) {_NOW}(?:as|como) "
            rf"(?:an? |the )?(?P<value>.+?){_END}",
        ),
        ("role", rf"^(?P<who>.{{0,40}}?)\b(?:was |got |foi )?(?:promoted to|promovid[oa] a) (?P<value>.+?){_END}"),
        ("name", rf"^(?P<who>.{{0,20}}?)\b(?:goes by|chama-se|se chama) (?P<value>.+?){_END}"),
        (
            "use-for",
            r"^(?P<who>.{0,40}?)\b(?:uses?|using|usa|usam|utiliza) (?P<value>.+?) (?:for|as|para|como) "
            r"(?:the |an? |[oa] )?(?P<what>[^,;.]+)$",
        ),
        (
            "use-for",
            r"^(?:for|para) (?P<what>[^,;.]+?),? (?P<who>.{0,40}?)\b(?:uses?|usa|usam|utiliza) (?P<value>[^,;.]+)$",
        ),
        (
            "placed",
            rf"^(?P<who>[^,;]{{2,60}}?) (?:is|are|esta|estao|sao|e|fica|ficam) {_NOW}(?P<what>{_PARTICIPLES}) "
            rf"{_NOW}(?:in|on|at|by|with|to|em|n[oa]s?|com|por|pel[oa]) (?P<value>.+?){_END}",
        ),
        (
            "holds",
            r"^(?P<value>[^,;:]{2,30}?) (?:is|e) (?:now |agora )?(?:the|our|my|[oa]|nosso|nossa) (?P<who>[^,;]+)$",
        ),
        (
            "is",
            r"^(?P<who>[^,;:=]{2,60}?)(?: (?:is|are|was|e|sao|fica|equals) (?:now |agora |set to |called |named |em )?"
            r"| (?:is |was |were |has been |foi )?(?:changed|moved|renamed|raised|increased|reduced|lowered|bumped"
            r"|extended|set|mudou|changes|alterad[oa]|aumentad[oa]) (?:from .+? )?(?:to|para) |\s*[:=] ?)"
            r"(?P<value>.+?)(?=[,;]|$)",
        ),
    )
)
_CLASS_VERB = re.compile(
    r"\b(?:uses?|using|prefers?|likes?|switched to|moved to|migrated to|adopted|runs?(?: on)?|develops on|works? on"
    r"|deploys? (?:to|on)|deployed (?:to|on)|hosted (?:on|at)|wants?|indent(?:s|ed)? with|(?:is|are)(?: now)?"
    r"|usa|usam|utiliza|prefere|migrou para|passou a usar|trocou para|roda em|hospedado n[ao]|quer|esta agora|e) "
)
_CLAUSE_END = re.compile(r"[;.](?:\s|$)|\b(?:but|mas|over|rather|instead|not|nao|because|porque|since)\b")


def _slots(folded: str, text: str) -> list[Slot]:
    found: list[Slot] = []
    for name, pattern in _PATTERNS:
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
        elif name == "holds":
            if any(t in words.ATTRIBUTES for t in tokens_of(match["who"])) and len(value) <= 3:
                found.append(Slot(entity, "is", value))
        elif name == "is":
            if _has_one_value(match["who"], match["value"], text):
                found.append(Slot(entity, "state" if _STATE.fullmatch(match["value"]) else "is", value))
        elif name == "residence" and _is_group(match["who"]):
            continue  # a project that "moved to" something did not move house
        else:
            found.append(Slot(entity, name, value))
    return [*found, *_class_slots(folded)]


def _is_group(text: str) -> bool:
    return any(t in words.GROUP for t in tokens_of(text))


def _entity(text: str) -> frozenset[str]:
    return frozenset(content(tokens_of(text))) - group_stems()


def _has_one_value(subject: str, value: str, text: str) -> bool:
    """Whether ``subject is value`` names a thing that has one value at a time: by the subject, or by an exact value."""
    tokens = tokens_of(subject)
    if any(t in words.ATTRIBUTES for t in tokens):
        return True
    exact = len(value.split()) == 1 and bool(re.search(r"[/\d_@:]|\.\w", value))
    named = re.search(rf"\b{re.escape(value.split()[0])}", text, re.IGNORECASE)
    proper = len(value.split()) <= 2 and named is not None and named[0][:1].isupper() and named.start() > 0
    return (exact or proper) and bool(content(tokens))


def _class_slots(folded: str) -> list[Slot]:
    """Slots filled by a thing of which one is used at a time: ``uses vim``, ``prefers dark mode``.

    What else the clause says ("for Go files") belongs to the entity: it must be the same in both statements.
    """
    found: dict[str, set[str]] = {}
    beside: set[str] = set()
    for match in _CLASS_VERB.finditer(folded):
        clause = _CLAUSE_END.split(folded[match.end() :])[0]
        tokens = tokens_of(clause)
        for token in tokens:
            if (name := words.CLASS_OF.get(token)) is not None:
                found.setdefault(name, set()).add(token)
        beside |= set(content([t for t in tokens if t not in words.CLASS_OF and t not in words.NEUTRAL]))
    if not found:
        return []
    entity = _entity(_CLASS_VERB.split(folded)[0]) | (beside - group_stems() - verb_stems())
    return [Slot(entity, f"one of {name}", frozenset(values)) for name, values in found.items()]
