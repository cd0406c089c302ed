"""How every custom message is modelled: camelCase on the wire, unknown fields ignored, built on first use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.alias_generators import to_camel

M = TypeVar("M", bound=BaseModel)


class Wire(BaseModel):
    """Base of all wire models (PROTOCOL.md, head): unknown fields are ignored, absent optional fields stay absent."""

    model_config = ConfigDict(
        alias_generator=to_camel, populate_by_name=True, extra="ignore", frozen=True, defer_build=True
    )


class Position(Wire):
    """A place in a document: zero-based line, character in units of the negotiated position encoding."""

    line: int
    character: int


class Range(Wire):
    """A half-open range of a document."""

    start: Position
    end: Position


class Nothing(Wire):
    """A message without fields."""


class BadParams(Exception):
    """Parameters that do not fit their model; ``str()`` names every offending field (JSON-RPC −32602)."""


def parse(model: type[M], params: object, what: str) -> M:
    """``params`` as ``model``; ``None`` counts as an empty object.

    Raises :class:`BadParams` naming the fields, never their values: parameters may hold secrets.
    """
    if params is None:
        params = {}
    if not isinstance(params, Mapping):
        raise BadParams(f"{what}: an object was expected")
    try:
        return model.model_validate(params)
    except ValidationError as error:
        problems = [f"{_place(item['loc'])}: {item['msg']}" for item in error.errors(include_input=False)[:5]]
        raise BadParams(f"{what}: " + "; ".join(problems)) from None


def _place(location: tuple[int | str, ...]) -> str:
    text = ""
    for part in location:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text or "parameters"


def to_wire(value: object) -> Any:
    """The JSON form of a result or payload: models by alias without absent fields, everything else as it is."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", by_alias=True, exclude_none=True)
    return value
