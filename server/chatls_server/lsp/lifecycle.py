"""From ``initialize`` to ``shutdown``: capabilities, settings, trust, keys, folders, trace."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from chatls_server.logs import set_level
from chatls_server.lsp.capabilities import chatls_capabilities, client_features
from chatls_server.lsp.errors import ClientError
from chatls_server.lsp.parent import watch_parent
from chatls_server.lsp.protocol.base import BadParams, parse

if TYPE_CHECKING:
    from chatls_server.lsp.server import ChatServer

logger = logging.getLogger(__name__)

_CONFIGURATION_SECONDS = 10.0


def register(server: ChatServer) -> None:
    """Add the handlers of this module."""
    lifecycle = Lifecycle(server)
    server.raw_handlers.update(
        {
            types.INITIALIZE: lifecycle.initialize,
            types.INITIALIZED: lifecycle.initialized,
            types.SHUTDOWN: lifecycle.shutdown,
            types.SET_TRACE: lifecycle.set_trace,
            types.WORKSPACE_DID_CHANGE_CONFIGURATION: lifecycle.configuration_changed,
            types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS: lifecycle.folders_changed,
            types.WINDOW_WORK_DONE_PROGRESS_CANCEL: lambda params: server.work.cancelled(params),
            "chatls/secrets": lifecycle.secrets,
            "chatls/trustChanged": lifecycle.trust_changed,
            "chatls/prepare": lifecycle.prepare,
        }
    )


class Lifecycle:
    """The handlers; parameters arrive as plain JSON."""

    def __init__(self, server: ChatServer) -> None:
        self._server = server

    def initialize(self, params: Any) -> dict[str, Any]:
        """Answer with what the server can do. Parameters that are missing or odd are taken as not given."""
        if not isinstance(params, Mapping):
            raise BadParams("initialize: params: an object was expected")
        server = self._server
        server.features = client_features(params.get("capabilities"))
        server.documents.encoding = server.features.encoding
        server.protocol.tracer.set_level(params.get("trace"))
        process_id = params.get("processId")
        if isinstance(process_id, int) and not isinstance(process_id, bool):
            watch_parent(process_id, lambda: server.end("the editor's process is gone", 0))
        for warning in server.opened.initialize(params):
            logger.warning("%s", warning)
            server.show_message("warning", warning)
        return {"capabilities": self._capabilities(), "serverInfo": {"name": "chatls", "version": server.version}}

    def _capabilities(self) -> dict[str, Any]:
        server = self._server
        capabilities: dict[str, Any] = {
            "positionEncoding": server.features.encoding,
            "textDocumentSync": {"openClose": True, "change": 2, "save": {"includeText": False}},
            "notebookDocumentSync": {"notebookSelector": [{"notebook": "*"}], "save": True},
            "executeCommandProvider": {
                "commands": sorted(server.registry.commands),
                "workDoneProgress": True,
            },
            "workspace": {
                "workspaceFolders": {"supported": True, "changeNotifications": True},
                "textDocumentContent": {"schemes": ["chatls"]},
            },
            "experimental": {"chatls": chatls_capabilities()},
        }
        capabilities.update(server.feature_capabilities)
        return capabilities

    async def initialized(self, _params: Any) -> None:
        """Pull settings, register what the client lets us register, start watching."""
        server = self._server
        await self._pull()
        if server.features.configuration_registration:
            await server.register_capability(types.WORKSPACE_DID_CHANGE_CONFIGURATION, {"section": "chatls"})
        await server.eyes.start()
        await server.run_hooks("ready")

    def shutdown(self, _params: Any) -> None:
        """Give up what runs; requests are refused from now on, ``exit`` ends the process."""
        self._server.protocol.mark_shutdown()
        self._server.protocol.give_up_requests()

    def set_trace(self, params: Any) -> None:
        """``$/setTrace``."""
        self._server.protocol.tracer.set_level(params.get("value") if isinstance(params, Mapping) else None)

    async def configuration_changed(self, params: Any) -> None:
        """Pull again, or take what a client without pulling pushes."""
        if self._server.features.configuration:
            await self._pull()
            return
        settings = params.get("settings") if isinstance(params, Mapping) else None
        if isinstance(settings, Mapping):
            self._take([settings])
            await self._configured()

    async def folders_changed(self, params: Any) -> None:
        """Folders were added or removed."""
        event = params.get("event") if isinstance(params, Mapping) else None
        if not isinstance(event, Mapping):
            raise BadParams(f"{types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS}: event: an object was expected")
        added, removed = event.get("added"), event.get("removed")
        self._server.opened.change_folders(
            added if isinstance(added, list) else [], removed if isinstance(removed, list) else []
        )
        await self._reopened()
        await self._pull()

    async def trust_changed(self, params: Any) -> None:
        """The user granted or withdrew trust: everything that depends on it is loaded again."""
        from chatls_server.lsp.protocol.editor import TrustChanged

        trusted = parse(TrustChanged, params, "chatls/trustChanged").trusted
        if trusted != self._server.opened.trusted:
            self._server.opened.trusted = trusted
            self._warn(self._server.opened.reload())
            await self._reopened()
            await self._configured()

    async def prepare(self, _params: Any) -> None:
        """``chatls/prepare``: the user begins to write."""
        agent = await self._server.agent()
        await agent.prepare()

    async def secrets(self, params: Any) -> None:
        """Keys of the editor's secret storage; an empty one is removed."""
        from chatls_server.lsp.protocol.editor import Secrets

        given = parse(Secrets, params, "chatls/secrets").root
        server = self._server
        removed = {name: "" for name, key in given.items() if not key}
        server.secrets = {name: key for name, key in {**server.secrets, **given}.items() if key}
        if (agent := server.agent_if_made) is not None:
            agent.set_secrets({**server.secrets, **removed})
        await server.run_hooks("secrets")

    async def _pull(self) -> None:
        server = self._server
        if not server.features.configuration:
            return
        items: list[dict[str, str]] = [{"section": "chatls", "scopeUri": uri} for uri in server.opened.folder_uris]
        items.append({"section": "chatls"})
        try:
            pulled = await server.ask_client(
                types.WORKSPACE_CONFIGURATION, {"items": items}, timeout_seconds=_CONFIGURATION_SECONDS
            )
        except (ClientError, TimeoutError) as error:
            logger.warning("Settings could not be pulled: %s", error)
            return
        if not isinstance(pulled, list) or len(pulled) != len(items):
            logger.warning("The editor's answer to workspace/configuration does not fit and is left out")
            return
        self._take(pulled)
        await self._configured()

    def _take(self, pulled: list[Any]) -> None:
        self._warn(self._server.opened.take_configuration(pulled))

    def _warn(self, warnings: list[str]) -> None:
        for warning in warnings:
            logger.warning("%s", warning)
            self._server.show_message("warning", warning)

    async def _configured(self) -> None:
        server = self._server
        set_level(server.settings.log_level)
        await server.eyes.reopened()
        await server.run_hooks("configuration")

    async def _reopened(self) -> None:
        server = self._server
        await server.eyes.reopened()
        await server.run_hooks("workspace")
