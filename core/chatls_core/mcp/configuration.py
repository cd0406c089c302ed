"""Which servers are configured: the user's file, then those of the trusted workspace's folders."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_core import from_json

from chatls_core.mcp.entries import Entry, configured
from chatls_core.mcp.model import ServerConfig
from chatls_core.store import REAL, FileSystem, Signature
from chatls_core.text.redaction import is_secret_name

log = logging.getLogger(__name__)

FILE_NAME = "mcp_servers.json"
MAX_SERVERS = 50
MAX_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Configured:
    """The servers by name, sorted, and what is wrong with the files (one sentence each)."""

    servers: Mapping[str, ServerConfig]
    problems: tuple[str, ...] = ()


class Configuration:
    """Reads the files again when they changed. Use it in a thread."""

    def __init__(
        self, home_file: Path, roots: Sequence[Path], environment: Mapping[str, str], *, fs: FileSystem = REAL
    ) -> None:
        """``roots`` are the folders of a trusted workspace; leave them out of an untrusted one."""
        self._files = (home_file, *(root / ".chatcli" / FILE_NAME for root in roots))
        self._home_file = home_file
        self._environment = environment
        self._fs = fs
        self._seen: tuple[Signature | None, ...] | None = None
        self._allow_http = False
        self._known = Configured({})
        self._guard = threading.Lock()
        self._readable: dict[Path, list[Entry]] = {}

    def read(self, *, allow_http: bool) -> Configured:
        """What is configured now; the same object while no file changed."""
        with self._guard:
            now = tuple(self._signature(path) for path in self._files)
            if self._seen is None or now != self._seen or allow_http != self._allow_http:
                self._seen, self._allow_http = now, allow_http
                self._known = self._load()
            return self._known

    def _signature(self, path: Path) -> Signature | None:
        try:
            return self._fs.signature(path)
        except OSError:
            return None

    def _load(self) -> Configured:
        servers: dict[str, ServerConfig] = {}
        problems: list[str] = []
        for path, signature in zip(self._files, self._seen or (), strict=False):
            if signature is None:
                self._readable.pop(path, None)
                continue
            for entry in self._entries(path, problems):
                own = path == self._home_file
                config = configured(entry, self._lookup(own), path, trusted_file=own, allow_http=self._allow_http)
                if not config.name:
                    problems.append(f"{path}: a server without a name is left out.")
                elif config.name in servers:
                    # A workspace must not put its own program behind a name the user trusts.
                    problems.append(f"{path}: {config.name} is configured already in {servers[config.name].origin}.")
                elif len(servers) < MAX_SERVERS:
                    servers[config.name] = config
        return Configured(dict(sorted(servers.items())), tuple(problems))

    def _lookup(self, own: bool) -> Any:
        """A workspace's file may name variables, but none that holds a secret of the user's."""

        def value(name: str) -> str | None:
            return None if not own and is_secret_name(name) else self._environment.get(name)

        return value

    def _entries(self, path: Path, problems: list[str]) -> list[Entry]:
        try:
            data = self._fs.read(path)
            if len(data) > MAX_BYTES:
                raise ValueError("it is larger than 1 MB")
            tree = from_json(data)
        except (OSError, ValueError) as error:
            problems.append(f"{path} cannot be used: {error}.")
            return self._readable.get(path, [])  # a file in the middle of being written ends no server
        found = tree.get("mcpServers", tree.get("servers")) if isinstance(tree, dict) else None
        if isinstance(found, dict):
            rows = [{"name": name, **row} for name, row in found.items() if isinstance(row, dict)]
        else:
            rows = [row for row in found if isinstance(row, dict)] if isinstance(found, list) else []
        entries = []
        for row in rows:
            try:
                entries.append(Entry.model_validate(row))
            except ValidationError as error:
                # Values are not repeated: they may be secrets.
                fields = ", ".join(sorted({str(e["loc"][0]) if e["loc"] else "entry" for e in error.errors()}))
                problems.append(f"{path}: {row.get('name') or 'a server'} cannot be used; look at: {fields}.")
        self._readable[path] = entries
        return entries
