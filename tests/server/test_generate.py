"""Derived files follow the models, and say what a reader needs."""

from __future__ import annotations

import json

import pytest

from chatls_core.config import setting_fields
from chatls_server.generate import CONFIGURATION, DOCUMENTATION, TYPES, generated_files, main
from chatls_server.generation.messages import MESSAGES
from chatls_server.lsp.protocol.commands import COMMANDS


def test_nothing_has_drifted(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--check"]) == 0, capsys.readouterr().out


def test_a_difference_is_reported_and_nothing_written(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("chatls_server.generate.generated_files", lambda: {"README.md": "something else"})
    assert main(["--check"]) == 1
    assert "README.md" in capsys.readouterr().out


def test_every_setting_has_type_default_scope_and_its_variables() -> None:
    properties = json.loads(generated_files()[CONFIGURATION])["properties"]
    for item in setting_fields():
        schema = properties[f"chatls.{item.name}"]
        assert schema["scope"] == item.scope
        assert "default" in schema
        assert schema.keys() & {"type", "enum", "anyOf"}
        assert all(name in schema["markdownDescription"] for name in item.env)
    assert properties["chatls.edits.review"]["enum"] == ["ask", "auto"]
    assert properties["chatls.edits.review"]["scope"] == "machine"
    assert properties["chatls.memory.maxFacts"]["minimum"] == 1
    assert properties["chatls.budget.dailyUsd"]["type"] == ["number", "null"]


def test_every_message_and_command_is_documented_and_typed() -> None:
    files = generated_files()
    for name in [*(message.method for message in MESSAGES), *COMMANDS]:
        assert f"`{name}`" in files[DOCUMENTATION]
        assert f"'{name}'" in files[TYPES]


def test_types_use_the_names_of_the_wire() -> None:
    types = generated_files()[TYPES]
    assert "partialResultToken?: number | string;" in types
    assert "costUsd: number | null;" in types
    assert "  from?: string;" in types
    assert "kind: 'tool_start';" in types
