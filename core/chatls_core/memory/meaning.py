"""Search by meaning beside the words: vectors and guessed answers (spec/memory.md §8.4, §18.1 row 36).

Optional in every sense. Words rank first; what stands here joins them by rank, at half weight or less. A question waits
for it no longer than the settings' time-outs; without an answer by then, or with a failing service, words decide alone.
A configured embedding provider is enough: nothing else has to be switched on.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chatls_core.config import Embedding
from chatls_core.llm.embedding import Embedder
from chatls_core.llm.events import ModelError
from chatls_core.llm.messages import Message, ModelRequest, TextPart
from chatls_core.llm.model import Model
from chatls_core.memory.vector_cache import VectorCache, digest, unit
from chatls_core.store import PLAIN, Codec

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from chatls_core.text.ranking import Hit

    Vector = NDArray[np.float32]
    Matrix = NDArray[np.float32]

log = logging.getLogger(__name__)

LEAST_CHARS = 8
"""Shorter questions are not worth a request (spec/memory.md §8.7)."""
NEAREST = 12
LEAST_COSINE = 0.25
"""Texts less alike are not near (spec/memory.md §8.3), …"""
LEAST_LEAD = 0.1
"""… nor are those hardly more alike than the average: some models find all texts alike."""
SURE_COSINE, SURE_LEAD = 0.6, 0.25
"""What a text that shares no word with the question needs to be brought up unasked."""
BACKFILL = 500
"""Most texts that get their vectors after one question."""
_REST_SECONDS = 300.0
"""How long a service that failed is left alone."""
_REMEMBERED = 32
HYPOTHESIS_TOKENS = 200
_HYPOTHESIS = (
    "Write what a stored note that answers the question below would plausibly say, in 2 to 4 concrete sentences, in "
    "the question's language, without hedging. Invent details where you must.\n\nQuestion: {question}"
)


@dataclass(frozen=True, slots=True)
class Asked:
    """What is known of a question beyond its words: its vector, and words of a guessed answer."""

    vector: Vector | None = None
    words: str = ""


@dataclass(frozen=True, slots=True)
class Near:
    """A text near to a question; ``sure`` when it clearly stands out."""

    cosine: float
    sure: bool


def blended(hits: list[Hit], guessed: Sequence[Hit], near: Mapping[str, Near]) -> list[Hit]:
    """Hits by words joined by rank with those of a guessed answer's words and those near in meaning.

    The scores stay those of the words, handed out in the new order, so that they compare as before.
    """
    if not guessed and not near:
        return hits
    from chatls_core.text.ranking import Hit
    from chatls_core.text.vectors import best_coverage, fuse

    others = [ranking for ranking in ([h.id for h in guessed], list(near)) if ranking]
    by_id = {hit.id: hit for hit in hits}
    by_guess = {hit.id: hit for hit in guessed}
    scores = sorted((hit.score for hit in hits), reverse=True)
    found = []
    for place, key in enumerate(fuse(by_id, *others, coverage=best_coverage(hits))):
        reasons = [by_id[key].why] if key in by_id else []
        if key in near:
            reasons.append(f"close in meaning ({near[key].cosine:.2f})")
        elif key in by_guess:
            reasons.append(f"like a guessed answer: {by_guess[key].why}")
        hit = by_id.get(key, Hit(key, 0.0, ""))
        score = scores[place] if place < len(scores) else (scores[-1] if scores else 0.5)
        found.append(replace(hit, score=score, why="; ".join(reasons)))
    return found


class Meaning:
    """Vectors of what is remembered, and of what is asked. Async methods belong to one event loop."""

    def __init__(
        self,
        folder: Path,
        *,
        settings: Callable[[], Embedding],
        embedder: Callable[[], Embedder | None],
        model: Callable[[], Model],
        texts: Callable[[bool], Sequence[str]],
        codec: Codec = PLAIN,
    ) -> None:
        """``texts`` gives what is remembered, the most important first; all of it, or what may leave this machine."""
        self._folder = folder
        self._settings = settings
        self._make_embedder = embedder
        self._model = model
        self._texts = texts
        self._codec = codec
        self._embedder: Embedder | None = None
        self._made_for: Embedding | None = None
        self._cache: VectorCache | None = None
        self._matrix: tuple[Mapping[str, str], Mapping[str, Vector], list[str], Matrix] | None = None
        self._asked: OrderedDict[str, Asked] = OrderedDict()
        self._learning: asyncio.Task[None] | None = None
        self._rest_until = float("-inf")

    async def prepare(self, question: str, *, guess: bool = True) -> None:
        """Find out what :meth:`asked` says of a question, within the time-out. Never raises.

        Without ``guess`` no answer is guessed, whatever the settings: for searches as the user types.
        """
        settings = self._settings()
        if len(question.strip()) < LEAST_CHARS or question in self._asked:
            return
        work: list[Coroutine[Any, Any, Asked]] = []
        if (embedder := await self._current()) is not None:
            work.append(_within(settings.timeout_seconds, self._vector(embedder, question)))
        if settings.hyde and guess:
            work.append(_within(settings.hyde_timeout_seconds, self._guess(question, settings.hyde_keywords)))
        if not work:
            return
        found = await asyncio.gather(*work)
        vector = next((f.vector for f in found if f.vector is not None), None)
        words = " ".join(f.words for f in found if f.words)
        if vector is not None or words:
            self._asked[question] = Asked(vector, words)
        while len(self._asked) > _REMEMBERED:
            self._asked.popitem(last=False)
        self._learn_in_background()

    def asked(self, question: str) -> Asked:
        """What :meth:`prepare` found out; nothing for a question it was not asked about."""
        return self._asked.get(question, Asked())

    def near(self, asked: Asked, texts: Mapping[str, str]) -> dict[str, Near]:
        """The ids of the texts nearest in meaning, nearest first; ``texts`` are by id. Reads the disk once."""
        if asked.vector is None or self._cache is None:
            return {}
        import numpy as np

        ids, matrix = self._known_of(self._cache, texts)
        if not ids or matrix.shape[1] != len(asked.vector):
            return {}
        cosines = matrix @ asked.vector
        usual = float(np.median(cosines))
        found: dict[str, Near] = {}
        for place in np.argsort(-cosines, kind="stable")[:NEAREST].tolist():
            cosine = float(cosines[place])
            if cosine < LEAST_COSINE or (len(ids) > NEAREST and cosine < usual + LEAST_LEAD):
                break
            found[ids[place]] = Near(cosine, cosine >= SURE_COSINE and cosine >= usual + SURE_LEAD)
        return found

    def _known_of(self, cache: VectorCache, texts: Mapping[str, str]) -> tuple[list[str], Matrix]:
        """The ids of the texts that have a vector, with the vectors as rows; kept while neither changes."""
        import numpy as np

        known = cache.known()
        kept = self._matrix
        if kept is None or kept[0] is not texts or kept[1] is not known:
            pairs = [(i, known[key]) for i, text in texts.items() if (key := digest(text)) in known]
            rows: Matrix = np.stack([row for _, row in pairs]) if pairs else np.zeros((0, 0), dtype=np.float32)
            kept = self._matrix = texts, known, [i for i, _ in pairs], rows
        return kept[2], kept[3]

    async def settled(self) -> None:
        """Wait until the vectors that are missing have been made, as far as they can be."""
        if self._learning is not None:
            await asyncio.wait([self._learning])

    async def close(self) -> None:
        """End the background work and drop connections."""
        if self._learning is not None:
            self._learning.cancel()
            await asyncio.gather(self._learning, return_exceptions=True)
        if self._embedder is not None:
            await self._embedder.aclose()

    async def _current(self) -> Embedder | None:
        """The embedder of the current settings; ``None`` where there is none, or it failed lately."""
        settings = self._settings()
        if self._made_for != settings:
            if self._embedder is not None:
                await self._embedder.aclose()
            self._made_for, self._embedder, self._cache = settings, None, None
            self._rest_until = float("-inf")
            self._asked.clear()
            try:
                self._embedder = await asyncio.to_thread(self._make_embedder)
            except ModelError as error:
                log.warning("search by meaning is off: %s %s", error, error.hint)
            if self._embedder is not None:
                self._cache = VectorCache(self._folder, self._embedder.name, codec=self._codec)
        return self._embedder if time.monotonic() >= self._rest_until else None

    async def _vector(self, embedder: Embedder, question: str) -> Asked:
        import numpy as np

        try:
            (row,) = await embedder.embed([question])
        except ModelError as error:
            self._failed(error)
            return Asked()
        return Asked(unit(np.asarray(row, dtype=np.float32)))

    async def _guess(self, question: str, keywords: int) -> Asked:
        """Words of a hypothetical answer, the question's own left out; none when the model does not answer."""
        from chatls_core.memory.worker.asking import ask
        from chatls_core.text import tokenizer

        def build(model: Model) -> ModelRequest:
            text = _HYPOTHESIS.format(question=question)
            return ModelRequest(
                (Message("user", (TextPart(text),)),),
                model=model.model,
                max_output_tokens=None if model.info.reasoning else HYPOTHESIS_TOKENS,
                effort="none",
            )

        try:
            reply = await ask(self._model(), build)
        except ModelError as error:
            log.info("no answer was guessed: %s", error)
            return Asked()
        own = {w.folded for w in tokenizer.words(question)}
        words = [w.folded for w in tokenizer.topic_words(reply.text) if not w.part and w.folded not in own]
        return Asked(words=" ".join(words[:keywords]))

    def _learn_in_background(self) -> None:
        if self._cache is not None and (self._learning is None or self._learning.done()):
            self._learning = asyncio.ensure_future(self._learn())

    async def _learn(self) -> None:
        """Make the vectors that are missing; one pass at a time, stopped by the first failure."""
        embedder, cache = self._embedder, self._cache
        if embedder is None or cache is None or time.monotonic() < self._rest_until:
            return
        try:
            by_digest = await asyncio.to_thread(lambda: {digest(t): t for t in self._texts(embedder.here)})
            known = await asyncio.to_thread(cache.known)
            missing = [key for key in by_digest if key not in known][:BACKFILL]
            for start in range(0, len(missing), 32):
                keys = missing[start : start + 32]
                rows = await embedder.embed([by_digest[key] for key in keys])
                await asyncio.to_thread(cache.add, dict(zip(keys, rows, strict=True)))
            await asyncio.to_thread(cache.keep, by_digest.keys())
        except ModelError as error:
            self._failed(error)
        except OSError as error:
            log.warning("vectors could not be kept: %s", error)

    def _failed(self, error: ModelError) -> None:
        if time.monotonic() >= self._rest_until:
            log.warning("%s Words decide alone for some minutes.", error)
        self._rest_until = time.monotonic() + _REST_SECONDS


async def _within(seconds: float, work: Coroutine[Any, Any, Asked]) -> Asked:
    try:
        async with asyncio.timeout(seconds):
            return await work
    except TimeoutError:
        log.info("search by meaning took longer than %g s; words decide alone", seconds)
        return Asked()
