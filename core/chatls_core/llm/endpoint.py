"""Where a provider is reached, and the rules about which hosts a key may travel to."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from chatls_core.llm.events import ModelError
from chatls_core.llm.secret import Secret


@dataclass(frozen=True)
class Endpoint:
    """One reachable service. Times are seconds.

    ``base_url`` is without the endpoint's path. ``idle_timeout`` is the longest silence within a stream,
    ``first_timeout`` the longest wait for its first byte (a model on this machine may have to load).
    ``default_headers`` are sent with every request. ``chosen`` says that the user set the address. ``options`` are a
    provider's own settings (a cloud's region, for one).
    """

    provider: str
    base_url: str
    key: Secret = field(default_factory=lambda: Secret(""))
    default_headers: Mapping[str, str] = field(default_factory=dict)
    connect_timeout: float = 20.0
    idle_timeout: float = 90.0
    first_timeout: float = 90.0
    ca_bundle: str = ""
    chosen: bool = False
    options: Mapping[str, str] = field(default_factory=dict)

    @property
    def loopback(self) -> bool:
        """Whether the service runs on this machine."""
        return is_loopback(self.base_url)

    def client_options(self) -> dict[str, Any]:
        """Keyword arguments for an ``httpx``/``httpx2`` client.

        Redirects are not followed: a redirect would carry a vendor's key header to another host. Proxies from the
        environment are used except for loopback.
        """
        options: dict[str, Any] = {"follow_redirects": False, "trust_env": not self.loopback}
        if self.base_url.startswith("http://"):
            # No TLS here and no redirect to any: reading the certificate store would cost a tenth of a second.
            options["verify"] = False
        elif self.ca_bundle:
            import ssl

            options["verify"] = ssl.create_default_context(cafile=self.ca_bundle)
        return options


def is_loopback(url: str) -> bool:
    """Whether a URL names this machine."""
    host = (urlsplit(url).hostname or "").lower()
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def checked_url(url: str, provider: str, *, allow_http: bool) -> str:
    """A usable base URL without trailing slash. Raises :class:`ModelError` (``no_provider``) naming what is wrong.

    Plain http is refused beyond loopback unless the user allowed it (spec/agent.md §8.3).
    """
    url = url.strip().rstrip("/")
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ModelError(
            "no_provider",
            f"The address of {provider} is no http(s) URL.",
            hint=f"Correct the base URL configured for {provider}.",
            provider=provider,
        )
    if parts.username or parts.password:
        raise ModelError(
            "no_provider",
            f"The address of {provider} contains a user name or password.",
            hint="Give keys through the environment, the keychain or the editor, not in the URL.",
            provider=provider,
        )
    if parts.scheme == "http" and not is_loopback(url) and not allow_http:
        raise ModelError(
            "no_provider",
            f"{provider} is configured with plain http to {parts.hostname}, which would send keys unencrypted.",
            hint="Use https, or set CHATCLI_ALLOW_HTTP_PROVIDERS=true (setting allowHttp) if you trust the network.",
            provider=provider,
        )
    return url


async def listens(url: str) -> bool:
    """Whether something accepts connections at a loopback address; other hosts are taken at their word."""
    import asyncio

    if not is_loopback(url):
        return True
    parts = urlsplit(url)
    try:
        async with asyncio.timeout(0.5):
            _, writer = await asyncio.open_connection(parts.hostname, parts.port or 80)
    except (OSError, TimeoutError):
        return False
    writer.close()
    return True
