"""What the editor has opened and whether the user trusts it: folders, trust, settings, environment.

Settings, weakest first: defaults, environment, ``initializationOptions``, ``workspace/configuration`` (PROTOCOL.md,
"initialize"). Trust comes from ``initializationOptions`` and ``chatls/trustChanged`` only.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from chatls_core.config import Settings, data_folder, load, setting_fields
from chatls_server.lsp.uris import document_key, path_of, uri_of

logger = logging.getLogger(__name__)


class Workspace:
    """Folders, trust and the settings that follow from them."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._process_environment = dict(environment)
        self.home = data_folder(environment)
        self._folders: dict[str, tuple[str, Path]] = {}
        self.trusted = True
        self.locale = ""
        self._options: Mapping[str, Any] = {}
        self._pulled: list[Mapping[str, Any] | None] = []
        self._warned: set[str] = set()
        self.warnings: tuple[str, ...] = ()
        self.environment: dict[str, str] = self._process_environment
        self.settings = Settings()
        self.by_folder: dict[Path, Settings] = {}

    @property
    def roots(self) -> tuple[Path, ...]:
        """The opened folders, symlinks resolved, in the editor's order."""
        return tuple(path for _, path in self._folders.values())

    @property
    def folder_uris(self) -> tuple[str, ...]:
        """The opened folders as the editor spells them."""
        return tuple(uri for uri, _ in self._folders.values())

    def initialize(self, params: Mapping[str, Any]) -> list[str]:
        """Take the ``initialize`` parameters; returns warnings for the user."""
        folders = params.get("workspaceFolders")
        if isinstance(folders, list) and folders:
            self.change_folders(folders, [])
        elif isinstance(root := params.get("rootUri"), str):
            self.change_folders([{"uri": root}], [])
        elif isinstance(root := params.get("rootPath"), str) and root:
            self.change_folders([{"uri": uri_of(root)}], [])
        if isinstance(locale := params.get("locale"), str):
            self.locale = locale
        options = params.get("initializationOptions")
        if isinstance(options, Mapping):
            inner = options.get("settings")
            bare = {name: value for name, value in options.items() if name not in ("settings", "trusted")}
            self._options = _section(inner if isinstance(inner, Mapping) else bare)
            if isinstance(options.get("trusted"), bool):
                self.trusted = options["trusted"]
        return self.reload()

    def change_folders(self, added: Sequence[Any], removed: Sequence[Any]) -> None:
        """Follow ``workspace/didChangeWorkspaceFolders``."""
        for folder in removed:
            self._folders.pop(document_key(_uri(folder)), None)
        for folder in added:
            path = path_of(_uri(folder))
            if path is None:
                logger.warning("The folder %s is no file system folder and is left out", _uri(folder))
            else:
                self._folders[document_key(_uri(folder))] = _uri(folder), path.resolve()

    def take_configuration(self, pulled: Sequence[object]) -> list[str]:
        """Take pulled settings: one entry per folder, the last one without a folder; returns new warnings."""
        self._pulled = [_section(entry) if isinstance(entry, Mapping) else None for entry in pulled]
        return self.reload()

    def reload(self) -> list[str]:
        """Work out environment and settings again; returns warnings that have not been given before."""
        self.environment = self._merged_environment()
        problems: list[str] = []

        def resolve(pulled: Mapping[str, Any] | None) -> Settings:
            loaded = load(
                self.environment,
                ("initializationOptions", self._options),
                ("workspace/configuration", pulled or {}),
            )
            problems.extend(map(str, loaded.warnings))
            return loaded.settings

        self.settings = resolve(self._pulled[-1] if self._pulled else None)
        self.by_folder = {path: resolve(pulled) for path, pulled in zip(self.roots, self._pulled[:-1], strict=False)}
        if len(self.by_folder) == 1:
            self.settings = next(iter(self.by_folder.values()))
        self.warnings = tuple(dict.fromkeys(problems))
        fresh = [problem for problem in self.warnings if problem not in self._warned]
        self._warned.update(fresh)
        return fresh

    def _merged_environment(self) -> dict[str, str]:
        """The process's environment over ``<home>/.env``; a trusted workspace's ``.env`` is the weakest.

        The workspace may set only what a workspace's settings may: never keys, never endpoints.
        """
        allowed = {name for item in setting_fields() if item.scope == "resource" for name in item.env}
        merged: dict[str, str] = {}
        if self.trusted:
            for root in self.roots:
                found = _read_env(root / ".env")
                merged.update({name: value for name, value in found.items() if name in allowed})
        merged.update(_read_env(self.home / ".env"))
        merged.update(self._process_environment)
        return merged


def _read_env(path: Path) -> dict[str, str]:
    if not path.is_file():
        return {}
    from dotenv import dotenv_values

    try:
        values = dotenv_values(path, interpolate=False)
    except (OSError, UnicodeDecodeError) as error:
        logger.warning("%s could not be read: %s", path, error)
        return {}
    return {name: value for name, value in values.items() if value is not None}


def _section(settings: Mapping[str, Any]) -> Mapping[str, Any]:
    """The settings below ``chatls`` where a client sends the whole tree, and with a ``chatls.`` prefix removed."""
    inner = settings.get("chatls")
    if isinstance(inner, Mapping):
        return inner
    return {name.removeprefix("chatls."): value for name, value in settings.items() if isinstance(name, str)}


def _uri(folder: Any) -> str:
    uri = folder.get("uri") if isinstance(folder, Mapping) else None
    return uri if isinstance(uri, str) else ""
