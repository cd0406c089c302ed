"""Windows, abilities and prices, by exact name and by prefix at a separator."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from chatls_core.llm.backend import Listed
from chatls_core.llm.catalogue import Catalogue
from chatls_core.llm.events import Usage
from chatls_core.llm.registry import providers

NOW = datetime(2026, 6, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return Catalogue()


@pytest.mark.parametrize(
    ("provider", "model", "window", "known"),
    [
        ("anthropic", "claude-sonnet-4-5-20250929", 200_000, True),
        ("anthropic", "claude-sonnet-5-5", 1_000_000, True),
        ("anthropic", "claude-unheard-of", 200_000, False),
        ("openai", "gpt-4o-2024-08-06", 128_000, True),
        ("openai", "GPT-4O", 128_000, True),
        ("openai", "my-own-finetune", 128_000, False),
        ("google", "gemini-2.5-flash", 1_048_576, True),
        ("zai", "nobody-knows", 202_752, False),
        ("ollama", "llama3.2", 8_192, False),
    ],
)
def test_windows(catalogue: Catalogue, provider: str, model: str, window: int, known: bool) -> None:
    info = catalogue.info(providers()[provider], model)
    assert (info.window, info.known) == (window, known)


@pytest.mark.parametrize(
    ("model", "images", "reasoning"),
    [
        ("claude-sonnet-5-5", True, True),
        ("gpt-4o", True, False),
        ("gpt-3.5-turbo", False, False),
        ("gpt-6-sol", True, True),
    ],
)
def test_abilities(catalogue: Catalogue, model: str, images: bool, reasoning: bool) -> None:
    provider = "anthropic" if "claude" in model else "openai"
    info = catalogue.info(providers()[provider], model)
    assert (info.images, info.reasoning) == (images, reasoning)


def test_the_users_window_beats_everything(catalogue: Catalogue) -> None:
    assert catalogue.info(providers()["anthropic"], "claude-sonnet-5-5", window=50_000).window == 50_000


def test_cached_tokens_have_their_own_price(catalogue: Catalogue) -> None:
    spec = providers()["anthropic"]
    plain = catalogue.priced(spec, Usage(1_000_000, 0, model="claude-sonnet-4-5"), now=NOW).cost_usd
    read = catalogue.priced(spec, Usage(0, 0, 0, 1_000_000, model="claude-sonnet-4-5"), now=NOW).cost_usd
    write = catalogue.priced(spec, Usage(0, 0, 0, 0, 1_000_000, model="claude-sonnet-4-5"), now=NOW).cost_usd
    assert plain is not None
    assert read is not None
    assert write is not None
    hour = catalogue.priced(spec, Usage(0, 0, 0, 0, 1_000_000, model="claude-sonnet-4-5"), now=NOW, cache_ttl="1h")
    assert read == pytest.approx(plain * 0.1)
    assert write == pytest.approx(plain * 1.25)
    assert hour.cost_usd == pytest.approx(plain * 2)


def test_unknown_prices_are_unknown_not_zero(catalogue: Catalogue) -> None:
    assert catalogue.priced(providers()["openai"], Usage(10, 10, model="my-own")).cost_usd is None
    assert catalogue.info(providers()["openai"], "my-own").prices is None


def test_what_runs_here_costs_nothing(catalogue: Catalogue) -> None:
    assert catalogue.priced(providers()["ollama"], Usage(10, 10, model="llama3.2")).cost_usd == 0


def test_the_address_tells_whose_prices_hold(catalogue: Catalogue) -> None:
    spec = providers()["openai"]
    here = catalogue.priced(spec, Usage(1000, 0, model="deepseek-chat"), "https://api.deepseek.com/v1", NOW).cost_usd
    assert here is not None
    assert catalogue.priced(spec, Usage(1000, 0, model="deepseek-chat"), now=NOW).cost_usd is None


def test_listings_and_overrides(tmp_path: Path) -> None:
    file = tmp_path / "models.toml"
    file.write_text('[models."mine"]\nwindow = 5000\ntools = false\ninput = 1.0\noutput = 2.0\ncolour = "blue"\n')
    catalogue = Catalogue(file)
    spec = providers()["openai"]
    listed = (Listed("mine", window=7000, max_output=300), Listed("other", window=7000))
    catalogue.set_listing("openai", {row.name: row for row in listed})
    assert catalogue.info(spec, "mine").window == 5000
    assert catalogue.info(spec, "mine").max_output == 300
    assert not catalogue.info(spec, "mine").native_tools
    assert catalogue.info(spec, "mine-2026").window == 5000
    assert catalogue.info(spec, "miner").window == 128_000
    assert catalogue.info(spec, "other").window == 7000
    assert catalogue.priced(spec, Usage(1_000_000, 500_000, model="mine")).cost_usd == pytest.approx(2.0)


def test_a_broken_override_file_is_reported_and_ignored(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = tmp_path / "models.toml"
    file.write_text("[models\n")
    assert Catalogue(file).info(providers()["anthropic"], "claude-sonnet-5-5").window == 1_000_000
    assert "models.toml" in caplog.text
