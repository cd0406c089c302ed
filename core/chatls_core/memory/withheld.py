"""What memory never keeps: every secret that is hidden anywhere, and those that only people tell.

:func:`chatls_core.text.redaction.redact` runs over code and logs and decides in doubt for showing. In a statement about
the user or a project there is no such doubt: a payment card, a PIN, "the password of the wifi is …" are not to keep.
"""

from __future__ import annotations

import re

from chatls_core.text.cut import encodable
from chatls_core.text.personal_numbers import mask
from chatls_core.text.redaction import MASK, redact

_CARD = re.compile(r"(?<![\w.-])(?:\d[ -]?){12,18}\d(?![\w-])")
_OWNER = r"(?:\s+(?:d[aeo]s?|of|for|to|the|my|our|on|at|n[ao]|meu|minha|[\w.-]+)){0,5}?"
_TOLD = re.compile(
    rf"(?P<head>\b(?:senha|password|passwd|passphrase|contrase[ñn]a|palavra-passe)\b{_OWNER}\s*(?:\bis\b|é|\beh\b|=|:)\s*)"
    r"(?P<value>[^\s\"'`]{4,})",
    re.IGNORECASE,
)
_PIN = re.compile(
    r"(?P<head>\b(?:pin|cvv|cvc|passcode|(?:security|access|door|alarm) code|c[óo]digo de (?:seguran[çc]a|acesso))\b"
    rf"{_OWNER}"
    r"\s*(?:\bis\b|é|\beh\b|=|:)?\s*)(?P<value>\d{3,8})\b",
    re.IGNORECASE,
)
_KEY_BESIDE_ITS_NAME = re.compile(
    r"(?P<head>\bsecret\b[^\n]{0,24}?(?<![\w/+]))(?P<value>[A-Za-z0-9/+]{40})(?![\w/+=])", re.I
)
_SECRET_KEY = re.compile(
    r"(?:^|[\W_])(?:passwords?|passwd|pwd|passphrase|senhas?|pin|cvv|cvc|tokens?|secrets?|segredos?|credentials?|api[\W_]?key)"
    r"(?:$|[\W_])",
    re.IGNORECASE,
)


def scrub(text: str) -> str:
    """``text`` with everything masked that must not be kept, and no halves of characters, which no file can hold; the
    rest stays. Idempotent."""
    text = _CARD.sub(lambda m: MASK if _is_card(m[0]) else m[0], redact(encodable(text)))
    text = _KEY_BESIDE_ITS_NAME.sub(_masked, text)
    text = _TOLD.sub(lambda m: _masked(m) if _is_mixed(m["value"].rstrip(".,;!?")) else m[0], text)
    return _PIN.sub(_masked, text)


def scrub_record(text: str) -> str:
    """``text`` as :func:`scrub` leaves it, and without numbers of persons and accounts: for what no mark can keep from
    models, as episodes, topics and notes."""
    return mask(scrub(text))


def is_secret_value(key: str, value: str) -> bool:
    """Whether a profile's entry is a secret: by its key, and a value that is one word with digits or signs."""
    return bool(_SECRET_KEY.search(key)) and len(value.split()) == 1 and _is_mixed(value)


def _masked(match: re.Match[str]) -> str:
    value = match["value"]
    rest = len(value) - len(value.rstrip(".,;!?"))
    return match["head"] + MASK + value[len(value) - rest :]


def _is_mixed(value: str) -> bool:
    return value != MASK and len(value) >= 4 and not value.replace("-", "").replace("_", "").isalpha()


def _is_card(text: str) -> bool:
    """Whether digits have the beginning, the length and the check digit (Luhn) of a payment card."""
    digits = [int(c) for c in text if c.isdigit()]
    if digits[0] not in (2, 3, 4, 5, 6) or len(set(digits)) < 2:
        return False
    doubled = (2 * d - 9 * (d > 4) for d in digits[-2::-2])
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0
