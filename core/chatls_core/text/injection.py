"""Find text that tries to command the model or the machine from inside data (spec/memory.md §1.7).

Applied to instruction files (scope ``context``) and to whatever memory puts before the model (scope ``memory``). The
scan reads the text as a model would: invisible characters are dropped, look-alike forms folded, and a directive that
is wrapped over several lines is still one directive (§18.1 row 39). Nothing on disk changes, only the prompt's copy.
Sentences that forbid what they name ("never ignore earlier rules") are no directives.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from dataclasses import dataclass
from typing import Literal

Scope = Literal["context", "memory"]
Category = Literal["prompt-injection", "remote-exec", "persistence"]

_MOST_LINES = 4
"""A directive wrapped over more lines than this is taken for unrelated text."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Lines ``line`` to ``end_line`` (zero-based, both included) hold one directive of ``category``."""

    line: int
    end_line: int
    category: Category


def _compile(*patterns: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(p, re.IGNORECASE | re.VERBOSE) for p in patterns)


_W = r"[\s\"'*_`>\#,:;.()\-]{1,12}"
"""What may stand between two words of a wrapped, quoted or emphasised sentence."""


def _words(most: int) -> str:
    """A gap of at most ``most`` words."""
    return rf"(?:{_W}[\w']{{1,20}}){{0,{most}}}?{_W}"


_NOT_NEGATED = "".join(
    rf"(?<!{word}[\ \n])" for word in ("not", "n't", "n’t", "never", "cannot", "without", "não", "nao", "nunca", "sem")
)

_VERB = rf"{_NOT_NEGATED}\b(?:ignor(?:e|ing)|disregard(?:ing)?|forget(?:ting)?)\b"
_VERB_OR_OVERRIDE = rf"{_NOT_NEGATED}\b(?:ignore|disregard|forget|override|bypass|discard)\b"
_VERB_PT = (
    rf"{_NOT_NEGATED}\b(?:ignor(?:e|em|ar|a)|desconsider(?:e|em|ar|a)|esque(?:ça|ca|cer|ce)(?:[-\s]se)?"
    r"|desobede(?:ça|ca|cer)|descart(?:e|ar))\b"
)
_NOUN = (
    r"(?:instructions?|prompts?|directives?|guidelines?|directions|rules?|orders|commands?|constraints|context"
    r"|programming|training|conversation|safeguards?)\b"
)
_OWN_NOUN = r"(?:instructions?|prompts?|guidelines|programming|training|safeguards?)\b"
_NOUN_PT = (
    r"(?:instru[cç](?:ões|oes|ão|ao)|regras?|diretrizes|diretivas?|ordens|comandos?|orienta[cç](?:ões|oes)"
    r"|prompts?|contexto|mensagens)\b"
)
_BEFORE = r"(?:previous(?:ly)?|prior|above|earlier|preceding|foregoing|former)\b"
_BEFORE_PT = r"(?:anterior(?:es)?|pr[ée]vi[ao]s?|acima|precedentes?|passadas?)\b"
_ALL_OF = rf"(?:all{_W}(?:of{_W})?)?"
_FREED = r"(?:DAN|jailbr(?:eak|oken)\w*|unrestricted|unfiltered|uncensored|god\s*mode)\b"
_FREED_PT = rf"(?:DAN\b|jailbreak|irrestrit[oa]|sem{_W}(?:restri|filtro)\w*|modo{_W}desenvolvedor)"

_PROMPT_INJECTION = _compile(
    rf"{_VERB}{_words(4)}{_BEFORE}{_words(2)}{_NOUN}",
    rf"{_VERB}{_words(4)}{_NOUN}{_words(3)}(?:above|before|earlier|previously)\b",
    rf"{_VERB_OR_OVERRIDE}{_words(3)}(?:your|the\s+system|system){_words(2)}{_OWN_NOUN}",
    rf"{_VERB}{_W}{_ALL_OF}(?:everything|anything|what(?:ever)?){_words(5)}"
    r"(?:above|before|previously|earlier|prior|told)\b",
    rf"{_VERB}{_W}{_ALL_OF}the{_W}(?:above|foregoing)\b(?=\s*(?:[.,;:!]|and\b|$))",
    rf"{_VERB_PT}{_words(4)}{_NOUN_PT}{_words(4)}{_BEFORE_PT}",
    rf"{_VERB_PT}{_words(4)}{_BEFORE_PT}{_words(2)}{_NOUN_PT}",
    rf"{_VERB_PT}{_words(2)}(?:suas|tuas){_words(2)}{_NOUN_PT}",
    rf"{_VERB_PT}{_W}tudo{_words(5)}(?:acima|antes|anteriormente|dito)\b",
    r"<\s*\|\s*/?\s*(?:system|user|assistant|developer|im_start|im_end|im_sep|start_header_id|end_header_id|eot_id"
    r"|endoftext|begin_of_text)\s*\|\s*>",
    r"<\s*/?\s*(?:system|im_start|im_end)\s*>",
    r"\[\s*/?\s*(?:system|im_start|im_end|INST)\s*\](?!\()|<<\s*/?\s*SYS\s*>>",
    rf"\byou{_W}are{_W}now{_W}(?:(?:an?|in|the|my|acting|operating|running|as|fully|completely){_W}){{0,4}}?"
    rf"(?:developer\b(?!\s+(?:of|on|for)\b)|{_FREED})",
    rf"\b(?:act|behave|respond|pretend|roleplay){_W}(?:(?:as|to|be|like|an?|the|you|are|if|were){_W}){{1,5}}?{_FREED}",
    rf"\b(?:voc[êe]|tu){_W}(?:agora{_W})?(?:é|eh|és|est[áa]){_W}(?:agora{_W})?(?:(?:um|uma|o|a|no|em){_W}){{0,3}}?"
    rf"{_FREED_PT}",
)

_SHELL = (
    r"(?:sudo\s+(?:-\S+\s+)*)?(?:/\S*/)?(?:env\s+)?"
    r"(?:(?:ba|z|da|k|fi|c|tc)?sh|python[\d.]*|perl|ruby|node|php|pwsh|powershell)\b"
)
_FETCH_PS = r"(?:iwr|irm|Invoke-WebRequest|Invoke-RestMethod|DownloadString)\b"

_REMOTE_EXEC = _compile(
    rf"\b(?:curl|wget)\b[^|;]{{0,400}}(?:\|[^|;]{{0,80}}){{0,3}}?\|\s*(?:\\\s*)?{_SHELL}",
    r"\b(?:bash|sh|zsh|source|eval|exec|python[\d.]*|\.)\s+(?:-\w+\s+)*[\"']?(?:<\(|\$\(|`)\s*(?:curl|wget)\b",
    rf"\bbase64\s+(?:-d|-D|--decode)\b[^|;]{{0,200}}\|\s*{_SHELL}",
    r"\bbash\s+-i\b[^\n]{0,80}/dev/(?:tcp|udp)/",
    r">&?\s*/dev/tcp/",
    r"\b(?:nc|ncat|netcat)\b(?:\s+[^\s|;]{1,80}){0,6}?\s+-\w*[ec]\b",
    rf"\b(?:iex|Invoke-Expression)\b[^;\n]{{0,200}}\b(?:curl|wget|{_FETCH_PS})",
    rf"\b{_FETCH_PS}[^;\n]{{0,200}}\|\s*(?:iex|Invoke-Expression)\b",
)

_CRON = r"(?:\bcrontab\b|/etc/cron[\w.]*)"
_CALLS_OUT = r"(?:\bcurl\b|\bwget\b|/dev/tcp)"

_PERSISTENCE = _compile(
    r"(?:>>?|\btee\s+(?:-a|--append)?)\s*[\"']?\S{0,120}\.ssh/authorized_keys\b",
    r"\b(?:append|add|write|copy|adicion\w+|escrev\w+)\b[^\n.;]{0,120}\S{0,60}\.ssh/authorized_keys\b",
    rf"{_CRON}[\s\S]{{0,200}}?{_CALLS_OUT}",
    rf"{_CALLS_OUT}[\s\S]{{0,200}}?{_CRON}",
    rf"{_CALLS_OUT}[^\n]{{0,200}}>>\s*[\"']?(?:~|\$HOME)/\.(?:bashrc|zshrc|profile|bash_profile|zprofile)\b",
)

_FAMILIES: dict[Scope, tuple[tuple[Category, tuple[re.Pattern[str], ...]], ...]] = {
    "context": (("prompt-injection", _PROMPT_INJECTION),),
    "memory": (
        ("prompt-injection", _PROMPT_INJECTION),
        ("remote-exec", _REMOTE_EXEC),
        ("persistence", _PERSISTENCE),
    ),
}

_LINE = re.compile(r"\r\n|\r|\n")
_ADDED_MARKS = re.compile(r"^[ \t]*(?:(?:[-*+#]+|\d+[.)]|//+|<!--)[ \t]*)+")


def _as_read(line: str) -> str:
    """The line as a model reads it: look-alikes folded, tag characters decoded, invisible characters dropped."""
    if line.isascii():
        return line
    shown, hidden = [], False
    for char in line:
        code = ord(char)
        if 0xE0020 <= code <= 0xE007E:
            if not hidden:
                shown.append(" ")
            hidden = True
            shown.append(chr(code - 0xE0000))
            continue
        hidden = False
        if unicodedata.category(char) not in ("Cf", "Cc") or char == "\t":
            shown.append(char)
    return unicodedata.normalize("NFKC", "".join(shown)).translate(_LOOKALIKES)


_LOOKALIKES = str.maketrans("асеорхуіԁѕАСЕОРХІЅТМВНК", "aceopxyidsACEOPXISTMBHK")


def scan(text: str, scope: Scope) -> tuple[Finding, ...]:
    """Every directive in ``text`` for ``scope``, in order of lines, at most one per category and starting line.

    Lines are split at ``\\n``, ``\\r\\n`` and ``\\r`` only.
    """
    lines = [_as_read(line) for line in _LINE.split(text)]
    # A wrapped list item or comment carries its marker into the middle of the sentence.
    lines = [_ADDED_MARKS.sub(lambda m: " " * len(m[0]), line) if i else line for i, line in enumerate(lines)]
    starts, total = [], 0
    for line in lines:
        starts.append(total)
        total += len(line) + 1
    joined = "\n".join(lines)
    found: dict[tuple[int, Category], Finding] = {}
    for category, patterns in _FAMILIES[scope]:
        for pattern in patterns:
            place = 0
            while match := pattern.search(joined, place):
                first = bisect_right(starts, match.start()) - 1
                last = bisect_right(starts, match.end() - 1) - 1
                if last - first >= _MOST_LINES:
                    # What lies inside may be a directive of its own.
                    place = match.start() + 1
                    continue
                place = match.end()
                known = found.get((first, category))
                if known is None or known.end_line < last:
                    found[first, category] = Finding(first, last, category)
    return tuple(sorted(found.values(), key=lambda f: (f.line, f.end_line, f.category)))


def blank(text: str, scope: Scope) -> str:
    """``text`` with each line of each finding replaced by ``[BLOCKED: <category>]``; other lines stay as they are."""
    findings = scan(text, scope)
    if not findings:
        return text
    pieces = _LINE.split(text)
    ends = [*_LINE.findall(text), ""]
    for finding in reversed(findings):
        for number in range(finding.line, finding.end_line + 1):
            pieces[number] = f"[BLOCKED: {finding.category}]"
    return "".join(piece + end for piece, end in zip(pieces, ends, strict=True))
