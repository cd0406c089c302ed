"""Which instruction files are watched, and by whom: the editor where it can, else by ourselves.

Two sets of globs are registered: one for the names instruction files have, at the start, and one for what they import,
anew whenever that changes. What no editor watches (the global folder, folders above the opened ones, imports from
there) is watched by :class:`~chatls_core.instructions.watch.InstructionWatcher`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lsprotocol import types

if TYPE_CHECKING:
    from chatls_core.instructions import Instructions
    from chatls_core.instructions.watch import InstructionWatcher
    from chatls_server.lsp.server import ChatServer

logger = logging.getLogger(__name__)

_IMPORTABLE = frozenset({".md", ".mdx", ".markdown", ".txt"})


class InstructionWatch:
    """The watch of one server. ``changed`` is awaited, on the event loop, with the files that are told."""

    def __init__(self, server: ChatServer, changed: Callable[[Sequence[Path]], Awaitable[None]]) -> None:
        self._server = server
        self._changed = changed
        self._instructions: Instructions | None = None
        self._watcher: InstructionWatcher | None = None
        self._by_editor = False
        self._imports: tuple[tuple[str, ...], str] = ((), "")
        self._followed: tuple[frozenset[str], ...] = ()
        self._task: asyncio.Task[None] | None = None
        self._again = False

    async def start(self, instructions: Instructions) -> None:
        """Watch from now on; ``instructions`` is the loader of the editor features."""
        self._instructions = instructions
        if self._server.features.watched_files:
            self._by_editor = bool(await self._register(instructions.watch_globs()))
        await self._watch(instructions)

    async def restart(self, instructions: Instructions) -> None:
        """Other folders, trust or settings: watch what they hold."""
        self._instructions = instructions
        if self._watcher is not None:
            watcher, self._watcher = self._watcher, None
            await asyncio.to_thread(watcher.stop)
            await self._watch(instructions)

    async def stop(self) -> None:
        """Stop watching."""
        if self._watcher is not None:
            await asyncio.to_thread(self._watcher.stop)

    def concerns(self, path: Path) -> bool:
        """Whether ``path`` is an instruction file or something that one imports. Any thread, not the event loop."""
        return any(loaded.is_instruction_file(path) for loaded in self._loaders())

    async def worth_a_look(self, paths: Sequence[Path]) -> bool:
        """Whether a change of ``paths`` may matter: texts that nobody imports do not."""
        doubtful = [path for path in paths if path.suffix.lower() in _IMPORTABLE]
        return len(doubtful) < len(paths) or await asyncio.to_thread(lambda: any(map(self.concerns, doubtful)))

    def follow_soon(self) -> None:
        """Something may have been loaded: see to it that its files are watched. On the event loop."""
        self._again = True
        if self._task is None or self._task.done():
            self._task = self._server.protocol.in_background(self._follow(), "watching imports")

    async def _follow(self) -> None:
        while self._again and self._watcher is not None:
            self._again = False
            rests_on = await asyncio.to_thread(lambda: tuple(loaded.rests_on() for loaded in self._loaders()))
            if rests_on == self._followed:
                continue
            inside = self._by_editor and await self._register_imports()
            paths = frozenset().union(*rests_on)
            if (watcher := self._watcher) is not None:
                await asyncio.to_thread(watcher.follow, paths, workspace=not inside)
            self._followed = rests_on

    async def _register_imports(self) -> bool:
        """Ask the editor to watch what is imported; whether it does. The new globs stand before the old ones go."""
        globs = await asyncio.to_thread(
            lambda: tuple(sorted({glob for loaded in self._loaders() for glob in loaded.import_globs()}))
        )
        before, registration = self._imports
        if globs == before:
            return bool(registration) or not globs
        made = await self._register(globs) if globs else ""
        if registration:
            await self._server.unregister_capability(registration, types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
        self._imports = globs, made
        return bool(made) or not globs

    async def _register(self, globs: Sequence[str]) -> str:
        options = {"watchers": [{"globPattern": glob} for glob in globs]}
        return await self._server.register_capability(types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)

    def _loaders(self) -> Iterator[Instructions]:
        """Those of the editor features and of the turns: each has loaded what it was asked about."""
        if self._instructions is not None:
            yield self._instructions
        if (agent := self._server.agent_if_made) is not None:
            yield agent.services.instructions

    async def _watch(self, instructions: Instructions) -> None:
        from chatls_core.instructions.watch import InstructionWatcher

        loop = asyncio.get_running_loop()

        def changed(paths: tuple[Path, ...]) -> None:
            loop.call_soon_threadsafe(self._server.protocol.in_background, self._changed(paths), "instruction files")

        def begin() -> InstructionWatcher:
            watcher = InstructionWatcher(instructions, changed, workspace=not self._by_editor, concerns=self.concerns)
            watcher.start()
            return watcher

        try:
            self._watcher = await asyncio.to_thread(begin)
        except OSError as error:
            logger.warning("Instruction files are not watched, only checked at every turn: %s", error)
        self._followed = ()
        self.follow_soon()
