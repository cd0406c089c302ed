"""Who answers? From settings, environment and keys to a :class:`Model` (spec/agent.md §8.2, §8.3, §8.5)."""

from __future__ import annotations

import asyncio
import importlib.util
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from chatls_core.config import OFF_WORDS, ProviderOverride, Settings, data_folder
from chatls_core.llm.backend import Backend, Listed
from chatls_core.llm.catalogue import Catalogue
from chatls_core.llm.chain import Candidate, ChainModel, CoolDowns, RetryRules, Sleep
from chatls_core.llm.endpoint import Endpoint, checked_url, is_loopback
from chatls_core.llm.events import ModelError
from chatls_core.llm.messages import ModelRequest
from chatls_core.llm.model import Model, ModelInfo
from chatls_core.llm.registry import ProviderSpec, find, providers
from chatls_core.llm.secret import Secret

log = logging.getLogger(__name__)

_FIRST_BYTE_FACTOR = 4
"""A model on this machine may have to be loaded and to read the whole prompt before its first byte."""


@dataclass(frozen=True, slots=True)
class ModelStatus:
    """One model of a provider, for the model picker."""

    name: str
    title: str
    info: ModelInfo


@dataclass(frozen=True, slots=True)
class ProviderStatus:
    """One provider, for ``chatls.provider.list``.

    ``reason`` says why it is unavailable, or where its key comes from. ``model`` is the one it would use. ``host`` is
    where requests go.
    """

    name: str
    title: str
    available: bool
    reason: str
    model: str
    host: str
    models: tuple[ModelStatus, ...]


@dataclass(frozen=True, slots=True)
class _Access:
    """How a provider is reached now, or why it is not."""

    endpoint: Endpoint | None
    reason: str


class Models:
    """All providers as they are configured. One per process; safe on the event loop.

    ``environment`` is read once per :meth:`configure`. Keys come from ``secrets`` (the editor's secret storage), then
    the environment, then the system keychain once :meth:`refresh` has read it.
    """

    def __init__(
        self,
        settings: Settings,
        environment: Mapping[str, str],
        secrets: Mapping[str, str] = MappingProxyType({}),
        *,
        home: Path | None = None,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self._environment = dict(environment)
        self._home = home or data_folder(environment)
        self._sleep = sleep
        self._catalogue = Catalogue(self._home / "models.toml")
        self._backends: dict[str, tuple[Endpoint, Backend]] = {}
        self._retired: list[Backend] = []
        self._keychain: dict[str, Secret] = {}
        self._running: dict[str, tuple[Listed, ...]] = {}
        self._settings = settings
        self._secrets: dict[str, Secret] = {}
        self._cooldowns = CoolDowns()
        self.configure(settings, secrets)

    def __repr__(self) -> str:
        return f"Models(available={[s.name for s in providers().values() if self._access(s).endpoint]})"

    def configure(self, settings: Settings, secrets: Mapping[str, str] | None = None) -> None:
        """Take new settings, and new keys unless ``None``. Streams that run keep their connections."""
        self._settings = settings
        if secrets is not None:
            self._secrets = {}
            for word, value in secrets.items():
                spec = find(word)
                if spec is None:
                    log.warning("a key was given for the unknown provider %r; it is not used", word)
                elif value.strip():
                    self._secrets[spec.name] = Secret(value)
        self._cooldowns.base = settings.fallback.cooldown_seconds
        self._cooldowns.longest = settings.fallback.cooldown_max_seconds
        self._cooldowns.clear()

    async def refresh(self) -> None:
        """Load the catalogue, and look for services on this machine. Cheap; never raises."""
        await asyncio.to_thread(self._catalogue.load)
        await asyncio.gather(*(self._probe(s) for s in providers().values() if s.probe))

    async def _probe(self, spec: ProviderSpec) -> None:
        try:
            endpoint = self._endpoint(spec)
            if not await _listens(endpoint.base_url):
                self._running.pop(spec.name, None)
                return
            async with asyncio.timeout(3):
                found = await self._backend(spec, endpoint).list_models()
        except (ModelError, TimeoutError) as error:
            log.info("%s is not used: %s", spec.title, error or "no answer in time")
            self._running.pop(spec.name, None)
            return
        self._running[spec.name] = tuple(found)
        self._catalogue.set_listing(spec.name, {m.name: m for m in found})

    # --- choosing ---------------------------------------------------------------------------------------------------

    def select(self, provider: str = "", model: str = "") -> Model:
        """The model to ask: the named one, else the configured one, else the first that is available.

        ``provider`` may be our name, ChatCLI's or the vendor's; ``model`` may carry it in front (``openai:gpt-5``).
        Raises :class:`ModelError` (``no_provider``) when nobody can answer.
        """
        if model and not provider:
            provider, model = self._split(model)
        word = provider or self._settings.provider
        spec = self._named(word) if word else self._first_available()
        access = self._access(spec)
        if access.endpoint is None:
            raise ModelError(
                "no_provider", f"{spec.title} cannot be used: {access.reason}.", hint=_how_to(spec), provider=spec.name
            )
        chosen = [self._candidate(spec, access.endpoint, model or self._model_of(spec, asked=not provider))]
        for fallback, fallback_model in self._fallbacks():
            if fallback.name != spec.name and (other := self._access(fallback)).endpoint is not None:
                chosen.append(self._candidate(fallback, other.endpoint, fallback_model))
        return ChainModel(chosen, rules=self._rules(), cooldowns=self._cooldowns, sleep=self._sleep)

    def _split(self, model: str) -> tuple[str, str]:
        head, colon, rest = model.partition(":")
        if colon and rest and (spec := find(head)) is not None:
            return spec.name, rest
        return "", model

    def _named(self, word: str) -> ProviderSpec:
        spec = find(word)
        if spec is None:
            names = ", ".join(sorted(providers()))
            raise ModelError("no_provider", f"There is no provider {word!r}.", hint=f"Choose one of: {names}.")
        return spec

    def _first_available(self) -> ProviderSpec:
        for spec in providers().values():
            if spec.automatic and self._access(spec).endpoint is not None:
                return spec
        raise ModelError(
            "no_provider",
            "No model is configured.",
            hint="Set ANTHROPIC_API_KEY or OPENAI_API_KEY, give a key in the editor, start Ollama, "
            "or install the local model with: chatls local install",
        )

    def _fallbacks(self) -> Sequence[tuple[ProviderSpec, str]]:
        if self._environment.get("CHATCLI_FALLBACK_ENABLED", "true").strip().lower() in OFF_WORDS:
            return ()
        found: list[tuple[ProviderSpec, str]] = []
        for word in self._settings.fallback.providers:
            name, _, model = word.partition(":")
            spec = find(name)
            if spec is None:
                log.warning("fallback provider %r does not exist; it is left out", name)
                continue
            keys = [f"CHATCLI_FALLBACK_MODEL_{n.upper()}" for n in (spec.name, *spec.aliases)]
            model = model or self._variable(keys) or self._model_of(spec, asked=False)
            if all(spec is not other for other, _ in found):
                found.append((spec, model))
        return found

    def _model_of(self, spec: ProviderSpec, *, asked: bool) -> str:
        """The model a provider uses; ``asked`` says that the general model setting is meant for it."""
        general = self._settings.model
        chosen = find(self._settings.provider) if self._settings.provider else None
        if general and (asked or chosen is spec):
            return general
        named = self._override(spec).model or self._variable(spec.model_env)
        if named:
            return named
        running = self._running.get(spec.name, ())
        if running and all(m.name != spec.default_model for m in running):
            return running[0].name
        return spec.default_model

    def _candidate(self, spec: ProviderSpec, endpoint: Endpoint, model: str) -> Candidate:
        window = self._settings.context_window

        def info() -> ModelInfo:
            return self._catalogue.info(spec, model, endpoint.base_url, window)

        return Candidate(
            provider=spec.name,
            model=model,
            backend=lambda: self._backend(spec, endpoint),
            info=info,
            prepare=lambda request: self._prepared(spec, request),
            price=lambda usage: self._catalogue.priced(spec, usage, endpoint.base_url),
        )

    def _prepared(self, spec: ProviderSpec, request: ModelRequest) -> ModelRequest:
        limit = request.max_output_tokens or self._override(spec).max_output_tokens
        if limit is None:
            names = [f"{n.upper()}_MAX_TOKENS" for n in (spec.name, *spec.aliases)]
            raw = self._variable(names)
            limit = int(raw) if raw.isdigit() and int(raw) > 0 else None
        return replace(request, max_output_tokens=limit, effort=request.effort or self._settings.effort)

    def _rules(self) -> RetryRules:
        retries = self._settings.retries
        return RetryRules(attempts=retries.max, initial=retries.initial_seconds)

    # --- reaching ---------------------------------------------------------------------------------------------------

    def _access(self, spec: ProviderSpec) -> _Access:
        if spec.requires and importlib.util.find_spec(spec.requires) is None:
            return _Access(None, f"it needs the extra chatls[{spec.extra}]")
        try:
            endpoint = self._endpoint(spec)
        except ModelError as error:
            return _Access(None, str(error).rstrip("."))
        if spec.probe:
            if spec.name in self._running:
                return _Access(endpoint, f"running at {endpoint.base_url}")
            if self._base_url(spec)[1]:
                return _Access(endpoint, "configured")
            return _Access(None, "it is not running on this machine")
        if endpoint.key:
            return _Access(endpoint, self._key(spec)[1])
        if not spec.needs_key or (self._base_url(spec)[1] and endpoint.loopback):
            return _Access(endpoint, "needs no key")
        return _Access(None, f"no key is set ({spec.key_env[0] if spec.key_env else 'see the documentation'})")

    def _endpoint(self, spec: ProviderSpec) -> Endpoint:
        """Raises :class:`ModelError` for an address that may not be used."""
        url, _ = self._base_url(spec)
        if not url:
            raise ModelError("no_provider", "no address is configured", provider=spec.name)
        retries = self._settings.retries
        idle = retries.idle_timeout_seconds
        return Endpoint(
            provider=spec.name,
            base_url=checked_url(url, spec.title, allow_http=self._settings.allow_http),
            key=self._key(spec)[0],
            default_headers=spec.headers,
            connect_timeout=retries.connect_timeout_seconds,
            idle_timeout=idle,
            first_timeout=idle * _FIRST_BYTE_FACTOR if spec.on_this_machine else idle,
            ca_bundle=self._environment.get("CHATCLI_CA_BUNDLE", "").strip(),
        )

    def _base_url(self, spec: ProviderSpec) -> tuple[str, bool]:
        """The base URL, and whether the user chose it."""
        url = self._override(spec).base_url or self._variable(spec.url_env)
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
        if spec.name in self._secrets:
            return self._secrets[spec.name], "key from the editor"
        for name in spec.key_env:
            if value := self._environment.get(name, "").strip():
                return Secret(value), f"key from {name}"
        if spec.name in self._keychain:
            return self._keychain[spec.name], "key from the keychain"
        return Secret(""), ""

    def _override(self, spec: ProviderSpec) -> ProviderOverride:
        for word, override in self._settings.providers.items():
            if find(word) is spec:
                return override
        return ProviderOverride()

    def _variable(self, names: Sequence[str]) -> str:
        return next((v for n in names if (v := self._environment.get(n, "").strip())), "")

    def _backend(self, spec: ProviderSpec, endpoint: Endpoint) -> Backend:
        held = self._backends.get(spec.name)
        if held is not None:
            if held[0] == endpoint:
                return held[1]
            # A stream may still run on it: closed with everything else at the end.
            self._retired.append(held[1])
        backend = spec.connect(endpoint)
        self._backends[spec.name] = (endpoint, backend)
        return backend

    # --- telling ----------------------------------------------------------------------------------------------------

    def list(self) -> Sequence[ProviderStatus]:
        """All providers with their models, the available ones first."""
        rows = [self._status(spec) for spec in providers().values()]
        return [*(r for r in rows if r.available), *(r for r in rows if not r.available)]

    def _status(self, spec: ProviderSpec) -> ProviderStatus:
        access = self._access(spec)
        model = self._model_of(spec, asked=not self._settings.provider)
        url = access.endpoint.base_url if access.endpoint else self._base_url(spec)[0]
        names = self._catalogue.known_models(spec.name, spec.prices) if access.endpoint else ()
        listing = self._catalogue.listing(spec.name)
        shown = tuple(
            ModelStatus(
                name, listing[name].title if name in listing else "", self._catalogue.info(spec, name, url)
            )
            for name in dict.fromkeys((model, *names))
            if name
        )
        return ProviderStatus(spec.name, spec.title, access.endpoint is not None, access.reason, model, url, shown)

    async def aclose(self) -> None:
        """Drop all connections and end what was started."""
        backends = [backend for _, backend in self._backends.values()] + self._retired
        self._backends.clear()
        self._retired.clear()
        for outcome in await asyncio.gather(*(b.aclose() for b in backends), return_exceptions=True):
            if isinstance(outcome, BaseException):
                log.warning("a connection could not be closed", exc_info=outcome)


async def _listens(url: str) -> bool:
    """Whether something accepts connections at a loopback address; other hosts are taken at their word."""
    from urllib.parse import urlsplit

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


def _how_to(spec: ProviderSpec) -> str:
    if spec.on_this_machine:
        return f"Start {spec.title}, or set its address."
    if spec.key_env:
        return f"Set {spec.key_env[0]}, or give the key in the editor."
    return "See docs/providers.md."
