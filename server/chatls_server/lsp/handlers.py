"""The modules that answer custom messages, imported after ``initialize`` has been answered and never on the event loop.

``chat`` and everything called ``commands…`` in this package register themselves; what they import (the whole core) would
otherwise make every start of the editor wait.
"""

from __future__ import annotations

import asyncio
import importlib
import logging
import pkgutil
import time

logger = logging.getLogger(__name__)

PACKAGE = "chatls_server.lsp"


class HandlerModules:
    """Imports the modules once, in a thread; one that fails is logged and does not take the others with it."""

    def __init__(self, names: tuple[str, ...] | None = None) -> None:
        self._names = names
        self._loading: asyncio.Task[None] | None = None

    @property
    def loaded(self) -> bool:
        """Whether all modules have been imported."""
        return self._loading is not None and self._loading.done()

    async def load(self) -> None:
        """Wait until the modules have been imported."""
        if self._loading is None:
            self._loading = asyncio.ensure_future(asyncio.to_thread(self._import))
        await asyncio.shield(self._loading)

    def _import(self) -> None:
        began = time.monotonic()
        for name in self._names if self._names is not None else _module_names():
            try:
                importlib.import_module(name)
            except Exception:
                logger.exception("The module %s cannot be used", name)
        logger.debug("Handlers were imported in %.2f s", time.monotonic() - began)


def _module_names() -> list[str]:
    package = importlib.import_module(PACKAGE)
    names = [module.name for module in pkgutil.iter_modules(package.__path__)]
    return [f"{PACKAGE}.{name}" for name in names if name == "chat" or name.startswith("commands")]
