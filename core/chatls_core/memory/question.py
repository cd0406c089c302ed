"""What does a user's message ask for, and what kind of message is it?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from chatls_core.memory.wordlists import word_set
from chatls_core.text import tokenizer
from chatls_core.text.ordinary_words import OTHER, specificity

_MOST_PARTS = 6
"""Sentences of a message that are looked at: the first and the last ones."""
_LONGEST_PART = 500
"""Characters of a sentence or line that are looked at."""
_PART_OF_IDENTIFIER = 0.5
"""Worth of ``retry`` where ``max_retry`` was written."""

_SPEAKER = word_set(
    "i me myself eu mim moro vivo dou costumo gosto prefiro toco bebo conduzo dirijo leio nasci durmo ganho"
)
FIRST_PERSON = _SPEAKER | word_set("my mine we us our ours meu minha meus minhas nos nosso nossa nossos nossas")
_OURS = word_set("we us our ours nos nosso nossa nossos nossas")
_OWNED = re.compile(r"\b(?:my|meus?|minhas?)((?:\s+[\w'’-]+){1,3})", re.IGNORECASE)
"""What is the user's, with what stands around it."""
_TASK = re.compile(
    r"\b(?:how|what|why) (?:do|can|could|would|should|must) (?:i|we)\b|\b(?:can|could|may|shall) (?:i|we)\b"
    r"|\bi (?:want|need|get|have|would|am|was|see|tried|did|do not|added|changed|ran)\b|\bi(?:'m|'d|'ve|-| mean)"
    r"|\beu (?:quero|preciso|tenho|estou)\b",
    re.IGNORECASE,
)
"""The user speaks of the work at hand, not of himself: "how do I undo this?"."""
_ASKS = re.compile(
    r"\W*(?:what|which|who|whose|where|when|how|why|is|are|do|does|did|can|should|am|quem|qua(?:l|is)|onde|quando|como"
    r"|por ?que|o que|quant[oa]s?)\b",
    re.IGNORECASE,
)
_TO_ME = re.compile(
    r"\b(?:give|tell|show|let|help|send|remind|explain(?: to)?|teach) (?:me|us)\b"
    r"|\bme (?:d[aáeê]|diz|diga|mostr\w+|explic\w+|ajud\w+|ensin\w+)\b|\b\w+-(?:me|nos)\b",
    re.IGNORECASE,
)
"""Whom the answer is for says nothing about the topic."""
_DETERMINERS = word_set("a an the this that these my our o os as um uma este esta esse essa isso it")
"""Words behind the verb of a request: "sign the commit" has nothing to do with what is signed elsewhere."""
_LANGUAGES = (
    r"python|javascript|typescript|java|go|rust|c|c\+\+|c\#|bash|sql|css|html|kotlin|swift|ruby|php|lua|perl|haskell|r"
)
_GENERAL = re.compile(
    r"""
    ^\W*(?:(?:so|and|hey|e|ok|please|por\ favor)[,\ ]+)?(?:(?:in|em|no|na)\ \S+,\ )?
    (?:
        (?:what|who|whom|whose)(?:'s|\ is|\ are|\ was|\ were|\ (?:does|do|did|\w+s)(?!\ the\b))\b
        | (?:who|what|which)\ (?:invented|founded|wrote|painted|built|made|won|discovered|coined|came\ up\ with)\b
        | who\ (?:acted|composed|directed|sang|starred|recorded)\b
        | (?:who|what|which)\ (?:first|originally)\b
        | (?:how|why)\ (?:does|do|is|are|did)\b(?!\ the\b)
        | how\ (?:old\ is|many\ \w+\ (?:does|do|did|has|have|are))\b
        | when\ (?:did|was|were)\b
        | (?:explain|define|translate|rewrite|proofread|difference|expli(?:ca|que)|traduz\w*)\b
        | (?:o\ )?que\ (?:é|e|são|sao|significa|quer\ dizer|come)\b
        | como\ (?:funciona|se\b(?!\ chama)|é\ que)\b
        | quem\ (?:foi|cantou|compôs|dirigiu|inventou|pintou|escreveu|é|cuida)\b
        | quando\ (?:foi|é)\b
        | qual\ (?:é\ |a\ |o\ )*(?:diferença|raiz|capital|origem|plural)\b
        | is\ (?:there|it\ true)\b
        | (?:an?\ )?recipes?\ for\b
        | (?:uma\ )?receitas?\ (?:de|para|pra)\b
        | give\ me\b
        | write\ (?:an?|me)\ (?:\w+\ )?(?:poem|haiku|story|song|joke|regex|function|script|limerick)\b
        | tell\ me\ (?:a|about)\b
        | in\ (?:LANGUAGE),?\ how\b
        | write\ (?:an?|me\ an?)\ (?:\w+\ )?(?:LANGUAGE)\b
        | .*\b(?:in\ (?:what|which)\ (?:year|century)|em\ que\ (?:ano|século))\b
    )
    """.replace("LANGUAGE", _LANGUAGES),
    re.IGNORECASE | re.VERBOSE,
)
"""Asks what everybody can know, as long as nobody's own is asked about."""
_DEFINITE = re.compile(
    r"\b(?:is|are|was|were|'s) the\b(?! (?:difference|meaning|plural|opposite|origin|history|capital)\b)"
    r"|\bhow (?:is|are)\b|\b(?:quem|qual) (?:é|foi) [oa]\b",
    re.IGNORECASE,
)
"""Asks for a certain one, or for what is done with it."""
_AMOUNT = re.compile(
    r"\b(?:how (?:many|much|long|old|often|fast|big)|wh(?:at|ich) (?:port|time|date|day|version)|when"
    r"|what's the (?:minimum|maximum|limit)|quant[oa]s?|quando|que (?:horas|dia|porta|data|vers\w+)"
    r"|qual (?:a |o |é )*(?:porta|vers\w+|data))\b",
    re.IGNORECASE,
)
"""Asks for a number, a date or a version."""
_WHO = re.compile(r"\b(?:who|whom|whose|quem)\b", re.IGNORECASE)
_NAME = re.compile(r"[A-ZÀ-Ý][a-zà-ÿ]+")
_ERROR = re.compile(
    r"\b(?:[Ee]rror|ERROR|[Ee]xception|[Ww]arning|WARNING|[Ff]atal|FATAL):|\bTraceback\b|[a-z](?:Error|Exception)\b|\bERR!"
)
"""A program's message, whose everyday words are not the user's."""
_ENDS = re.compile(r"(?<=[.!?;])\s+|\n+")


class Part:
    """A sentence or line of a message, read once for all items it is compared with."""

    def __init__(self, text: str) -> None:
        self.text = text
        sequence = [w.folded for w in tokenizer.words(_TO_ME.sub(" ", text)) if not w.part]
        spoken = frozenset(sequence) & FIRST_PERSON
        topic = tokenizer.topic_words(text)
        self.asks = "?" in text or _ASKS.match(text) is not None
        self.speaks = self.asks and bool(spoken & _SPEAKER) and not _TASK.search(text)
        """Whether the user speaks of himself, …"""
        self.owned = frozenset(w.folded for owned in _OWNED.findall(text) for w in tokenizer.words(owned))
        """… and the folded words of what he calls his own."""
        self.ours = self.asks and bool(spoken & _OURS)
        self.general = not spoken and _GENERAL.match(text) is not None
        """Whether it is asked what everybody can know, …"""
        self.definite = _DEFINITE.search(text) is not None
        """… unless all of it is met: "the capital of France" is, "the staging database" need not be."""
        self.amount = _AMOUNT.search(text) is not None
        self.who = _WHO.search(text) is not None
        self.names = frozenset(
            w.folded
            for w in topic
            if self.asks and _NAME.fullmatch(w.written) and not text.lstrip().startswith(w.written)
        )
        """What is asked about by its name, folded."""
        self.words = {w.folded: specificity(w.folded) * (_PART_OF_IDENTIFIER if w.part else 1.0) for w in topic}
        """The folded topic words, each with how much follows from it."""
        if _ERROR.search(text):
            self.words = {word: worth for word, worth in self.words.items() if worth >= OTHER}
        if not self.asks and len(sequence) > 1 and sequence[1] in _DETERMINERS:
            self.words.pop(sequence[0], None)

    @property
    def own(self) -> bool:
        """Whether the user speaks of himself."""
        return self.speaks or bool(self.owned)

    @property
    def has_topic(self) -> bool:
        """Whether anything is spoken of."""
        return bool(self.words)


class Question:
    """A user's message in parts, with all its topic words; ``own`` where he speaks of himself."""

    def __init__(self, text: str) -> None:
        sentences = [s[:_LONGEST_PART] for s in _ENDS.split(text) if not s.isspace()]
        self.parts = tuple(_outermost(sentences))
        self.own = any(part.own for part in self.parts)
        self.words = tokenizer.topic_words(" ".join(part.text for part in self.parts))


def _outermost(sentences: Sequence[str]) -> Iterator[Part]:
    """The first and the last parts that speak of something, half of the most that are looked at each; in order."""
    half = _MOST_PARTS // 2
    first: list[tuple[int, Part]] = []
    last: list[tuple[int, Part]] = []
    places = range(len(sentences))
    for chosen, order in ((first, places), (last, reversed(places))):
        for place in order:
            if len(chosen) == half or any(place == known for known, _ in first):
                break
            if (part := Part(sentences[place])).has_topic:
                chosen.append((place, part))
    return (part for _, part in (*first, *reversed(last)))
