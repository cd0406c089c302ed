"""``mcp_servers.json`` as it stands on disk, and what a server's entry means (spec/agent.md §9.6).

ChatCLI writes a list of servers; other programs write an object by name, which is read as well. Unknown fields are
ignored, and one entry that cannot be used does not take the others with it.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field

from chatls_core.llm.endpoint import is_loopback
from chatls_core.mcp.model import REQUEST_SECONDS, START_SECONDS, ServerConfig, Transport

MAX_SECONDS = 3600.0
_REFERENCE = re.compile(r"\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "": 1.0}
_DURATION = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(ms|s|m|)\s*")

Lookup = Callable[[str], str | None]
"""Gives the value of an environment variable, or ``None``."""


def _seconds(value: Any) -> Any:
    """Seconds from a number, or from words such as ``"30s"``; a number beyond an hour is in milliseconds."""
    if isinstance(value, str) and (match := _DURATION.fullmatch(value)):
        value = float(match[1]) * _UNITS[match[2]]
    return value / 1000 if isinstance(value, int | float) and value > MAX_SECONDS else value


Seconds = Annotated[float, BeforeValidator(_seconds), Field(gt=0, le=MAX_SECONDS)]


class _Auth(BaseModel):
    model_config = ConfigDict(extra="ignore")
    type: str = ""
    token: str = ""
    username: str = ""
    password: str = ""
    header: str = Field("", validation_alias=AliasChoices("header", "name", "headerName"))
    value: str = ""


class Entry(BaseModel):
    """One server of the file, as written."""

    model_config = ConfigDict(extra="ignore")
    name: str = Field("", max_length=100)
    command: str = ""
    args: list[str] = []
    env: dict[str, str] = {}
    transport: str = Field("", validation_alias=AliasChoices("transport", "type"))
    url: str = ""
    enabled: bool = True
    disabled: bool = False
    cwd: str = ""
    description: str = ""
    auto_approve: list[str] = Field([], alias="autoApprove")
    always_allow: list[str] = Field([], alias="alwaysAllow")
    enabled_tools: list[str] = Field([], alias="enabledTools")
    disabled_tools: list[str] = Field([], alias="disabledTools")
    timeout: Seconds = REQUEST_SECONDS
    init_timeout: Seconds = Field(START_SECONDS, alias="initTimeout")
    headers: dict[str, str] = {}
    auth: _Auth | None = None


class _UnusableError(ValueError):
    """``str()`` says why an entry cannot be used."""


def configured(entry: Entry, lookup: Lookup, origin: Path, *, trusted_file: bool, allow_http: bool) -> ServerConfig:
    """The server an entry describes; what is wrong with it stands in ``problem``.

    ``trusted_file`` is True for the user's own file: only there does a list of tools allowed beforehand count.
    """
    transport = _transport(entry)
    base = origin.parent if trusted_file else origin.parent.parent
    fields: dict[str, Any] = {
        "name": " ".join(entry.name.split()),
        "transport": transport,
        "enabled": entry.enabled and not entry.disabled,
        "description": entry.description,
        "request_seconds": entry.timeout,
        "start_seconds": entry.init_timeout,
        "approved": frozenset([*entry.auto_approve, *entry.always_allow]) if trusted_file else frozenset(),
        "only_tools": frozenset(entry.enabled_tools),
        "hidden_tools": frozenset(entry.disabled_tools),
        "origin": origin,
    }
    try:
        if transport == "stdio":
            fields |= _process(entry, lookup, base)
            if not trusted_file and fields["cwd"] is None:
                fields["cwd"] = base  # the workspace's programs run in it
        else:
            fields |= _service(entry, lookup, allow_http=allow_http)
    except _UnusableError as error:
        fields["problem"] = str(error)
    return ServerConfig(**fields)


def _transport(entry: Entry) -> Transport:
    named: dict[str, Transport] = {
        "stdio": "stdio", "sse": "sse", "http": "http", "streamable-http": "http", "streamablehttp": "http",
        "streamable_http": "http",
    }  # fmt: skip
    return named.get(entry.transport.lower(), "http" if entry.url and not entry.command else "stdio")


def _process(entry: Entry, lookup: Lookup, base: Path) -> dict[str, Any]:
    command = expand(entry.command, lookup).strip()
    if not command:
        raise _UnusableError("it has no command")
    cwd = Path(expand(entry.cwd, lookup)).expanduser() if entry.cwd else None
    return {
        "command": str(Path(command).expanduser()) if command.startswith("~") else command,
        "args": tuple(expand(a, lookup) for a in entry.args),
        "env": {name: expand(value, lookup) for name, value in entry.env.items()},
        "cwd": cwd if cwd is None or cwd.is_absolute() else base / cwd,
    }


def _service(entry: Entry, lookup: Lookup, *, allow_http: bool) -> dict[str, Any]:
    # The address stays byte for byte as it was written: a trailing slash matters to some servers.
    url = expand(entry.url, lookup).strip()
    if not url.lower().startswith(("http://", "https://")):
        raise _UnusableError("its url is no http(s) address")
    if url.lower().startswith("http://") and not is_loopback(url) and not allow_http:
        raise _UnusableError("its url is plain http beyond this machine; use https, or set chatls.allowHttp")
    headers = {name: expand(value, lookup) for name, value in entry.headers.items()}
    return {"url": url, "headers": headers | (_authorization(entry.auth, lookup) if entry.auth else {})}


def _authorization(auth: _Auth, lookup: Lookup) -> dict[str, str]:
    kind: Literal["bearer", "basic", "header"] | str = auth.type.lower()
    match kind:
        case "" | "none":
            return {}
        case "bearer":
            return {"Authorization": f"Bearer {expand(auth.token, lookup)}"}
        case "basic":
            pair = f"{expand(auth.username, lookup)}:{expand(auth.password, lookup)}"
            return {"Authorization": "Basic " + base64.b64encode(pair.encode()).decode()}
        case "header" if auth.header:
            return {auth.header: expand(auth.value or auth.token, lookup)}
    raise _UnusableError(f"sign-in of type {auth.type!r} is not supported; use bearer, basic or header")


def expand(text: str, lookup: Lookup) -> str:
    """``text`` with ``${NAME}``, ``${env:NAME}`` and ``${NAME:-default}`` filled in.

    Raises :class:`ValueError` naming a variable that is not set: a server started without it fails in a way that
    does not tell.
    """

    def value(match: re.Match[str]) -> str:
        found = lookup(match[1])
        if found:
            return found
        if match[2] is None:
            raise _UnusableError(f"the environment variable {match[1]} it needs is not set")
        return match[2]

    return _REFERENCE.sub(value, text)
