"""How a vendor's failure becomes a :class:`ModelError`: by status, error code and exception class, never by digits
found in a message (spec/agent.md §12 row 21)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from chatls_core.llm.endpoint import Endpoint
from chatls_core.llm.events import ErrorKind, ModelError
from chatls_core.text.redaction import redact

_BY_STATUS: Mapping[int, ErrorKind] = {
    400: "bad_request",
    401: "auth",
    402: "auth",
    403: "auth",
    404: "model_not_found",
    405: "bad_request",
    408: "timeout",
    409: "server",
    413: "context_overflow",
    422: "bad_request",
    425: "overloaded",
    429: "rate_limit",
    503: "overloaded",
    504: "timeout",
    529: "overloaded",
}

_BY_CODE: Mapping[str, ErrorKind] = {
    # Anthropic error types
    "authentication_error": "auth",
    "permission_error": "auth",
    "billing_error": "auth",
    "not_found_error": "model_not_found",
    "request_too_large": "context_overflow",
    "rate_limit_error": "rate_limit",
    "timeout_error": "timeout",
    "api_error": "server",
    "overloaded_error": "overloaded",
    # OpenAI error codes and types
    "invalid_api_key": "auth",
    "account_deactivated": "auth",
    "insufficient_quota": "rate_limit",
    "rate_limit_exceeded": "rate_limit",
    "context_length_exceeded": "context_overflow",
    "string_above_max_length": "context_overflow",
    "model_not_found": "model_not_found",
    "content_filter": "refused",
    "content_policy_violation": "refused",
    "server_error": "server",
    "server_overloaded": "overloaded",
    "slow_down": "overloaded",
    "exceed_context_size_error": "context_overflow",
    # Google status words
    "UNAUTHENTICATED": "auth",
    "PERMISSION_DENIED": "auth",
    "NOT_FOUND": "model_not_found",
    "RESOURCE_EXHAUSTED": "rate_limit",
    "UNAVAILABLE": "overloaded",
    "DEADLINE_EXCEEDED": "timeout",
    "INTERNAL": "server",
    "ABORTED": "server",
}

_OVERFLOW = re.compile(
    r"prompt is too long|maximum context length|context length exceeded|exceeds? (?:the )?(?:maximum|available) context"
    r"|context (?:window|size|limit)\b.*\b(?:exceed|too)|exceed(?:s|ed)?\b.*\bcontext (?:window|size|length|limit)"
    r"|input token count .* exceeds|too many (?:input )?tokens|reduce the length",
    re.IGNORECASE | re.DOTALL,
)
"""Vendors report an overfull context as a plain 400 of type "invalid request": only words tell it apart."""

_NO_MODEL = re.compile(
    r"\bmodel\b[^.]{0,120}\b(?:not found|does not exist|not exist|not supported|is not a valid|unknown)", re.IGNORECASE
)

_HINTS: Mapping[ErrorKind, str] = {
    "auth": "Check the key for {provider}; chatls doctor shows where it comes from.",
    "rate_limit": "Wait a little, or choose another provider or model.",
    "overloaded": "The service is busy. Try again in a moment, or configure a fallback provider.",
    "timeout": "Try again; if it keeps happening, raise retries.idleTimeoutSeconds or choose another model.",
    "network": "Check the connection and the address configured for {provider}.",
    "context_overflow": "Compact the conversation or attach less.",
    "model_not_found": "Choose another model; chatls.provider.list shows what {provider} offers.",
    "bad_request": "The service did not accept the request; the log has its answer.",
    "refused": "Rephrase the request.",
    "server": "The service failed. Try again, or choose another provider.",
}

_EMPTY_QUOTA = frozenset({"insufficient_quota", "billing_error", "billing_hard_limit_reached", "quota_exceeded"})


class VendorError(ModelError):
    """A :class:`ModelError` that also says whether asking again could help. ``code`` is the vendor's word for it."""

    def __init__(
        self,
        kind: ErrorKind,
        message: str,
        *,
        hint: str = "",
        provider: str = "",
        retry_after: float | None = None,
        status: int | None = None,
        code: str = "",
        retryable: bool | None = None,
    ) -> None:
        hint = hint or _HINTS.get(kind, "").format(provider=provider or "the provider")
        super().__init__(kind, message, hint=hint, provider=provider, retry_after=retry_after, status=status)
        self.code = code
        transient = kind in ("rate_limit", "overloaded", "timeout", "network", "server")
        self.retryable = transient if retryable is None else retryable


def is_retryable(error: ModelError) -> bool:
    """Whether the same request may succeed a little later."""
    return error.retryable if isinstance(error, VendorError) else False


def http_error(
    endpoint: Endpoint, status: int, headers: Mapping[str, str], body: Any, *, now: datetime | None = None
) -> VendorError:
    """The error for an HTTP answer that is none.

    ``body`` is the parsed JSON, or text where it is no JSON (a gateway's HTML page). ``now`` is for dates in
    ``Retry-After``.
    """
    code, message = _code_and_message(body)
    kind = _kind(status, code, message)
    retry_after = retry_after_seconds(headers, body, now=now)
    retryable: bool | None = None
    if code in _EMPTY_QUOTA:
        retryable = False
        message = message or "the account's quota is used up"
    if headers.get("x-should-retry") == "false":
        retryable = False
    where = f"{endpoint.provider} answered with HTTP {status}" if status else f"{endpoint.provider} reported an error"
    text = f"{where}: {message}" if message else f"{where}."
    hint = "The account's quota is used up: check its plan and billing." if code in _EMPTY_QUOTA else ""
    if 300 <= status < 400:
        kind, hint = "bad_request", f"The address configured for {endpoint.provider} redirects; set the final one."
    return VendorError(
        kind,
        redact(endpoint.key.scrub(text)),
        hint=hint,
        provider=endpoint.provider,
        retry_after=retry_after,
        status=status or None,
        code=code,
        retryable=retryable,
    )


_VAGUE = frozenset({"api_error", "server_error", "INTERNAL"})
"""Codes that say no more than "it failed": the status, where there is one, is more exact."""


def _kind(status: int, code: str, message: str) -> ErrorKind:
    by_code = _BY_CODE.get(code)
    by_status = _BY_STATUS.get(status)
    if by_code is not None and not (code in _VAGUE and by_status is not None):
        return by_code
    if by_status in ("bad_request", None) and _OVERFLOW.search(message):
        return "context_overflow"
    if by_status == "bad_request" and _NO_MODEL.search(message):
        return "model_not_found"
    if by_status is not None:
        return by_status
    if 400 <= status < 500 or 300 <= status < 400:
        return "bad_request"
    return "server"


def _code_and_message(body: Any) -> tuple[str, str]:
    """The vendor's error code and one line of its message, whatever the shape."""
    if isinstance(body, bytes):
        body = body.decode("utf-8", "replace")
    if isinstance(body, str):
        try:
            body = json.loads(body)
        except ValueError:
            return "", _plain(body)
    if isinstance(body, list) and body:
        body = body[0]
    if not isinstance(body, Mapping):
        return "", ""
    error = body.get("error", body)
    if isinstance(error, str):
        return "", _plain(error)
    if not isinstance(error, Mapping):
        return "", ""
    code = ""
    for name in ("code", "status", "type"):
        value = error.get(name)
        if isinstance(value, str) and value and (not code or (value in _BY_CODE and code not in _BY_CODE)):
            code = value
    message = error.get("message") or error.get("detail") or ""
    return code, _plain(message if isinstance(message, str) else json.dumps(message))


def _plain(text: str) -> str:
    """At most 300 characters of a message on one line; of an HTML page only its title."""
    if re.match(r"\s*(?:<!doctype|<html|<head)", text, re.IGNORECASE):
        title = re.search(r"<title[^>]*>(.*?)</title>", text, re.IGNORECASE | re.DOTALL)
        text = f"an HTML page ({title.group(1)})" if title else "an HTML page"
    text = " ".join(text.split())
    return text if len(text) <= 300 else text[:299] + "…"


def retry_after_seconds(headers: Mapping[str, str], body: Any = None, *, now: datetime | None = None) -> float | None:
    """Seconds the service asks to wait, ``None`` when it does not say.

    Understands ``retry-after-ms``, ``Retry-After`` as seconds (whole or not) and as an HTTP date, and Google's
    ``RetryInfo`` detail. Never negative.
    """
    if (raw := headers.get("retry-after-ms")) is not None and (value := _number(raw)) is not None:
        return max(0.0, value / 1000)
    if (raw := headers.get("retry-after")) is not None:
        if (value := _number(raw)) is not None:
            return max(0.0, value)
        try:
            when = parsedate_to_datetime(raw)
        except ValueError:
            when = None
        if when is not None:
            when = when if when.tzinfo else when.replace(tzinfo=UTC)
            return max(0.0, (when - (now or datetime.now(UTC))).total_seconds())
    error = body.get("error") if isinstance(body, Mapping) else None
    details = error.get("details") if isinstance(error, Mapping) else None
    for detail in details if isinstance(details, list) else []:
        delay = detail.get("retryDelay") if isinstance(detail, Mapping) else None
        if isinstance(delay, str) and delay.endswith("s") and (value := _number(delay[:-1])) is not None:
            return max(0.0, value)
    return None


def _number(text: str) -> float | None:
    text = text.strip()
    return float(text) if re.fullmatch(r"-?\d+(?:\.\d+)?", text) else None


def transport_error(endpoint: Endpoint, error: BaseException, *, started: bool) -> VendorError:
    """The error for a request that failed below HTTP. ``started`` says whether the answer had begun.

    Works on the class names of the whole cause chain, since each SDK brings its own copy of the HTTP library.
    """
    names = _class_names(error)
    who = endpoint.provider
    if "ConnectTimeout" in names:
        text = f"{who} could not be reached within {endpoint.connect_timeout:g} s."
        return VendorError("timeout", text, provider=who)
    if names & {"ReadTimeout", "APITimeoutError", "TimeoutError", "WriteTimeout", "PoolTimeout"}:
        limit = endpoint.idle_timeout if started else endpoint.first_timeout
        return VendorError("timeout", f"{who} sent nothing for {limit:g} s.", provider=who)
    if names & {"ConnectError", "ConnectionRefusedError", "gaierror"}:
        detail = "refused the connection" if "ConnectionRefusedError" in names else "could not be reached"
        # A port on this machine that refuses stays closed until someone starts the service.
        return VendorError("network", f"{who} {detail}.", provider=who, retryable=not endpoint.loopback)
    if "JSONDecodeError" in names or "UnicodeDecodeError" in names:
        return VendorError("server", f"{who} sent a broken event.", provider=who)
    if started:
        return VendorError("network", f"The connection to {who} broke off in the middle of the answer.", provider=who)
    return VendorError("network", f"The connection to {who} failed.", provider=who)


def _class_names(error: BaseException) -> set[str]:
    names: set[str] = set()
    seen: set[int] = set()
    todo: list[BaseException | None] = [error]
    while todo:
        one = todo.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        names.add(type(one).__name__)
        todo += [one.__cause__, one.__context__]
    return names


def cut_off(provider: str) -> VendorError:
    """The error for a stream that ended in an orderly way but before the answer was complete."""
    return VendorError("network", f"The answer of {provider} ended before it was complete.", provider=provider)
