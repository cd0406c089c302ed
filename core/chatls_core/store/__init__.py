"""How does state reach disk? One locked, atomic JSON store, an append-only journal, a clock (DESIGN.md)."""

from __future__ import annotations

from chatls_core.store.atomic import atomic_write_bytes, is_temporary, sweep_abandoned
from chatls_core.store.clock import Clock, system_clock
from chatls_core.store.codec import PLAIN, Codec, UnopenableError
from chatls_core.store.file_system import FILE_MODE, FOLDER_MODE, REAL, FileSystem, LockTimeoutError, Signature
from chatls_core.store.index_file import IndexFile
from chatls_core.store.json_lines import JournalPage, JsonLines
from chatls_core.store.json_store import JsonStore, StoreReadOnlyError
from chatls_core.store.sealing import codec_for

__all__ = [
    "FILE_MODE",
    "FOLDER_MODE",
    "PLAIN",
    "REAL",
    "Clock",
    "Codec",
    "FileSystem",
    "IndexFile",
    "JournalPage",
    "JsonLines",
    "JsonStore",
    "LockTimeoutError",
    "Signature",
    "StoreReadOnlyError",
    "UnopenableError",
    "atomic_write_bytes",
    "codec_for",
    "is_temporary",
    "sweep_abandoned",
    "system_clock",
]
