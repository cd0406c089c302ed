"""Numbers spelled in English and Portuguese words: "twenty first", "two thousand and eighteen", "vinte e um"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal


def _count(first: int, step: int, words: str) -> dict[str, int]:
    return {w: first + i * step for i, group in enumerate(words.split()) for w in group.split("|")}


_SMALL: Mapping[str, Mapping[str, int]] = {
    "en": _count(
        0,
        1,
        "zero|oh one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
        " seventeen eighteen nineteen",
    ),
    "pt": _count(
        0,
        1,
        "zero um|uma dois|duas tres quatro cinco seis sete oito nove dez onze doze treze quatorze|catorze quinze"
        " dezesseis|dezasseis dezessete|dezassete dezoito dezenove|dezanove",
    ),
}
_TENS: Mapping[str, Mapping[str, int]] = {
    "en": _count(20, 10, "twenty thirty forty|fourty fifty sixty seventy eighty ninety"),
    "pt": _count(20, 10, "vinte trinta quarenta cinquenta|cinqüenta sessenta setenta oitenta noventa"),
}
_SMALL_ORDINALS: Mapping[str, Mapping[str, int]] = {
    "en": _count(
        1,
        1,
        "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth|twelveth thirteenth"
        " fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth",
    ),
    "pt": _count(
        1,
        1,
        "primeiro|primeira segundo terceiro|terceira quarto quinto sexto setimo|setima oitavo|oitava nono|nona",
    ),
}
_TENS_ORDINALS: Mapping[str, Mapping[str, int]] = {
    "en": _count(20, 10, "twentieth thirtieth fortieth fiftieth sixtieth seventieth eightieth ninetieth"),
    "pt": _count(10, 10, "decimo|decima vigesimo|vigesima trigesimo|trigesima"),
}
_HUNDRED: Mapping[str, Mapping[str, int]] = {
    "en": {"hundred": 100},
    "pt": _count(
        100,
        100,
        "cem|cento duzentos trezentos quatrocentos quinhentos seiscentos setecentos oitocentos novecentos",
    ),
}
_THOUSAND = {"en": "thousand", "pt": "mil"}
_AND = {"en": "and", "pt": "e"}
_DECADE_ENDINGS: Mapping[str, int] = {
    **_count(20, 10, "twenties thirties forties fifties sixties seventies eighties nineties"),
    "tens": 10,
    "hundreds": 0,
    "noughties": 0,
}
_PT_DECADES = _count(20, 10, "vinte trinta quarenta cinquenta sessenta setenta oitenta noventa")

NumberKind = Literal["cardinal", "ordinal", "year", "decade"]


@dataclass(frozen=True, slots=True)
class SpelledNumber:
    """A number in words: its value, its kind, and how many of the words it takes.

    A ``decade`` has the value of its first year, or of its last two digits where no century is said ("seventies": 70).
    """

    value: int
    kind: NumberKind
    length: int


def read_number(words: Sequence[str], at: int, language: str) -> SpelledNumber | None:
    """The longest number spelled from ``words[at]`` on (folded words without hyphens), ``None`` if there is none."""
    year = _spoken_year(words, at) if language == "en" else None
    return year or _thousands(words, at, language)


def _word(words: Sequence[str], at: int) -> str:
    return words[at] if at < len(words) else ""


def _two_digits(words: Sequence[str], at: int, language: str) -> SpelledNumber | None:
    """A number below 100, cardinal or ordinal."""
    word = _word(words, at)
    if word in _SMALL[language]:
        return SpelledNumber(_SMALL[language][word], "cardinal", 1)
    if word in _SMALL_ORDINALS[language]:
        return SpelledNumber(_SMALL_ORDINALS[language][word], "ordinal", 1)
    if word in _TENS_ORDINALS[language]:
        tens, unit = _TENS_ORDINALS[language][word], _SMALL_ORDINALS[language].get(_word(words, at + 1))
        if language == "pt" and unit is not None:
            return SpelledNumber(tens + unit, "ordinal", 2)
        return SpelledNumber(tens, "ordinal", 1)
    if word not in _TENS[language]:
        return None
    tens = _TENS[language][word]
    after = at + 1
    if language == "pt":
        if _word(words, after) != "e":
            return SpelledNumber(tens, "cardinal", 1)
        after += 1
    unit, ordinal = _SMALL[language].get(_word(words, after), 0), _SMALL_ORDINALS[language].get(_word(words, after), 0)
    if 0 < unit < 10:
        return SpelledNumber(tens + unit, "cardinal", after + 1 - at)
    if 0 < ordinal < 10:
        return SpelledNumber(tens + ordinal, "ordinal", after + 1 - at)
    return SpelledNumber(tens, "cardinal", 1)


def _hundreds(words: Sequence[str], at: int, language: str) -> SpelledNumber | None:
    """A number below 1,000."""
    first = _two_digits(words, at, language)
    hundred = _HUNDRED[language]
    if language == "en" and first and first.kind == "cardinal" and _word(words, at + first.length) in hundred:
        value, used = first.value * 100, first.length + 1
    elif language == "pt" and _word(words, at) in hundred:
        value, used = hundred[_word(words, at)], 1
    else:
        return first
    return _with_rest(value, used, words, at, language)


def _with_rest(value: int, used: int, words: Sequence[str], at: int, language: str) -> SpelledNumber:
    joined = used + (_word(words, at + used) == _AND[language])
    if language == "en" and _word(words, at + joined) in _DECADE_ENDINGS:
        return SpelledNumber(value + _DECADE_ENDINGS[_word(words, at + joined)], "decade", joined + 1)
    rest = _hundreds(words, at + joined, language) if value >= 1000 else _two_digits(words, at + joined, language)
    if rest is None or rest.kind == "ordinal" or rest.value == 0:
        return SpelledNumber(value, "cardinal", used)
    return SpelledNumber(value + rest.value, "cardinal", joined + rest.length)


def _thousands(words: Sequence[str], at: int, language: str) -> SpelledNumber | None:
    if language == "pt" and _word(words, at) == "mil":
        return _with_rest(1000, 1, words, at, language)
    first = _hundreds(words, at, language)
    if first is None or first.kind != "cardinal" or _word(words, at + first.length) != _THOUSAND[language]:
        if (
            first is None
            and language == "en"
            and _word(words, at) in _DECADE_ENDINGS
            and _word(words, at) != "hundreds"
        ):
            word = _word(words, at)
            return None if word == "tens" else SpelledNumber(_DECADE_ENDINGS[word], "decade", 1)
        return first
    return _with_rest(first.value * 1000, first.length + 1, words, at, language)


def _spoken_year(words: Sequence[str], at: int) -> SpelledNumber | None:
    """A year said in pairs: "nineteen seventy eight", "twenty eighteen", "nineteen oh one", "nineteen seventies"."""
    century = {**_SMALL["en"], **_TENS["en"]}.get(_word(words, at), 0)
    if not 10 <= century <= 20:
        return None
    second = _word(words, at + 1)
    if second in _DECADE_ENDINGS:
        return SpelledNumber(century * 100 + _DECADE_ENDINGS[second], "decade", 2)
    if second in ("zero", "oh"):
        unit = _SMALL["en"].get(_word(words, at + 2), 0)
        return SpelledNumber(century * 100 + unit, "year", 3) if 0 < unit < 10 else None
    pair = _two_digits(words, at + 1, "en")
    if pair is None or pair.kind != "cardinal" or pair.value < 10:
        return None
    return SpelledNumber(century * 100 + pair.value, "year", 1 + pair.length)


def spelled_decade(word: str) -> int | None:
    """The last two digits of a decade named by a Portuguese number word ("anos oitenta"); ``None`` for other words."""
    return _PT_DECADES.get(word)
