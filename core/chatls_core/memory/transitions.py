"""What a statement says has ended, and what began in its place: "switched from X to Y", "sold the X", "no longer X"."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from chatls_core.memory.slot_words import CHANGE_VERBS, GROUP, KIND_OF, MONTHS, UNITS, VERBS
from chatls_core.memory.statement_words import bag, content, present, tokens_of
from chatls_core.memory.wordlists import word_set


@dataclass(frozen=True, slots=True)
class Transition:
    """``retired`` ended, ``adopted`` began (stems and numbers; either may be empty).

    ``actor`` is who did it, if named; ``scope`` where or for what alone it holds. With ``lost`` a thing was given away
    or died: that ends having it, not what was done with it.
    """

    retired: frozenset[str] = frozenset()
    adopted: frozenset[str] = frozenset()
    actor: frozenset[str] = frozenset()
    scope: frozenset[str] = frozenset()
    lost: bool = False


_CLAUSE = r"(?=[;,.](?:\s|$)|\s(?:and|but|because|since|so|e|mas|porque|pois)\b|$)"
_THE = r"(?:the |his |her |their |[oa]s? )?"
_EXCHANGES = tuple(
    re.compile(pattern)
    for pattern in (
        r"\b(?:switched|migrated|moved|changed|upgraded|downgraded|went|switching|migrating|moving|transitioned"
        r"|ported|converted)\b.{0,40}?\bfrom (?P<old>.+?) to (?P<new>.+)",
        r"\b(?:moved|migrated) (?:off|away from) (?P<old>.+?) (?:to|onto|in favou?r of) (?P<new>.+)",
        r"\b(?:dropped|ditched|abandoned|retired|scrapped) (?P<old>.+?) (?:in favou?r of|for) (?P<new>.+)",
        r"\b(?:renamed|changed|upgraded|converted|ported) (?P<old>.+?) to (?P<new>.+)",
        r"\b(?:replaced|swapped|replacing|traded|exchanged) (?:in |out )?(?P<old>.+?) (?:with|by|for) (?P<new>.+)",
        r"^(?P<old>.+?) (?:was|were|has been|foi|foram) (?:replaced|substituid[oa]s?) (?:by|with|por|pel[oa]) "
        r"(?P<new>.+)",
        r"\b(?P<new>.+?) (?:replaced|replaces|superseded|supersedes) (?P<old>.+)",
        r"\b(?:left|quit) (?P<old>.+?) (?:for|to join|and joined) (?P<new>.+)",
        r"\b(?:migr|mud|pass|troc|atualiz)(?:ou|ei|amos|aram)\b.{0,40}?\bd[eoa]s? (?P<old>.+?) "
        r"(?:para|pra|pro) (?:[oa]s? )?(?P<new>.+)",
        r"\b(?:troc(?:ou|amos|aram)|troquei|substitu(?:iu|i|imos|iram)|abandon(?:ou|ei|amos|aram)"
        r"|larg(?:ou|uei|amos|aram)) (?:[oa]s? )?(?P<old>.+?) (?:por|pel[oa]|em favor d[aeo]) (?P<new>.+)",
        r"\b(?:saiu|sai|saimos) d[aeo] (?P<old>.+?) (?:e|para) (?:entrou|foi|ir|entrar)? ?n?[ao]s? ?(?P<new>.+)",
    )
)
"""A change reported with both sides."""

_LOSSES = tuple(
    re.compile(pattern)
    for pattern in (
        rf"\b(?:sold|gave away|got rid of|donated|vend(?:eu|i|emos|eram)|do(?:ou|ei|amos)|(?:se )?(?:desfez|livrou)"
        rf" d[aeo]) {_THE}(?P<old>.+?){_CLAUSE}",
        rf"^{_THE}(?P<old>.+?) (?:has |have )?(?:died|passed away|morreu|morreram|faleceu)\b",
    )
)
_ENDS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"\bno longer (?P<old>.+?){_CLAUSE}",
        rf"\b(?:finished|done|completed|terminou de|acabou de) (?=\w+ing\b|\w+[aei]r\b)(?P<old>.+?){_CLAUSE}",
        rf"\b(?:(?:laid off|let go) (?:from|by)|(?:fired|dismissed|resigned|retired|graduated|divorced) from"
        rf"|(?:broke|split) up with) {_THE}(?P<old>.+?){_CLAUSE}",
        rf"\b(?:demitid[oa]|dispensad[oa]|(?:pediu|pedi) demissao|se (?:demitiu|aposentou|desligou|separou)"
        rf"|formou-se|se formou|terminou (?=com)) (?:d[aeo]|com|n[ao]|pel[ao]) (?P<old>.+?){_CLAUSE}",
        r"\b(?:stopped|quit|gave up|dropped|ditched|abandoned|removed|deprecated|cancelled|canceled|left) "
        rf"(?!(?:for|to|at|on|early|late)\b)(?P<old>.+?){_CLAUSE}",
        r"\b(?:does not|do not|is not|are not|did not) (?P<old>.+?) any ?more",
        rf"\bja nao (?P<old>.+?){_CLAUSE}",
        rf"\bnao (?P<old>.+? mais\b.*?|.+? mais){_CLAUSE}",
        r"\b(?:(?:deix|par)(?:ou|ei|amos|aram) de|abandon(?:ou|ei|amos|aram)|larg(?:ou|uei|amos|aram)"
        r"|remov(?:eu|i|emos)|cancel(?:ou|ei|amos)"
        rf"|saiu d[aeo]|nao .{{0,20}}mais) (?P<old>.+?){_CLAUSE}",
    )
)
"""Something that ended."""

_BESIDE = re.compile(
    r"\s(?:for|in|on|at|as|during|every|since|across|everywhere|when|para|em|n[oa]s?|como|durante|cada|desde|quando)\s"
)
"""Begins what is said beside a thing: for what, where, when."""
REASONS = (
    word_set(
        """
        performance speed cost costs price money simplicity security privacy reasons reason sake better good now today
        yesterday last next past recently year month week weekend early late start end day ago once everywhere all
        desempenho velocidade custo custos preco seguranca privacidade motivo motivos razoes ontem passado passada
        ultimo ultima comeco inicio fim tudo
        """
    )
    | MONTHS
    | UNITS
    | frozenset(word for word, kind in KIND_OF.items() if kind in ("weekday", "part-of-day"))
)
"""What stands beside a change and does not limit it: why and when."""
_NOBODY = GROUP | VERBS | CHANGE_VERBS


@lru_cache(maxsize=16384)
def transition_in(folded: str) -> Transition:
    """The change that a folded statement reports; an empty one for most."""
    for pattern in _EXCHANGES:
        if match := pattern.search(folded):
            new, *rest = _BESIDE.split(match["new"], maxsplit=1)
            return Transition(_thing(match["old"]), bag(new), _actor(folded, match), _scope(rest))
    for pattern in (*_LOSSES, *_ENDS):
        if match := pattern.search(folded):
            old = _thing(present(match["old"]))
            return Transition(old, actor=_actor(folded, match), lost=pattern in _LOSSES)
    return Transition()


def _thing(text: str) -> frozenset[str]:
    """What is named, without the words for when ("last week")."""
    timeless = " ".join(t for t in tokens_of(text) if t not in REASONS)
    return bag(timeless) or bag(text)


def main_part(text: str) -> str:
    """A part of a statement without what is said beside it: for what, where, when."""
    return _BESIDE.split(text, maxsplit=1)[0]


def beside(folded: str, thing: frozenset[str]) -> frozenset[str]:
    """What a statement says behind the words of ``thing``, if that only tells for what, where or when."""
    rest = folded
    while match := re.match(r"\s*[^\s,;]+", rest):
        if not thing & bag(rest):
            break
        rest = rest[match.end() :]
    return bag(rest) if _BESIDE.match(rest) else frozenset()


def _actor(folded: str, match: re.Match[str]) -> frozenset[str]:
    """Who or what changed, by the words before the change; nobody where "we" or the user did."""
    said = [t for t in tokens_of(folded[: match.start()]) if t not in _NOBODY]
    return frozenset(content(said))


def _scope(rest: list[str]) -> frozenset[str]:
    said = [t for part in rest for t in tokens_of(part) if t not in REASONS and t not in GROUP]
    return frozenset(content(said))
