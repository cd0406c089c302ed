"""Providers register themselves, those of other packages too, and the documentation names them all."""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from chatls_core.config import Settings
from chatls_core.llm import registry
from chatls_core.llm.models import Models
from chatls_core.llm.registry import ProviderSpec, find, providers, register
from tests.core.llm.rig import ask, collect

ROOT = Path(__file__).parents[3]
EXAMPLE = ROOT / "docs" / "examples" / "chatls-provider-echo"


@pytest.fixture
def clean_registry(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What a test registers is forgotten after it."""
    monkeypatch.setattr(registry, "_registered", dict(providers()))
    yield


@pytest.mark.usefixtures("clean_registry")
async def test_the_example_package_answers() -> None:
    source = importlib.util.spec_from_file_location("chatls_provider_echo", EXAMPLE / "chatls_provider_echo.py")
    assert source is not None
    assert source.loader is not None
    module = importlib.util.module_from_spec(source)
    source.loader.exec_module(module)
    register(module.ECHO)
    models = Models(Settings(), {"HOME": "/nonexistent", "ECHO_API_KEY": "k"})
    outcome = await collect(models.select("Echo"), ask("polly wants a cracker"))
    assert outcome.text.split() == ["polly", "wants", "a", "cracker"]
    assert outcome.usage.provider == "echo"


@pytest.mark.usefixtures("clean_registry")
def test_a_package_registers_by_entry_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    info = tmp_path / "chatls_provider_echo-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: chatls-provider-echo\nVersion: 0.1.0\n")
    (info / "entry_points.txt").write_text(
        "[chatls.providers]\nbroken = no_such_module:X\necho = chatls_provider_echo:ECHO\n"
    )
    (tmp_path / "chatls_provider_echo.py").write_text((EXAMPLE / "chatls_provider_echo.py").read_text())
    monkeypatch.syspath_prepend(str(tmp_path))
    assert {p.name for p in entry_points(group="chatls.providers")} >= {"broken", "echo"}
    monkeypatch.setattr(registry, "_entry_points_read", False)
    assert "echo" in providers(), "one broken package does not take the others away"
    assert find("ECHO") is providers()["echo"]
    monkeypatch.delitem(sys.modules, "chatls_provider_echo")


def test_names_are_taken_once() -> None:
    with pytest.raises(ValueError, match="anthropic"):
        register(ProviderSpec(name="mine", title="Mine", connect=providers()["openai"].connect, aliases=("Claude",)))
    assert "mine" not in providers()


def test_the_documentation_names_every_provider_with_its_variables() -> None:
    text = (ROOT / "docs" / "providers.md").read_text(encoding="utf-8")
    table = text.partition("## What each one reads")[2].partition("## What each one can do")[0]
    rows = {m.group(1): m.group(0) for m in re.finditer(r"^\| `(\w+)`.*$", table, re.MULTILINE)}
    assert set(rows) == set(providers())
    for name, spec in providers().items():
        for word in (*spec.key_env, *spec.model_env, *spec.url_env, spec.default_model):
            assert word in rows[name], f"{word} is missing in the row of {name}"
    for test in set(re.findall(r"`(test_\w+\.py)`", text)):
        assert (Path(__file__).parent / test).is_file()


def test_every_wire_of_the_documentation_covers_its_providers() -> None:
    text = (ROOT / "docs" / "providers.md").read_text(encoding="utf-8")
    section = text.partition("## What each one can do")[2].partition("How hard")[0]
    for name in providers():
        assert re.search(rf"\b{name}\b", section), name
