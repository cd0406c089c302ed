"""Encryption at rest: nothing readable on the disk, nothing lost for want of a key."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from chatls_core.store import PLAIN, Codec, JsonStore, StoreReadOnlyError, UnopenableError, codec_for


def codec(key: str, previous: str = "") -> Codec:
    return codec_for({"CHATCLI_ENCRYPTION_KEY": key, "CHATCLI_ENCRYPTION_KEY_PREVIOUS": previous})


def texts(path: Path, with_codec: Codec) -> JsonStore[tuple[str, ...]]:
    return JsonStore(
        path,
        TypeAdapter(tuple[str, ...]),
        empty=tuple[str, ...],
        merge=lambda a, b: tuple(sorted({*a, *b})),
        codec=with_codec,
    )


_ONE = codec("one")


@settings(max_examples=30, deadline=None)
@given(st.binary(max_size=400))
def test_what_was_sealed_opens_to_the_same_bytes(plain: bytes) -> None:
    sealed = _ONE.encode("a.json", plain)
    assert _ONE.decode("a.json", sealed) == plain
    assert len(plain) < 8 or plain not in sealed.removeprefix(b"chatls-sealed:1:")


def test_without_a_key_nothing_is_sealed() -> None:
    assert codec_for({}) is PLAIN


def test_another_key_or_another_file_name_does_not_open_it() -> None:
    sealed = _ONE.encode("a.json", b"[1]")
    with pytest.raises(UnopenableError, match="another key"):
        codec("two").decode("a.json", sealed)
    with pytest.raises(UnopenableError):
        _ONE.decode("b.json", sealed)


def test_a_changed_byte_is_noticed() -> None:
    sealed = bytearray(_ONE.encode("a.json", b"[1]"))
    sealed[-6] = ord("A") if sealed[-6] != ord("A") else ord("B")
    with pytest.raises(UnopenableError):
        _ONE.decode("a.json", bytes(sealed))


def test_after_a_change_of_keys_the_old_one_opens_and_the_new_one_seals(tmp_path: Path) -> None:
    texts(tmp_path / "a.json", codec("old")).update(lambda _: (("secret",), None))
    rotated = texts(tmp_path / "a.json", codec("new", "older, old"))
    assert rotated.read() == ("secret",)
    rotated.update(lambda old: ((*old, "more"), None))
    assert texts(tmp_path / "a.json", codec("new")).read() == ("secret", "more")


def test_plain_files_are_read_with_a_key_and_sealed_at_the_next_write(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('["plain words"]')
    sealed = texts(tmp_path / "a.json", codec("k"))
    assert sealed.read() == ("plain words",)
    sealed.update(lambda old: ((*old, "x"), None))
    assert b"plain words" not in (tmp_path / "a.json").read_bytes()


@pytest.mark.parametrize("wrong", [PLAIN, codec("wrong")])
def test_a_missing_or_wrong_key_reads_as_a_problem_and_writes_nothing(tmp_path: Path, wrong: Codec) -> None:
    texts(tmp_path / "a.json", codec("right")).update(lambda _: (("secret",), None))
    before = (tmp_path / "a.json").read_bytes()
    latched = texts(tmp_path / "a.json", wrong)
    assert latched.read() == ()
    assert "CHATCLI_ENCRYPTION_KEY" in latched.problem
    with pytest.raises(StoreReadOnlyError):
        latched.update(lambda old: ((*old, "x"), None))
    assert (tmp_path / "a.json").read_bytes() == before
    assert texts(tmp_path / "a.json", codec("right")).read() == ("secret",)
