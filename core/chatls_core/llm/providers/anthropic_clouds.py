"""Claude on other companies' clouds: the Messages wire behind the SDK's own clients for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chatls_core.llm.endpoint import Endpoint

if TYPE_CHECKING:
    from anthropic import AsyncAnthropicBedrockMantle, AsyncAnthropicVertex


def _common(endpoint: Endpoint) -> dict[str, Any]:
    import httpx2
    from anthropic import DefaultAsyncHttpxClient

    return {
        "max_retries": 0,
        "timeout": httpx2.Timeout(endpoint.idle_timeout, connect=endpoint.connect_timeout),
        "default_headers": dict(endpoint.default_headers),
        "http_client": DefaultAsyncHttpxClient(**endpoint.client_options()),
    }


def bedrock_client(endpoint: Endpoint) -> AsyncAnthropicBedrockMantle:
    """Bedrock with its bearer token, or with the credentials AWS's own tools use (extra ``chatls[bedrock]``)."""
    from anthropic import AsyncAnthropicBedrockMantle

    region = endpoint.options.get("region", "us-east-1")
    credentials: dict[str, Any] = {"api_key": endpoint.key.reveal()} if endpoint.key else {}
    if not endpoint.key and "profile" in endpoint.options:
        credentials["aws_profile"] = endpoint.options["profile"]
    url = endpoint.base_url if endpoint.chosen else f"https://bedrock-mantle.{region}.api.aws/anthropic"
    return AsyncAnthropicBedrockMantle(aws_region=region, base_url=url, **credentials, **_common(endpoint))


def vertex_client(endpoint: Endpoint) -> AsyncAnthropicVertex:
    """Vertex AI with an access token, or with Google's default credentials (extra ``chatls[vertex]``)."""
    from anthropic import AsyncAnthropicVertex

    options: dict[str, Any] = {"project_id": project} if (project := endpoint.options.get("project")) else {}
    if endpoint.key:
        options["access_token"] = endpoint.key.reveal()
    if endpoint.chosen:
        options["base_url"] = endpoint.base_url
    return AsyncAnthropicVertex(region=endpoint.options.get("region", "global"), **options, **_common(endpoint))
