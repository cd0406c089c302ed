"""Numbers that stand for a person or an account: CPF, CNPJ, US social security number, IBAN.

They are told by their form *and* by what makes them one: check digits, ranges never issued, a country's length. Where
the form is that of any other number (eleven bare digits are a telephone number, too) the word beside it must say so.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from chatls_core.text.redaction import MASK

_EDGE, _END = r"(?<![\w./-])", r"(?![\w/-]|\.\d)"
_CPF = re.compile(rf"{_EDGE}\d{{3}}\.\d{{3}}\.\d{{3}}-\d\d{_END}")
_CNPJ = re.compile(rf"{_EDGE}[A-Z\d]{{2}}\.[A-Z\d]{{3}}\.[A-Z\d]{{3}}/[A-Z\d]{{4}}-\d\d{_END}")
_SSN = re.compile(rf"{_EDGE}(?!000|666|9)\d{{3}}-(?!00)\d\d-(?!0000)\d{{4}}{_END}")
_IBAN = re.compile(r"(?<![\w./-])[A-Z]{2}\d\d(?: ?[A-Z\d]){11,30}")
_NAMED = re.compile(
    r"\b(?P<name>cpf|cnpj|ssn|social security(?: number)?|iban)\b(?P<between>[^\n\d]{0,24}?)"
    r"(?P<value>(?<![\w./-])(?:[A-Z]{2}\d\d(?: ?[A-Z\d]){11,30}|\d(?:[ ./-]?[A-Z\d]){8,20}))",
    re.IGNORECASE,
)
"""A number behind its name, however it is written."""
_OTHER_NUMBER = re.compile(
    r"\b(?:order|pedido|invoice|fatura|nota|ticket|chamado|part|sku|tracking|rastreio|model|modelo|serial|s[ée]rie|ref|case"
    r"|phone|telefone|fone|tel|fax|celular|whatsapp|protocol|protocolo|item|version|vers[ãa]o)\b[^\n\d]{0,12}\Z",
    re.IGNORECASE,
)
"""What says of a number of three groups that it is none of a person."""
_IBAN_LENGTHS = {
    country: int(length)
    for country, length in re.findall(
        r"(\w\w):(\d\d)",
        """
        AD:24 AE:23 AL:28 AT:20 AZ:28 BA:20 BE:16 BG:22 BH:22 BR:29 BY:28 CH:21 CR:22 CY:28 CZ:24 DE:22 DK:18
        DO:28 EE:20 EG:29 ES:24 FI:18 FO:18 FR:27 GB:22 GE:22 GI:23 GL:18 GR:27 GT:28 HR:21 HU:28 IE:22 IL:23
        IQ:23 IS:26 IT:27 JO:30 KW:30 KZ:20 LB:28 LC:32 LI:21 LT:20 LU:20 LV:21 LY:25 MC:27 MD:24 ME:22 MK:19
        MR:27 MT:31 MU:30 NL:18 NO:15 PK:24 PL:28 PS:29 PT:25 QA:29 RO:24 RS:22 SA:24 SC:31 SE:24 SI:19 SK:24
        SM:27 ST:25 SV:28 TL:23 TN:24 TR:26 UA:29 VA:22 VG:24 XK:20
        """,
    )
}
"""Characters of an IBAN by country (SWIFT's registry)."""
_HINT = re.compile(r"\d{3}[.-]\d|\d{8}|-\d\d(?!\d)|[A-Za-z]{2}\d\d|\d \d\d")
"""Without it none of these numbers is there, and the search for them is saved."""
_CPF_WEIGHTS = tuple(range(10, 1, -1))
_CNPJ_WEIGHTS = (5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2)


def is_personal(text: str) -> bool:
    """Whether a text holds such a number."""
    return next(_places(text), None) is not None


def mask(text: str) -> str:
    """``text`` with every such number replaced by :data:`~chatls_core.text.redaction.MASK`. Idempotent."""
    parts, at = [], 0
    for start, end in sorted(_places(text)):
        if start >= at:
            parts += [text[at:start], MASK]
            at = end
    return "".join((*parts, text[at:])) if parts else text


def _places(text: str) -> Iterator[tuple[int, int]]:
    if not _HINT.search(text):
        return
    checks: tuple[tuple[re.Pattern[str], Callable[[str], bool]], ...] = ((_CPF, is_cpf), (_CNPJ, is_cnpj))
    for pattern, is_valid in checks:
        yield from (m.span() for m in pattern.finditer(text) if is_valid(m[0]))
    for match in _SSN.finditer(text):
        if not _OTHER_NUMBER.search(text[: match.start()]):
            yield match.span()
    for match in _IBAN.finditer(text):
        if length := _iban_length(match[0]):
            yield match.start(), match.start() + length
    for match in _NAMED.finditer(text):
        if length := _length_as_named(match["name"].casefold(), match["value"]):
            yield match.start("value"), match.start("value") + length


def is_cpf(text: str) -> bool:
    """Whether the eleven digits of a text have a CPF's check digits."""
    digits = [int(c) for c in text if c.isdigit()]
    if len(digits) != 11 or len(set(digits)) == 1:
        return False
    first = _check_digit(digits[:9], _CPF_WEIGHTS)
    second = _check_digit([*digits[1:9], first], _CPF_WEIGHTS)  # the first digit's weight is 11, which tells nothing
    return digits[9:] == [first, second]


def is_cnpj(text: str) -> bool:
    """Whether the fourteen digits (since 2026 also letters) of a text have a CNPJ's check digits."""
    values = [ord(c) - ord("0") for c in text.upper() if c.isascii() and c.isalnum()]
    if len(values) != 14 or len(set(values)) == 1 or max(values[12:]) > 9:
        return False
    first = _check_digit(values[:12], _CNPJ_WEIGHTS)
    return values[12:] == [first, _check_digit([*values[:12], first], (6, *_CNPJ_WEIGHTS))]


def _check_digit(values: list[int], weights: tuple[int, ...]) -> int:
    rest = sum(v * w for v, w in zip(values, weights, strict=True)) % 11
    return 0 if rest < 2 else 11 - rest


def is_iban(text: str) -> bool:
    """Whether a text, blanks aside, is an IBAN: a country's length and the remainder 1 by 97 (ISO 13616)."""
    bare = text.replace(" ", "").upper()
    if len(bare) != _IBAN_LENGTHS.get(bare[:2]) or not (bare.isascii() and bare.isalnum()):
        return False
    return int("".join(str(int(c, 36)) for c in bare[4:] + bare[:4])) % 97 == 1


def _iban_length(text: str) -> int:
    """How many characters of ``text`` are an IBAN, which words in capitals may follow; 0 for none."""
    wanted, seen = _IBAN_LENGTHS.get(text[:2].upper(), 0), 0
    for at, char in enumerate(text, 1):
        seen += char.isalnum()
        if seen == wanted:
            ends = at == len(text) or not text[at].isalnum()
            return at if ends and is_iban(text[:at]) else 0
    return 0


def _length_as_named(name: str, text: str) -> int:
    """How many characters of ``text`` are the number that its name says; 0 for none."""
    if name == "iban":
        return _iban_length(text)
    wanted, is_valid = {"cpf": (11, is_cpf), "cnpj": (14, is_cnpj)}.get(name, (9, _is_ssn))
    seen = 0
    for at, char in enumerate(text, 1):
        seen += char.isalnum()
        if seen == wanted:
            ends = at == len(text) or not text[at].isalnum()
            return at if ends and is_valid(text[:at]) else 0
    return 0


def _is_ssn(text: str) -> bool:
    digits = "".join(c for c in text if c.isdigit())
    if len(digits) != 9 or any(c.isalpha() for c in text):
        return False
    return digits[:3] not in ("000", "666") and digits[0] != "9" and digits[3:5] != "00" and digits[5:] != "0000"
