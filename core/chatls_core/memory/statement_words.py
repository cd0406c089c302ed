"""A statement's words: folded, cut into tokens, stemmed, in English and Portuguese (spec/memory.md §18.1 1-3)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from chatls_core.memory import slot_words as words
from chatls_core.memory.wordlists import word_pairs
from chatls_core.text import tokenizer
from chatls_core.text.translations import PAIRS

_TOKEN = re.compile(r"[a-z][a-z0-9+.\-]*://[^\s,;]+|\d+(?:[.:/,\-]\d+)*%?|[a-z][\w+#]*(?:[.\-/@][\w+#]+)*|[^\W_]+")
_WORD_VERSION = re.compile(r"([a-z]{3,})v?(\d+(?:\.\d+)+)")
_VERSION = re.compile(r"v(\d+(?:\.\d+)*)")
_ORDINAL = re.compile(r"\b(\d+)(?:st|nd|rd|th|o|a)\b")
_GO = re.compile(r"(?<=\w )Go\b")
"""The language, which the verb must not hide."""
_EVERY = re.compile(rf"\b(every|each|cada) ({'|'.join(sorted(words.UNITS))})\b")
_POSSESSIVE = re.compile(r"(\w+)'s\b")
_IS = re.compile(
    r"\b(\w+)'s (?=(?:an?|the|not|on|in|at|due|now|still|always|called|named|down|up|back|off|over|gone|finished|done"
    r"|finally)\b|\d)"
)
"""``'s`` before what something is; before a noun it tells whose."""
_DATABASE = re.compile(r"\b(?:bancos?|bases?) de dados\b")
_CONTRACTED = re.compile(r"\b(i|we|you|they)'(m|re|ve|ll)\b")
_I_AM = re.compile(r"\bi am\b")
_WRITTEN_OUT = {"m": "am", "re": "are", "ve": "have", "ll": "will"}
FIRST_PERSON = word_pairs(
    """
    tenho:tem temos:tem uso:usa utilizo:utiliza prefiro:prefere gosto:gosta odeio:odeia detesto:detesta evito:evita
    fumo:fuma bebo:bebe pago:paga ganho:ganha durmo:dorme dirijo:dirige sou:e estou:esta
    """
)
"""Portuguese verbs of one who speaks of himself, as said of him."""
_FIRST_PERSON = re.compile(
    rf"^((?:(?:eu|agora|ja|nao|hoje|atualmente) )*)({'|'.join(sorted(FIRST_PERSON))})\b(?! d[ao] )"
)
_CLOCK = re.compile(r"\b(\d{1,2})h(\d\d)\b")
_TEAM = re.compile(r"\btime(?= d[aeo]s? )|(?:(?<=\bo )|(?<=\bao )|(?<=\bpelo )|(?<=\bnosso ))time\b")
"""The Portuguese team, not the English time."""
_MARRIED = re.compile(r"\b(?:se casou|casou-se|casou|got married)\b")
_DIVORCED = re.compile(r"\b(?:se divorciou|divorciou-se|got divorced)\b")
_BECAME = re.compile(r"\bpass(?:ou|aram|amos|ei) a (?P<verb>\w+r)\b")
_INFINITIVE = re.compile(r"\b(\w{2,})([aei])r\b(?= |$)")
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


def fold(text: str) -> str:
    """Lower case without accents, contractions written out."""
    text = _GO.sub("golang", " ".join(text.split()))
    text = tokenizer.fold(text).replace("’", "'")
    text = text.replace("can't", "can not").replace("won't", "will not")
    text = _CONTRACTED.sub(lambda m: f"{m[1]} {_WRITTEN_OUT[m[2]]}", text)
    text = _I_AM.sub("i is", text)
    text = _FIRST_PERSON.sub(lambda m: m[1] + FIRST_PERSON[m[2]], text)
    text = _DATABASE.sub("database", text)
    text = _COMPOUND.sub(lambda m: m[0].replace(" ", "-"), text)
    text = _ORDINAL.sub(r"\1", text)
    text = _EVERY.sub(r"\1 1 \2", text)
    text = _MARRIED.sub("is married", _DIVORCED.sub("is divorced", text))
    text = _TEAM.sub("equipe", _CLOCK.sub(r"\1:\2", text))
    text = _BECAME.sub(lambda m: "agora " + ("e" if m["verb"] == "ser" else present(m["verb"])), text)
    text = text.replace("-feiras", "s").replace("-feira", "")
    text = _IS.sub(r"\1 is ", text)
    text = _POSSESSIVE.sub(lambda m: m[1] + " is" * (m[1] in _BEFORE_IS), text)
    return _AUXILIARY_NOT.sub(" not", text).rstrip(" .!")


def present(text: str) -> str:
    """Portuguese infinitives as "he does": ``fumar`` → ``fuma``, ``dirigir`` → ``dirige``."""
    return _INFINITIVE.sub(lambda m: m[1] + ("e" if m[2] == "i" else m[2]), text)


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


@cache
def translations() -> Mapping[str, str]:
    """The first English word for each Portuguese one; those that statements turn on come before the general ones."""
    return {first: english for first, english, *_ in map(str.split, PAIRS.strip().splitlines())} | words.IN_ENGLISH


def in_english(token: str) -> str:
    """The English word for a folded Portuguese one, or its plural; empty for one that is not known."""
    known = translations()
    return known.get(token) or (known.get(token[:-1], "") if token.endswith("s") else "")


def stem(token: str) -> str:
    """The stem of a token; a word that says the contrary of another becomes that word."""
    token = words.OPPOSITES.get(token, token)
    for ending, singular in _ENDINGS:
        token = ending.sub(singular, token)
    token = in_english(token) or words.SPELLINGS.get(token, token)
    return tokenizer.stem(token, "en") if token.isascii() else token


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


def holder(text: str) -> frozenset[str]:
    """The stems of who is meant; the user and "we" are somebody, too."""
    tokens = tokens_of(text)
    named = frozenset(content(tokens))
    if named or not tokens:
        return named
    return frozenset({"user"} if not words.PERSON.isdisjoint(tokens) else {"we"})
