"""Who answers? From settings, environment and keys to a :class:`Model` (spec/agent.md §8.2, §8.3, §8.5)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from types import MappingProxyType

from chatls_core.config import OFF_WORDS, Settings, data_folder
from chatls_core.llm.access import Access, AccessRules, how_to, named_secrets
from chatls_core.llm.backend import Backend, Listed
from chatls_core.llm.catalogue import Catalogue
from chatls_core.llm.chain import Candidate, ChainModel, CoolDowns, RetryRules, Sleep
from chatls_core.llm.embedding import Embedder
from chatls_core.llm.emulation import EmulatedTools
from chatls_core.llm.endpoint import Endpoint, listens
from chatls_core.llm.events import ModelError
from chatls_core.llm.keychain import Keychain
from chatls_core.llm.listings import FRESH, ListingCache
from chatls_core.llm.messages import ModelRequest
from chatls_core.llm.model import Model, ModelInfo
from chatls_core.llm.registry import ProviderSpec, find, providers
from chatls_core.llm.secret import Secret
from chatls_core.llm.sign_in import SignIn
from chatls_core.llm.status import ModelStatus, ProviderStatus
from chatls_core.llm.written_calls import WrittenCalls
from chatls_core.store.clock import system_clock

log = logging.getLogger(__name__)

_PROBE_SECONDS = 3.0
_LISTING_SECONDS = 10.0


class Models:
    """All providers as they are configured. One per process; safe on the event loop.

    ``environment`` is copied. Keys come from ``secrets`` (the editor's secret storage), then
    the environment, then the system keychain once :meth:`refresh` has read it.
    """

    def __init__(
        self,
        settings: Settings,
        environment: Mapping[str, str],
        secrets: Mapping[str, str] = MappingProxyType({}),
        *,
        home: Path | None = None,
        keychain: Keychain | None = None,
        sleep: Sleep = asyncio.sleep,
        clock: Callable[[], datetime] = system_clock,
    ) -> None:
        self._environment = dict(environment)
        self._home = home or data_folder(environment)
        self._sleep = sleep
        self._catalogue = Catalogue(self._home / "models.toml")
        self._backends: dict[str, list[tuple[Endpoint, Backend]]] = {}
        self._keychain = keychain
        self._kept_keys: Mapping[str, Secret] = {}
        self._listings = ListingCache(self._home)
        self._clock = clock
        self._running: dict[str, tuple[Listed, ...]] = {}
        self._secrets: Mapping[str, Secret] = {}
        self._cooldowns = CoolDowns()
        self._selected: dict[tuple[str, str], Model] = {}
        self.configure(settings, secrets)

    def __repr__(self) -> str:
        return f"Models(available={[s.name for s in providers().values() if self._access(s).endpoint]})"

    def configure(self, settings: Settings, secrets: Mapping[str, str] | None = None) -> None:
        """Take new settings, and new keys unless ``None``. Streams that run keep their connections."""
        self._settings = settings
        if secrets is not None:
            self._secrets = named_secrets(secrets)
        self._rules = self._access_rules()
        self._selected.clear()
        self._cooldowns.base = settings.fallback.cooldown_seconds
        self._cooldowns.longest = settings.fallback.cooldown_max_seconds
        self._cooldowns.clear()

    def _access_rules(self) -> AccessRules:
        return AccessRules(self._settings, self._environment, self._secrets, self._kept_keys, self._home)

    def _access(self, spec: ProviderSpec) -> Access:
        return self._rules.access(spec, self._running)

    async def refresh(self) -> None:
        """Load the catalogue, read the keychain, look for services on this machine. Call once at start.

        Takes at most a few seconds, asks loopback only, never raises.
        """
        if self._keychain is not None:
            self._kept_keys = await self._keychain.read([s.name for s in providers().values() if s.key_env])
            self._rules = self._access_rules()
            self._selected.clear()
        await self._catalogue.ready()
        await asyncio.gather(*(self._probe(s) for s in providers().values() if self._rules.may_run_here(s)))

    async def _probe(self, spec: ProviderSpec) -> None:
        found: Sequence[Listed] | None = None
        try:
            endpoint = self._rules.endpoint(spec)
            if await listens(endpoint.base_url):
                async with asyncio.timeout(_PROBE_SECONDS):
                    found = await self._backend(spec, endpoint).list_models()
        except (ModelError, TimeoutError) as error:
            log.info("%s is not used: %s", spec.title, error or "no answer in time")
        except Exception:
            log.exception("%s could not be looked for", spec.title)
        self._selected.clear()
        if found is None:
            self._running.pop(spec.name, None)
            return
        self._running[spec.name] = tuple(found)
        self._catalogue.set_listing(spec.name, {m.name: m for m in found})

    async def refresh_listings(self) -> None:
        """Bring the lists of models up to date: from disk where they are younger than a day, else from the services.

        For the model picker; asks every available service, side by side. Never raises.
        """
        await asyncio.gather(*(self._refresh_listing(spec) for spec in providers().values() if not spec.embedded))

    async def _refresh_listing(self, spec: ProviderSpec) -> None:
        endpoint = self._access(spec).endpoint
        if endpoint is None or spec.name in self._running:
            return
        found, at = await asyncio.to_thread(self._listings.read, spec.name, endpoint.base_url)
        now = self._clock()
        if at is None or not timedelta(0) <= now - at < FRESH:
            try:
                async with asyncio.timeout(_LISTING_SECONDS):
                    found = await self._backend(spec, endpoint).list_models()
                await asyncio.to_thread(self._listings.write, spec.name, endpoint.base_url, found, now)
            except (ModelError, TimeoutError) as error:
                log.info("%s does not list its models: %s", spec.title, error or "no answer in time")
            except Exception:
                log.exception("%s could not list its models", spec.title)
        self._catalogue.set_listing(spec.name, {m.name: m for m in found})

    # --- signing in --------------------------------------------------------------------------------------------------

    def sign_in(self, word: str) -> SignIn:
        """A sign-in to a provider. Raises :class:`ModelError` (``no_provider``) where there is none."""
        spec = self._named(word)
        if spec.sign_in is None:
            raise ModelError("no_provider", f"{spec.title} has no sign-in.", hint=how_to(spec), provider=spec.name)
        return spec.sign_in(self._rules.options(spec))

    async def keep(self, provider: str, key: Secret) -> bool:
        """Keep a key in the system's keychain and use it from now on; an empty one is forgotten.

        False when there is no keychain that takes it; it is not used then.
        """
        if self._keychain is None:
            return False
        done = await (self._keychain.store(provider, key) if key else self._keychain.delete(provider))
        if done or not key:
            others = {name: held for name, held in self._kept_keys.items() if name != provider}
            self._kept_keys = {**others, provider: key} if key else others
            self._rules = self._access_rules()
            self._selected.clear()
        return done

    # --- choosing ---------------------------------------------------------------------------------------------------

    def select(self, provider: str = "", model: str = "") -> Model:
        """The model to ask: the named one, else the configured one, else the first that is available.

        ``provider`` may be our name, ChatCLI's or the vendor's; ``model`` may carry it in front (``openai:gpt-5``).
        Raises :class:`ModelError` (``no_provider``) when nobody can answer.
        """
        # Asked several times a turn; what it depends on changes with the settings, the keys and what runs here.
        if (known := self._selected.get((provider, model))) is None:
            known = self._selected[provider, model] = self._select(provider, model)
        return known

    def _select(self, provider: str, model: str) -> Model:
        if model and not provider:
            provider, model = self._split(model)
        word = provider or self._settings.provider
        spec = self._named(word) if word else self._first_available()
        spec = self._wire_of(spec)
        access = self._access(spec)
        if access.endpoint is None:
            raise ModelError(
                "no_provider", f"{spec.title} cannot be used: {access.reason}.", hint=how_to(spec), provider=spec.name
            )
        name = model or self._model_of(spec, asked=not provider)
        chosen = [self._candidate(spec, access.endpoint, name, self._settings.context_window)]
        for fallback, fallback_model in self._fallbacks():
            if fallback.name != spec.name and (other := self._access(fallback)).endpoint is not None:
                chosen.append(self._candidate(fallback, other.endpoint, fallback_model))
        return ChainModel(chosen, rules=self._retry_rules(), cooldowns=self._cooldowns, sleep=self._sleep)

    def embedder(self) -> Embedder | None:
        """Who turns texts into vectors; ``None`` when nobody shall. Raises :class:`ModelError` when they cannot."""
        from chatls_core.llm.embedding_choice import embedder

        return embedder(self._settings, self._rules)

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

    def _wire_of(self, spec: ProviderSpec) -> ProviderSpec:
        """ChatCLI's switch that sends every OpenAI model through the Responses API."""
        wanted = self._environment.get("OPENAI_USE_RESPONSES", "").strip().lower()
        if spec.name == "openai" and wanted and wanted not in OFF_WORDS:
            return providers()["openai_responses"]
        return spec

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
            model = model or self._rules.variable(keys) or self._model_of(spec, asked=False)
            if all(spec is not other for other, _ in found):
                found.append((spec, model))
        return found

    def _model_of(self, spec: ProviderSpec, *, asked: bool) -> str:
        """The model a provider uses; ``asked`` says that the general model setting is meant for it."""
        general = self._settings.model
        chosen = find(self._settings.provider) if self._settings.provider else None
        if general and (asked or chosen is spec):
            return general
        if spec.embedded and self._settings.local.model:
            return Path(self._settings.local.model).stem
        named = self._rules.override(spec).model or self._rules.variable(spec.model_env)
        if named:
            return named
        running = self._running.get(spec.name, ())
        if running and all(m.name != spec.default_model for m in running):
            return running[0].name
        return spec.default_model or "default"  # a server with one model takes any name

    def _candidate(self, spec: ProviderSpec, endpoint: Endpoint, model: str, window: int | None = None) -> Candidate:
        def backend() -> Backend:
            found = self._backend(spec, endpoint)
            return WrittenCalls(found) if info().native_tools else EmulatedTools(found)

        def info() -> ModelInfo:
            return self._info(spec, model, endpoint.base_url, window)

        return Candidate(
            provider=spec.name,
            model=model,
            backend=backend,
            info=info,
            ready=self._catalogue.ready,
            prepare=lambda request: self._prepared(spec, request),
            price=lambda usage, request: self._catalogue.priced(
                spec, usage, endpoint.base_url, cache_ttl=request.cache_ttl
            ),
        )

    def _info(self, spec: ProviderSpec, model: str, base_url: str, window: int | None = None) -> ModelInfo:
        if not spec.embedded:
            return self._catalogue.info(spec, model, base_url, window)
        info = self._catalogue.info(spec, model, base_url, self._settings.local.window)
        # The small model that comes with us is fluent, but calls no tool right.
        return replace(info, tools=model != spec.default_model, images=False, reasoning=False, known=True)

    def _prepared(self, spec: ProviderSpec, request: ModelRequest) -> ModelRequest:
        limit = request.max_output_tokens or self._rules.override(spec).max_output_tokens
        if limit is None:
            names = [f"{n.upper()}_MAX_TOKENS" for n in (spec.name, *spec.aliases)]
            raw = self._rules.variable(names)
            limit = int(raw) if raw.isdigit() and int(raw) > 0 else None
        return replace(
            request,
            max_output_tokens=limit,
            effort=request.effort or self._settings.effort,
            # Requests without a key are asked once; nobody would read the cache.
            explicit_cache=bool(request.cache_key) and self._settings.prompt.cache_explicit,
        )

    def _retry_rules(self) -> RetryRules:
        retries = self._settings.retries
        return RetryRules(attempts=retries.max, initial=retries.initial_seconds)

    def _backend(self, spec: ProviderSpec, endpoint: Endpoint) -> Backend:
        """The connection to an endpoint. Those of earlier settings stay open: streams may still run on them."""
        held = self._backends.setdefault(spec.name, [])
        for known, backend in held:
            if known == endpoint:
                return backend
        backend = spec.connect(endpoint)
        held.append((endpoint, backend))
        return backend

    # --- telling ----------------------------------------------------------------------------------------------------

    def list(self) -> Sequence[ProviderStatus]:
        """All providers with their models, the available ones first."""
        rows = [self._status(spec) for spec in providers().values()]
        return [*(r for r in rows if r.available), *(r for r in rows if not r.available)]

    def _status(self, spec: ProviderSpec) -> ProviderStatus:
        access = self._access(spec)
        model = self._model_of(spec, asked=not self._settings.provider)
        url = access.endpoint.base_url if access.endpoint else self._rules.base_url(spec)[0]
        names = self._catalogue.known_models(spec.name, spec.prices) if access.endpoint else ()
        listing = self._catalogue.listing(spec.name)
        shown = tuple(
            ModelStatus(name, row.title if (row := listing.get(name.lower())) else "", self._info(spec, name, url))
            for name in dict.fromkeys((model, *names))
            if name
        )
        return ProviderStatus(
            spec.name,
            spec.title,
            access.endpoint is not None,
            access.reason,
            model,
            url,
            shown,
            spec.sign_in is not None,
        )

    async def aclose(self) -> None:
        """Drop all connections and end what was started."""
        backends = [backend for held in self._backends.values() for _, backend in held]
        self._backends.clear()
        for outcome in await asyncio.gather(*(b.aclose() for b in backends), return_exceptions=True):
            if isinstance(outcome, BaseException):
                log.warning("a connection could not be closed", exc_info=outcome)
