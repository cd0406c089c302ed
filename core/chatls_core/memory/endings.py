"""What a statement names as ended: "dropped Flutter", "we're off Heroku", "the trial is over", "larguei o café".

Wider than :mod:`chatls_core.memory.transitions`, which reads a change with its sides; here it is enough that a thing is
named beside a word for its end, the way people tell it in passing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from chatls_core.memory.statement_words import bag, content, stem, tokens_of
from chatls_core.memory.succession_words import CLAUSES, neutral
from chatls_core.memory.transitions import REASONS


@dataclass(frozen=True, slots=True)
class Ending:
    """``thing`` ended, by ``actor``, for or where ``scope`` alone (stems, where one is told).

    ``gone``: there is no more of it; else another took its place in what the statement is about. ``passing``: the word
    tells as well that one leaves or ends a thing for once ("left the meeting", "the standup is over").
    """

    thing: frozenset[str]
    actor: frozenset[str] = frozenset()
    scope: frozenset[str] = frozenset()
    gone: bool = True
    passing: bool = False


_BREAK = (
    r"and|but|so|because|since|after|before|when|while|for|to|onto|into|in|on|at|with|by|from|last|this|yesterday|today"
    r"|altogether|until|e|mas|porque|pois|depois|desde|quando|para|pra|em|n[oa]s?|com|por|pel[oa]s?|ontem|hoje|ate"
)
_STOP = rf"(?=[;:,.](?:\s|$)|\s(?:{_BREAK})\b|$)"
_ARTICLE = r"(?:the |an? |our |my |his |her |their |its |[oa]s? |noss[oa]s? |minhas? |meus? |seus? |suas? )?"
_OLD = rf"{_ARTICLE}(?!(?:{_BREAK}|it|us|me|the|that|this)\b)(?P<old>.+?){_STOP}"
_SUBJECT = rf"^(?:.*?(?:[,;.]|\band|\bbut|\bso|\be|\bmas) )?{_ARTICLE}(?P<old>[^,;.]{{2,60}}?)"
_ENDED = (
    r"dropped|ditched|abandoned|scrapped|killed(?: off)?|retired|decommissioned|sunset|removed|deleted|cancell?ed"
    r"|closed|shut down|discontinued|phased out|banned|dissolved|uninstalled|replaced|swapped(?: out)?|sold|deprecated"
    r"|archived|disbanded|axed|binned|switched off|turned off|put down|thrown out|threw out|finished|called off"
    r"|ripped out|tore out|taken out of"
)
_PORTUGUESE = (
    r"(?:abandon|cancel|fech|encerr|aposent|deslig|mat|apag|desativ|arquiv|troc|extint|dispens|proib|dissolv|vend|remov"
    r"|substitu|demit|suspend)"
)
_BY_SOMEBODY = tuple(
    re.compile(pattern)
    for pattern in (
        rf"\b(?:{_ENDED}|suspended|got rid of|gave up(?: on)?|giv(?:en|ing) up(?: on)?"
        r"|stopped(?: using| offering| taking| doing)?|quit|left|returned|outgrew|off|done with|lost"
        rf"|(?:moved|migrated|taken|pulled) (?:off|out of|away from)) {_OLD}",
        r"\b(?:had|have|has|decided|agreed|forced|told(?: \w+){0,3}?) to (?:cancel|drop|stop(?: taking| using)?|quit"
        rf"|sell|close|scrap|abandon|give up(?: on)?) {_OLD}",
        rf"(?:^|[,;:.] )(?:scrap|drop|ditch|kill|forget|esquece) {_OLD}",
        rf"\btraded {_ARTICLE}(?P<old>.+?) in\b",
        rf"\bno longer (?P<old>.+?){_STOP}",
        rf"\bno longer (?:\w+ )?(?:on|with|at|in|to|for|from) {_OLD}",
        r"\bnot (?P<old>.+?) any ?more\b",
        rf"\b{_PORTUGUESE}(?:ou|ei|amos|aram|eu|i|emos|eram|iu|imos|iram) (?:finalmente )?{_OLD}",
        rf"\b(?:larg(?:ou|uei|amos|aram)|recus(?:ei|amos)|perd(?:eu|i|emos)|demit(?:iu-se|i-me) d[aeo]s?"
        r"|sai(?:u|mos)? d[aeo]s?"
        r"|deix(?:ou|ei|amos|aram)(?: de \w+r)?|par(?:ou|ei|amos|aram) (?:com|de \w+r|de)|acab(?:ou|ei|amos|aram) com"
        r"|desist(?:iu|i|imos|iram) d[aeo]s?|cans(?:ou|ei|amos) d[aeo]s?|fart(?:ei-me|ou-se|amos-nos) d[aeo]s?"
        rf"|ja nao(?: \w+ (?:n[ao]s?|em|com|por|para|a))?) {_OLD}",
        rf"\bnao (?P<old>.+? mais\b.*?|.+? mais){_STOP}",
    )
)
"""Something that somebody ended."""
_INSTEAD = (
    re.compile(
        rf"\b(?:instead of|rather than|in place of|used to be|em vez de|ao inves de|no lugar d[aeo]|, not) {_OLD}"
    ),
)
"""Something that another thing is in the place of; elsewhere it may go on."""
_OF_ITSELF = tuple(
    re.compile(pattern)
    for pattern in (
        rf"\b(?:turned down|recus(?:ou|aram)|proibi(?:u|ram)) {_OLD}",
        rf"\b(?:renam(?:e|ed|ing)|rebrand(?:ed)?|(?:rebatiz|renome)(?:ou|ei|amos|aram)) {_OLD}",
        rf"{_SUBJECT} (?:is|was|were|are|has been|have been|got|gets) (?:finally |now |just |being )?"
        rf"(?:{_ENDED}|gone(?! \w)|over(?! \w)|dead|history|off the table|no more)\b",
        rf"{_SUBJECT} (?:is now called|now goes by|goes by|was renamed|was rebranded|foi rebatizad[oa]|foi renomead[oa]"
        r"|(?:agora|passou a) (?:se )?chamar?)\b",
        r"^(?P<old>[\w-]+), (?:the|our|my|[oa]) [^,]+, (?:was|is|foi) (?:renamed|rebranded|now called|renomead[oa])\b",
        rf"{_SUBJECT} (?:came off|fell through|folded|died|passed away|expired|ended)\b",
        rf"{_SUBJECT} (?:foi|foram|esta|ficou) (?:finalmente |agora )?{_PORTUGUESE}(?:ad[oa]s?|id[oa]s?)\b",
        rf"{_SUBJECT} (?:acabou|terminou|morreu|faleceu|expirou|fechou|saiu(?= d[aeo]s?\b))\b",
    )
)
"""Something that ended, without a word for who ended it."""

_WHOEVER = re.compile(
    r"(?:\b(?:i|we|i'm|we're|user|usuari[oa]|utilizador[a]?|eu|nos|a gente|ja|just|finally|me|have|has"
    r"|came|went|is|got)\s*)+$"
)
FOR_ONCE = re.compile(
    r"\b(?:left|quit|closed|finished|returned|lost|off|shut down|put down|done with|over|gone|ended|expired|came off"
    r"|stopped(?! using| offering| taking| doing)|cancell?ed|cancel|called off|fell through|removed|deleted"
    r"|fech\w+|deslig\w+|perd\w+|sai\w*|terminou|acabou|encerr\w+|cancel\w+"
    r"|deix\w+(?! de))\b"
)
_FINITE = re.compile(r"\b(?:is|are|was|were|has|have|had|sao|estao|foram)\b")
_WHERE = re.compile(r"\s(?:in|on|at|for|from|em|n[oa]s?|d[ao]s?|para|pra)\s(?P<where>.+)")
_APPOSITION = re.compile(r"(?:the|my|our|[oa]|minha|meu) ")
_SWAPPED = re.compile(r"(?:swapped|traded|replaced|troc|substitu)")
"""Behind these stands what came in its place."""


@lru_cache(maxsize=16384)
def endings_in(folded: str) -> tuple[Ending, ...]:
    """What a folded statement says has ended; nothing for most."""
    found = []
    for patterns in (_BY_SOMEBODY, _INSTEAD, _OF_ITSELF):
        for pattern in patterns:
            for match in pattern.finditer(folded):
                if _FINITE.search(match["old"]):  # "archived logs are kept" archives nothing
                    continue
                if thing := _named(match["old"]):
                    actor = _actor(folded, match) if patterns is _BY_SOMEBODY else frozenset[str]()
                    place = match.end() if patterns is _OF_ITSELF else match.end("old")
                    scope = frozenset[str]() if _SWAPPED.match(match[0]) else _scope(folded, place)
                    passing = FOR_ONCE.search(match[0]) is not None
                    found.append(Ending(thing, actor, scope, gone=patterns is not _INSTEAD, passing=passing))
    return tuple(found)


def _named(text: str) -> frozenset[str]:
    """The stems of what is named; "the left sidebar" did not leave."""
    side = frozenset({"left"}) if "left" in text.split()[:-1] else frozenset[str]()
    named = bag(text) - neutral()
    doing = frozenset(stem(t) for t in tokens_of(text) if t.endswith("ing"))
    return (named or doing) | side


def _actor(folded: str, match: re.Match[str]) -> frozenset[str]:
    """Who ended it, by the words before the verb; nobody where the user or "we" did, or nobody is told."""
    *_, further, before = ["", *CLAUSES.split(folded[: match.start()].rstrip(" ,"))]
    if _APPOSITION.match(before):  # "Matilde, the younger one, dropped …"
        before = f"{further} {before}"
    before = before.strip()
    if not before or _WHOEVER.search(before):
        return frozenset()
    return frozenset(content(tokens_of(before))) - neutral()


def _scope(folded: str, place: int) -> frozenset[str]:
    """For what or where alone it ended, by what stands behind ``place`` (characters)."""
    told = _WHERE.match(CLAUSES.split(folded[place:])[0])
    return frozenset(content([t for t in tokens_of(told["where"]) if t not in REASONS])) if told else frozenset()
