"""Which providers exist. A provider is one row: names, environment variables, address, dialect (spec/agent.md §8.2).

Ours register below (``presets.py``); others register through the entry point group ``chatls.providers``, whose
objects are :class:`ProviderSpec` values (docs/providers.md).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import entry_points

from chatls_core.llm.backend import Backend
from chatls_core.llm.endpoint import Endpoint
from chatls_core.llm.sign_in import SignInFactory

log = logging.getLogger(__name__)

Connect = Callable[[Endpoint], Backend]


@dataclass(frozen=True)
class ProviderSpec:
    """One provider.

    ``connect`` makes the connection and imports what it needs only when it is first used. Of each ``*_env`` list the
    first variable that is set wins. ``url_suffixes`` are cut off a user's address in turn: many give the full endpoint.
    ``key_of`` names the provider whose stored key this one shares. ``needs_key`` is False for services that run
    without one, ``automatic`` for those only chosen by name. Any of ``ambient_env`` says that the SDK finds credentials
    by itself, with the module ``requires`` that the extra ``extra`` brings. ``option_env`` gives the provider's own
    options their variables. ``on_this_machine`` services cost nothing; with ``probe`` they are available when they
    answer at their address; the ``embedded`` one is a process of ours. Without ``native_tools`` tools go through an
    enforced answer shape. ``prices`` is the provider's id in genai-prices. ``window`` and ``max_output`` are what an
    unknown model is given (spec/agent.md §8.3). ``sign_in`` makes a sign-in in the browser, whose key is kept as
    others are.
    """

    name: str
    title: str
    connect: Connect
    base_url: str = ""
    default_model: str = ""
    aliases: tuple[str, ...] = ()
    key_env: tuple[str, ...] = ()
    key_of: str = ""
    ambient_env: tuple[str, ...] = ()
    option_env: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    model_env: tuple[str, ...] = ()
    url_env: tuple[str, ...] = ()
    url_suffixes: tuple[str, ...] = ("/chat/completions",)
    needs_key: bool = True
    on_this_machine: bool = False
    automatic: bool = True
    probe: bool = False
    prices: str = ""
    window: int = 128_000
    max_output: int | None = None
    tools: bool = True
    native_tools: bool = True
    embedded: bool = False
    requires: str = ""
    extra: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    sign_in: SignInFactory | None = None


_registered: dict[str, ProviderSpec] = {}
_entry_points_read = False


def register(spec: ProviderSpec) -> ProviderSpec:
    """Add a provider. Raises ``ValueError`` when its name or an alias is taken by another one."""
    for word in (spec.name, *spec.aliases):
        other = _by_word().get(_word(word))
        if other is not None and other.name != spec.name:
            raise ValueError(f"provider name {word!r} is taken by {other.name}")
    _registered[spec.name] = spec
    return spec


def providers() -> Mapping[str, ProviderSpec]:
    """All providers by name, ours first, then those of entry points in name order."""
    global _entry_points_read
    import chatls_core.llm.presets  # noqa: F401 - registers our rows

    if not _entry_points_read:
        _entry_points_read = True
        for point in sorted(entry_points(group="chatls.providers"), key=lambda p: p.name):
            try:
                register(point.load())
            except Exception:
                log.exception("provider package %s could not be loaded", point.name)
    return _registered


def find(word: str) -> ProviderSpec | None:
    """The provider a user's word means: our name, ChatCLI's key or the vendor's name, in any case."""
    providers()
    return _by_word().get(_word(word))


def _by_word() -> Mapping[str, ProviderSpec]:
    return {_word(word): spec for spec in _registered.values() for word in (spec.name, *spec.aliases)}


def _word(text: str) -> str:
    return text.strip().lower().replace("-", "_").replace(" ", "_").replace(".", "")
