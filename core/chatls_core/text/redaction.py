"""Hide secrets in any text that leaves the turn: logs, memory, recall, command output (spec/agent.md §5.6).

Three kinds of evidence, strongest first:

1. the value has the shape of a known credential (vendor prefix, JWT, PEM block, URL with a password);
2. a scheme announces it (``Bearer …``, ``Authorization: Basic …``);
3. its name says so (``DB_PASSWORD=…``, ``"api_key": "…"``, ``senha: …``) *and* the value looks like a value, not like
   code, a type, a placeholder or an environment reference.

The third kind is where false positives live, so every doubt there is decided for showing the text: a reader of
``password: str`` or ``max_tokens=4096`` must not meet a mask.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping

MASK = "[REDACTED]"
"""What stands in place of a secret."""

_EDGE = r"(?<![A-Za-z0-9_])"

_VENDOR_KEYS = re.compile(
    _EDGE
    + r"""(?:
      sk-ant-[A-Za-z0-9_-]{16,}
    | sk-(?:proj|svcacct|admin|or-v1|lf|None)-[A-Za-z0-9_-]{16,}
    | sk-[A-Za-z0-9]{20,}
    | sk-(?=[A-Za-z0-9_-]*[0-9])[A-Za-z0-9_-]{20,}
    | (?:sk|pk|rk)_(?:live|test)_[A-Za-z0-9]{10,}
    | whsec_[A-Za-z0-9+/=]{20,}
    | xai-[A-Za-z0-9_-]{20,}
    | stk_[A-Za-z0-9_-]{20,}
    | hf_[A-Za-z0-9]{20,}
    | gsk_[A-Za-z0-9]{20,}
    | r8_[A-Za-z0-9]{30,}
    | pplx-[A-Za-z0-9]{30,}
    | tvly-(?:dev-|prod-)?[A-Za-z0-9]{20,}
    | nvapi-[A-Za-z0-9_-]{20,}
    | AIza[0-9A-Za-z_-]{30,}
    | ya29\.[0-9A-Za-z_-]{20,}
    | GOCSPX-[0-9A-Za-z_-]{20,}
    | 1//0[0-9A-Za-z_-]{30,}
    | (?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}(?![0-9A-Za-z])
    | gh[pousr]_[A-Za-z0-9]{20,}
    | github_pat_[A-Za-z0-9_]{20,}
    | gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|soat)-[A-Za-z0-9_.-]{20,}
    | xox[abceoprs]-[A-Za-z0-9-]{10,}
    | xapp-\d-[A-Za-z0-9-]{10,}
    | npm_[A-Za-z0-9]{30,}
    | pypi-AgE[A-Za-z0-9_-]{30,}
    | do[opr]_v1_[a-f0-9]{40,}
    | SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}
    | key-[a-f0-9]{32}(?![0-9A-Za-z])
    | SK[0-9a-f]{32}(?![0-9A-Za-z])
    | shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}
    | sq0(?:atp|csp)-[0-9A-Za-z_-]{20,}
    | lin_(?:api|oauth)_[A-Za-z0-9]{30,}
    | (?:ntn|secret)_[A-Za-z0-9]{40,}
    | fig[doru]_[A-Za-z0-9_-]{30,}
    | dapi[a-f0-9]{32}(?![0-9A-Za-z])
    | hv[sbr]\.[A-Za-z0-9_-]{20,}
    | dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9_.-]{30,}
    | sntry[su]_[A-Za-z0-9_=+/-]{30,}
    | PMAK-[a-f0-9]{24}-[a-f0-9]{34}
    | FlyV1\ fm2_[A-Za-z0-9+/=,_-]{20,}
    | AGE-SECRET-KEY-1[0-9A-Z]{58}
    | atlasv1\.[A-Za-z0-9_=-]{20,}
    | ATATT3[A-Za-z0-9_=-]{20,}
    | eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{5,}
    | \d{8,10}:AA[A-Za-z0-9_-]{32,35}(?![A-Za-z0-9_-])
    )""",
    re.VERBOSE,
)

_PEM = re.compile(
    r"-----BEGIN (?P<kind>[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?)-----"
    r"(?:(?!-----)[\s\S]){0,20000}?(?:-----END (?P=kind)-----|(?=-----)|\Z)"
)

_WEBHOOKS = re.compile(
    r"(https://(?:hooks\.slack\.com/(?:services|workflows)|(?:ptb\.|canary\.)?discord(?:app)?\.com/api/webhooks"
    r"|[a-z0-9.-]{1,60}\.webhook\.office\.com/webhookb2)/)[A-Za-z0-9_@/-]{20,}"
)

_URL_PASSWORD = re.compile(
    r"(?P<head>\b[a-zA-Z][a-zA-Z0-9+.-]{1,20}://[^\s:/@\"'<>]{0,80}:)(?P<value>[^\s/@\"'<>]{1,200})(?=@)"
)

_QUERY_SECRET = re.compile(
    r"(?P<head>[?&#](?:access_token|refresh_token|id_token|auth|auth_token|token|api[_-]?key|key|secret|client_secret|password|"
    r"sig|signature|x-amz-signature|x-amz-security-token|x-goog-signature|code)=)(?P<value>[^\s&#\"'<>]{8,})",
    re.IGNORECASE,
)

_SCHEME = re.compile(
    r"(?P<head>\b(?:Bearer"
    r"|(?:Proxy-)?Authorization\s{0,3}[:=]\s{0,3}[\"']?(?:Bearer|Basic|Token|ApiKey|Digest)?)[ \t]{1,4})"
    r"(?P<value>[A-Za-z0-9_.~+/=-]{12,})",
    re.IGNORECASE,
)

_COOKIE = re.compile(r"(?P<head>\b(?:Set-)?Cookie:[ \t]{0,4})(?P<value>[^\r\n]{8,})", re.IGNORECASE)

_STRONG = (
    r"pass(?:word|wd|phrase|code)|pwd|senha|contrase[ñn]a|segredo|chave[_-]?(?:de[_-]?)?api|secret|token|credentials?"
    r"|(?:api|access|private|secret|encryption|signing|master|account|license)[_-]?key|apikey|connection[_-]?string"
)
_NAME = rf"[A-Za-z0-9_.-]{{0,40}}?(?:{_STRONG})[A-Za-z0-9_-]{{0,24}}"
_ASSIGN = r"[ \t]{0,8}(?::=|=>|[:=])[ \t]{0,8}|[ \t]{1,4}(?:is|é|eh)[ \t]{1,4}"
_BARE = r"[^\s\"'`,;<>{}\[\]()]"

_ASSIGNED = re.compile(
    rf"(?P<head>(?<![A-Za-z0-9_.$-])(?:--)?[\"']?(?P<name>{_NAME})[\"']?(?P<sep>{_ASSIGN}))"
    rf"(?:(?P<quote>[\"'`])(?P<quoted>[^\"'`\r\n]{{4,400}})(?P=quote)|(?P<bare>{_BARE}{{4,400}}))(?P<next>[(\[)]?)",
    re.IGNORECASE,
)
_FLAG = re.compile(
    rf"(?P<head>(?<!\S)--?(?P<name>{_NAME})[ \t]{{1,4}})(?P<value>(?![$-]){_BARE}{{6,400}})", re.IGNORECASE
)

_NO_VALUE = re.compile(
    r"(?:str(?:ing)?|int(?:eger)?|bool(?:ean)?|bytes|text|any|object|optional|required|none|null|nil|undefined|true|false|"
    r"password|passwd|secret|token|apikey|api[_-]key|key|value|changeme|change[_-]me|example|placeholder|redacted|hidden|"
    r"your.*|my[_-].*|x{3,}.*|\*+|\.{3,}|<.*>|\[.*\]|test|dummy|fake|sample|n/?a|input|select|env|default|"
    r"missing|invalid|expired|empty|obrigat[óo]ri[ao]|texto)",
    re.IGNORECASE,
)
_REFERENCE = re.compile(
    r"[$%@&*!]\w|\$\{|\$\(|\{\{|%\(|"
    r"(?:self|this|cls|os|process|env|config|settings|args|opts|options|request|req|ctx|secrets|vault|import\.meta|System|"
    r"Environment|viper|cfg|params|data|user|response|res|body|state|props|values|var|local|module|keyring)(?:[.\[]|$|->)|"
    r"(?:/|\./|~/|file:|arn:aws:|projects/|[A-Za-z]:\\)",
)
_COUNT_NAMES = re.compile(
    r"tokens(?:[_-]|$)|(?:max|min|num|total|n|count)[_-]?tokens?\b"
    r"|token[_-]?(?:count|limit|type|budget|ratio|id|url|size|name|path|file)"
    r"|(?:secret|password|key|token|credentials?)[_-]?(?:name|id|path|file|url|ref|type|policy|length|len|field"
    r"|hash_?algorithm|rotation|expiry|expires(?:_in)?|ttl)s?$"
    r"|tokeni[sz]|secretar|passwordless|tokenless",
    re.IGNORECASE,
)
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z_]*(?:[.:]+[A-Za-z_]+)*[:.]?")
_HARD_NAMES = re.compile(r"pass(?:word|wd|phrase|code)|pwd|senha|contrase|segredo", re.IGNORECASE)


def _could_be_secret(name: str, value: str) -> bool:
    """Whether ``value`` is no count, type, placeholder or reference to where the secret really is."""
    if value.startswith(MASK) or _COUNT_NAMES.search(name):
        return False
    if _NO_VALUE.fullmatch(value.strip(".")) or _REFERENCE.match(value) or len(set(value)) < 4:
        return False
    return not (value.isdigit() and len(value) < 12 and not _HARD_NAMES.search(name))


def _quoted_is_secret(name: str, value: str) -> bool:
    hard = bool(_HARD_NAMES.search(name))
    if " " in value.strip() and (not hard or len(value) > 60):
        return False
    return hard or name.isupper() or (len(value) >= 8 and not _IDENTIFIER.fullmatch(value)) or len(value) >= 24


def _bare_is_secret(name: str, value: str, sep: str, *, ends: bool) -> bool:
    """Judge a value without quotes; ``ends`` says that nothing of the line follows it."""
    spoken = sep.strip().isalpha()
    mixed = any(c.isdigit() for c in value) or any(not c.isalnum() and c not in "_.:-/" for c in value)
    if name.isupper() and "=" in sep and len(value) >= 6:
        # Without blanks around it, it is an environment file's line, where a value is literal.
        return sep == "=" or mixed or not _IDENTIFIER.fullmatch(value) or len(value) >= 20
    if _HARD_NAMES.search(name):
        literal = ends and not spoken and len(value) >= 8 and value.isalpha()
        return literal or (mixed and len(value) >= (6 if spoken else 4))
    letters_and_digits = any(c.isdigit() for c in value) and any(c.isalpha() for c in value)
    return letters_and_digits and len(value) >= (16 if spoken else 8) and not _VERSION.match(value)


_VERSION = re.compile(r"v?\d+(?:\.\d+)+")


def _mask_assigned(match: re.Match[str]) -> str:
    quote = match["quote"] or ""
    value = match["quoted"] if quote else match["bare"]
    if not _could_be_secret(match["name"], value):
        return match[0]
    if quote:
        secret = _quoted_is_secret(match["name"], value)
    else:
        # A call, an index or the end of an argument list follows code, not a value.
        ends = match.end() == len(match.string) or match.string[match.end()] in "\r\n"
        secret = match["next"] in ("", ")") and _bare_is_secret(
            match["name"], value, match["sep"], ends=ends and not match["next"]
        )
    if not secret:
        return match[0]
    tail = value[-1] if not quote and value[-1] in ".!?" and match["sep"].strip().isalpha() else ""
    return f"{match['head']}{quote}{MASK}{quote}{tail}{match['next']}"


def _mask_flag(match: re.Match[str]) -> str:
    name, value = match["name"], match["value"]
    if not _could_be_secret(name, value) or not _bare_is_secret(name, value, "=", ends=False):
        return match[0]
    return match["head"] + MASK


def _mask_value(match: re.Match[str]) -> str:
    value = match["value"]
    if value.startswith(("[REDACTED", "$", "{", "<", "%")) or set(value) <= {"*", "x", "X", "."}:
        return match[0]
    return match["head"] + MASK


def _mask_scheme(match: re.Match[str]) -> str:
    # "Bearer authentication" is prose; a token has digits, dots or mixed case.
    value = match["value"]
    if value.isalpha() and (value.islower() or value.istitle()):
        return match[0]
    return _mask_value(match)


_RULES: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...] = (
    (_PEM, lambda m: MASK),
    (_WEBHOOKS, lambda m: m[1] + MASK),
    (_VENDOR_KEYS, lambda m: MASK),
    (_URL_PASSWORD, _mask_value),
    (_QUERY_SECRET, _mask_value),
    (_COOKIE, _mask_value),
    (_SCHEME, _mask_scheme),
    (_ASSIGNED, _mask_assigned),
    (_FLAG, _mask_flag),
)


_PIECE_CHARS = 32_768
"""A long text is looked through piece by piece, so that other threads run in between."""

_NAME_HINTS = (
    "pass", "pwd", "senha", "contrase", "segredo", "chave", "secret", "token", "credential", "key", "connection",
)  # fmt: skip
_HINTS: Mapping[re.Pattern[str], tuple[str, ...]] = {
    _URL_PASSWORD: ("://",),
    _QUERY_SECRET: ("=",),
    _COOKIE: ("cookie",),
    _SCHEME: ("bearer", "authorization"),
    _ASSIGNED: _NAME_HINTS,
    _FLAG: _NAME_HINTS,
}
"""Without one of these words, folded, a rule cannot match, and the search for it is saved."""


def redact(text: str) -> str:
    """``text`` with every secret replaced by :data:`MASK`; names, quotes and the rest of the line stay.

    Idempotent: a redacted text comes back unchanged. Linear in the length of the text.
    """
    text = _PEM.sub(MASK, text)
    if len(text) <= _PIECE_CHARS:
        return _redact_piece(text)
    pieces, at = [], 0
    while at < len(text):
        end = text.find("\n", at + _PIECE_CHARS) + 1 or len(text)
        pieces.append(_redact_piece(text[at:end]))
        at = end
    return "".join(pieces)


def _redact_piece(text: str) -> str:
    folded = text.casefold()
    for pattern, mask in _RULES:
        if any(hint in folded for hint in _HINTS.get(pattern, ("",))):
            text = pattern.sub(mask, text)
    return text


def contains_secret(text: str) -> bool:
    """Whether :func:`redact` would hide anything in ``text``."""
    return redact(text) != text


_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSW|AUTH|CREDENTIAL|COOKIE|PRIVATE|CHATCLI_|DSN", re.I)
_HARMLESS_NAMES = frozenset({"SSH_AUTH_SOCK", "XAUTHORITY", "KEYBOARD_LAYOUT"})


def is_secret_name(variable: str) -> bool:
    """Whether an environment variable's name says that its value may be a secret."""
    return variable not in _HARMLESS_NAMES and _SECRET_NAME.search(variable) is not None


def without_secrets(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment for a program that is not ours: without anything that looks like a secret."""
    return {name: value for name, value in environment.items() if not is_secret_name(name)}


class RedactingFilter(logging.Filter):
    """A logging filter that keeps secrets out of log records: message, arguments and traceback text."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Rewrite the record in place, drop none. One whose arguments do not fit is left for logging to report."""
        try:
            message = record.getMessage()
        except (TypeError, ValueError):
            # logging itself reports the broken call with its place; hiding that here would only lose it.
            record.args = tuple(redact(str(a)) for a in record.args) if isinstance(record.args, tuple) else record.args
            return True
        record.msg, record.args = redact(message), None
        if record.exc_info and not record.exc_text:
            record.exc_text = logging.Formatter().formatException(record.exc_info)
        if record.exc_text:
            record.exc_text = redact(record.exc_text)
        if record.stack_info:
            record.stack_info = redact(record.stack_info)
        return True
