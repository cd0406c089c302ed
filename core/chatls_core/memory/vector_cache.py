"""Vectors of remembered texts in a side file of ours: made once, never ChatCLI's business (DESIGN.md "State on disk").

One file per embedder, ``<name>.jsonl``, one line per text: ``{"k": digest of the text, "v": base64 of float16}``. It is
a cache: a line that cannot be read is made again. With a sealing codec each line is sealed, since a vector tells what
its text is about.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import logging
import re
import threading
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chatls_core.store import PLAIN, REAL, Codec, FileSystem, JsonLines, UnopenableError, atomic_write_bytes

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

log = logging.getLogger(__name__)

_SPARE = 2
"""Lines per living text before the file is written anew without the dead ones."""


def digest(text: str) -> str:
    """What a text is known by."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


class VectorCache:
    """Unit vectors by digest. Thread-safe; methods read the disk: call them in a thread."""

    def __init__(self, folder: Path, embedder: str, *, codec: Codec = PLAIN, fs: FileSystem = REAL) -> None:
        readable = re.sub(r"[^\w.-]+", "-", embedder)[:60]
        self._path = folder / f"{readable}-{digest(embedder)[:8]}.jsonl"
        self._codec = codec
        self._fs = fs
        self._lines = JsonLines(self._path, fs=fs, codec=codec)
        self._guard = threading.Lock()
        self._vectors: dict[str, Vector] | None = None
        self._written = 0

    def known(self) -> Mapping[str, Vector]:
        """All vectors. Another length than the newest's is of another model of the same name, and is left out."""
        with self._guard:
            if self._vectors is None:
                self._vectors = self._read()
            return self._vectors

    def add(self, vectors: Mapping[str, Sequence[float]]) -> None:
        """Keep vectors by their texts' digests. Raises :class:`OSError`; they then serve as long as the process."""
        import numpy as np

        known = self.known()
        with self._guard:
            rows = {key: unit(np.asarray(vector, dtype=np.float32)) for key, vector in vectors.items()}
            size = {len(row) for row in rows.values()}
            if any(len(row) not in size for row in known.values()):
                known = {}
            self._vectors = {**known, **rows}
            self._lines.append(_record(key, row) for key, row in rows.items())
            self._written += len(rows)

    def keep(self, digests: Collection[str]) -> None:
        """Drop the vectors of forgotten texts once they are the greater part of the file. Raises :class:`OSError`."""
        known = self.known()
        with self._guard:
            living = {key: row for key, row in known.items() if key in digests}
            if self._written <= _SPARE * max(len(living), 32):
                return
            lines = b"".join(
                self._codec.encode(self._path.name, json.dumps(_record(k, v)).encode()).rstrip(b"\n") + b"\n"
                for k, v in living.items()
            )
            atomic_write_bytes(self._path, lines, fs=self._fs)
            self._vectors, self._written = living, len(living)

    def _read(self) -> dict[str, Vector]:
        try:
            records = self._lines.read().records
        except (OSError, UnopenableError) as error:
            log.warning("%s cannot be read (%s); vectors are made again", self._path.name, error)
            return {}
        self._written = len(records)
        found: dict[str, Vector] = {}
        for record in records:
            if (row := _vector(record)) is not None:
                found[str(record["k"])] = row
        size = len(next(reversed(found.values()))) if found else 0
        return {key: row for key, row in found.items() if len(row) == size}


def _record(key: str, row: Vector) -> dict[str, Any]:
    return {"k": key, "v": base64.b64encode(row.astype("<f2").tobytes()).decode("ascii")}


def _vector(record: Mapping[str, Any]) -> Vector | None:
    import numpy as np

    try:
        row = np.frombuffer(base64.b64decode(record["v"], validate=True), dtype="<f2").astype(np.float32)
    except (KeyError, TypeError, ValueError, binascii.Error):
        return None
    return row if "k" in record and len(row) and bool(np.isfinite(row).all()) else None


def unit(row: Vector) -> Vector:
    """``row`` at length one; a row of zeros stays."""
    import numpy as np

    scaled: Vector = row / max(float(np.linalg.norm(row)), 1e-12)
    return scaled
