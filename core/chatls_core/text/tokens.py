"""How many tokens is this text? Estimates in characters per token, learned per model (spec/agent.md §1.4)."""

from __future__ import annotations

import threading
from collections.abc import Mapping

DEFAULT_RATIO = 4.0
"""Characters per token before anything is learned."""

_LOWEST_RATIO, _HIGHEST_RATIO = 1.5, 12.0
_LEAST_TOKENS = 200
_WEIGHT = 0.3


def estimate(text: str | int, ratio: float = DEFAULT_RATIO) -> int:
    """Tokens of ``text`` (a text, or its length in characters) at ``ratio`` characters per token, rounded half up.

    Raises :class:`ValueError` for a ratio that is not positive.
    """
    if ratio <= 0:
        raise ValueError(f"characters per token must be positive, not {ratio}")
    characters = text if isinstance(text, int) else len(text)
    return int(characters / ratio + 0.5)


class TokenRatio:
    """Characters per token of each ``provider:model``, learned from the providers' own counts.

    An exponential average of weight 0.3; a sample counts when it covers at least 200 prompt tokens and its ratio lies
    within 1.5 to 12 (a cached or image-heavy prompt would teach nonsense). Keys are lower-cased. Safe across threads.
    """

    def __init__(self, known: Mapping[str, float] | None = None) -> None:
        """``known`` restores ratios of an earlier process; values outside the accepted range are ignored."""
        self._lock = threading.Lock()
        self._ratios = {
            key.lower(): ratio for key, ratio in (known or {}).items() if _LOWEST_RATIO <= ratio <= _HIGHEST_RATIO
        }

    @staticmethod
    def _key(provider: str, model: str) -> str:
        return f"{provider}:{model}".lower()

    def learn(self, provider: str, model: str, characters: int, tokens: int) -> bool:
        """Take one sample: a prompt of ``characters`` was counted as ``tokens``. Says whether it was accepted."""
        if tokens < _LEAST_TOKENS or not _LOWEST_RATIO <= characters / tokens <= _HIGHEST_RATIO:
            return False
        sample, key = characters / tokens, self._key(provider, model)
        with self._lock:
            known = self._ratios.get(key, DEFAULT_RATIO)
            self._ratios[key] = known + _WEIGHT * (sample - known)
        return True

    def ratio(self, provider: str, model: str) -> float:
        """Characters per token of a model; 4.0 while nothing is known."""
        with self._lock:
            return self._ratios.get(self._key(provider, model), DEFAULT_RATIO)

    def estimate(self, text: str | int, provider: str, model: str) -> int:
        """Tokens of ``text`` for a model."""
        return estimate(text, self.ratio(provider, model))

    def snapshot(self) -> dict[str, float]:
        """The learned ratios by ``provider:model``, for saving."""
        with self._lock:
            return dict(self._ratios)
