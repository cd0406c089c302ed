"""Who leads, runs, keeps or writes what: told by the holder or by the thing held, or told as it passes on.

"Ana leads the mobile squad" is updated by "The mobile squad is led by Rui", "Rui took over the mobile squad" and "Ana
handed the mobile squad over to Rui", in either language (spec/memory.md §18.1 row 3). A team has one leader; that a
module has one maintainer only a word like "now" tells.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache

from chatls_core.memory.statement_words import bag, holder
from chatls_core.memory.wordlists import word_set


@dataclass(frozen=True, slots=True)
class Held:
    """``holder`` has ``role`` over ``thing`` (stems). ``sole``: nobody else can at the same time."""

    role: str
    thing: frozenset[str]
    holder: frozenset[str]
    sole: bool


@dataclass(frozen=True, slots=True)
class Passing:
    """``thing``, or the office of that name, passed from ``old`` to ``new``; either may be unknown (empty)."""

    thing: frozenset[str]
    old: frozenset[str]
    new: frozenset[str]


_ROLES = {
    "lead": ("leads|is leading|(?<=i )lead|lidera(?:m|ndo)?|comanda", "led|liderad[oa]s?|comandad[oa]s?"),
    "head": ("heads|is head of|is the head of|chefia|(?:e|esta) (?:a )?frente d[aeo]s?", "headed|chefiad[oa]s?"),
    "run": ("runs|is running|(?<=i )run|administra", "run|administrad[oa]s?"),
    "manage": ("manages|is managing|(?<=i )manage|gerencia|gere", "managed|gerenciad[oa]s?|gerid[oa]s?"),
    "direct": ("directs|dirige", "directed|dirigid[oa]s?"),
    "coordinate": ("coordinates|coordena", "coordinated|coordenad[oa]s?"),
    "chair": ("chairs|presides over|preside", "chaired|presidid[oa]s?"),
    "coach": ("coaches|trains|treina", "coached|trained|treinad[oa]s?"),
    "supervise": ("supervises|oversees|supervisiona", "supervised|overseen|supervisionad[oa]s?"),
    "own": ("owns|is the owner of|e don[oa] d[aeo]s?", "owned"),
    "maintain": ("maintains|mantem", "maintained|mantid[oa]s?"),
    "charge": (
        "is (?:now )?in charge of|is (?:now )?responsible for|takes care of|looks after|handles"
        "|cuida d[aeo]s?|(?:e|esta|fica) (?:agora )?responsavel (?:por|pel[oa]s?)|(?:esta )?encarregad[oa] d[aeo]s?",
        "handled|looked after|taken care of|cuidad[oa]s?",
    ),
    "write": ("writes|escreve", "written|escrit[oa]s?"),
    "edit": ("edits|edita", "edited|editad[oa]s?"),
    "review": ("reviews|revisa", "reviewed|revisad[oa]s?"),
    "approve": ("approves|aprova", "approved|aprovad[oa]s?"),
    "teach": ("teaches|ensina|leciona", "taught|ensinad[oa]s?|lecionad[oa]s?"),
}
"""What is said of a holder, and the participle of what is held, folded."""

_SOLE = frozenset({"lead", "head", "chair"})
_SOLE_OVER_PEOPLE = frozenset({"run", "manage", "direct", "coordinate", "coach", "charge", "supervise"})
_OF_PEOPLE = frozenset({"run", "direct"})
"""One also runs a marathon and drives (``dirige``) a car."""
_PEOPLE = word_set(
    """
    team squad group department division lab laboratory company office guild chapter board committee crew programme
    program project unit staff store shop bakery restaurant cafe hotel farm school branch council club league region
    equipe time grupo departamento divisao laboratorio empresa escritorio guilda comite programa projeto unidade loja
    filial conselho clube regiao area setor padaria restaurante fazenda escola
    """
)
"""What has one head at a time."""

_ALIKE = {"squad": "team", "grupo": "group"}

_NOW = r"(?:now |currently |agora |atualmente |sendo |being )*"
_END = (
    r"(?= (?:now|currently|instead|these|nowadays|again|since|from|as|because|and|but|with|until|at|agora|atualmente"
    r"|hoje|desde|porque|mas|com|ate)\b|[,;.(]|$)"
)
_NAME = r"(?!(?:and|e|so|but|mas)\b)[\w.'&-]+"
_WHO = r"(?:the |our |[oa]s? |noss[oa] )?(?P<{0}>" + _NAME + "(?: " + _NAME + "){{0,3}}?)"
_ARTICLE = r"(?:the|our|my|this|[oa]s?|noss[oa]s?|minha|meu|est[ea])"


def _alternatives(side: int) -> str:
    return "|".join(f"(?P<{role}>{said[side]})" for role, said in _ROLES.items())


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """A hint that somebody holds something; the sentence told by the holder; the one told by the thing."""
    hint = "|".join(f"(?:{active}|{passive})" for active, passive in _ROLES.values())
    return (
        re.compile(rf"\b(?:{hint})\b"),
        re.compile(rf"^{_WHO.format('who')} {_NOW}(?:{_alternatives(0)}) {_NOW}(?P<thing>.+?){_END}"),
        re.compile(
            rf"^(?:{_ARTICLE} )?(?P<thing>[^,;.]{{2,60}}?) (?:is|are|e|sao|esta|estao|fica|ficam) "
            rf"{_NOW}(?:{_alternatives(1)}) {_NOW}(?:by|por|pel[oa]s?) {_WHO.format('who')}{_END}"
        ),
    )


_BELONGS = re.compile(
    rf"^(?:{_ARTICLE} )?(?P<thing>[^,;.]{{2,60}}?) {_NOW}(?:belongs? to|pertence(?:m)? (?:a|ao|aos|as)) "
    rf"{_WHO.format('who')}{_END}"
)
_OFFICE = (
    r"(?:(?:the )?(?:lead|leadership|management|ownership|responsibility) (?:of|for) "
    r"|(?:[oa] )?(?:lideranca|coordenacao|gerencia|chefia|direcao|gestao|presidencia|responsabilidade|cargo|comando) "
    r"(?:d[aeo]s?|por) )"
)
_THING = rf"{_OFFICE}?(?:{_ARTICLE} )?(?P<thing>[^,;.]{{2,60}}?)"
_DONE = r"(?:has |have |is |was |were |has been |have been |just |recently |agora |acabou de )*"
_PASSINGS = (
    rf"^{_WHO.format('new')} {_DONE}(?:took|taken|takes|taking) over (?:as )?{_THING}"
    rf"(?: from {_WHO.format('old')})?{_END}",
    rf"^{_WHO.format('new')} {_DONE}(?:assumiu|assume) (?:como )?{_THING}"
    rf"(?: (?:no lugar|depois) d[aeo] {_WHO.format('old')})?{_END}",
    rf"^{_WHO.format('old')} {_DONE}(?:handed|passed|gave|transferred|passou|transferiu|entregou) (?:over |on )?"
    rf"{_THING} (?:over |on |off )?(?:to|para|a[o]?) {_WHO.format('new')}{_END}",
    rf"^(?:{_ARTICLE} )?(?P<thing>[^,;.]{{2,60}}?) (?:was|were|has been|have been|foi|foram) "
    rf"(?:handed|passed|given|transferred|reassigned|transferid[oa]s?|passad[oa]s?|entregues?) (?:over |on )?"
    rf"(?:(?:from|d[aeo]) {_WHO.format('old')} )?(?:to|para|a[o]?) {_WHO.format('new')}{_END}",
    rf"^{_OFFICE}(?:{_ARTICLE} )?(?P<thing>[^,;.]{{2,60}}?) {_DONE}(?:passed|moved|went|passou|foi) (?:over )?"
    rf"(?:to|para|a[o]?) {_WHO.format('new')}{_END}",
    rf"^{_WHO.format('new')} {_DONE}(?:replaced|replaces|succeeded|succeeds|substituiu|sucedeu) "
    rf"{_WHO.format('old')} (?:as|como|n[ao]) {_THING}{_END}",
    rf"^{_WHO.format('old')} {_DONE}(?:foi )?(?:replaced|succeeded|substituid[oa]|sucedid[oa]) (?:by|por|pel[oa]) "
    rf"{_WHO.format('new')} (?:as|como|n[ao]) {_THING}{_END}",
    rf"^{_WHO.format('old')} {_DONE}(?:stepped down|steps down|resigned) (?:as|from) {_THING}{_END}",
    rf"^{_WHO.format('old')} {_DONE}(?:deixou (?:o cargo|a funcao) de|deixou de ser|renunciou ao cargo de) "
    rf"{_THING}{_END}",
    rf"^{_WHO.format('old')} {_DONE}(?:left|gave up|deixou|largou) {_OFFICE}(?P<thing>[^,;.]{{2,60}}?){_END}",
    rf"(?:^|\b(?:and|e|so) ){_WHO.format('new')} (?:became|virou|se tornou|tornou-se) (?:the |[oa] )?"
    rf"(?!an? |uma? )(?P<thing>[^,;.]{{2,60}}?){_END}",
)
_PASSING_HINT = re.compile(
    r"\bleft\b|\bgave\b|\blargou\b|\bover\b|\bassum|\bhanded\b|\bpassed\b|\bgave\b|\bgiven\b|\btransfer|\breassigned\b|\bpassou\b|\bpassad|\bentreg"
    r"|\b(?:replace|succeed)|\bsubstitu|\bsuced|\bdown\b|\bresigned\b|\bcargo\b|\bfuncao\b|\bdeixou\b|\bbecame\b"
    r"|\bvirou\b|\btorn"
)


@cache
def _passings() -> tuple[re.Pattern[str], ...]:
    return tuple(map(re.compile, _PASSINGS))


@lru_cache(maxsize=16384)
def held_in(folded: str) -> tuple[Held, ...]:
    """Who holds what by a folded statement."""
    found = []
    hint, active, passive = _patterns()
    if hint.search(folded):
        for pattern in (active, passive):
            if match := pattern.match(folded):
                role = next(role for role in _ROLES if match[role])
                held = _held(role, match["thing"], match["who"], passive=pattern is passive)
                if held.sole or pattern is passive or role not in _OF_PEOPLE:
                    found.append(held)
    if match := _BELONGS.match(folded):
        found.append(_held("own", match["thing"], match["who"], passive=True))
    return tuple(h for h in found if h.thing and h.holder)


def _held(role: str, thing: str, who: str, *, passive: bool) -> Held:
    definite = passive or re.match(rf"{_ARTICLE} ", thing) is not None
    people = not _PEOPLE.isdisjoint(thing.split())
    sole = definite and (role in _SOLE or (role in _SOLE_OVER_PEOPLE and people))
    return Held(role, _thing(thing), holder(who), sole)


@lru_cache(maxsize=16384)
def passing_in(folded: str) -> Passing | None:
    """What passes from one holder to another by a folded statement."""
    if not _PASSING_HINT.search(folded):
        return None
    for pattern in _passings():
        if match := pattern.search(folded):
            parts = match.groupdict()
            old, new = parts.get("old") or "", parts.get("new") or ""
            return Passing(_thing(match["thing"]), holder(old), holder(new))
    return None


def _thing(text: str) -> frozenset[str]:
    return frozenset(_ALIKE.get(word, word) for word in bag(text))
