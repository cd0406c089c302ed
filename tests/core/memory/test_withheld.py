"""Keys, passwords, PINs and cards are masked in everything that memory keeps; what looks alike stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from chatls_core.memory import Memory
from chatls_core.memory.withheld import scrub
from tests.core.memory.conftest import USER

MASKED = [
    ("Card 4111 1111 1111 1111 exp 12/29", "4111 1111"),
    ("o cartão é 5500-0000-0000-0004", "5500-0000"),
    ("Amex 378282246310005", "378282246310005"),
    ("senha do wifi é Banana!2024", "Banana!2024"),
    ("a senha da VPN de homologação é x9-Tulipa", "x9-Tulipa"),
    ("The password for the staging admin is p4ssw0rd!", "p4ssw0rd"),
    ("my password of the mail account: Orchid77", "Orchid77"),
    ("O PIN do cofre é 4821", "4821"),
    ("door code is 9034", "9034"),
    ("cvv 123", "123"),
    ("The AWS secret is wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "wJalrXUtn"),
    ("token ghp_" + "0123456789abcdefghijklmnopqrstuvwxyzAB", "ghp_0123"),
]
KEPT = [
    "Order 4111111111111112 was refunded",
    "The tracking number is 1234567890123",
    "Timestamps have 13 digits, as 1717171717171",
    "The database password is rotated monthly",
    "A senha do banco fica no Vault",
    "Passwords need 12 characters",
    "The password field is required",
    "GPIO pin 13 drives the LED",
    "pin numpy to 1.26",
    "The port is 4821",
    "Error code is 9034",
    "The secret is rotated by vault/rotate in staging",
    "UUID 123e4567-e89b-12d3-a456-426614174000 is the tenant",
    "The commit is 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b",
]


@pytest.mark.parametrize(("text", "secret"), MASKED)
def test_a_secret_never_reaches_a_file(memory: Memory, text: str, secret: str) -> None:
    memory.remember(text, source=USER)
    memory.record_episode(text, outcome=text, refs=(text,), source=USER)
    memory.record_topics({"billing": text}, source=USER)
    memory.record_project({"name": "atlas", "description": text}, source=USER)
    memory.profile({"goals": text, "hint": text}, source=USER)
    for file in Path(memory.folder).rglob("*"):
        assert file.is_dir() or secret.encode() not in file.read_bytes(), file.name
    assert "[REDACTED]" in memory.facts().facts[0].content


@pytest.mark.parametrize("text", KEPT)
def test_what_only_looks_like_one_stays(text: str) -> None:
    assert scrub(text) == text


def test_scrubbing_twice_changes_nothing() -> None:
    for text, _ in MASKED:
        assert scrub(scrub(text)) == scrub(text)


def test_a_password_is_refused_as_an_entry_of_the_profile(memory: Memory) -> None:
    view = memory.profile({"wifi_password": "Banana!2024", "password_manager": "Bitwarden", "senha_cofre": "4821"})
    assert set(view.refused) == {"wifi_password", "senha_cofre"}
    assert [f.key for f in view.fields] == ["password_manager"]
    assert "are not kept" in view.refused["wifi_password"]
