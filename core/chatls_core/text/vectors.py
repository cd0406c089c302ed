"""Optional nearness in meaning, by whatever embedding function the caller brings."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from .hits import Hit

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

Embed = Callable[[Sequence[str]], Sequence[Sequence[float]]]
"""Turns texts into vectors of one length, one per text, in order."""

LEAST_COSINE = 0.25
"""Passages less alike than this are not near (spec/memory.md §8.3)."""
VECTOR_WEIGHT, LEAST_WEIGHT = 0.5, 0.2
"""Weight of the ranking by meaning against the one by words: where words say little, and where they say everything.

At equal weight, and at half where words have found it all, it costs recall (docs/ranking.md).
"""
_FUSION = 10.0
"""How slowly a rank's worth falls; small, since deep ranks by meaning are as good as chance."""

_FIRST = 5

_log = logging.getLogger(__name__)


class VectorStore:
    """Vectors of passages by id, made when first needed and kept until the passage changes."""

    def __init__(self, embed: Embed) -> None:
        self._embed = embed
        self._known: dict[str, Vectors] = {}
        self._matrix: tuple[list[str], Vectors] | None = None

    def forget(self, passage_id: str) -> None:
        """The passage is gone or has another text."""
        self._known.pop(passage_id, None)
        self._matrix = None

    def nearest(self, text: str, passages: Mapping[str, str], k: int) -> list[str]:
        """Ids of the at most ``k`` passages (texts by id) nearest to ``text``, nearest first.

        A failing embedding function is logged and finds nothing: words alone then decide.
        """
        import numpy as np

        try:
            self._learn({i: t for i, t in passages.items() if i not in self._known})
            asked = _unit(np.asarray(self._embed([text]), dtype=np.float32))[0]
            if self._matrix is None:
                ids = list(passages)
                self._matrix = ids, np.stack([self._known[i] for i in ids])
            ids, matrix = self._matrix
            cosines = matrix @ asked
        except Exception as error:  # noqa: BLE001 - the function is the caller's; search must not fail with it
            _log.warning("Search by meaning is off for this question: %s", error)
            return []
        order = np.argsort(-cosines, kind="stable")[:k]
        return [ids[i] for i in order if cosines[i] >= LEAST_COSINE]

    def _learn(self, texts: Mapping[str, str]) -> None:
        import numpy as np

        if texts:
            vectors = _unit(np.asarray(self._embed(list(texts.values())), dtype=np.float32))
            self._known.update(zip(texts, vectors, strict=True))
            self._matrix = None


def _unit(vectors: Vectors) -> Vectors:
    import numpy as np

    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Vectors = vectors / np.maximum(lengths, 1e-12)
    return unit


def fuse(by_words: Iterable[str], *others: Iterable[str], coverage: float) -> dict[str, float]:
    """Reciprocal rank fusion: ids with their scores (1 for the first of all rankings), best first.

    ``coverage`` (0 to 1) is the most that a passage's words hold of the question: the more, the less have the other
    rankings to say, which share one weight.
    """
    shared = LEAST_WEIGHT + (VECTOR_WEIGHT - LEAST_WEIGHT) * (1 - coverage) ** 2
    scores: dict[str, float] = {}
    for ranking, weight in ((by_words, 1.0), *((other, shared / len(others)) for other in others)):
        for rank, passage_id in enumerate(ranking):
            scores[passage_id] = scores.get(passage_id, 0.0) + weight * _FUSION / (_FUSION + rank)
    return {i: s / (1 + shared) for i, s in sorted(scores.items(), key=lambda item: -item[1])}


def best_coverage(hits: Sequence[Hit]) -> float:
    """The most of the question that the words of one of the first hits hold, 0 to 1."""
    return max((hit.coverage for hit in hits[:_FIRST]), default=0.0)
