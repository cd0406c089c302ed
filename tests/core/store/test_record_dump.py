"""Records encoded once each: the same bytes as encoding the whole list, the same values as encoding the whole map."""

from __future__ import annotations

import json
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, TypeAdapter

from chatls_core.store.changes import changed_span
from chatls_core.store.record_dump import FieldDump, RecordDump


class Note(BaseModel):
    model_config = ConfigDict(frozen=True, extra="allow")

    text: str = ""
    tags: tuple[str, ...] = ()
    at: datetime = datetime(2026, 1, 2, tzinfo=UTC)
    more: dict[str, str] | None = None


class Book(BaseModel):
    model_config = ConfigDict(frozen=True, extra="allow")

    title: str = ""
    notes: dict[str, Note] = {}
    marks: dict[str, str] = {}


NOTES = st.builds(
    Note,
    text=st.text(),
    tags=st.lists(st.text(max_size=5), max_size=3).map(tuple),
    more=st.none() | st.dictionaries(st.text(max_size=4), st.text(max_size=4), max_size=2),
    extra=st.text(max_size=4),
)
POOL = st.lists(NOTES, min_size=1, max_size=6)
ORDERS = st.lists(st.lists(st.integers(0, 5), max_size=8), max_size=6)


@given(POOL, ORDERS)
def test_a_list_that_changes_is_always_written_as_a_whole_one(pool: list[Note], orders: list[list[int]]) -> None:
    dump = RecordDump(TypeAdapter(Note))
    whole: TypeAdapter[tuple[Note, ...]] = TypeAdapter(tuple[Note, ...])
    for order in orders:
        records = tuple(pool[number % len(pool)] for number in order)
        assert dump(records) == whole.dump_json(records, indent=2, by_alias=True) + b"\n"


@given(POOL, ORDERS, st.text(max_size=9), st.dictionaries(st.text(max_size=9), st.text(max_size=9), max_size=2))
def test_a_map_that_changes_is_always_read_back_as_it_was(
    pool: list[Note], orders: list[list[int]], title: str, marks: dict[str, str]
) -> None:
    dump = FieldDump(Book, "notes")
    names = ["", "a", "ä\n", '"', '\n  "notes": {}', "notes"]
    for order in orders:
        notes = {names[(number * 5 + place) % 6]: pool[number % len(pool)] for place, number in enumerate(order)}
        book = Book.model_validate({"title": title, "notes": notes, "marks": marks, "unknown": [title]})
        written = dump(book)
        assert Book.model_validate_json(written) == book
        assert list(json.loads(written)["notes"]) == list(notes)


def test_a_map_is_written_with_a_line_for_each_record() -> None:
    lines = FieldDump(Book, "notes")(Book(notes={"a": Note(text="one"), "b": Note(text="two")})).decode().split("\n")
    assert [line[:23] for line in lines[2:5]] == ['  "notes": {', '    "a": {"text":"one",', '    "b": {"text":"two",']


@given(st.lists(st.integers(0, 9)), st.lists(st.integers(0, 9)))
def test_outside_the_changed_span_nothing_changed(old: list[int], new: list[int]) -> None:
    start, old_end, new_end = changed_span(old, new)
    assert 0 <= start <= min(old_end, new_end)
    assert old[:start] == new[:start]
    assert old[old_end:] == new[new_end:]
    assert old[:start] + new[start:new_end] + old[old_end:] == new
    if old == new:
        assert old_end == new_end == start
