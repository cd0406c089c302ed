"""The sentences by which a slot is told, in English and Portuguese, folded (spec/memory.md §18.1 1-5)."""

from __future__ import annotations

import re

_END = r"(?= (?:from|since|with|because|for|as|and|but|desde|com|porque|como|mas)\b|[,;.(]|$)"
_NOW = r"(?:now |currently |again |back |agora |atualmente )?"
_JUST = r"(?:has |have |is |just |recently )*"
PARTICIPLES = (
    "stored|hosted|kept|located|deployed|written|published|saved|managed|scheduled|built|maintained|owned|handled|run"
    "|served|tracked|named|called|armazenad[oa]s?|hospedad[oa]s?|escrit[oa]s?|guardad[oa]s?|gerenciad[oa]s?|mantid[oa]s?"
)
"""How something is in its place."""
_ROLES = (
    "developer|engineer|designer|manager|architect|analyst|director|intern|consultant|programmer|scientist|cto|ceo"
    "|desenvolvedora?|engenheir[oa]|gerente|arquitet[oa]|analista|diretora?|estagiari[oa]|consultora?|programadora?"
    "|cientista"
)
_A_TEAM = r"(?:[\w-]+ ){1,3}?(?:team|squad)|(?:equipe|squad) d[aeo]s? [\w-]+(?: [\w-]+)?"
_PLACES_WITH_ARTICLE = (
    "rio(?: de janeiro)?|recife|porto|brasil|japao|canada|chile|peru|mexico|egito|uruguai|paraguai|equador|libano"
    "|china|india|franca|alemanha|italia|espanha|inglaterra|holanda|suica|suecia|noruega|belgica|argentina|colombia"
    "|irlanda|escocia|australia|grecia|turquia|russia|bahia|paraiba|maranhao|ceara|parana|acre|amazonas"
)
PATTERNS = tuple(
    (name, re.compile(pattern))
    for name, pattern in (
        (
            "residence",
            rf"^(?P<who>.{{0,40}}?)\b(?:is )?{_NOW}(?:lives?|living|resides?|based|mora(?:ndo)?|moro|vive|vivo|reside) "
            rf"{_NOW}(?:in|at|em|no|na) (?P<value>.+?){_END}",
        ),
        (
            "residence",
            rf"^(?P<who>.{{0,40}}?)\b{_JUST}(?:moved|relocated|moving|mud(?:ou|aram)(?:-se)?|mudei(?:-me)?|se mudou"
            r"|se mudaram|me mudei) "
            rf"(?:house |casa )?{_NOW}(?:from .+? )?(?:to|para|pra)(?: [oa])? (?P<value>.+?){_END}",
        ),
        (
            "residence",
            rf"^(?P<who>.{{0,40}}?)\b(?:foi|foram|fui) (?:morar|viver) (?:em|n[oa]) (?P<value>.+?){_END}",
        ),
        (
            "residence",
            rf"^(?P<who>.{{0,40}}?)\b(?:voltou|voltei)(?: a morar)? (?:para|em|n[oa]) "
            rf"(?P<value>(?!(?:[oa]s?) ).+?|[oa] (?:{_PLACES_WITH_ARTICLE})){_END}",
        ),
        (
            "employer",
            rf"^(?P<who>.{{0,40}}?)\b(?:is )?{_NOW}(?:works?|working|employed|trabalha(?:ndo)?|trabalho) {_NOW}"
            rf"(?:at|for|by|na|no|em|para a?) (?P<value>.+?){_END}",
        ),
        (
            "employer",
            rf"^(?P<who>.{{0,40}}?)\b{_JUST}(?:joined|started at|(?:was |were |got )?hired (?:by|at)|entrou n[oa]"
            r"|(?:foi|fui) contratad[oa] (?:por|pel[oa])"
            r"|(?:found|got|took|landed|arrumou|conseguiu) (?:an? |um )?(?:new |novo )?(?:job|emprego) "
            r"(?:at|with|n[oa]|em)) "
            rf"(?P<value>.+?){_END}",
        ),
        (
            "boss",
            rf"^(?P<who>.{{0,40}}?)\b{_NOW}(?:reports?|reporta|responde) {_NOW}(?:directly |diretamente )?"
            rf"(?:to|a|ao|para) (?:[oa] )?(?P<value>.+?)(?: now| agora)?{_END}",
        ),
        (
            "license",
            rf"^(?P<who>.{{0,40}}?)\b(?:is|was|e|foi) {_NOW}(?:re)?licen[sc](?:ed|iad[oa]) (?:under|sob|as|como) "
            rf"(?:the |a )?(?P<value>.+?){_END}",
        ),
        (
            "license",
            r"^(?P<who>.{0,40}?)\b(?:re)?licen[sc](?:ed|iamos|iou) (?:the |our |[oa] |noss[oa] )?"
            r"(?:project |code(?:base)? |repo(?:sitory)? |projeto |codigo )?(?:under|sob) (?:the |a )?"
            rf"(?P<value>.+?){_END}",
        ),
        (
            "role",
            rf"^(?P<who>.{{0,40}}?)\b(?:is )?{_NOW}(?:works?|working|trabalha(?:ndo)?) {_NOW}(?:as|como) "
            rf"(?:an? |the )?(?P<value>.+?){_END}",
        ),
        ("role", rf"^(?P<who>.{{0,40}}?)\b(?:was |got |foi )?(?:promoted to|promovid[oa] a) (?P<value>.+?){_END}"),
        (
            "role",
            rf"^(?P<who>.{{0,40}}?)\b(?:is|e|became|virou) {_NOW}(?:an? |the |uma? )?"
            rf"(?P<value>(?:[\w-]+ ){{0,3}}(?:{_ROLES})(?: \w+)?){_END}",
        ),
        (
            "located",
            rf"^(?P<who>[^,;]{{2,40}}?) (?:is|are|e|esta|fica|ficam) {_NOW}(?:located |based |localizad[oa]s? )?"
            rf"(?:in|em|n[oa]s?) (?P<value>.+?){_END}",
        ),
        (
            "located",
            rf"^(?P<who>[^,;]{{2,40}}?)\b {_JUST}(?:moved|relocated|mudou|mudaram|se mudou|foi transferid[oa]) "
            rf"{_NOW}(?:from .+? )?(?:to|para|pra)(?: [oa])? (?P<value>.+?){_END}",
        ),
        (
            "team",
            rf"^(?P<who>.{{0,40}}?)\b(?:is|works|esta|trabalha) {_NOW}(?:on|in|n[ao]) (?:the )?"
            rf"(?P<value>{_A_TEAM}){_END}",
        ),
        (
            "team",
            rf"^(?P<who>.{{0,40}}?)\b{_JUST}(?:moved|switched|transferred|went|foi|mudou|mudou-se|se mudou) "
            rf"{_NOW}(?:from .+? )?(?:to|para) (?:the |[oa] )?(?P<value>{_A_TEAM}){_END}",
        ),
        (
            "call me",
            rf"^(?P<who>)(?:please |por favor )?(?:call me|(?:pode )?me cham(?:ar?|e) de) (?P<value>.+?){_END}",
        ),
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
            rf"^(?P<who>[^,;]{{2,60}}?) (?:(?:is|are|esta|estao|sao|e|fica|ficam) {_NOW}|(?:was|were|foi|foram) re)"
            rf"(?P<what>{PARTICIPLES}) {_NOW}(?:in|on|at|by|with|to|em|n[oa]s?|com|por|pel[oa]) (?P<value>.+?){_END}",
        ),
        (
            "set",
            r"\b(?:switched|changed|moved|raised|lowered|troc(?:ou|amos|uei)|mud(?:ou|amos|ei)|alter(?:ou|amos|ei)) "
            rf"(?:the|our|my|[oa]|nosso|nossa) (?P<who>[^,;]{{2,40}}?) (?:from .+? )?(?:to|para) (?P<value>.+?){_END}",
        ),
        (
            "called",
            rf"^(?P<who>[^,;]{{2,60}}?) (?:(?:is|are|e|sao|se) {_NOW}(?:called|named|chamad[oa]s?|chama)"
            r"|(?:was|has been|foi) (?:renamed|rebranded|renomead[oa]|rebatizad[oa]) (?:(?:from|de) .+? )?"
            r"(?:to|as|para)(?: [oa])?) "
            rf"(?P<value>.+?){_END}",
        ),
        (
            "sent",
            rf"^(?P<who>[^,;]{{2,60}}?) (?:go(?:es)?|(?:is|are) (?:now )?sent|vao|vai|(?:sao|e) enviad[oa]s?) {_NOW}"
            rf"(?:to|para)(?: the| [oa]s?)? (?P<value>.+?)(?: now| agora)?{_END}",
        ),
        (
            "when",
            r"^(?P<who>[^,;]{2,60}?) (?:starts?|begins?|ends?|opens?|closes?|expires?|is due|was born|nasceu|comeca"
            rf"|termina|acaba|vence|expira|abre|fecha) {_NOW}(?:on |in |at |em |n[oa] |dia |no dia |as )*"
            rf"(?P<value>.+?){_END}",
        ),
        (
            "holds",
            r"^(?P<value>[^,;:]{2,30}?) (?:is (?:now )?(?:the|our|my)"
            r"|e (?:agora )?(?:[oa] )?(?:[oa]|noss[oa]|minha|meu)) (?P<who>[^,;]+?)(?: now| agora)?$",
        ),
        (
            "is",
            r"^(?P<who>[^,;:=]{2,60}?)(?: (?:is|are|was|will be|e|sao|sera|serao|fica|equals) "
            r"(?:now |agora |set to |called |named |em )?"
            r"| (?:is |was |were |has been |foi )?(?:changed|moved|renamed|raised|increased|reduced|lowered|bumped"
            r"|extended|set|postponed|pushed|rose|grew|fell|dropped|went up|went down|climbed|subiu|caiu|baixou"
            r"|mudou|changes|alterad[oa]|aumentad[oa]) (?:from .+? )?(?:to|para) "
            r"| (?:was |has been |foi )(?:replaced|substituid[oa]) (?:by|with|por|pel[oa]) |(?<!\d)\s*[:=] ?)"
            r"(?P<value>.+?)(?=[,;]|$)",
        ),
    )
)
"""A slot's name, and how a folded statement fills it: ``who`` has ``value`` (for ``what``)."""
_STATUSES = "married|single|divorced|engaged|widowed|vegan[oa]?|vegetarian[oa]?|solteir[oa]|viuv[oa]"
CLASS_VERB = re.compile(
    r"\b(?:(?:was |were )?(?:re)?written in|(?:was |were )?(?:moved|migrated|ported) to|built with"
    r"|(?:re)?escrit[oa]s? em|(?:movid|migrad|portad|transferid)[oa]s? para(?: [oa]s?)?|feit[oa]s? (?:em|com)"
    rf"|ficam? n[oa]s?|(?:got|went|became|virou|ficou)(?= (?:{_STATUSES})\b)"
    r"|uses?|using|prefers?|likes?|switched to|moved to|migrated to|adopted|runs?(?: on)?|develops on|works? on"
    r"|hosts?(?: \w+)? (?:on|at|in)|hosped(?:o|a|amos) (?:em|n[oa])"
    r"|deploys? (?:to|on)|deployed (?:to|on)|hosted (?:on|at)|wants?|indent(?:s|ed)? with|(?:is|are)(?: now)?"
    r"|returns?|responds? with|answers? (?:with|in)|emits?|outputs?|devolve|retorna|responde com"
    r"|usa|usam|usamos|utiliza|prefere|gosta de|(?:migr|troc|mud)(?:ou|amos) para|pass(?:ou|amos) a usar"
    r"|roda(?:m|r)? (?:em|n[oa]s?)|hospedad[oa] (?:em|n[oa])|quer|esta agora|e) "
)
"""Verbs behind which a thing is named of which one is used at a time."""
