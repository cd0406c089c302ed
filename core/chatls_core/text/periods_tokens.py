"""Words, numbers and written dates of a text as tokens of the time grammar; code, paths and versions stay out."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .numbers import read_number, spelled_decade
from .periods import CalendarFields, full_year
from .periods_words import PHRASES, WORDS, Entry
from .tokenizer import fold

_LEXEMES = re.compile(
    r"""
    (?P<other>
        \0+ | `[^`\n]*` | \w+://\S+ | [\w.+-]+@[\w-]+\.\w[\w.-]* | \S*[\\=<>{}]\S*
      | \w[\w.]*[(\[]\S* | [~^$#@]\S+ | --\S+
      | (?!w/c\b)(?:\.{0,2}/)?[A-Za-z_][\w-]*(?:/[A-Za-z_.][\w.-]*)+/? | (?<![\w])/[A-Za-z_][\w./-]*
      | \w*_\w[\w.]* | [A-Za-z]\w+\.[A-Za-z]\w*(?:\.\w+)*
      | [0-9a-fA-F]{8}-[0-9a-fA-F-]{27,} | (?=[0-9a-fA-F]*[a-fA-F])(?=[0-9a-fA-F]*\d[0-9a-fA-F]*\d)[0-9a-fA-F]{7,}\b
    )
  | (?P<wc>\bw/c\b)
  | (?P<stamp>(?<![\w.-])(?P<sy>\d{4})-(?P<sm>\d\d)-(?P<sd>\d\d)
        (?:[T\ ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?(?![\w-]|\.\d))
  | (?P<ymd>(?<![\w.:/-])(?P<y1>\d{4})(?P<s1>[-/.])(?P<m1>\d{1,2})(?P=s1)(?P<d1>\d{1,2})(?![\w/-]|\.\d))
  | (?P<dmy>(?<![\w.:/-])(?P<a2>\d{1,2})(?P<s2>[-/.])(?P<b2>\d{1,2})(?:(?P=s2)|,\s?)(?P<y2>\d{4}|'?\d\d)
        (?![\w/-]|\.\d|,\d))
  | (?P<ym>(?<![\w.:/-])(?P<y3>\d{4})(?P<s3>\s?[-/]\s?|\.)(?P<m3>\d{1,2})(?![\w:/-]|\.\d|,\d|\s?-\s?\d))
  | (?P<my>(?<![\w.:/-])(?P<m4>\d{1,2})(?P<s4>\s?[-/]\s?)(?P<y4>\d{4})(?![\w:/-]|\.\d|,\d))
  | (?P<dm>(?<![\w.:/-])(?P<a5>\d{1,2})(?P<s5>[-/.])(?P<b5>\d{1,2})(?![\w:/%-]|\.\d|,\d))
  | (?P<clock>\d{1,2}:\d\d(?::\d\d)?(?:[.,]\d+)?(?:\s?[ap]\.?m\b\.?)? | \d{1,2}\s?[ap]\.?m\b\.? | \d{1,2}h(?:\d\d)?\b)
  | (?P<week>(?<![\w.-])(?P<wy>\d{4})-?W(?P<wn>[0-5]\d)(?:-?(?P<wd>[1-7]))?\b)
  | (?P<part>(?<!\w)(?:(?P<py>\d{4})\s?)?(?P<pk>[QqHh]|[1-4]?T)(?P<pn>[1-4])
        (?:\s?/\s?(?P<pl>\d{4})|\s?['’](?P<ps>\d\d))?\b)
  | (?P<decade>(?<!\w)'?(?P<dn>\d{3}0|\d0)'?s\b)
  | (?P<feira>\b[2-6][aª](?:-|\s)feira\b)
  | (?P<ordinal>(?<![\w.:/-])(?P<on>\d{1,2})(?:\s?(?:st|nd|rd|th)\b|\.?[ºª°]|o\b|a\b))
  | (?P<number>(?<![\w.:/$€£#])(?<![^a-zA-Z]-)\d+(?![\w%:]|[.,]\d|-\d))
  | (?P<numrun>(?!(?<=[a-zA-Z])-)[\w.,:/$€£#%-]*\d[\w.,:/$€£#%-]*)
  | (?P<word>(?:[^\W\d_][\u0300-\u036f]*)+(?:-[Ff]eiras?\b)?)
  | (?P<mark>[^\w\s])
    """,
    re.VERBOSE,
)
_LONG = re.compile(r"\S{41,}")
"""Runs without a space that are no words: paths, keys, encoded data. Left out, so that no pattern walks over them."""
_MONTH_AND_DAY = re.compile(r"([^\W\d_]{3,9})\.?(\d{1,2})(?:st|nd|rd|th)?")
_DAY_AND_MONTH = re.compile(r"(\d{4}|\d{1,2}(?:st|nd|rd|th)?)?([-/]?)([^\W\d_]{3,9})(?:[-/](\d{4}|\d{1,2}))?")
_NUMBER_RANGE = re.compile(r"(\d{1,2}|\d{4})-(\d{1,2}|\d{4})")
_PART_OF_YEAR = re.compile(r"((?i:mid|early|late))-(\d{4})")
_DOTTED_DAY = re.compile(r"(\d{1,2})(?:st|nd|rd|th)?\.?|\d+[,.!?;:]*")


_ROMAN = re.compile(r"(X{0,2})(IX|IV|V?I{0,3})")


@dataclass(frozen=True, slots=True)
class Token:
    """A word or a reduced expression: its code in the grammar, its value, and where it stands in the text."""

    code: str
    value: object
    start: int
    end: int
    word: str = ""


@dataclass(frozen=True, slots=True)
class WrittenDate:
    """A date in digits. ``doubtful`` ones (1/2, 4.22) may be fractions, versions or sections: the sentence decides."""

    fields: CalendarFields
    doubtful: bool
    pair: tuple[int, int] | None = None
    """The two numbers as written, where they may also be a range of days ("4-23")."""


def lexemes(text: str) -> list[re.Match[str]]:
    """A text cut into words, numbers, written dates, marks, and code that is not looked into."""
    return list(_LEXEMES.finditer(_LONG.sub(lambda m: "\0" * len(m[0]), text)))


def tokens_of(found: Sequence[re.Match[str]], language: str) -> list[Token]:
    """The tokens of :func:`lexemes` in one language, numbers in words already read."""
    tokens = [t for m in found for t in _token(m, language)]
    tokens = list(_with_names_of_two_words(tokens, language))
    return _with_spelled_numbers(tokens, language)


def _with_names_of_two_words(tokens: Sequence[Token], language: str) -> Iterator[Token]:
    """Names of several words as one token: "business days", "fim de semana", "segunda feira", "século XIX"."""
    at = 0
    while at < len(tokens):
        first, words = tokens[at], [fold(t.word) for t in tokens[at : at + 3]]
        if named := next((n for n in (3, 2) if len(words) >= n and " ".join(words[:n]) in PHRASES[language]), 0):
            phrase = " ".join(words[:named])
            yield Token(PHRASES[language][phrase], None, first.start, tokens[at + named - 1].end, phrase)
            at += named
            continue
        if language == "en":
            if words[0] in ("business", "working", "work") and words[1:2] in (["day"], ["days"]):
                yield Token("UNIT", "weekday", first.start, tokens[at + 1].end, tokens[at + 1].word)
                at += 2
                continue
            yield first
            at += 1
            if first.code == "UNIT" and words[1:2] == ["back"] and words[2:3] not in (["to"], ["in"], ["on"]):
                yield Token("AGO", None, tokens[at].start, tokens[at].end, tokens[at].word)
                at += 1
            elif first.code == "UNIT" and (mark := _in_time(tokens, at)):
                yield Token("INTIME", None, tokens[at].start, tokens[mark].end)
                at = mark + 1
        elif words[0] in ("fim", "fins", "final", "finais") and words[1:] == ["de", "semana"]:
            yield Token("UNIT", "weekend", first.start, tokens[at + 2].end)
            at += 3
        elif words[0] == "dias" and at and tokens[at - 1].code in ("THE", "OF", "IN") and words[1:2] == [""]:
            at += 1  # "os dias 10 e 12 de setembro"
        elif first.code == "WO" and words[1:2] in (["feira"], ["feiras"]):
            yield Token("WD", first.value, first.start, tokens[at + 1].end, first.word)
            at += 2
        elif first.value == "century" and words[1:2] and (century := _roman(tokens[at + 1].word)):
            yield first
            yield Token("O", century, tokens[at + 1].start, tokens[at + 1].end)
            at += 2
        else:
            yield first
            at += 1


def _in_time(tokens: Sequence[Token], at: int) -> int:
    """Where the "time" of "two weeks' time" and "a week's time" stands, whose apostrophe is at ``at``; 0 for none."""
    words = [t.word.lower() or t.code for t in tokens[at : at + 3]]
    return at + 1 if words[:2] == ["'", "time"] else at + 2 if words == ["'", "s", "time"] else 0


def _token(match: re.Match[str], language: str) -> list[Token]:
    kind = str(match.lastgroup)
    start, end, text = match.start(), match.end(), match[0]
    if kind == "word":
        return [_word(text, start, end, language)]
    if kind == "numrun" or kind == "other":
        return _glued(text, start, language)
    if kind == "mark":
        return [Token("'" if text == "’" else text if text in ",.-/'–—" else "!", None, start, end)]
    written = _written_date(match, kind, language)
    if written is not None:
        return [Token("LIT", written, start, end, text)]
    if kind == "dm":
        first, second = int(match["a5"]), int(match["b5"])
        if match["s5"] == "-" and 1 <= first < second <= 31:
            middle = start + len(match["a5"])
            return [
                Token("N", first, start, middle),
                Token("-", None, middle, middle + 1),
                Token("N", second, middle + 1, end),
            ]
        return [Token("_", None, start, end)]
    if kind in ("stamp", "ymd", "dmy", "ym", "my"):
        years = _NUMBER_RANGE.fullmatch(text)
        return [Token("_", None, start, end)] if years is None else _glued(text, start, language)
    return [_numeric(match, kind, start, end, text)]


def _numeric(match: re.Match[str], kind: str, start: int, end: int, text: str) -> Token:
    if kind == "week":
        return Token("WEEK", (int(match["wy"]), int(match["wn"]), int(match["wd"] or 0)), start, end)
    if kind == "wc":
        return Token("WC", None, start, end)
    if kind == "part":
        letter, number = match["pk"][-1].lower(), int(match["pn"])
        months = {"q": 3, "t": 3, "h": 6}[letter]
        said = match["py"] or match["pl"]
        year = int(said) if said else full_year(int(match["ps"])) if match["ps"] else None
        if number * months > 12 or len(match["pk"]) > 1:
            return Token("_", None, start, end)
        return Token("PART", (months, number, year), start, end, text)
    if kind == "decade":
        return Token("DEC", int(match["dn"]), start, end)
    if kind == "feira":
        return Token("WD", int(text[0]) - 2, start, end)
    if kind == "ordinal":
        return Token("O", int(match["on"]), start, end, text)
    if kind == "number":
        return _plain_number(int(text), len(text), start, end)
    return Token("CLOCK", None, start, end)


def _plain_number(value: int, digits: int, start: int, end: int) -> Token:
    return Token("Y" if digits == 4 and 1000 <= value < 3000 else "N", value, start, end)


def _word(text: str, start: int, end: int, language: str) -> Token:
    folded = fold(text)
    written = unicodedata.normalize("NFC", text).lower()
    if written in WORDS[language]:
        folded = written
    code, value = WORDS[language].get(folded, ("_", None))
    return Token(code, value, start, end, text)


def _glued(text: str, start: int, language: str) -> list[Token]:
    """A chunk of letters and digits that may still be a date: "Oct2", "2019-sep-1", "2-Out", "2014-2018"."""
    other = [Token("_", None, start, start + len(text))]
    bare = text.rstrip(",.:")
    months = WORDS[language]

    def month(word: str) -> Entry | None:
        entry = months.get(word.lower()) or months.get(fold(word))
        return entry if entry is not None and entry[0] in ("MON", "DMON") else None

    if (
        (found := _MONTH_AND_DAY.fullmatch(bare))
        and (entry := month(found[1]))
        and (entry[0] == "MON" or bare[0].isupper())
    ):
        return [
            Token("MON", entry[1], start, start + len(found[1]), found[1]),
            Token("N", int(found[2]), start + found.start(2), start + len(bare)),
        ]
    if (found := _DAY_AND_MONTH.fullmatch(bare)) and (found[1] or found[4]) and (entry := month(found[3])):
        tokens = []
        if found[1]:
            digits = found[1].rstrip("stndrh")
            tokens.append(_plain_number(int(digits), len(digits), start, start + len(found[1])))
        tokens.append(Token("MON", entry[1], start + found.start(3), start + found.end(3), found[3]))
        if found[4] and language == "pt" and len(found[4]) == 2 and "/" in bare and not found[1]:
            # "mar/24" is how a month of a year is written in Portuguese.
            tokens.append(_plain_number(full_year(int(found[4])), 4, start + found.start(4), start + found.end(4)))
        elif found[4]:
            tokens.append(_plain_number(int(found[4]), len(found[4]), start + found.start(4), start + found.end(4)))
        return tokens
    if found := _PART_OF_YEAR.fullmatch(bare):
        year = start + found.start(2)
        return [
            _word(found[1], start, year - 1, language),
            _plain_number(int(found[2]), 4, year, start + len(bare)),
        ]
    if found := _NUMBER_RANGE.fullmatch(bare):
        return [
            _plain_number(int(found[1]), len(found[1]), start, start + found.end(1)),
            Token("-", None, start + found.end(1), start + found.start(2)),
            _plain_number(int(found[2]), len(found[2]), start + found.start(2), start + found.end(2)),
        ]
    if found := _DOTTED_DAY.fullmatch(text):
        digits = re.match(r"\d+", text)
        assert digits is not None
        end = start + digits.end()
        return [
            _plain_number(int(digits[0]), len(digits[0]), start, end),
            Token(text[-1], None, end, start + len(text)),
        ]
    return other


def _roman(word: str) -> int:
    """A Roman number up to 29; 0 for another word."""
    found = _ROMAN.fullmatch(word)
    if found is None:
        return 0
    tens, ones = found.groups()
    return 10 * len(tens) + {"IX": 9, "IV": 4}.get(ones, 5 * ("V" in ones) + ones.count("I"))


def _written_date(match: re.Match[str], kind: str, language: str) -> WrittenDate | None:
    if kind == "stamp":
        return _date(int(match["sy"]), int(match["sm"]), int(match["sd"]), doubtful=False)
    if kind == "ymd":
        return _date(int(match["y1"]), int(match["m1"]), int(match["d1"]), doubtful=False)
    if kind == "dmy":
        digits = match["y2"].strip("'")
        separator = match["s2"]
        doubtful = len(digits) == 2 and separator != "/"
        year, first, second = full_year(int(digits)), int(match["a2"]), int(match["b2"])
        if separator == "-" and "," in match[0] and first < second <= 31:
            # "June 5-9, 2025": days of the month before it.
            return WrittenDate(CalendarFields(year, None, None), True, (first, second))
        return _ordered(year, first, second, doubtful=doubtful, month_first=language == "en")
    if kind == "ym":
        separator, month = match["s3"], match["m3"]
        doubtful = separator == "." or len(separator) > 1 or len(month) == 1
        return _date(int(match["y3"]), int(month), None, doubtful=doubtful)
    if kind == "my":
        return _date(int(match["y4"]), int(match["m4"]), None, doubtful=True)
    if kind == "dm":
        first, second = int(match["a5"]), int(match["b5"])
        found = _ordered(None, first, second, doubtful=True, month_first=language == "en")
        if found is not None and match["s5"] == "-" and first < second:
            return WrittenDate(found.fields, True, (first, second))
        return found
    return None


def _date(year: int | None, month: int, day: int | None, *, doubtful: bool) -> WrittenDate | None:
    if (
        not 1 <= month <= 12
        or (day is not None and not 1 <= day <= 31)
        or (year is not None and not 1000 <= year < 3000)
    ):
        return None
    return WrittenDate(CalendarFields(year, month, day), doubtful)


def _ordered(year: int | None, first: int, second: int, *, doubtful: bool, month_first: bool) -> WrittenDate | None:
    month, day = (first, second) if month_first else (second, first)
    return _date(year, month, day, doubtful=doubtful) or _date(year, day, month, doubtful=doubtful)


def _with_spelled_numbers(tokens: Sequence[Token], language: str) -> list[Token]:
    found: list[Token] = []
    at = 0
    joined = [i for i, t in enumerate(tokens) if t.word]
    place = {index: order for order, index in enumerate(joined)}
    words = [fold(tokens[i].word) for i in joined]
    while at < len(tokens):
        token = tokens[at]
        number = read_number(words, place[at], language) if token.word and _may_be_number(tokens, at) else None
        if number is not None:
            last = joined[place[at] + number.length - 1]
            if all(t.word or t.code == "-" for t in tokens[at : last + 1]):
                code = {"cardinal": "N", "ordinal": "O", "year": "Y", "decade": "DEC"}[number.kind]
                if code == "N" and 1000 <= number.value < 3000:
                    code = "Y"
                found.append(Token(code, number.value, token.start, tokens[last].end, "spelled"))
                at = last + 1
                continue
        if token.code == "UNIT" and token.value == "year" and language == "pt" and at + 1 < len(tokens):
            decade = spelled_decade(fold(tokens[at + 1].word)) if tokens[at + 1].word else None
            if decade is not None and fold(token.word) == "anos":
                found.append(Token("DEC", decade, token.start, tokens[at + 1].end, token.word))
                at += 2
                continue
        found.append(token)
        at += 1
    return found


def _may_be_number(tokens: Sequence[Token], at: int) -> bool:
    """Whether a word may be read as a number; "dez" is December unless what follows can be counted."""
    token = tokens[at]
    if token.code == "DMON":
        return (
            token.word == "dez" and at + 1 < len(tokens) and tokens[at + 1].code in ("UNIT", "OF", "LAST", "NEXT", "A")
        )
    return token.code in ("_", "N")
