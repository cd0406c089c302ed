"""Messages as ChatCLI's entries: nothing is lost on the way there and back, and ChatCLI can read what we write."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from chatls_core.llm.messages import (
    ImagePart,
    Message,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from chatls_core.sessions.message_codec import decode_entries, encode_message

text = st.text(max_size=30)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=5,
)
objects = st.dictionaries(text, values, max_size=3)
images = st.builds(ImagePart, data=st.sampled_from(["aGk=", "QUJD"]), media_type=st.just("image/png"))
calls = st.builds(ToolCallPart, id=text, name=text, arguments=objects, raw=text, error=text)
results = st.builds(
    ToolResultPart,
    call_id=text,
    name=text.filter(bool),
    text=text,
    is_error=st.booleans(),
    images=st.lists(images, max_size=2).map(tuple),
)
reasoning = st.builds(ReasoningPart, text=text, provider=text, opaque=st.none() | objects)
parts: st.SearchStrategy[Part] = st.one_of(st.builds(TextPart, text), images, calls, results, reasoning)
times = st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1)).map(lambda t: t.replace(tzinfo=UTC))


@st.composite
def histories(draw: st.DrawFn) -> list[Message]:
    count = draw(st.integers(0, 5))
    return [
        Message(
            role=draw(st.sampled_from(["user", "assistant"])),
            parts=tuple(draw(st.lists(parts, max_size=5))),
            kind=draw(st.sampled_from(["text", "turn_context", "tool_result", "summary", "notice"])),
            id=f"m{number}",
            time=draw(st.none() | times),
            turn_id=draw(text),
            cut=draw(st.booleans()),
            meta=draw(st.dictionaries(text.filter(lambda k: k != "chatcli"), values, max_size=2)),
        )
        for number in range(count)
    ]


@given(histories())
@settings(max_examples=60, deadline=None)
def test_a_history_comes_back_as_it_was(history: list[Message]) -> None:
    entries = [entry for message in history for entry in encode_message(message)]
    again = decode_entries(json.loads(json.dumps(entries)))
    assert again == history


@given(histories())
@settings(max_examples=30, deadline=None)
def test_chatcli_finds_only_what_its_fields_allow(history: list[Message]) -> None:
    for entry in (entry for message in history for entry in encode_message(message)):
        assert entry["role"] in ("user", "assistant", "tool")
        assert isinstance(entry["content"], str)
        assert isinstance(entry.get("tool_call_id", ""), str)
        for call in entry.get("tool_calls", []):
            assert call["type"] == "function" and isinstance(call["arguments"], dict)


entry_values = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant", "tool", "system"]), "content": text},
    optional={
        "meta": st.dictionaries(text, values, max_size=2),
        "tool_calls": st.lists(
            st.fixed_dictionaries({"id": text, "type": st.just("function"), "name": text, "arguments": objects}),
            min_size=1,
            max_size=2,
        ),
        "tool_call_id": text,
        "system_parts": st.lists(objects, max_size=2),
        "images": st.lists(
            st.sampled_from([{"media_type": "image/png", "data": "aGk="}, {"media_type": "image/png", "url": "x:y"}]),
            min_size=1,
            max_size=2,
            unique_by=str,
        ),
        "is_error": st.just(True),
        "error_code": text,
        "from_the_future": values,
    },
)


def _shape(entry: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in entry.items() if k != "chatls"}


@given(st.lists(entry_values, min_size=1, max_size=6).filter(lambda es: any(e["role"] != "system" for e in es)))
@settings(max_examples=60, deadline=None)
def test_what_another_program_wrote_is_written_back(entries: list[dict[str, Any]]) -> None:
    once = decode_entries(entries)
    written = [entry for message in once for entry in encode_message(message)]
    assert decode_entries(json.loads(json.dumps(written))) == once
    kept = [_without_what_has_no_meaning(e) for e in entries]
    seen = [_without_what_has_no_meaning(_shape(e)) for e in written]
    assert [e for e in seen if not _is_summary(e)] == [e for e in kept if not _is_summary(e)]


def _is_summary(entry: dict[str, Any]) -> bool:
    meta = entry.get("meta")
    return isinstance(meta, dict) and bool(meta.get("is_summary"))


def _without_what_has_no_meaning(entry: dict[str, Any]) -> dict[str, Any]:
    """Fields that stand where ChatCLI never reads them: an error flag beside text, a call in a tool's result."""
    own = dict(entry)
    if own["role"] == "system":
        return own
    if own["role"] == "tool":
        own.pop("tool_calls", None)
        own.setdefault("tool_call_id", "")
    else:
        own.pop("tool_call_id", None)
        own.pop("is_error", None)
    if isinstance(own.get("images"), list):
        own["images"] = sorted(own["images"], key=str)
    return own


def test_tool_results_of_one_step_are_one_message_in_both_worlds() -> None:
    entries = [
        {"role": "user", "content": "List and read"},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [
                {"id": "1", "type": "function", "name": "list", "arguments": {}},
                {"id": "2", "type": "function", "name": "read", "arguments": {"path": "a"}},
            ],
        },
        {"role": "tool", "content": "a b", "tool_call_id": "1"},
        {"role": "tool", "content": "no such file", "tool_call_id": "2", "is_error": True, "error_code": "ENOENT"},
    ]
    history = decode_entries(entries)
    assert [m.kind for m in history] == ["text", "text", "tool_result"]
    assert history[2].parts == (
        ToolResultPart("1", "list", "a b"),
        ToolResultPart("2", "read", "no such file", is_error=True),
    )
    assert [_shape(e) for e in encode_message(history[2])] == entries[2:]


def test_a_summary_of_chatcli_is_one_here() -> None:
    (message,) = decode_entries([{"role": "system", "content": "So far: …", "meta": {"is_summary": True}}])
    assert message.kind == "summary" and message.text == "So far: …"
    (entry,) = encode_message(message)
    assert entry["meta"]["is_summary"] is True


def test_text_edited_by_hand_wins_over_our_layout() -> None:
    message = Message("assistant", (TextPart("one "), ReasoningPart("hm"), TextPart("two")), id="m")
    (entry,) = encode_message(message)
    entry["content"] = "three"
    (again,) = decode_entries([entry])
    assert again.text == "three" and again.id == "m"


def test_numbers_json_has_no_word_for_do_not_make_the_file_unreadable() -> None:
    message = Message("assistant", (ToolCallPart("1", "plot", {"y": float("nan"), "ys": [1.5, float("inf")]}),), id="m")
    (entry,) = encode_message(message)
    json.dumps(entry, allow_nan=False)
    assert entry["tool_calls"][0]["arguments"] == {"y": None, "ys": [1.5, None]}


def test_a_turn_context_is_known_even_after_chatcli_dropped_our_keys() -> None:
    message = Message("user", (TextPart("[TURN CONTEXT]\nToday is Monday."),), kind="turn_context", id="m")
    (entry,) = encode_message(message)
    entry.pop("chatls")
    assert decode_entries([entry])[0].kind == "turn_context"
