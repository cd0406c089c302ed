"""Encryption at rest (docs/memory-format.md, "Sealed files").

A sealed file is one line of ASCII: ``chatls-sealed:1:<base64url of salt(16) | nonce(12) | ciphertext>``. The key is
scrypt(passphrase, salt, n=2**14, r=8, p=1, 32 bytes); the cipher is AES-256-GCM; the associated data is
``chatls-sealed:1:<file name>``, so that one file cannot be put in the place of another.
"""

from __future__ import annotations

import base64
import binascii
import os
import threading
from collections.abc import Mapping

from chatls_core.store.codec import PLAIN, SEALED_PREFIX, Codec, UnopenableError, refuse_foreign_seal

KEY_VARIABLE = "CHATCLI_ENCRYPTION_KEY"
PREVIOUS_VARIABLE = "CHATCLI_ENCRYPTION_KEY_PREVIOUS"

_VERSION = SEALED_PREFIX + b"1:"
_SALT, _NONCE = 16, 12


class SealingCodec:
    """Seals with one passphrase; opens with it, with earlier ones, and plain files (sealed at their next write).

    Thread-safe.
    """

    def __init__(self, passphrase: str, previous: tuple[str, ...] = ()) -> None:
        self._passphrases = (passphrase, *(p for p in previous if p and p != passphrase))
        self._keys: dict[tuple[str, bytes], bytes] = {}
        self._salt = b""
        self._guard = threading.Lock()

    def encode(self, name: str, plain: bytes) -> bytes:
        """Sealed bytes with a final newline."""
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        with self._guard:
            salt = self._salt = self._salt or os.urandom(_SALT)
        nonce = os.urandom(_NONCE)
        sealed = AESGCM(self._key(self._passphrases[0], salt)).encrypt(nonce, plain, _associated(name))
        return _VERSION + base64.urlsafe_b64encode(salt + nonce + sealed) + b"\n"

    def decode(self, name: str, raw: bytes) -> bytes:
        """Plain bytes. Raises :class:`UnopenableError` for a wrong key, damage, or another program's seal."""
        if not raw.startswith(SEALED_PREFIX):
            refuse_foreign_seal(name, raw)
            return raw
        if not raw.startswith(_VERSION):
            raise UnopenableError(
                f"{name} was sealed by a newer version of ChatLS; update to open it. It is left as it is."
            )
        try:
            body = base64.b64decode(raw[len(_VERSION) :].strip(), altchars=b"-_", validate=True)
        except binascii.Error as error:
            raise UnopenableError(f"{name} is sealed and damaged ({error}); it is left as it is.") from error
        salt, nonce, sealed = body[:_SALT], body[_SALT : _SALT + _NONCE], body[_SALT + _NONCE :]
        for position, passphrase in enumerate(self._passphrases):
            plain = self._open(passphrase, salt, nonce, sealed, _associated(name))
            if plain is not None:
                if position == 0:
                    with self._guard:
                        self._salt = self._salt or salt  # one salt for all files: one slow key derivation
                return plain
        raise UnopenableError(
            f"{name} is encrypted with another key; set {KEY_VARIABLE} (or {PREVIOUS_VARIABLE}) to the key it was "
            "sealed with. It is left as it is."
        )

    def _open(self, passphrase: str, salt: bytes, nonce: bytes, sealed: bytes, associated: bytes) -> bytes | None:
        from cryptography.exceptions import InvalidTag
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        try:
            return AESGCM(self._key(passphrase, salt)).decrypt(nonce, sealed, associated)
        except (InvalidTag, ValueError):
            return None

    def _key(self, passphrase: str, salt: bytes) -> bytes:
        known = self._keys.get((passphrase, salt))
        if known is None:
            from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

            known = Scrypt(salt=salt, length=32, n=2**14, r=8, p=1).derive(passphrase.encode())
            self._keys[passphrase, salt] = known
        return known


def _associated(name: str) -> bytes:
    return _VERSION + name.encode()


def codec_for(environment: Mapping[str, str]) -> Codec:
    """The codec that ``CHATCLI_ENCRYPTION_KEY`` and ``…_PREVIOUS`` (comma-separated) ask for; plain without a key."""
    key = environment.get(KEY_VARIABLE, "").strip()
    if not key:
        return PLAIN
    previous = tuple(p.strip() for p in environment.get(PREVIOUS_VARIABLE, "").split(",") if p.strip())
    return SealingCodec(key, previous)
