"""The extension's settings (``contributes.configuration`` properties), from the one settings model."""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter
from pydantic_core import to_jsonable_python

from chatls_core.config import SettingField, setting_fields


def configuration() -> dict[str, Any]:
    """``{"properties": {"chatls.…": schema}}`` in the order of the model."""
    return {"properties": {f"chatls.{item.name}": _property(item) for item in setting_fields()}}


def _property(item: SettingField) -> dict[str, Any]:
    description = item.field.description or ""
    if item.env:
        description += f" Environment: {', '.join(f'`{name}`' for name in item.env)}."
    return {
        **_schema(item),
        "default": to_jsonable_python(item.field.get_default(call_default_factory=True), by_alias=True),
        "scope": item.scope,
        "markdownDescription": description,
    }


def _schema(item: SettingField) -> dict[str, Any]:
    """The JSON schema of the value, self-contained and without titles; null is an allowed type where it is one."""
    annotation: Any = item.field.annotation
    for constraint in reversed(item.field.metadata):
        annotation = _annotated(annotation, constraint)
    schema = TypeAdapter(annotation).json_schema(by_alias=True)
    return _flat(_plain(schema, schema.get("$defs", {})))


def _annotated(annotation: Any, constraint: Any) -> Any:
    from typing import Annotated

    return Annotated[annotation, constraint]


def _plain(schema: Any, definitions: dict[str, Any]) -> Any:
    if isinstance(schema, list):
        return [_plain(part, definitions) for part in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return _plain(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    left_out = ("title", "$defs", "env", "scope", "default")
    return {
        name: {key: _plain(value, definitions) for key, value in inner.items()}
        if name == "properties"
        else _plain(inner, definitions)
        for name, inner in schema.items()
        if name not in left_out
    }


def _flat(schema: dict[str, Any]) -> dict[str, Any]:
    """``anyOf [number, null]`` as ``type: [number, null]``, which the settings editor can draw."""
    options = schema.get("anyOf")
    if not options or not any(option == {"type": "null"} for option in options):
        return schema
    rest = [option for option in options if option != {"type": "null"}]
    if len(rest) != 1 or "type" not in rest[0]:
        return schema
    return {**{k: v for k, v in schema.items() if k != "anyOf"}, **rest[0], "type": [rest[0]["type"], "null"]}
