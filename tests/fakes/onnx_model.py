"""A sentence-transformer of a few hundred bytes: an ONNX file written by hand, with its ``tokenizer.json``.

Each word has a vector of its own; the model looks it up (``Gather``), and may take the mean itself (``ReduceMean``).
The file format is ONNX's protobuf schema, of which five messages are needed.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path

_INT64, _FLOAT = 7, 1


def write(folder: Path, words: Mapping[str, Sequence[float]], *, inputs: Sequence[str], pooled: bool = False) -> Path:
    """Write the model and its tokenizer; words that are not in ``words`` have no meaning. Returns the model's path.

    ``inputs`` are what the model asks for, ``input_ids`` among them. A ``pooled`` model gives one vector per text.
    """
    folder.mkdir(parents=True, exist_ok=True)
    size = len(next(iter(words.values())))
    rows = [[0.0] * size, [0.0] * size, *words.values()]
    vocabulary = {word: number for number, word in enumerate(["[PAD]", "[UNK]", *words])}
    tokenizer = {
        "version": "1.0",
        "normalizer": {"type": "Lowercase"},
        "pre_tokenizer": {"type": "Whitespace"},
        "model": {"type": "WordLevel", "vocab": vocabulary, "unk_token": "[UNK]"},
    }
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer), encoding="utf-8")
    file = folder / "tiny.onnx"
    file.write_bytes(_model(rows, inputs, pooled))
    return file


def _model(rows: Sequence[Sequence[float]], inputs: Sequence[str], pooled: bool) -> bytes:
    size = len(rows[0])
    raw = struct.pack(f"<{len(rows) * size}f", *(value for row in rows for value in row))
    table = _number(1, len(rows)) + _number(1, size) + _number(2, _FLOAT) + _text(8, "table") + _bytes(9, raw)
    nodes = [_node("Gather", ("table", "input_ids"), "tokens")]
    shape: tuple[str | int, ...] = ("texts", "words", size)
    if pooled:
        axes = _text(1, "axes") + _number(8, 1) + _number(20, 7)
        keep = _text(1, "keepdims") + _number(3, 0) + _number(20, 2)
        nodes.append(_node("ReduceMean", ("tokens",), "pooled", axes, keep))
        shape = ("texts", size)
    graph = b"".join(_bytes(1, node) for node in nodes) + _text(2, "tiny") + _bytes(5, table)
    graph += b"".join(_bytes(11, _value(name, _INT64, ("texts", "words"))) for name in inputs)
    graph += _bytes(12, _value("pooled" if pooled else "tokens", _FLOAT, shape))
    return _number(1, 8) + _bytes(7, graph) + _bytes(8, _number(2, 13))


def _node(operator: str, takes: Sequence[str], gives: str, *attributes: bytes) -> bytes:
    parts = [_text(1, name) for name in takes] + [_text(2, gives), _text(4, operator)]
    return b"".join(parts) + b"".join(_bytes(5, attribute) for attribute in attributes)


def _value(name: str, kind: int, shape: Sequence[str | int]) -> bytes:
    dims = b"".join(_bytes(1, _text(2, d) if isinstance(d, str) else _number(1, d)) for d in shape)
    return _text(1, name) + _bytes(2, _bytes(1, _number(1, kind) + _bytes(2, dims)))


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def _text(field: int, value: str) -> bytes:
    return _bytes(field, value.encode())
