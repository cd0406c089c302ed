"""One tokenizer for every ranker (spec/memory.md §8.1, §18.1 rows 9 to 12, §18.3 item 9).

A text becomes *terms*: words folded to lower case without accents and reduced to their Snowball stem. Identifiers stay
findable whole and in parts (``main.go``, ``blue-green``, ``c++``, ``parseHTTPRequest``, ``max_tokens``), short words
(``Go``, ``CI``, ``k8``) are kept. English and Portuguese are told apart per text by their function words.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Literal, Protocol

from . import stopwords

Language = Literal["en", "pt"]

_CHUNK = re.compile(
    r"(?<![\w.])\.NET(?![\w.])|(?<!\w)(?i:vs|visual studio) (?i:code)(?!\w)"  # names that are written in other ways
    r"|[^\W_]\w*(?:[.\-'’][^\W_]\w*)*(?:\+\+|\#(?!\w))?"  # words, dotted and hyphenated names, c++, c#
    r"|_+[^\W_]\w*"  # __init__
)
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\dA-Za-z_]+|\d+")
_POSSESSIVE = re.compile(r"['’](?:s|re|ve|ll|d|m|t)\b", re.IGNORECASE)
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_VERSION = re.compile(r"[vV](\d+(?:\.\d+)+)")
_SCRIPT_LANGUAGE = re.compile(r"(?:Java|Type|Coffee|Apple|Pure|Action|Post)Script")
"""Names in one piece: JavaScript is no Java."""
_NUMBERED = re.compile(r"([A-Za-z]{2,})\d+")
_SEGMENT = re.compile(r"(?=[A-Za-z]*\d)(?=\d*[A-Za-z])[A-Za-z0-9]{3,}")
"""Letters with digits, which case tells no parts of: the ``x86`` of ``x86_64``."""
_OF_JAVASCRIPT = re.compile(r"([A-Za-z]+)\.(js)", re.IGNORECASE)
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
_RUN = re.compile(rf"[{_UNSPACED}]+|[^{_UNSPACED}]+")
_IS_UNSPACED = re.compile(rf"[{_UNSPACED}]")
"""Writing without spaces between words (Chinese, Japanese, Thai; Korean glues its particles on), and the rest."""
_INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff"))
_LETTERS = str.maketrans({"œ": "oe", "æ": "ae", "ø": "o", "ł": "l", "đ": "d", "ı": "i", "Œ": "OE", "Æ": "AE", "Ø": "O"})
"""Letters that Unicode takes apart into none, as people without them type them."""
_PLAIN = re.compile(r"[a-z]+|[A-Z][a-z]+|[0-9]+|[A-Z]+")

# The Portuguese stemmer knows suffixes by their accents; typed without them they must still be recognised.
_ACCENTS_RESTORED = (
    ("coes", "ções"),
    ("cao", "ção"),
    ("soes", "sões"),
    ("sao", "são"),
    ("avel", "ável"),
    ("ivel", "ível"),
    ("aveis", "áveis"),
    ("iveis", "íveis"),
    ("encia", "ência"),
    ("encias", "ências"),
    ("ancia", "ância"),
    ("ancias", "âncias"),
)


_stemming = threading.Lock()
"""A Snowball stemmer keeps the word it works on in itself: two threads at once would mix theirs."""


class _Stemmer(Protocol):
    def stemWord(self, word: str) -> str: ...


@cache
def _stemmer(language: Language) -> _Stemmer:
    import snowballstemmer

    stemmer: _Stemmer = snowballstemmer.stemmer("english" if language == "en" else "portuguese")
    return stemmer


@lru_cache(maxsize=65536)
def fold(text: str) -> str:
    """``text`` in lower case with accents and compatibility forms removed (``Ação`` becomes ``acao``)."""
    return text.lower() if text.isascii() else _bare(text.casefold())


def _bare(text: str) -> str:
    """``text`` without accents and compatibility forms, case kept."""
    if text.isascii():
        return text
    plain = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    return plain.translate(_LETTERS)


@lru_cache(maxsize=65536)
def stem(word: str, language: Language) -> str:
    """The Snowball stem of a folded word, folded; words of up to two letters and words with digits stay as they are."""
    if len(word) <= 2 or not word.isalpha():
        return word
    if language == "pt":
        for bare, accented in _ACCENTS_RESTORED:
            if word.endswith(bare) and len(word) > len(bare) + 1:
                word = word[: -len(bare)] + accented
                break
    with _stemming:
        stemmed = _stemmer(language).stemWord(word)
    return fold(stemmed)


def detect_language(text: str) -> Language | None:
    """``en`` or ``pt`` by the text's function words and accents; ``None`` when neither shows."""
    lowered = _composed(text).lower()
    found = set(_WORD.findall(lowered))
    english, portuguese = len(found & stopwords.EVIDENCE_ENGLISH), len(found & stopwords.EVIDENCE_PORTUGUESE)
    if not text.isascii():
        portuguese += sum(lowered.count(letter) for letter in "ãõç")
    if english == portuguese:
        return None
    return "en" if english > portuguese else "pt"


_WORD = re.compile(r"[^\W\d_]+")
_ACRONYMS = re.compile(r"[A-Z]{2,}s")


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a text: as written, folded, and whether it is a part of the identifier before it."""

    written: str
    folded: str
    part: bool = False


@lru_cache(maxsize=65536)
def _split(chunk: str) -> tuple[Word, ...]:
    """The words of one chunk: the whole first, then its parts when it is an identifier made of several."""
    if _PLAIN.fullmatch(chunk):
        return (Word(chunk, chunk.lower()),)
    if _ACRONYMS.fullmatch(chunk):
        return (Word(chunk, chunk[:-1].lower()),)  # "PDFs" are no PD and Fs
    if _SCRIPT_LANGUAGE.fullmatch(chunk):
        return (Word(chunk, chunk.lower()),)
    if version := _VERSION.fullmatch(chunk):
        return (Word(chunk, version[1]),)
    if " " in chunk:
        return (Word(chunk, "vscode"), *(Word(part, part.lower(), part=True) for part in chunk.split()))
    if chunk == ".NET":
        return (Word(chunk, "dotnet"), Word("NET", "net", part=True))
    if _IS_UNSPACED.match(chunk):
        return tuple(Word(chunk[i : i + 2], chunk[i : i + 2]) for i in range(max(1, len(chunk) - 1)))
    written, chunk = chunk, _bare(_POSSESSIVE.sub("", chunk))
    # One spelling for blue-green, blue_green and blueGreen; the dot stays, since main.go is not "maingo".
    whole = chunk.lower().replace("_", "").replace("-", "")
    parts = [part for part in _PART.findall(chunk) if len(part) > 1]
    if not whole:
        return ()
    parts += [found for found in _more_parts(chunk) if found.lower() not in {whole, *(p.lower() for p in parts)}]
    if len(parts) <= 1 or all(part.isdigit() for part in parts):
        return (
            Word(written, whole),
            *(Word(part, part.lower(), part=True) for part in parts if len(part) > 2 and part.lower() != whole),
        )
    return (Word(written, whole), *(Word(part, part.lower(), part=True) for part in parts))


def _more_parts(chunk: str) -> Iterator[str]:
    """Parts that no capital shows: ``OAuth`` of ``OAuth2``, ``x86`` of ``x86_64``, ``nodejs`` for ``node.js``."""
    if numbered := _NUMBERED.fullmatch(chunk):
        yield numbered[1]
    if framework := _OF_JAVASCRIPT.fullmatch(chunk):
        yield framework[1] + framework[2]
    yield from _SEGMENT.findall(chunk)


@lru_cache(maxsize=131072)
def _chunk_terms(chunk: str, language: Language) -> tuple[tuple[str, str], ...]:
    return tuple((stem(word.folded, language), word.folded) for word in _split(chunk))


def _composed(text: str) -> str:
    """``text`` with each accented letter as one character, and without marks that nobody sees."""
    return text if text.isascii() else unicodedata.normalize("NFC", text).translate(_INVISIBLE)


def _chunks(text: str) -> list[str]:
    text = _composed(text)
    found = _CHUNK.findall(_THOUSANDS.sub("", text) if "," in text else text)
    if text.isascii() or not _IS_UNSPACED.search(text):
        return found
    return [run for chunk in found for run in _RUN.findall(chunk)]


def words(text: str) -> Iterator[Word]:
    """The words of ``text`` in order; an identifier comes whole first, then in parts."""
    for chunk in _chunks(text):
        yield from _split(chunk)


def terms(text: str, language: Language | None = None) -> list[str]:
    """The terms of a passage in order, stop words included; ``language`` is detected when not given, else English."""
    return [term for term, _ in analysed(text, language)]


def analysed(text: str, language: Language | None = None) -> list[tuple[str, str]]:
    """Like :func:`terms`, each term with the folded word it came from."""
    language = language or detect_language(text) or "en"
    found = [pair for chunk in _chunks(text) for pair in _chunk_terms(chunk, language)]
    return [*found, _GOLANG] if _GO.search(text) and _tells_of_go(text) else found


def is_stop_word(folded: str) -> bool:
    """Whether a folded word says nothing about a topic in English or Portuguese."""
    return folded in stopwords.ENGLISH or folded in stopwords.PORTUGUESE


_BEFORE_GO = frozenset(
    {*("in", "use", "uses", "used", "using", "with", "our", "learn", "learning", "prefer", "prefers"),
     *("em", "usa", "usam", "usamos", "usar", "com", "nosso")}
)  # fmt: skip
_BEHIND_GO = frozenset(
    {*("version", "versions", "code", "module", "modules", "service", "services", "project", "projects", "compiler"),
     *("toolchain", "binary", "binaries", "routine", "routines", "test", "tests", "vet", "fmt", "build", "mod")}
)  # fmt: skip


def _names_the_language(found: Sequence[Word], position: int) -> bool:
    """Whether a "go" is the language's name by the words beside it, not the verb."""
    before = found[position - 1].folded if position else ""
    behind = found[position + 1].folded if position + 1 < len(found) else ""
    return before in _BEFORE_GO or behind in _BEHIND_GO or behind[:1].isdigit()


_GO = re.compile(r"\b[Gg]o\b")
_GOLANG = ("golang", "golang")
"""The other name of the language, by which a passage that says "Go" is found as well."""


def _tells_of_go(text: str) -> bool:
    found = list(words(text))
    return any(
        word.folded == "go" and ((position > 0 and word.written == "Go") or _names_the_language(found, position))
        for position, word in enumerate(found)
    )


def _is_acronym(written: str, position: int) -> bool:
    """Whether a word in capitals is a name: ``IT``, the ``A`` of "service A"; not "I", nor a letter that begins."""
    return written.isupper() and (len(written) >= 2 or (position > 0 and written != "I"))


def topic_words(text: str) -> list[Word]:
    """The distinct words of a question that carry its topic: stop words dropped, first occurrence kept.

    A stop word that is written like a name is one: ``IT`` and ``US`` in a text not all in capitals, ``Go`` within a
    sentence, the ``A`` of "service A"; and so is the language in ``written in go`` and ``Go version?``.
    """
    shouting = text.isupper()
    seen: dict[str, Word] = {}
    found = list(words(text))
    for position, word in enumerate(found):
        written = word.written
        named = not shouting and (_is_acronym(written, position) or (position > 0 and written == "Go"))
        named = named or (word.folded == "go" and (len(found) == 1 or _names_the_language(found, position)))
        if (named or not is_stop_word(word.folded)) and word.folded not in seen:
            seen[word.folded] = word
    return list(seen.values())
