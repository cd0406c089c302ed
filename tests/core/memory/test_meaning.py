"""Vectors beside the words: what may leave the machine, what is kept on disk, what damage does."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from chatls_core import config
from chatls_core.llm.events import ModelError
from chatls_core.llm.model import Model
from chatls_core.memory import Memory
from chatls_core.memory.meaning import Meaning
from chatls_core.memory.vector_cache import VectorCache, digest
from tests.core.memory.conftest import USER


class Service:
    """An embedding service somewhere else that knows dogs and boats."""

    name = "elsewhere:m"

    def __init__(self, here: bool = False) -> None:
        self.here = here
        self.asked: list[str] = []
        self.alike = 0.0

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        self.asked += texts
        return [self._vector(text.lower()) for text in texts]

    def _vector(self, text: str) -> list[float]:
        own = [(byte - 127.5) / 1000 for byte in hashlib.sha256(text.encode()).digest()]
        dog, boat = (float(any(w in text for w in words)) for words in (("hound", "puppy"), ("yacht", "boat")))
        return [dog, boat, self.alike, *own]

    async def aclose(self) -> None:
        pass


def no_model() -> Model:
    raise ModelError("no_provider", "nobody answers")


@pytest.fixture
def connect(memory: Memory, tmp_path: Path) -> Callable[[Service], Meaning]:
    def build(service: Service) -> Meaning:
        settings = config.Embedding(timeout_seconds=30)
        memory.meaning = Meaning(
            tmp_path / "vectors",
            settings=lambda: settings,
            embedder=lambda: service,
            model=no_model,
            texts=memory.texts,
        )
        return memory.meaning

    return build


async def learned(meaning: Meaning, question: str) -> None:
    """Ask once, and let the background finish."""
    await meaning.prepare(question)
    await meaning.settled()


FACTS = ("The hound is called Biscuit", "The yacht lies in Cascais", "Lint runs on push", "Backups go to Oslo")


@pytest.mark.parametrize(("here", "sent"), [(False, False), (True, True)])
async def test_private_facts_are_embedded_on_this_machine_only(
    memory: Memory, connect: Callable[[Service], Meaning], here: bool, sent: bool
) -> None:
    private = memory.remember("The hound's chip number is 4471", source=USER)
    memory.sensitive(private.id)
    memory.remember(FACTS[0], source=USER)
    service = Service(here)
    await learned(connect(service), "what is the puppy called?")
    assert ("The hound's chip number is 4471" in service.asked) is sent
    assert FACTS[0] in service.asked


async def test_a_service_that_finds_all_texts_alike_brings_nothing_unasked(
    memory: Memory, connect: Callable[[Service], Meaning]
) -> None:
    for fact in FACTS:
        memory.remember(fact, source=USER)
    service = Service()
    service.alike = 50.0
    await learned(connect(service), "any treats for a puppy?")
    assert memory.auto_recall("any treats for a puppy?").text == ""


async def test_a_clear_neighbour_in_meaning_rides_along(memory: Memory, connect: Callable[[Service], Meaning]) -> None:
    for fact in FACTS:
        memory.remember(fact, source=USER)
    await learned(connect(Service()), "any treats for a puppy?")
    recalled = memory.auto_recall("any treats for a puppy?")
    assert [item.text for item in recalled.items] == [FACTS[0]]
    assert "close in meaning" in recalled.items[0].why


def test_damaged_lines_are_made_again_and_the_rest_is_kept(tmp_path: Path) -> None:
    VectorCache(tmp_path, "m").add({digest("a"): [1.0, 0.0], digest("b"): [0.0, 1.0]})
    (file,) = tmp_path.iterdir()
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(lines[0] + b'{"k": "x", "v": "!!"}\n' + lines[1][:12])
    cache = VectorCache(tmp_path, "m")
    assert list(cache.known()) == [digest("a")]
    cache.add({digest("c"): [0.6, 0.8]})
    assert set(VectorCache(tmp_path, "m").known()) == {digest("a"), digest("c")}


def test_vectors_of_another_length_take_the_place_of_the_old_ones(tmp_path: Path) -> None:
    cache = VectorCache(tmp_path, "m")
    cache.add({digest("a"): [1.0, 0.0]})
    cache.add({digest("b"): [1.0, 0.0, 0.0]})
    assert list(cache.known()) == list(VectorCache(tmp_path, "m").known()) == [digest("b")]


def test_forgotten_texts_leave_the_file_in_the_end(tmp_path: Path) -> None:
    cache = VectorCache(tmp_path, "m")
    cache.add({digest(str(n)): [float(n), 1.0] for n in range(100)})
    cache.keep({digest("7")})
    (file,) = tmp_path.iterdir()
    assert len(file.read_bytes().splitlines()) == 1
    assert list(VectorCache(tmp_path, "m").known()) == [digest("7")]
