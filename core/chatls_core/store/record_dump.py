"""Lists and maps of records as JSON, each record encoded once: a store that grew by one record need not encode all."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Generic, TypeVar

from pydantic import BaseModel, TypeAdapter
from pydantic_core import to_json

from chatls_core.store.changes import changed_span

R = TypeVar("R")
M = TypeVar("M", bound=BaseModel)


class _Rows:
    """JSON values separated by commas; what did not change since the last call is cut out of its bytes."""

    def __init__(self) -> None:
        self._columns: tuple[Sequence[object], ...] = ()
        self._sizes: list[int] = []
        self._text = b""
        self._begin = 0

    def __call__(
        self, columns: tuple[Sequence[object], ...], encode: Callable[[int], bytes], before: bytes, after: bytes
    ) -> bytes:
        """``before``, the rows, ``after``. A row is the same as an earlier one while each of its columns is the same
        (immutable) object; ``encode`` gives the bytes of the row at a position.
        """
        spans = [
            changed_span(old, new) for old, new in zip(self._columns or ((),) * len(columns), columns, strict=True)
        ]
        were, are = len(self._sizes), len(columns[0])
        start = min(first for first, _, _ in spans)
        kept = min(are - max(end for _, _, end in spans), were - start, are - start)
        old_end, new_end = were - kept, are - kept

        text = memoryview(self._text)
        head_end = self._begin + sum(self._sizes[:start]) + max(0, start - 1)
        position = head_end + (1 if start else 0)
        known: dict[tuple[int, ...], memoryview] = {}
        for key, size in zip(_keys(self._columns, start, old_end), self._sizes[start:old_end], strict=True):
            known[key] = text[position : position + size]
            position += size + 1
        rows = [known.get(key) or encode(start + offset) for offset, key in enumerate(_keys(columns, start, new_end))]

        parts: list[bytes | memoryview] = [text[self._begin : head_end]] if start else []
        parts += rows
        if kept:
            parts.append(text[position : position + sum(self._sizes[old_end:]) + kept - 1])
        commas = [b","] * (2 * len(parts) - 1)
        pieces: list[bytes | memoryview] = [before, *commas, after]
        pieces[1:-1:2] = parts
        self._sizes[start:old_end] = map(len, rows)
        self._columns, self._text, self._begin = columns, b"".join(pieces), len(before)
        return self._text


def _keys(columns: tuple[Sequence[object], ...], start: int, end: int) -> Iterator[tuple[int, ...]]:
    """What tells the rows of a stretch apart."""
    return zip(*(map(id, column[start:end]) for column in columns), strict=True)


class RecordDump(Generic[R]):
    """Writes what ``TypeAdapter(tuple[R, ...]).dump_json`` would. Records must be immutable. Not thread-safe."""

    def __init__(self, adapter: TypeAdapter[R], *, indent: int = 2) -> None:
        self._adapter = adapter
        self._indent = indent
        self._rows = _Rows()

    def __call__(self, records: Sequence[R]) -> bytes:
        """The JSON array, UTF-8, with a newline at the end."""
        records = tuple(records)
        if not records:
            return b"[]\n"
        margin = b"\n" + b" " * self._indent

        def encode(position: int) -> bytes:
            # A newline within a string is written as \n: those that stand here are all between values.
            plain = self._adapter.dump_json(records[position], indent=self._indent, by_alias=True)
            return margin + plain.replace(b"\n", margin)

        return self._rows((records,), encode, b"[", b"\n]\n")


class FieldDump(Generic[M]):
    """Writes a model as JSON, of which one field is a large map of records: a line for each.

    Records must be immutable. Not thread-safe.
    """

    def __init__(self, model: type[M], field: str) -> None:
        self._adapter = TypeAdapter(model)
        self._field = field
        self._mark = b'\n  "%s": {' % field.encode()
        self._rows = _Rows()

    def __call__(self, value: M) -> bytes:
        """The JSON object, UTF-8, with a newline at the end."""
        records: Mapping[str, BaseModel] = getattr(value, self._field)
        rest = self._adapter.dump_json(value.model_copy(update={self._field: {}}), indent=2, by_alias=True) + b"\n"
        if not records:
            return rest
        keys, values = tuple(records), tuple(records.values())

        def encode(position: int) -> bytes:
            return b"\n    %s: %s" % (to_json(keys[position]), values[position].model_dump_json(by_alias=True).encode())

        # No string can hold the mark: a newline within one is written as \n.
        before, _, after = rest.partition(self._mark)
        return self._rows((keys, values), encode, before + self._mark, b"\n  " + after)
