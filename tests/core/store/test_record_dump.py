"""Records encoded once each: the same bytes as encoding the whole list."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, TypeAdapter

from chatls_core.store.record_dump import RecordDump


class Note(BaseModel):
    model_config = ConfigDict(frozen=True, extra="allow")

    text: str
    tags: tuple[str, ...] = ()
    at: datetime = datetime(2026, 1, 2, tzinfo=UTC)
    more: dict[str, str] | None = None


NOTES = st.builds(
    Note,
    text=st.text(),
    tags=st.lists(st.text(max_size=5), max_size=3).map(tuple),
    more=st.none() | st.dictionaries(st.text(max_size=4), st.text(max_size=4), max_size=2),
    extra=st.text(max_size=4),
)


@given(st.lists(st.lists(NOTES, max_size=5), max_size=4), st.lists(NOTES, max_size=4))
def test_a_list_that_changes_is_always_written_as_a_whole_one(versions: list[list[Note]], kept: list[Note]) -> None:
    dump = RecordDump(TypeAdapter(Note))
    whole: TypeAdapter[tuple[Note, ...]] = TypeAdapter(tuple[Note, ...])
    for version in versions:
        records = (*version, *kept, *version[:1])
        assert dump(records) == whole.dump_json(records, indent=2, by_alias=True)
