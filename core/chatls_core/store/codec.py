"""How bytes of a store are dressed on the disk: plain, or sealed (:mod:`chatls_core.store.sealing`)."""

from __future__ import annotations

import re
from typing import Protocol


class UnopenableError(Exception):
    """The bytes are sealed and cannot be opened here; ``str()`` says why and what to do. Never overwrite them."""


class Codec(Protocol):
    """Turns a file's plain bytes into what is written, and back. ``name`` is the file's name without folders."""

    def encode(self, name: str, plain: bytes) -> bytes:
        """Bytes for the disk."""

    def decode(self, name: str, raw: bytes) -> bytes:
        """Plain bytes. Raises :class:`UnopenableError`."""


SEALED_PREFIX = b"chatls-sealed:"
"""First bytes of everything sealed by us, whatever the version."""

_FOREIGN_SEAL = re.compile(rb"\s*(?:[A-Za-z][A-Za-z0-9_.-]{0,30}:)?[A-Za-z0-9+/=_\-\s]{40,}\Z")


class PlainCodec:
    """No dressing; sealed bytes are recognised and refused, so that they are never taken for damage."""

    def encode(self, name: str, plain: bytes) -> bytes:
        """The bytes as they are."""
        return plain

    def decode(self, name: str, raw: bytes) -> bytes:
        """The bytes as they are. Raises :class:`UnopenableError` for a sealed file."""
        if raw.startswith(SEALED_PREFIX):
            raise UnopenableError(
                f"{name} is encrypted and no key is set; set CHATCLI_ENCRYPTION_KEY to open it. It is left as it is."
            )
        refuse_foreign_seal(name, raw)
        return raw


def refuse_foreign_seal(name: str, raw: bytes) -> None:
    """Raise :class:`UnopenableError` for bytes that look encrypted by another program.

    A JSON document starts with a bracket; damage leaves JSON's start, nothing, or zeros. One long base64 token or
    binary noise is neither, and is far more likely a sealed file than a broken one.
    """
    head = raw.lstrip(b"\xef\xbb\xbf \t\r\n")
    if not head.strip(b"\0") or head[:1] in (b"[", b"{"):
        return
    binary = b"\0" in head or not _is_utf8(head)
    if binary or _FOREIGN_SEAL.match(raw):
        raise UnopenableError(
            f"{name} looks encrypted by another program (ChatCLI seals its files with its own key format); "
            "it is left as it is and nothing is written to it."
        )


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


PLAIN: Codec = PlainCodec()
