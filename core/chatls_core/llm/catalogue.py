"""What is known about models: windows, output limits, abilities, prices.

Facts come from, strongest first: the user's ``models.toml``, the service's own listing, genai-prices (data inside the
wheel, works offline), and the provider's stated default for a model nobody knows. Names are looked up exactly, then by
the longest known name that ends at a separator: ``gpt-5`` never answers for ``gpt-50`` (spec/agent.md §12 row 34).
"""

from __future__ import annotations

import asyncio
import logging
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from chatls_core.llm.backend import Listed
from chatls_core.llm.cache_life import storage_price
from chatls_core.llm.events import Usage
from chatls_core.llm.model import ModelInfo, Prices
from chatls_core.llm.registry import ProviderSpec

if TYPE_CHECKING:
    from genai_prices.types import ModelInfo as Priced
    from genai_prices.types import Provider as PriceProvider

log = logging.getLogger(__name__)
T = TypeVar("T")

_SEPARATORS = "-:@"

_MAX_OUTPUT = (
    (re.compile(r"claude-(?:opus|sonnet|haiku|fable|mythos)-(?:[5-9]|4-[6-9])"), 128_000),
    (re.compile(r"claude-(?:sonnet|haiku)-4|claude-3-7|claude-opus-4-5"), 64_000),
    (re.compile(r"claude-opus-4"), 32_000),
    (re.compile(r"claude-3-5"), 8_192),
    (re.compile(r"claude-(?:3|2)"), 4_096),
    (re.compile(r"gpt-[5-9]"), 128_000),
    (re.compile(r"o[1-4](?:$|-)"), 100_000),
    (re.compile(r"gpt-4\.1"), 32_768),
    (re.compile(r"gpt-4o"), 16_384),
    (re.compile(r"gemini-(?:2\.5|[3-9])"), 65_536),
)
_SEES = re.compile(
    r"claude-(?:[3-9]|opus|sonnet|haiku|fable|mythos)|gpt-4(?:o|\.1|-turbo)|gpt-[5-9]|^o[1-4]|gemini|grok-[4-9]|gemma-?[3-9]"
    r"|kimi-k(?:2\.[5-9]|[3-9])|glm-[\d.]+v|llava|vision|pixtral|-vl\b|llama-?4|minimax-m3",
    re.IGNORECASE,
)
_THINKS = re.compile(
    r"claude-(?:3-7|(?:opus|sonnet|haiku|fable|mythos)-[4-9])|gpt-[5-9]|^o[1-4]|gpt-oss|gemini-(?:2\.5|[3-9])"
    r"|grok-[4-9]|grok-3-mini|glm-(?:4\.[5-9]|[5-9])|kimi-k(?:2-thinking|2\.[5-9]|[3-9])|deepseek-(?:r|v[3-9]|reasoner)"
    r"|minimax-m[2-9]|qwen-?3|magistral|thinking|reason",
    re.IGNORECASE,
)


class _Override(BaseModel):
    """One table of ``models.toml``: ``[models."name"]``; prices are dollars per million tokens."""

    model_config = ConfigDict(extra="ignore", defer_build=True)
    window: int | None = None
    max_output: int | None = None
    tools: bool | None = None
    images: bool | None = None
    reasoning: bool | None = None
    input: float | None = None
    output: float | None = None
    cache_read: float | None = None
    cache_write: float | None = None


@dataclass(frozen=True)
class _Entry:
    provider: PriceProvider
    model: Priced


class Catalogue:
    """Facts about models. Loading its data takes a third of a second: call :meth:`load` in a thread beforehand."""

    def __init__(self, overrides_file: Path | None = None) -> None:
        self._file = overrides_file
        self._overrides: Mapping[str, _Override] = {}
        self._listed: dict[str, dict[str, Listed]] = {}
        self._providers: list[PriceProvider] | None = None
        self._entries: dict[tuple[str, str, str], _Entry | None] = {}
        self._tables: dict[str, Mapping[str, Priced]] = {}
        self._known: dict[tuple[str, str, str, int | None], ModelInfo] = {}
        self._loaded = False

    def load(self) -> None:
        """Read the price data and the user's overrides. Blocks; safe to call again."""
        if self._loaded:
            return
        from genai_prices.data_snapshot import get_snapshot

        self._providers = get_snapshot().providers
        self._overrides = _read_overrides(self._file)
        self._loaded = True

    async def ready(self) -> None:
        """:meth:`load` off the event loop; at once when it is loaded."""
        if not self._loaded:
            await asyncio.to_thread(self.load)

    def set_listing(self, provider: str, models: Mapping[str, Listed]) -> None:
        """What a service itself says about its models."""
        self._listed[provider] = {name.lower(): row for name, row in models.items()}
        self._known.clear()

    def listing(self, provider: str) -> Mapping[str, Listed]:
        """The last listing of a service by lower-case name, empty when there is none."""
        return self._listed.get(provider, {})

    def known_models(self, provider: str, prices: str) -> tuple[str, ...]:
        """Names to offer: the service's own listing, else those in the price data that are not deprecated."""
        if self._listed.get(provider):
            return tuple(row.name for row in self._listed[provider].values())
        self.load()
        found = next((p for p in self._providers or [] if p.id == prices), None)
        return tuple(m.id for m in found.models if not m.deprecated and m.context_window) if found else ()

    def info(self, spec: ProviderSpec, model: str, base_url: str = "", window: int | None = None) -> ModelInfo:
        """Facts about a model at a provider. ``window`` is the user's setting and beats everything."""
        self.load()
        key = (spec.name, model, base_url, window)
        if (known := self._known.get(key)) is None:
            known = self._known[key] = self._facts(spec, model, base_url, window)
        return known

    def _facts(self, spec: ProviderSpec, model: str, base_url: str, window: int | None) -> ModelInfo:
        entry = self._entry(spec, model, base_url)
        listed = _lookup(self._listed.get(spec.name, {}), model)
        override = _lookup(self._overrides, model)
        name = model.rpartition("/")[2].lower()
        max_output = next((limit for pattern, limit in _MAX_OUTPUT if pattern.match(name)), spec.max_output)
        result = ModelInfo(
            window=(entry.model.context_window if entry else None) or spec.window,
            max_output=max_output,
            tools=spec.tools,
            native_tools=spec.native_tools,
            images=bool(_SEES.search(name)),
            reasoning=bool(_THINKS.search(name)),
            prices=_prices(entry),
            known=entry is not None,
        )
        if spec.on_this_machine:
            result = replace(result, prices=Prices(0.0, 0.0, 0.0, 0.0))
        if listed is not None:
            result = _with(result, listed.window, listed.max_output, listed.tools, listed.images, listed.reasoning)
        if override is not None:
            result = _with(
                result, override.window, override.max_output, override.tools, override.images, override.reasoning
            )
            if override.input is not None and override.output is not None:
                prices = Prices(override.input, override.output, override.cache_read, override.cache_write)
                result = replace(result, prices=prices)
        return replace(result, window=window) if window else result

    def priced(
        self,
        spec: ProviderSpec,
        usage: Usage,
        base_url: str = "",
        now: datetime | None = None,
        *,
        cache_ttl: str = "5m",
    ) -> Usage:
        """The usage with its cost in US dollars; ``None`` where the price is unknown.

        ``cache_ttl`` is the lifetime that was asked for: writing for an hour costs more (spec/agent.md §1.6).
        """
        self.load()
        if spec.on_this_machine:
            return replace(usage, cost_usd=0.0)
        if not usage.prompt_tokens and not usage.output_tokens:
            return replace(usage, cost_usd=None)  # the service reported nothing, which is not free
        override = _lookup(self._overrides, usage.model)
        if override is not None and override.input is not None and override.output is not None:
            prices = Prices(override.input, override.output, override.cache_read, override.cache_write)
            return replace(usage, cost_usd=_simple_cost(usage, override) + _beside(usage, prices))
        entry = self._entry(spec, usage.model, base_url)
        if entry is None:
            return replace(usage, cost_usd=None)
        from genai_prices import Usage as PricedUsage

        counted = PricedUsage(
            input_tokens=usage.prompt_tokens,
            output_tokens=usage.output_tokens,
            cache_read_tokens=usage.cache_read_tokens,
            cache_write_tokens=usage.cache_write_tokens,
            cache_write_1h_tokens=usage.cache_write_tokens if cache_ttl == "1h" else None,
        )
        try:
            price = entry.model.calc_price(counted, entry.provider, genai_request_timestamp=now or datetime.now(UTC))
        except (ValueError, LookupError) as error:
            log.info("no price for %s at %s: %s", usage.model, spec.name, error)
            return replace(usage, cost_usd=None)
        return replace(usage, cost_usd=float(price.total_price) + _beside(usage, _prices(entry)))

    def _entry(self, spec: ProviderSpec, model: str, base_url: str) -> _Entry | None:
        key = (spec.name, model, base_url)
        if key not in self._entries:
            self._entries[key] = self._search(spec, model, base_url)
        return self._entries[key]

    def _names(self, provider: PriceProvider) -> Mapping[str, Priced]:
        if provider.id not in self._tables:
            self._tables[provider.id] = {m.id.lower(): m for m in provider.models}
        return self._tables[provider.id]

    def _search(self, spec: ProviderSpec, model: str, base_url: str) -> _Entry | None:
        everyone = self._providers or []
        by_url = [p for p in everyone if base_url and re.match(p.api_pattern, base_url)]
        by_id = [p for p in everyone if p.id == spec.prices]
        for provider in by_url or by_id:
            found = _lookup(self._names(provider), model) or provider.find_model(model, all_providers=everyone)
            if found is not None:
                return _Entry(provider, found)
        return None


def _lookup(table: Mapping[str, T], model: str) -> T | None:
    """The exact name in a table of lower-case names, else the longest one ``model`` begins with before a separator."""
    name = model.lower()
    if name in table:
        return table[name]
    for end in range(len(name) - 1, 0, -1):
        if name[end] in _SEPARATORS and name[:end] in table:
            return table[name[:end]]
    return None


def _with(
    info: ModelInfo,
    window: int | None,
    max_output: int | None,
    tools: bool | None,
    images: bool | None,
    reasoning: bool | None,
) -> ModelInfo:
    return replace(
        info,
        window=window or info.window,
        max_output=max_output or info.max_output,
        native_tools=info.native_tools if tools is None else tools,
        images=info.images if images is None else images,
        reasoning=info.reasoning if reasoning is None else reasoning,
        known=info.known or window is not None,
    )


def _prices(entry: _Entry | None) -> Prices | None:
    if entry is None:
        return None
    from genai_prices.types import TieredPrices

    table = entry.model.get_prices(datetime.now(UTC))

    def read(name: str) -> float | None:
        value = getattr(table, name, None)
        if isinstance(value, TieredPrices):
            value = value.base
        return None if value is None else float(value)

    return Prices(read("input_mtok"), read("output_mtok"), read("cache_read_mtok"), read("cache_write_mtok"))


def _beside(usage: Usage, prices: Prices | None) -> float:
    """What was billed beside the request itself: tokens read for a cache or a summary, and a cache's storage."""
    read = usage.aside_tokens * ((prices.input if prices is not None else None) or 0.0)
    return (read + usage.cache_token_hours * storage_price(usage.provider, usage.model)) / 1_000_000


def _simple_cost(usage: Usage, price: _Override) -> float:
    read = price.input if price.cache_read is None else price.cache_read
    write = price.input if price.cache_write is None else price.cache_write
    total = (
        usage.input_tokens * (price.input or 0.0)
        + usage.output_tokens * (price.output or 0.0)
        + usage.cache_read_tokens * (read or 0.0)
        + usage.cache_write_tokens * (write or 0.0)
    )
    return total / 1_000_000


def _read_overrides(file: Path | None) -> Mapping[str, _Override]:
    if file is None or not file.is_file():
        return {}
    try:
        tables = tomllib.loads(file.read_text(encoding="utf-8")).get("models", {})
        return {name.lower(): _Override.model_validate(table) for name, table in tables.items()}
    except (OSError, ValueError, AttributeError, ValidationError) as error:
        log.warning("%s is not usable, its overrides are ignored: %s", file.name, error)
        return {}
