"""Words by which a change told in passing is understood, in two languages, folded (spec/memory.md §18.1 rows 1-3)."""

from __future__ import annotations

import re
from functools import cache

from chatls_core.memory import slot_words as words
from chatls_core.memory.statements import stems_of
from chatls_core.memory.wordlists import word_set

NAME_HEADS = stems_of(
    word_set(
        """
        rule idea approach decision proposal effort attempt experiment account setup instance server service tool system
        subscription project app application plan thing habit policy company domain whole old new requirement going shut
        shutting regra conta projeto servico ferramenta sistema assinatura plano empresa dominio antigo velho novo
        aplicativo
        """
    )
)
"""Nouns behind a name that mean the thing itself: "the Linear experiment" is Linear, a Redis course is not Redis."""

GENERIC = NAME_HEADS | stems_of(
    word_set(
        """
        copy folder trial website site team job role work contract stuff box entire license tier version code repo
        repository data feature pasta contrato emprego equipe versao experiencia codigo repositorio dados
        """
    )
)
"""Words beside a name that add nothing to what a statement is about, as stems."""

_WEEKDAY = "(?:mon|tues|wednes|thurs|fri|satur|sun)day"

ONE_OCCASION = re.compile(
    r"\b(?:today|tonight|yesterday|this (?:morning|afternoon|evening|week|time)|early|late|tomorrow|next week"
    rf"|{_WEEKDAY}|hoje|ontem|amanha|esta semana|mais cedo|tarde|cedo|because of rain"
    r"|for (?:an? |the |one |two |few )*(?:minute|moment|while|hour|day|week|weekend|holiday)s?"
    r"|por (?:um|uns|uma|umas) \w+)\b"
)
"""Beside a word that ends a thing for once: it did not end for good."""

EVENT = re.compile(
    r"\b(?:has|have) (?!been\b)\w+(?:ed|wn|en)\b|\b(?:fez|fiz|fizeram|teve|esteve|did|went|took|ran|won|met)\b"
)
"""Tells what happened once, though not by a verb that ends in "-ed"."""

OF_ONE_OCCASION = re.compile(
    rf"\b(?:today|tonight|tomorrow|yesterday|{_WEEKDAY}|(?:this|last|next) (?:week|month|morning|time))['’]s\b"
    r"|\bjust (?:this once|for today|today)\b|\bthis time only\b|\bs[óo] (?:d?es[ts]a vez|(?:por )?hoje)\b"
    r"|\b(?:de|do) (?:hoje|amanhã|ontem)\b|\bdes[ts]a (?:semana|segunda|terça|quarta|quinta|sexta)\b",
    re.IGNORECASE,
)
"""Speaks of one occasion, "today's standup"; for text as it is written, which tells whose from what is."""

ON_ONE_DAY = re.compile(
    r"\b(?:this|last|next|es[ts]a|nes[ts]a|proxim[oa]|(?:n[ao]) (?:ultim[oa]|proxim[oa])) "
    rf"(?:{_WEEKDAY}|segunda|terca|quarta|quinta|sexta|sabado|domingo)\b"
)
"""Tells of one day; what recurs goes on after it."""

UNDER_WAY = re.compile(
    r"\b(?:doing|reading|studying|writing|learning|building|on|fazendo|lendo|escrevendo|cursando|a fazer)\b"
)
"""Tells of what will be finished one day."""

WEAK = stems_of(
    word_set(
        """
        power powered depend depends track tracks kept keep hosted built build written stored managed decide decided
        plan plans called named everything all only main use used using based every must should follow follows takes
        take eats eat plays play goes go learn learning drive drives ride smoke walk walking employed junior senior
        responsible sit sits live lives rents flat apartment house finally still usually often currently made sign
        served reachable serve strict set due scheduled planned fixed booked stand stands doctor landlord lasts user
        happens runs responds answers listens answer single have has place always sharp dose dosage start starts begin
        begins open opens end ends close closes continue mg ml kg km anywhere any ever altogether completely entirely
        hand rejects accepts reject accept larger bigger
        feito feita usa come bebe toca fuma vai anda trabalha mora chama gerenciar manage aprendendo decidido instala
        install marcada marcado prevista previsto agendada agendado utilizador usuario medico senhorio demora leva dura
        acontece responde sempre ponto dosagem comeca abre termina acaba fecha continua
        """
    )
)
"""Words of a statement that say no more of a thing than that it is there, as stems."""

WHOSE = stems_of(
    word_set(
        """
        wife husband partner son daughter mother father mum mom dad brother sister aunt uncle cousin friend neighbour
        neighbor colleague girlfriend boyfriend fiancee parents kids children grandmother grandfather nephew niece
        roommate flatmate ex staging production prod dev preview homologacao producao esposa marido mulher filho filha
        mae pai irmao irma tia tio primo prima amigo amiga vizinho vizinha colega namorada namorado noiva noivo pais avo
        sobrinho sobrinha
        """
    )
)
"""Whose a thing is, or which of two, as stems."""

PRICES = stems_of(word_set("rent price cost fee tuition rate bill mensalidade aluguel renda preco custo conta"))
"""What an amount of money is an amount of, as stems."""

AGE = stems_of(word_set("new old final main own current whole entire novo nova velho velha final proprio atual"))
"""Words that do not tell one thing from another of the same name, as stems."""

EMPLOYED = word_set("works working work employed trabalha trabalho trabalhando employee intern")
"""Signs that somebody works somewhere."""

LEAVING = re.compile(r"\b(?:left|quit|resigned|saiu d[aeo]|ja nao trabalha|no longer works?)\b")
"""Ends a job or a stay, and nothing else of the kind."""

AHEAD = re.compile(r"\b(?:will|plans?|planning|planned|vai|vamos|planeja|planeia|pretende)\b")
"""Tells what is to come."""

PLAN_ENDED = re.compile(
    r"\b(?:cancel\w*|called off|off the table|scrapped|dropped|finished|desist\w+|nao vamos mais|is off)\b"
)
"""Ends what was to come."""

NOT_FOR_GOOD = re.compile(
    r"\b(?:by accident|by mistake|accidentally|almost|nearly|temporarily|briefly|por engano|sem querer|quase"
    r"|temporariamente|refus\w+ to|declined to|thought about|considered|recusou \w+[aei]r|pensou em"
    r"|(?:no|n[ao]s?|on|for|during|at) (?:the |his |her |my |our |their )?(?:birthday|christmas|easter|holidays?|trip"
    r"|party|aniversario|natal|pascoa|ferias|viagem|festa)"
    r"|(?:in|n[oa]) (?:the |her |his |my |our |[oa] |seu |sua |meu |minha )?(?:novel|book|story|game|film|movie|dream"
    r"|demo|romance|livro|historia|jogo|filme|sonho))\b"
    r"|\b(?:and|then|but|e|mas|depois)\b[^.;]*\b(?:(?:came|moved|went|got|put) back|returned|kept|restored|undone"
    r"|reverted|voltou a[os]?|manteve)\b"
)
"""What ended so did not end, or not to stay so."""

DECIDED = re.compile(r"\b(?:decided|chose|chosen|picked|agreed|opted|decidi\w+|escolh\w+|optou|optamos)\b")
"""A past verb that tells what holds since."""

RESCHEDULED = re.compile(r"\b(?:slipp|push|postpon|delay|mov|bump|rais|halv|doubl|exten|adi|pass|sub|mud|put)\w*\b")
"""Past verbs that tell the value a thing has since."""

CHANGED = re.compile(
    r"\b(?:now|no longer|any ?more|instead|again|back (?:to|at|on)|as of|from .{1,12} on|since|final|wrong|actually"
    r"|correct\w*|updated?|slipp\w+|push\w+|postpon\w+|delay\w+|mov(?:ed|ing)|bump\w+|rais\w+|lower\w*|increas\w+"
    r"|decreas\w+|cuts?|halv(?:ed|ing)|doubl(?:ed|ing)|tripl(?:ed|ing)|exten\w+|shift\w+|reschedul\w+|brought forward"
    r"|up|down|stretch\w+|shrunk|shorten\w+|tighten\w+|crept|grew|fell|rose|dropped|chang\w+|switch\w+|upgrad\w+"
    r"|migrat\w+|put|made|became|got|extra|passar|agora|ja nao|de novo|outra vez|pass(?:ou|ei|amos)|sub(?:iu|i|imos)"
    r"|baix(?:ou|amos)|aument\w+|reduz\w+|adiad\w+|adiou|adiamos|adiament\w+|antecip\w+|estic\w+|reajust\w+"
    r"|mud(?:ou|ei|amos|aram|ada)|volt(?:ou|ei|amos)|virou|troc\w+|alter\w+|a partir de|desde|remarc\w+|prorrog\w+"
    r"|novo prazo|nova data)\b"
)
"""Signs that a value is another than it was."""

CAME_TO_BE = re.compile(
    r"\b(?:now|added|introduced|got|gained|finally|since|again|started|began|every|agora|ganhou|desde|adicionad[oa]s?"
    r"|comec(?:ou|amos|ei)|introduzi\w+|finalmente|voltei|voltou|tod[oa]s?)\b"
)
"""Signs that there is something that was not."""

CLAUSES = re.compile(r"[;:,.]\s|\s(?:and|but|so|because|since|mas|porque|pois)\s")
"""What parts a folded sentence. A Portuguese "e" does not: folded, it is the verb as well."""


@cache
def neutral() -> frozenset[str]:
    """Stems of common verbs, of verbs of change, and of words for the work at hand."""
    return stems_of(words.VERBS) | stems_of(words.GROUP) | stems_of(words.CHANGE_VERBS)


@cache
def measures() -> frozenset[str]:
    """Stems of units, and of values of a known kind: how much and when."""
    return stems_of(words.UNITS) | stems_of(frozenset(words.KIND_OF))


@cache
def idle() -> frozenset[str]:
    """Stems of all words that add nothing to what a statement is about."""
    return WEAK | GENERIC | neutral() | stems_of(words.OWNING) | stems_of(words.RELATIONS)
