"""Token estimates and the ratio learned from providers' counts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatls_core.text.tokens import DEFAULT_RATIO, TokenRatio, estimate


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 0), ("a", 0), ("ab", 1), ("abcd", 1), ("abcdef", 2), ("a" * 4000, 1000)]
)
def test_an_estimate_is_characters_by_ratio_rounded_half_up(text: str, tokens: int) -> None:
    assert estimate(text) == tokens


def test_a_length_does_as_well_as_a_text() -> None:
    assert estimate(4000, 3.2) == estimate("a" * 4000, 3.2) == 1250


@pytest.mark.parametrize("ratio", [0, -1])
def test_a_ratio_must_be_positive(ratio: float) -> None:
    with pytest.raises(ValueError, match="positive"):
        estimate("abc", ratio)


def test_a_ratio_moves_towards_what_was_counted() -> None:
    ratios = TokenRatio()
    assert ratios.ratio("anthropic", "claude") == DEFAULT_RATIO
    assert ratios.learn("Anthropic", "Claude", 3000, 1000)
    assert ratios.ratio("anthropic", "claude") == pytest.approx(3.7)
    assert ratios.ratio("openai", "gpt") == DEFAULT_RATIO
    assert ratios.estimate(3700, "anthropic", "claude") == 1000


@pytest.mark.parametrize(("characters", "tokens"), [(700, 199), (1000, 1000), (13000, 1000), (0, 500), (500, 0)])
def test_samples_that_teach_nonsense_are_ignored(characters: int, tokens: int) -> None:
    ratios = TokenRatio()
    assert not ratios.learn("p", "m", characters, tokens)
    assert ratios.ratio("p", "m") == DEFAULT_RATIO


def test_ratios_survive_saving() -> None:
    ratios = TokenRatio()
    ratios.learn("p", "m", 3000, 1000)
    again = TokenRatio({**ratios.snapshot(), "broken:m": 99.0})
    assert again.ratio("P", "M") == ratios.ratio("p", "m")
    assert again.ratio("broken", "m") == DEFAULT_RATIO


@given(st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 10**5)), max_size=20))
def test_a_ratio_always_stays_in_range(samples: list[tuple[int, int]]) -> None:
    ratios = TokenRatio()
    for characters, tokens in samples:
        ratios.learn("p", "m", characters, tokens)
    assert 1.5 <= ratios.ratio("p", "m") <= 12
