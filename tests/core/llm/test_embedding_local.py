"""Vectors by a model file on this machine: a real ONNX file of a few hundred bytes, run by the real libraries."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from chatls_core.config import Embedding, Settings
from chatls_core.llm.access import AccessRules
from chatls_core.llm.embedding import Embedder
from chatls_core.llm.embedding_choice import embedder
from chatls_core.llm.events import ModelError
from tests.fakes import onnx_model

pytest.importorskip("onnxruntime", reason="the extra chatls[vectors] is not installed")
pytest.importorskip("tokenizers", reason="the extra chatls[vectors] is not installed")

WORDS: Mapping[str, tuple[float, ...]] = {"hound": (4, 0, 0), "puppy": (2, 2, 0), "boat": (0, 0, 8)}
BERT = ("input_ids", "attention_mask", "token_type_ids")


def chosen(file: Path) -> Embedder:
    """What the settings choose."""
    settings = Settings(embedding=Embedding(provider="local", model=str(file)))
    found = embedder(settings, AccessRules(settings, {}, {}, {}, file.parent))
    assert found is not None
    return found


@pytest.mark.parametrize("inputs", [BERT, ("input_ids", "attention_mask"), ("input_ids",)])
async def test_a_text_has_the_mean_of_its_words(tmp_path: Path, inputs: tuple[str, ...]) -> None:
    model = chosen(onnx_model.write(tmp_path, WORDS, inputs=inputs))
    assert await model.embed(["Hound", "hound boat"]) == [[4, 0, 0], [2, 0, 4]]


async def test_short_texts_are_not_thinned_by_the_long_ones_beside_them(tmp_path: Path) -> None:
    model = chosen(onnx_model.write(tmp_path, WORDS, inputs=BERT))
    texts = ["puppy", "boat " * 40, "hound puppy", "", "nothing known"]
    together = await model.embed(texts)
    assert together == [(await model.embed([text]))[0] for text in texts]
    assert together[0] == [2, 2, 0]
    assert together[3:] == [[0, 0, 0], [0, 0, 0]]


async def test_many_texts_come_back_in_their_order(tmp_path: Path) -> None:
    model = chosen(onnx_model.write(tmp_path, WORDS, inputs=BERT))
    texts = ["boat" if number % 3 else "hound" for number in range(50)]
    assert await model.embed(texts) == [list(WORDS[text]) for text in texts]
    assert await model.embed([]) == []


async def test_a_page_is_read_from_its_beginning(tmp_path: Path) -> None:
    model = chosen(onnx_model.write(tmp_path, WORDS, inputs=BERT))
    assert await model.embed(["hound " * 300 + "boat " * 5000]) == [[4, 0, 0]]


async def test_a_model_that_takes_the_mean_itself(tmp_path: Path) -> None:
    model = chosen(onnx_model.write(tmp_path, WORDS, inputs=("input_ids",), pooled=True))
    assert await model.embed(["hound boat"]) == [[2, 0, 4]]


async def test_a_model_that_was_let_go_of_is_loaded_again(tmp_path: Path) -> None:
    model = chosen(onnx_model.write(tmp_path, WORDS, inputs=BERT))
    first = await model.embed(["puppy"])
    await model.aclose()
    assert await model.embed(["puppy"]) == first


def test_another_model_in_the_same_place_has_another_name(tmp_path: Path) -> None:
    first = chosen(onnx_model.write(tmp_path, WORDS, inputs=BERT)).name
    second = chosen(onnx_model.write(tmp_path, {**WORDS, "cat": (1, 1, 1)}, inputs=BERT)).name
    assert first != second


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    file = onnx_model.write(tmp_path, WORDS, inputs=BERT)
    (tmp_path / "tokenizer.json").unlink()
    with pytest.raises(ModelError, match=r"tokenizer\.json does not exist"):
        chosen(file)
    with pytest.raises(ModelError, match=r"other\.onnx does not exist"):
        chosen(tmp_path / "other.onnx")


@pytest.mark.parametrize("name", ["tiny.onnx", "tokenizer.json"])
async def test_a_damaged_file_is_one_error_of_ours(tmp_path: Path, name: str) -> None:
    file = onnx_model.write(tmp_path, WORDS, inputs=BERT)
    (tmp_path / name).write_bytes((tmp_path / name).read_bytes()[:50])
    with pytest.raises(ModelError, match="The embedding model failed"):
        await chosen(file).embed(["puppy"])


async def test_a_model_that_asks_for_something_unknown_is_one_error_of_ours(tmp_path: Path) -> None:
    file = onnx_model.write(tmp_path, WORDS, inputs=("input_ids", "pixel_values"))
    with pytest.raises(ModelError, match=r"asks for pixel_values"):
        await chosen(file).embed(["puppy"])
