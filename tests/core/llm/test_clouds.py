"""Claude on Bedrock and Vertex: the SDK's own clients over the same wire."""

from __future__ import annotations

import pytest

from chatls_core.config import Settings
from chatls_core.llm.events import ModelError
from chatls_core.llm.models import Models
from tests.core.llm.rig import KEY, READ_FILE, ask, collect, no_wait
from tests.fakes.model_server import Call, ErrorReply, ModelServer, Reply

CLOUDS = {
    "bedrock": {"AWS_BEARER_TOKEN_BEDROCK": KEY, "BEDROCK_BASE_URL": "", "AWS_REGION": "eu-west-1"},
    "vertex": {
        "GOOGLE_OAUTH_ACCESS_TOKEN": KEY,
        "ANTHROPIC_VERTEX_BASE_URL": "",
        "ANTHROPIC_VERTEX_PROJECT_ID": "p1",
        "CLOUD_ML_REGION": "europe-west1",
    },
}


@pytest.fixture(params=CLOUDS)
def cloud(request: pytest.FixtureRequest) -> str:
    return request.param


def models_at(cloud: str, url: str) -> Models:
    filled = {name: value or url for name, value in CLOUDS[cloud].items()}
    return Models(Settings(), {"HOME": "/nonexistent", **filled}, sleep=no_wait)


async def test_it_answers_with_text_and_calls(cloud: str, server: ModelServer) -> None:
    server.script(Reply(text="hello", tool_calls=(Call("read_file", {"path": "x"}),)))
    model = models_at(cloud, server.url).select(cloud)
    outcome = await collect(model, ask(tools=(READ_FILE,)))
    assert outcome.error is None
    assert (outcome.text, outcome.stop) == ("hello", "tool_use")
    sent = server.requests[0]
    assert sent.headers["authorization"] == f"Bearer {KEY}"
    assert sent.model == model.model
    assert outcome.usage.cost_usd is not None


async def test_its_errors_are_typed(cloud: str, server: ModelServer) -> None:
    server.script(ErrorReply(403, "no access to the model"))
    outcome = await collect(models_at(cloud, server.url).select(cloud), ask())
    assert outcome.error is not None
    assert outcome.error.kind == "auth"


def test_it_is_chosen_by_name_only(cloud: str) -> None:
    with pytest.raises(ModelError):
        models_at(cloud, "http://127.0.0.1:9").select()


def test_without_key_or_extra_it_says_what_is_missing() -> None:
    rows = {s.name: s for s in Models(Settings(), {"HOME": "/nonexistent"}).list()}
    assert "AWS_BEARER_TOKEN_BEDROCK" in rows["bedrock"].reason
    assert "GOOGLE_OAUTH_ACCESS_TOKEN" in rows["vertex"].reason


async def test_the_region_is_part_of_the_request(server: ModelServer) -> None:
    await collect(models_at("vertex", server.url).select("vertex"), ask())
    assert "/projects/p1/locations/europe-west1/" in server.requests[0].path
