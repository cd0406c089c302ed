"""The words of time in English and Portuguese, folded (lower case, no accents), as codes of one small shared grammar.

Both languages are read by the same rules: "last" and "passada" are the one code ``LAST``.
"""

from __future__ import annotations

from collections.abc import Mapping

Entry = tuple[str, object]


def _words(code: str, table: str, first: int | None = None) -> dict[str, Entry]:
    """``table`` holds groups of equal words, joined by ``|``; with ``first`` the groups are numbered."""
    return {
        word: (code, None if first is None else first + i)
        for i, group in enumerate(table.split())
        for word in group.split("|")
    }


def _set(*lines: str) -> frozenset[str]:
    return frozenset(word for line in lines for word in line.split())


def _units(table: str) -> dict[str, Entry]:
    return {w: ("UNIT", unit) for part in table.split() for unit, ws in [part.split("=")] for w in ws.split("|")}


_EN: dict[str, Entry] = {
    **_words("MON", "january|jan february|feb", 1),
    **_words("MON", "april|apr", 4),
    **_words("MON", "june|jun july|jul august|aug september|sept|sep october|oct november|nov december", 6),
    "march": ("DMON", 3),
    "mar": ("DMON", 3),
    "may": ("DMON", 5),
    "dec": ("DMON", 12),
    **_words("WD", "monday|mondays tuesday|tuesdays wednesday|wednesdays thursday|thursdays", 0),
    **_words("WD", "friday|fridays saturday|saturdays sunday|sundays", 4),
    **_words("DWD", "mon tue|tues wed thu|thur|thurs fri sat sun", 0),
    **_units(
        "day=day|days week=week|weeks|wk|wks month=month|months|mos year=year|years|yr|yrs decade=decade|decades"
        " century=century|centuries quarter=quarter|quarters half=half weekend=weekend|weekends|week-end"
        " fortnight=fortnight|fortnights weekday=workday|workdays hour=hour|hours|hr|hrs minute=minute|minutes|min|mins"
    ),
    **_words("LAST", "last|past|previous|prior|preceding"),
    **_words("NEXT", "next|upcoming|coming|following"),
    **_words("THIS", "this|current|present"),
    **_words("SAME", "same|that"),
    **_words("THE", "the"),
    **_words("MY", "my|our"),
    **_words("OF", "of"),
    **_words("IN", "in|during|over"),
    **_words("ON", "on"),
    **_words("ONE", "a|an"),
    **_words("FEW", "few|several"),
    **_words("COUPLE", "couple"),
    **_words("FROM", "from"),
    **_words("BETWEEN", "between"),
    **_words("AND", "and"),
    **_words("TO", "to|through|thru|until|till|til|untill"),
    **_words("SINCE", "since"),
    **_words("BEFORE", "before"),
    **_words("AFTER", "after"),
    **_words("FOR", "for"),
    **_words("AGO", "ago"),
    **_words("LATER", "later"),
    **_words("EARLIER", "earlier"),
    **_words("EARLY", "early|beginning|start"),
    **_words("MID", "mid|middle"),
    **_words("LATE", "late|end"),
    **_words("REST", "rest|remainder"),
    **_words("EVERY", "every|each"),
    **_words("OTHER", "other"),
    **_words("STARTING", "starting|commencing"),
    **_words("HENCE", "hence"),
    **_words("WITHIN", "within"),
    **_words("FUTURE", "future"),
    **_words("ONWARD", "onward|onwards|forward|forwards"),
    "yesterday": ("REL", -1),
    "yday": ("REL", -1),
    "today": ("REL", 0),
    "tonight": ("REL", 0),
    "tomorrow": ("REL", 1),
    "tmrw": ("REL", 1),
    "tmr": ("REL", 1),
    "now": ("NOW", None),
    **_words("DAYPART", "morning|afternoon|evening|night"),
    "date": ("DATEWORD", None),
    "ytd": ("TODATE", "year"),
    "mtd": ("TODATE", "month"),
}

_PT: dict[str, Entry] = {
    **_words("MON", "janeiro|jan fevereiro|fev", 1),
    **_words("MON", "abril|abr maio junho|jun julho|jul agosto setembro", 4),
    **_words("MON", "outubro novembro|nov dezembro", 10),
    "março": ("MON", 3),
    "marco": ("DMON", 3),
    **{w: ("DMON", n) for w, n in (("mar", 3), ("mai", 5), ("ago", 8), ("set", 9), ("out", 10), ("dez", 12))},
    **_words("WD", "segunda-feira|segundas-feiras terca-feira quarta-feira quinta-feira sexta-feira sabado domingo", 0),
    **_words("WD", "2a-feira 3a-feira 4a-feira 5a-feira 6a-feira sabados domingos", 0),
    **_words("WO", "segunda terca quarta quinta sexta", 0),
    **_words("DWD", "seg ter qua qui sex sab dom", 0),
    **_units(
        "day=dia|dias week=semana|semanas month=mes|meses year=ano|anos decade=decada|decadas century=seculo|seculos"
        " quarter=trimestre|trimestres half=semestre|semestres weekend=fim-de-semana|fins-de-semana|fds"
        " fortnight=quinzena|quinzenas hour=hora|horas minute=minuto|minutos"
    ),
    **_words("LAST", "ultimo|ultima|ultimos|ultimas|anterior|anteriores|passado|passada|passados|passadas"),
    **_words("NEXT", "proximo|proxima|proximos|proximas|seguinte|seguintes|vindouro|vindoura"),
    **_words("LASTLAST", "retrasado|retrasada"),
    **_words("THIS", "este|esta|esse|essa|atual|corrente|estes|estas|esses|essas"),
    **_words("OFTHIS", "deste|desta|desse|dessa|neste|nesta|nesse|nessa"),
    **_words("SAME", "mesmo|mesma|aquele|aquela|naquele|naquela"),
    **_words("THE", "o|os|as"),
    **_words("A", "a"),
    **_words("MY", "meu|minha"),
    **_words("OF", "de|do|da|dos|das"),
    **_words("IN", "em|no|na|nos|nas|durante"),
    **_words("FEW", "poucos|poucas|alguns|algumas|uns|umas"),
    **_words("COUPLE", "par"),
    **_words("BETWEEN", "entre"),
    **_words("AND", "e"),
    **_words("TO", "ate|ao"),
    **_words("SINCE", "desde"),
    **_words("BEFORE", "antes"),
    **_words("AFTER", "depois|apos"),
    **_words("FOR", "por"),
    **_words("AGO", "atras"),
    **_words("HA", "ha|faz"),
    **_words("ABOUT", "cerca|quase|aproximadamente|mais|coisa"),
    "meia": ("HALF", None),
    **_words("EARLY", "inicio|comeco|principio"),
    **_words("MID", "meio|meados"),
    **_words("LATE", "fim|final|fins|finais"),
    **_words("REST", "resto|restante"),
    **_words("EVERY", "todo|toda|todos|todas|cada"),
    **_words("STARTING", "partir|comecando"),
    **_words("QUE", "que"),
    **_words("VEM", "vem"),
    **_words("DAQUI", "daqui"),
    **_words("WITHIN", "dentro"),
    "ontem": ("REL", -1),
    "anteontem": ("REL", -2),
    "antes-de-ontem": ("REL", -2),
    "trasanteontem": ("REL", -3),
    "trasantontem": ("REL", -3),
    "hoje": ("REL", 0),
    "amanha": ("REL", 1),
    "agora": ("NOW", None),
    **_words("DAYPART", "manha|tarde|noite|madrugada"),
}

WORDS: Mapping[str, Mapping[str, Entry]] = {"en": _EN, "pt": _PT}

PHRASES: Mapping[str, Mapping[str, str]] = {
    "en": {
        **dict.fromkeys(("prior to", "earlier than"), "BEFORE"),
        "later than": "AFTER",
        **dict.fromkeys(("up to", "no later than"), "TO"),
        "so far": "EARLIER",
        **dict.fromkeys(
            ("usa today", "today show", "sunday times", "super tuesday", "ash wednesday", "palm sunday"), "_"
        ),
        **dict.fromkeys(("good friday", "black friday", "casual friday", "cyber monday", "blue monday"), "_"),
        **dict.fromkeys(("easter sunday", "easter monday"), "_"),
    },
    "pt": {
        **{f"{word} {to}": "BEFORE" for word in ("anterior", "anteriores", "anteriormente") for to in ("a", "ao")},
        **{f"{word} {to}": "AFTER" for word in ("posterior", "posteriores", "posteriormente") for to in ("a", "ao")},
        "mais ou menos": "ABOUT",
        "em diante": "ONWARD",
        "mais cedo": "EARLIER",
        "hoje em dia": "_",
    },
}
"""Words that together are one word of the grammar, or ("_") no time at all."""

DOUBTFUL: Mapping[str, frozenset[str]] = {
    "en": _set(
        "may mar sun sat mon wed fri dec sec one a an two past that this second last",
    ),
    "pt": _set(
        "set out mar dez ago mai seg ter qua qui sex sab dom a as no do um par ate fim meio",
    ),
}
"""Words that are everyday words of the other language: where the language is only guessed, they alone prove nothing."""

FUNCTION_WORDS: Mapping[str, frozenset[str]] = {
    "en": _set(
        "the of and to in is was were are be been a an that this it we you i he she they my our your what",
        "when where who which how why did do does done with for on at by from as or not have has had will",
        "would can could should about there their then but if because so than after before s ll d re ve m out",
        "all any me us them his her",
    ),
    "pt": _set(
        "o os as um uma de do da dos das em no na nos nas que e eu voce ele ela eles elas meu minha nosso",
        "nossa foi era sao esta estava com por para pelo pela ao aos se nao mais como quando onde quem qual",
        "quais mas ou porque ja isso isto este essa esse fizemos fiz tem tinha ser ter sobre a ate desde",
        "entre estarei voltarei sera",
    ),
}
"""Words that say which language a text is in, and that may follow a time without taking part in it."""

TIME_VERBS = _set(
    "back meet meeting met scheduled schedule due leave left leaving arrive arrived arriving return",
    "returned returning went go going gone born happened happens available free booked out off started",
    "ended moved deployed released shipped flew voltarei volto voltei voltar volvere reuniao marcado",
    "marcada livre disponivel fora saio viajo viagem cheguei sai nasceu aconteceu encontro estarei estive",
    "lancado lancamos publicado",
)
"""Words beside which a bare number may be a day ("I'll be back on 15")."""

VERSION_VERBS = _set(
    "go goes going gone went moved deployed released shipped started ended out off available free left returned",
    "lancado lancamos publicado livre disponivel",
)
"""Those of them that are said of software as well, whose numbers are versions: "we went from 3.11 to 3.12"."""

GIVEN_NAMES = _set("april june august jan")
"""Months that people are called by; "may" is doubted anyway, …"""

TOLD_TO = _set("ask asked tell told email emailed ping pinged thank thanks hi hello dear hey an")
"""… words before a person, …"""

DONE_BY_PERSONS = _set(
    "said says wrote writes asked asks told tells reviewed reviews prefers preferred likes liked wants wanted thinks",
    "thought knows merged approved committed suggested owns uses joined works lives fixed pushed",
)
"""… and after one."""

STREETS = _set("rua avenida av praca travessa largo alameda rodovia viaduto estacao metro")
"""What is named after days in Portuguese: "a Avenida 23 de Maio"."""

PORTUGUESE_VERBS = _set(
    "era eram foi fui fomos foram tive teve tinha tinham fiz fez fizeram disse pus veio vim quis soube trouxe estive",
    "esteve vivia viviam fazia faziam queria queriam podia podiam devia havia houve dizia sabia vinha ia iam usei",
)
"""Common finite verbs that no ending tells; a sentence without a named subject goes on with one after its time."""

PERMISSION_WORDS = _set(
    "can could should must may might posso podemos pode devo devemos deve",
)
"""Words beside which a bare weekday is a rule's, no day that was: "can I deploy this on Friday?"."""

FUTURE_WORDS = _set(
    "will ll shall going expires due see meet meeting return back can tomorrow leave leaving voltarei vou",
    "vai vamos vence expira sera estarei farei",
)
"""Words beside which "in 5 days" and "3 days later" count from now."""
