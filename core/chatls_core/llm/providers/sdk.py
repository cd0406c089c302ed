"""What went wrong inside an official SDK, as a typed error."""

from __future__ import annotations

import logging

from chatls_core.llm.endpoint import Endpoint
from chatls_core.llm.errors import VendorError, http_error, transport_error
from chatls_core.llm.events import ModelError

log = logging.getLogger(__name__)


def sdk_error(endpoint: Endpoint, error: BaseException, *, started: bool) -> ModelError:
    """The typed error for whatever an official SDK (Anthropic's or OpenAI's) raised."""
    response = getattr(error, "response", None)
    body = getattr(error, "body", None)
    if response is not None and hasattr(response, "status_code"):
        # An error inside a stream comes with the stream's own status 200: only its body counts.
        status = 0 if response.status_code < 300 else response.status_code
        return http_error(endpoint, status, response.headers, body)
    if body is not None:
        return http_error(endpoint, 0, {}, body)
    if isinstance(error, (TypeError, AttributeError, KeyError, AssertionError, IndexError)):
        log.error("unexpected failure while reading %s", endpoint.provider, exc_info=error)
        text = f"The answer of {endpoint.provider} could not be read."
        return VendorError("internal", text, provider=endpoint.provider)
    return transport_error(endpoint, error, started=started)
