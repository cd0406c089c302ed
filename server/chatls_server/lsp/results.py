"""The core's frozen results as the JSON of a command: camelCase keys, ISO dates, absent values left out."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from datetime import date
from enum import Enum
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic.alias_generators import to_camel

from chatls_server.lsp.protocol.commands import CommandResult

if TYPE_CHECKING:
    from chatls_core.llm.model import ModelInfo


_PLAIN = frozenset({str, int, float, bool, type(None)})


def to_json(value: object) -> Any:
    """JSON for dataclasses, mappings, sequences, dates, paths and plain values. Keys of mappings stay as they are."""
    if type(value) in _PLAIN:
        return value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            key: to_json(item)
            for name, key in _keys(type(value))
            if (item := getattr(value, name)) is not None and not (name == "undo_token" and item == "")
        }
    if isinstance(value, Mapping):
        return {str(k): to_json(v) for k, v in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [to_json(item) for item in value]
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Path):
        return str(value)
    return value


@cache
def _keys(kind: type[Any]) -> tuple[tuple[str, str], ...]:
    """The fields of a dataclass, each with its name in JSON: found out once, since a list may hold thousands."""
    return tuple((f.name, to_camel(f.name.rstrip("_"))) for f in dataclasses.fields(kind))


def result(view: Any, data: object = None) -> CommandResult:
    """A command's answer from a view with a ``markdown`` rendering."""
    return CommandResult(markdown=view.markdown, data=to_json(view) if data is None else data)


def model_facts(info: ModelInfo) -> str:
    """A model's window, price and abilities in one line; what nobody knows is said to be unknown."""
    parts = [f"{info.window:,} tokens{'' if info.known else ' assumed'}"]
    prices = info.prices
    if prices is None or prices.input is None or prices.output is None:
        parts.append("price unknown")
    elif not prices.input and not prices.output:
        parts.append("free")
    else:
        parts.append(f"${prices.input:g} in, ${prices.output:g} out per million")
    able = {"tools": info.tools, "images": info.images, "reasoning": info.reasoning}
    return ", ".join([*parts, *(name for name, can in able.items() if can)])
