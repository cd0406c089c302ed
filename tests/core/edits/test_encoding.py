"""Encodings: nothing is guessed, nothing is replaced, and every file is written as it was read."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatls_core.edits import DecodeError, EncodeError, decode, encode

WIDE = [("utf-16-le", True), ("utf-16-be", True), ("utf-32-le", True), ("utf-32-be", True)]


@settings(max_examples=60, deadline=None)
@given(
    st.text(max_size=30).filter(lambda s: "\0" not in s and not s.startswith("\ufeff")),
    st.sampled_from([("utf-8", False), ("utf-8", True), *WIDE]),
)
def test_what_is_written_is_read_back_the_same(text: str, form: tuple[str, bool]) -> None:
    data = encode(text, *form)
    read = decode(data)
    assert (read.text, read.encoding, read.bom) == (text, *form)
    assert encode(read.text, read.encoding, read.bom) == data


def test_a_broken_byte_is_named_with_its_place() -> None:
    with pytest.raises(DecodeError, match=r"byte ff .*offset 5 \(line 2\)") as caught:
        decode(b"abc\nd\xff\n")
    assert caught.value.offset == 5
    assert not caught.value.binary


def test_the_offset_counts_the_byte_order_mark() -> None:
    with pytest.raises(DecodeError) as caught:
        decode(codecs.BOM_UTF8 + b"a\xff")
    assert caught.value.offset == 4


def test_nul_bytes_mean_binary() -> None:
    with pytest.raises(DecodeError, match="binary file: a NUL byte at offset 2") as caught:
        decode(b"PK\0\x03")
    assert caught.value.binary


def test_a_legacy_encoding_is_used_only_when_named() -> None:
    with pytest.raises(DecodeError, match="legacy"):
        decode("café".encode("cp1252"))
    read = decode("café".encode("cp1252"), "cp1252")
    assert read.text == "café"
    assert encode(read.text + "é", read.encoding, read.bom) == "caféé".encode("cp1252")


def test_a_byte_order_mark_outranks_a_named_encoding() -> None:
    assert decode(codecs.BOM_UTF16_LE + "é".encode("utf-16-le"), "cp1252").text == "é"


@pytest.mark.parametrize(
    ("text", "encoding", "offset"), [("a→b", "cp1252", 1), ("é", "ascii", 0), ("ok\ud800", "utf-8", 2)]
)
def test_text_the_encoding_cannot_hold_is_refused(text: str, encoding: str, offset: int) -> None:
    with pytest.raises(EncodeError, match=f"U\\+{ord(text[offset]):04X}") as caught:
        encode(text, encoding, bom=False)
    assert caught.value.offset == offset


def test_an_unknown_encoding_is_a_lookup_error() -> None:
    with pytest.raises(LookupError):
        decode(b"a", "no-such-codec")
