"""How a provider is reached: its address, its key, or why it cannot be (spec/agent.md §8.2, §8.3)."""

from __future__ import annotations

import importlib.util
import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from chatls_core.config import ProviderOverride, Settings
from chatls_core.llm.endpoint import Endpoint, checked_url, is_loopback
from chatls_core.llm.events import ModelError
from chatls_core.llm.local_setup import address, model_path
from chatls_core.llm.registry import ProviderSpec, find
from chatls_core.llm.secret import Secret

log = logging.getLogger(__name__)

_FIRST_BYTE_FACTOR = 4
"""A model on this machine may have to be loaded and to read the whole prompt before its first byte."""


@dataclass(frozen=True, slots=True)
class Access:
    """How a provider is reached now; without ``endpoint`` ``reason`` says why it is not, else where its key is from."""

    endpoint: Endpoint | None
    reason: str


class AccessRules:
    """Settings, environment and keys, put together. Immutable: a change of any of them makes a new one.

    Keys come from ``secrets`` (the editor's secret storage), then the environment, then ``kept_keys`` (the keychain).
    """

    def __init__(
        self,
        settings: Settings,
        environment: Mapping[str, str],
        secrets: Mapping[str, Secret],
        kept_keys: Mapping[str, Secret],
        home: Path,
    ) -> None:
        self._settings = settings
        self._environment = environment
        self._secrets = secrets
        self._kept_keys = kept_keys
        self._home = home

    def access(self, spec: ProviderSpec, running: Collection[str]) -> Access:
        """How a provider is reached. ``running`` names the services that were found on this machine."""
        if spec.embedded and self._settings.local.enabled == "off":
            return Access(None, "it is switched off")
        lacks = bool(spec.requires) and not _importable(spec.requires)
        if spec.embedded and lacks:
            return Access(None, _needs_extra(spec))
        try:
            endpoint = self.endpoint(spec)
        except ModelError as error:
            return Access(None, str(error).rstrip("."))
        if spec.embedded:
            return Access(endpoint, "runs on this machine")
        if spec.probe:
            if spec.name in running:
                return Access(endpoint, f"running at {endpoint.base_url}")
            if self.base_url(spec)[1]:
                return Access(endpoint, "configured")
            return Access(None, "it is not running on this machine")
        if endpoint.key:
            return Access(endpoint, self._key(spec)[1])
        if self.variable(spec.ambient_env):
            return Access(None, _needs_extra(spec)) if lacks else Access(endpoint, "the cloud's own credentials")
        if spec.sign_in is not None:
            return Access(None, "nobody is signed in")
        if not spec.needs_key or (self.base_url(spec)[1] and endpoint.loopback):
            return Access(endpoint, "needs no key")
        return Access(None, f"no key is set ({spec.key_env[0] if spec.key_env else 'see the documentation'})")

    def may_run_here(self, spec: ProviderSpec) -> bool:
        """Whether a provider should be looked for on this machine: its usual place is here, or the user says so."""
        url, chosen = self.base_url(spec)
        if spec.embedded or not url:
            return False
        return spec.probe or (chosen and is_loopback(url) and not self._key(spec)[0])

    def endpoint(self, spec: ProviderSpec) -> Endpoint:
        """Where a provider is. Raises :class:`ModelError` for an address that is missing or may not be used."""
        url = self._local_address() if spec.embedded else self.base_url(spec)[0]
        if not url:
            raise ModelError("no_provider", "no address is configured", provider=spec.name)
        retries = self._settings.retries
        idle = retries.idle_timeout_seconds
        return Endpoint(
            provider=spec.name,
            base_url=url if spec.embedded else checked_url(url, spec.title, allow_http=self._settings.allow_http),
            key=self._key(spec)[0],
            default_headers=spec.headers,
            connect_timeout=retries.connect_timeout_seconds,
            idle_timeout=idle,
            first_timeout=idle * _FIRST_BYTE_FACTOR if spec.on_this_machine else idle,
            chosen=not spec.embedded and self.base_url(spec)[1],
            options=self.options(spec),
            ca_bundle=self._environment.get("CHATCLI_CA_BUNDLE", "").strip(),
        )

    def options(self, spec: ProviderSpec) -> Mapping[str, str]:
        """A provider's own options. Raises :class:`ModelError` for an address that may not be used."""
        found = {name: value for name, env in spec.option_env.items() if (value := self.variable(env))}
        return {
            name: checked_url(value, spec.title, allow_http=self._settings.allow_http) if "://" in value else value
            for name, value in found.items()
        }

    def _local_address(self) -> str:
        file = Path(self._settings.local.model).expanduser() if self._settings.local.model else model_path(self._home)
        if not file.is_file():
            what = f"{file.name} does not exist" if self._settings.local.model else "its model is not installed"
            raise ModelError("no_provider", what, provider="local")
        return address(file, self._settings.local.window)

    def base_url(self, spec: ProviderSpec) -> tuple[str, bool]:
        """The base URL, and whether the user chose it."""
        url = self.override(spec).base_url or self.variable(spec.url_env)
        if not url:
            return spec.base_url, False
        url = url.rstrip("/")
        for suffix in spec.url_suffixes:
            url = url.removesuffix(suffix)
        if "://" not in url:
            url = f"http://{url}"  # OLLAMA_HOST is written without a scheme
        # An address to listen at is no address to connect to.
        return url.replace("://0.0.0.0", "://127.0.0.1"), True

    def _key(self, spec: ProviderSpec) -> tuple[Secret, str]:
        """The key and where it comes from."""
        holder = spec.key_of or spec.name
        if holder in self._secrets:
            return self._secrets[holder], "key from the editor"
        for name in spec.key_env:
            if value := self._environment.get(name, "").strip():
                return Secret(value), f"key from {name}"
        if holder in self._kept_keys:
            return self._kept_keys[holder], "key from the keychain"
        return Secret(""), ""

    def override(self, spec: ProviderSpec) -> ProviderOverride:
        """What the user's settings say about a provider."""
        for word, override in self._settings.providers.items():
            if find(word) is spec:
                return override
        return ProviderOverride()

    def variable(self, names: Sequence[str]) -> str:
        """The first of some environment variables that is set, else an empty text."""
        return next((v for n in names if (v := self._environment.get(n, "").strip())), "")


def _needs_extra(spec: ProviderSpec) -> str:
    return f"it needs the extra chatls[{spec.extra}]"


def _importable(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # a parent package is missing
        return False


def named_secrets(secrets: Mapping[str, str]) -> Mapping[str, Secret]:
    """The editor's keys by our provider names; a key of an unknown provider is left out and logged without it."""
    named: dict[str, Secret] = {}
    for word, value in secrets.items():
        spec = find(word)
        if spec is None:
            log.warning("a key was given for the unknown provider %r; it is not used", word)
        elif value.strip():
            named[spec.name] = Secret(value)
    return named


def how_to(spec: ProviderSpec) -> str:
    """What a user can do to make a provider available, in one sentence."""
    if spec.sign_in is not None:
        return f"Sign in (chatls.provider.signIn), or set {spec.key_env[0]}."
    if spec.embedded:
        return "Install it with: chatls local install"
    if spec.on_this_machine:
        return f"Start {spec.title}, or set its address."
    if spec.key_env:
        return f"Set {spec.key_env[0]}, or give the key in the editor."
    return "See docs/providers.md."
