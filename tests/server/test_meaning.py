"""Search by meaning beside the words: an embedding provider on loopback, guessed answers, time-outs, side files."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.fakes import onnx_model
from tests.fakes.lsp_client import PLAIN, LspClient
from tests.fakes.model_server import ModelServer, RecordedRequest, Reply

pytestmark = pytest.mark.timeout(180)  # each test starts a real server; a busy machine takes its time

CONCEPTS = (
    ("hound", "dog", "puppy", "pet"),
    ("tide", "sea", "harbour"),
    ("invoice", "billing", "tax"),
    ("oven", "bread"),
)


def by_concept(text: str) -> Sequence[float]:
    """A vector with one place per concept, as a model that knows the world would give, and a voice of its own."""
    words = text.lower()
    own = [(byte - 127.5) / 1000 for byte in hashlib.sha256(text.encode()).digest()]
    return [*(float(any(w in words for w in concept)) for concept in CONCEPTS), *own]


FACTS = (
    "The family hound is called Biscuit",
    "The harbour webcam is wired to port 4",
    "Invoice numbers start at 7000",
    "Bread recipes live in the kitchen wiki",
    "Team lunch is on Thursdays",
    "Backups go to the Oslo bucket",
    "Terraform state is in GCS",
    "Lint runs before every push",
)


@pytest.fixture
async def models() -> AsyncIterator[ModelServer]:
    async with ModelServer() as server:
        server.embed = by_concept
        yield server


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def editor(tmp_path: Path, models: ModelServer, provider: str, **more: str) -> LspClient:
    root = tmp_path / "ws"
    root.mkdir(exist_ok=True)
    address = {"OPENAI_BASE_URL": f"{models.url}/v1", "OPENAI_API_KEY": "sk-embed", "OLLAMA_BASE_URL": models.url}
    keys = {"ANTHROPIC_API_KEY": "sk-test", "ANTHROPIC_BASE_URL": models.url, "MAX_RETRIES": "1"}
    environment = {**address, **keys, "LLM_PROVIDER": "anthropic", "CHATCLI_EMBED_PROVIDER": provider, **more}
    return LspClient(home=tmp_path / "home", root=root, capabilities=PLAIN, environment=environment)


async def remember(client: LspClient, facts: Sequence[str] = FACTS) -> None:
    for fact in facts:
        await client.command("chatls.memory.remember", {"content": fact})


async def recalled_by_meaning(client: LspClient, query: str) -> Mapping[str, Any]:
    """What a recall brings once the vectors are there: they are made in the background after a question."""
    async with asyncio.timeout(60):
        while True:
            data: Mapping[str, Any] = (await client.command("chatls.memory.recall", {"query": query}))["data"]
            if any("close in meaning" in item["why"] for item in data["items"]):
                return data


def embedded(models: ModelServer) -> list[RecordedRequest]:
    return [r for r in models.other_requests if "embed" in r.path]


@pytest.mark.parametrize(("provider", "path"), [("openai", "/v1/embeddings"), ("ollama", "/api/embed")])
async def test_a_provider_alone_finds_what_no_word_finds(
    tmp_path: Path, models: ModelServer, provider: str, path: str
) -> None:
    """memory.md §18.1 row 36: no setting but the provider's name is needed."""
    async with editor(tmp_path, models, provider) as client:
        await remember(client)
        data = await recalled_by_meaning(client, "what is my puppy named?")
        assert data["items"][0]["text"] == FACTS[0]
        assert {r.path for r in embedded(models)} == {path}
        await client.request("chatls/chat", {"text": "Suggest a birthday treat for the puppy", "sessionId": "s"})
        assert FACTS[0] in models.requests[-1].last_user_text
        await client.request("chatls/chat", {"text": "Explain closures in JavaScript", "sessionId": "t"})
        assert "MEMORY AUTO-RECALL" not in models.requests[-1].last_user_text


async def test_a_model_file_alone_finds_what_no_word_finds(tmp_path: Path, models: ModelServer) -> None:
    pytest.importorskip("onnxruntime", reason="the extra chatls[vectors] is not installed")
    pytest.importorskip("tokenizers", reason="the extra chatls[vectors] is not installed")
    known = {word: [float(word in concept) for concept in CONCEPTS] for concept in CONCEPTS for word in concept}
    file = onnx_model.write(tmp_path / "model", known, inputs=("input_ids", "attention_mask", "token_type_ids"))
    async with editor(tmp_path, models, "local", CHATCLI_EMBED_MODEL=str(file)) as client:
        await remember(client)
        data = await recalled_by_meaning(client, "what is my puppy named?")
        assert data["items"][0]["text"] == FACTS[0]
        assert f"local:{file.stem}" in (await client.command("chatls.doctor.show"))["markdown"]
    assert embedded(models) == []


async def test_words_rank_first(tmp_path: Path, models: ModelServer) -> None:
    async with editor(tmp_path, models, "openai") as client:
        await remember(client, (*FACTS, "The puppy school meets on Mondays"))
        data = await recalled_by_meaning(client, "puppy school")
        assert [item["text"] for item in data["items"]][:2] == ["The puppy school meets on Mondays", FACTS[0]]


async def test_vectors_are_made_once(tmp_path: Path, home: Path, models: ModelServer) -> None:
    async with editor(tmp_path, models, "openai") as client:
        await remember(client)
        await recalled_by_meaning(client, "what is my puppy named?")
    before = len(embedded(models))
    async with editor(tmp_path, models, "openai") as client:
        await recalled_by_meaning(client, "where do we see the sea tides?")
    assert [r.json["input"] for r in embedded(models)[before:]] == [["where do we see the sea tides?"]]
    (file,) = (home / ".chatcli" / "chatls" / "vectors").iterdir()
    assert all(set(json.loads(line)) == {"k", "v"} for line in file.read_text().splitlines())


async def test_sealed_memory_has_sealed_vectors(tmp_path: Path, home: Path, models: ModelServer) -> None:
    async with editor(tmp_path, models, "openai", CHATCLI_ENCRYPTION_KEY="k" * 32) as client:
        await remember(client)
        await recalled_by_meaning(client, "what is my puppy named?")
    (file,) = (home / ".chatcli" / "chatls" / "vectors").iterdir()
    assert b'"v"' not in file.read_bytes()


async def test_a_slow_service_does_not_hold_up_the_answer(tmp_path: Path, models: ModelServer) -> None:
    models.embedding_gate = asyncio.Event()
    async with editor(tmp_path, models, "openai") as client:
        await remember(client)
        done = await client.request("chatls/chat", {"text": "When is team lunch held?", "sessionId": "s"})
        assert done["stopReason"] == "end"
        assert "Team lunch is on Thursdays" in models.requests[-1].last_user_text
    models.embedding_gate.set()


async def test_a_service_that_fails_is_left_alone_and_words_decide(tmp_path: Path, models: ModelServer) -> None:
    models.embed = None
    async with editor(tmp_path, models, "openai") as client:
        await remember(client)
        for query in ("when is team lunch?", "where do backups go?"):
            data = (await client.command("chatls.memory.recall", {"query": query}))["data"]
            assert data["items"]
        assert len(embedded(models)) == 1


async def test_a_guessed_answer_adds_its_words(tmp_path: Path, models: ModelServer) -> None:
    models.script(Reply(text="Terraform keeps its state in a bucket.", match="plausibly say"))
    client = editor(tmp_path, models, "", CHATCLI_QUALITY_HYDE_ENABLED="true", CHATCLI_MEMORY_MODE="full")
    client.options = {"settings": {"embedding": {"hydeTimeoutSeconds": 60}}}  # a busy machine takes its time
    async with client:
        await remember(client)
        await client.request("chatls/chat", {"text": "Which infrastructure tooling is used?", "sessionId": "s"})
    assert "Terraform state is in GCS" in models.requests[-1].last_user_text
    assert len(models.requests) == 2


async def test_doctor_tells_who_embeds_or_what_is_missing(tmp_path: Path, models: ModelServer) -> None:
    async with editor(tmp_path, models, "ollama") as client:
        assert "ollama:nomic-embed-text" in (await client.command("chatls.doctor.show"))["markdown"]
    async with editor(tmp_path, models, "voyage") as client:
        assert "voyage need a key" in (await client.command("chatls.doctor.show"))["markdown"]


async def test_nothing_is_embedded_unless_somebody_is_named(tmp_path: Path, models: ModelServer) -> None:
    async with editor(tmp_path, models, "") as client:
        await remember(client)
        await client.request("chatls/chat", {"text": "When is team lunch held?", "sessionId": "s"})
    assert embedded(models) == []
