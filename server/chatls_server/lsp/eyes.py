"""Editor features: everything for instruction files, and two code actions for all files.

Other documents cost one look at their name; the instruction files' machinery is made at the first document it
concerns, and every answer is worked out in a thread.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from chatls_server.lsp.code_actions import actions_for
from chatls_server.lsp.documents import OpenDocument
from chatls_server.lsp.instruction_watching import InstructionWatch
from chatls_server.lsp.protocol.base import BadParams

if TYPE_CHECKING:
    from chatls_core.instructions import Instructions
    from chatls_server.lsp.server import ChatServer

logger = logging.getLogger(__name__)

DELAY_SECONDS = 0.25
"""How long typing rests before findings are worked out again."""

_SUFFIXES = frozenset({".md", ".mdc", ".markdown"})


class Eyes:
    """The features of one server; handlers take raw parameters."""

    def __init__(self, server: ChatServer) -> None:
        self._server = server
        self._instructions: Instructions | None = None
        self._made_for: object = None
        self.watch = InstructionWatch(server, self.changed)
        self._timers: dict[str, asyncio.TimerHandle] = {}

    def handlers(self) -> dict[str, Callable[[Any], Any]]:
        """Handlers by method."""
        return {
            types.TEXT_DOCUMENT_HOVER: self._hover,
            types.TEXT_DOCUMENT_COMPLETION: self._completion,
            types.TEXT_DOCUMENT_DOCUMENT_LINK: self._links,
            types.TEXT_DOCUMENT_DEFINITION: self._definition,
            types.TEXT_DOCUMENT_CODE_LENS: self._lenses,
            types.TEXT_DOCUMENT_CODE_ACTION: self._actions,
            types.WORKSPACE_DID_CHANGE_WATCHED_FILES: self._files_changed,
        }

    @staticmethod
    def capabilities() -> dict[str, Any]:
        """What is announced for these handlers."""
        return {
            "hoverProvider": True,
            "completionProvider": {"triggerCharacters": ["@", "/", "[", "*", ":"]},
            "documentLinkProvider": {},
            "definitionProvider": True,
            "codeLensProvider": {},
            "codeActionProvider": {"codeActionKinds": ["quickfix", "refactor"]},
        }

    # --- the instruction files -------------------------------------------------------------------------------------

    def instructions(self) -> Instructions:
        """The loader for the folders that are open now."""
        if self._instructions is None:
            from chatls_core.instructions import Instructions

            server = self._server
            self._made_for = self._conditions()
            self._instructions = Instructions(
                server.roots, server.home, settings=server.settings.instructions, trusted=server.trusted
            )
        return self._instructions

    def _conditions(self) -> object:
        """What the loader was made for; when it changes, another one is needed."""
        server = self._server
        return server.roots, server.trusted, server.settings.instructions

    async def start(self) -> None:
        """Watch instruction files from now on."""
        await self.watch.start(await asyncio.to_thread(self.instructions))

    async def reopened(self) -> None:
        """Folders, trust or settings may have changed: where they did, everything is read anew."""
        if self._instructions is None or self._made_for == self._conditions():
            return
        self._instructions = None
        await self.watch.restart(await asyncio.to_thread(self.instructions))
        self._look_again()

    async def stop(self) -> None:
        """Stop watching."""
        for timer in self._timers.values():
            timer.cancel()
        await self.watch.stop()

    async def changed(self, paths: Sequence[Path]) -> None:
        """Instruction files were saved, made or removed, by whomever."""
        if self._instructions is not None:
            await asyncio.to_thread(self._instructions.refresh)
            self._instructions.inspector.forget_files()
        self._look_again()
        await self._server.run_hooks("instruction_files_changed", tuple(paths))
        self.watch.follow_soon()

    def _files_changed(self, params: Any) -> Any:
        events = params.get("changes") if isinstance(params, Mapping) else None
        if not isinstance(events, list):
            raise BadParams(f"{types.WORKSPACE_DID_CHANGE_WATCHED_FILES}: changes: a list was expected")
        paths = self._server.files_changed([str(event.get("uri", "")) for event in events if isinstance(event, dict)])
        return self._files_told(paths) if paths else None

    async def _files_told(self, paths: Sequence[Path]) -> None:
        if await self.watch.worth_a_look(paths):
            await self.changed(paths)
        else:
            # An import that is typed but not saved may wait for it.
            self._look_again()

    # --- findings --------------------------------------------------------------------------------------------------

    def document_changed(self, document: OpenDocument) -> None:
        """Work out findings once typing rests."""
        if not _may_concern(document):
            return
        if (timer := self._timers.pop(document.key, None)) is not None:
            timer.cancel()
        loop = asyncio.get_running_loop()
        self._timers[document.key] = loop.call_later(DELAY_SECONDS, self._find, document)

    def document_saved(self, document: OpenDocument) -> Any:
        """A saved instruction file, or one that they import, changes the very next turn."""
        if document.path is None or (self._instructions is None and not _may_concern(document)):
            return None
        return self._saved(document.path)

    async def _saved(self, path: Path) -> None:
        await asyncio.to_thread(self.instructions)
        if await asyncio.to_thread(self.watch.concerns, path):
            await self.changed([path])

    def document_closed(self, document: OpenDocument) -> None:
        """Findings of a closed document go away."""
        if (timer := self._timers.pop(document.key, None)) is not None:
            timer.cancel()
        if _may_concern(document):
            self._publish(document, [])

    def _look_again(self) -> None:
        for document in self._server.documents:
            self.document_changed(document)

    def _find(self, document: OpenDocument) -> None:
        self._timers.pop(document.key, None)
        self._server.protocol.in_background(self._diagnose(document), "diagnostics")

    async def _diagnose(self, document: OpenDocument) -> None:
        from chatls_server.lsp import instruction_features as features

        if document.path is None:
            return
        text, version = document.text, document.version
        found = await asyncio.to_thread(
            lambda path: features.diagnostics(self.instructions(), document.uri, path, text, self._encoding),
            document.path,
        )
        if self._server.documents.get(document.uri) is document and document.version == version:
            self._publish(document, found)

    def _publish(self, document: OpenDocument, found: Sequence[types.Diagnostic]) -> None:
        self._server.send_notification(
            types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS,
            {"uri": document.uri, "version": document.version, "diagnostics": list(found)},
        )

    # --- requests --------------------------------------------------------------------------------------------------

    async def _hover(self, params: Any) -> object:
        from chatls_server.lsp.instruction_features import hover

        wanted = self._server.protocol.structure(params, types.HoverParams, types.TEXT_DOCUMENT_HOVER)
        return await self._about(wanted.text_document.uri, hover, wanted.position)

    async def _completion(self, params: Any) -> object:
        from chatls_server.lsp.instruction_features import completion

        wanted = self._server.protocol.structure(params, types.CompletionParams, types.TEXT_DOCUMENT_COMPLETION)
        return await self._about(wanted.text_document.uri, completion, wanted.position)

    async def _links(self, params: Any) -> object:
        from chatls_server.lsp.instruction_features import document_links

        wanted = self._server.protocol.structure(params, types.DocumentLinkParams, types.TEXT_DOCUMENT_DOCUMENT_LINK)
        return await self._about(wanted.text_document.uri, document_links)

    async def _definition(self, params: Any) -> object:
        from chatls_server.lsp.instruction_features import definition

        wanted = self._server.protocol.structure(params, types.DefinitionParams, types.TEXT_DOCUMENT_DEFINITION)
        return await self._about(wanted.text_document.uri, definition, wanted.position)

    async def _lenses(self, params: Any) -> object:
        from chatls_server.lsp.instruction_features import code_lens

        wanted = self._server.protocol.structure(params, types.CodeLensParams, types.TEXT_DOCUMENT_CODE_LENS)
        return await self._about(wanted.text_document.uri, code_lens)

    async def _actions(self, params: Any) -> list[object]:
        wanted = self._server.protocol.structure(params, types.CodeActionParams, types.TEXT_DOCUMENT_CODE_ACTION)
        actions: list[object] = list(actions_for(self._server, wanted, params))
        features = self._server.features
        if features.document_changes and features.resource_operations:
            from chatls_server.lsp.instruction_actions import code_actions

            fixes = await self._about(wanted.text_document.uri, code_actions, wanted.range)
            if isinstance(fixes, list):
                actions = [*fixes, *actions]
        return actions

    async def _about(self, uri: str, feature: Callable[..., object], *place: object) -> object:
        """The feature's answer for an open instruction file, null for every other document."""
        document = self._server.documents.get(uri)
        if document is None or document.path is None or not _may_concern(document):
            return None
        path, text = document.path, document.text
        return await asyncio.to_thread(
            lambda: feature(self.instructions(), document.uri, path, text, *place, self._encoding)
        )

    @property
    def _encoding(self) -> Any:
        return self._server.documents.encoding


def _may_concern(document: OpenDocument) -> bool:
    return document.path is not None and document.path.suffix.lower() in _SUFFIXES
