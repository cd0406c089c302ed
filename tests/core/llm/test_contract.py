"""What every provider must do, whatever its wire: one suite over all of them, real SDKs and sockets."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pytest

from chatls_core.llm.events import (
    Answering,
    ModelError,
    ReasoningDelta,
    ReasoningDone,
    Stopped,
    TextDelta,
    ToolCallDelta,
    ToolCallStarted,
)
from chatls_core.llm.messages import (
    ImagePart,
    Message,
    ModelRequest,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from chatls_core.llm.registry import providers
from tests.core.llm.rig import KEY, PROVIDERS, READ_FILE, WIRES, Wire, ask, collect, models_for
from tests.fakes.model_server import Call, DropReply, ErrorReply, ModelServer, RawReply, Reply, Tokens

ONCE = {"retries": {"max": 1}}


@pytest.fixture(params=PROVIDERS, ids=lambda w: w.provider)
def wire(request: pytest.FixtureRequest) -> Wire:
    """Every provider in turn."""
    return request.param


FULL = Reply(
    text="Größe: 👩‍💻 fine",
    reasoning="let me think",
    tool_calls=(Call("read_file", {"path": "a/ü.py"}), Call("read_file", {"path": "b.py", "nested": {"a": [1, None]}})),
    noise=True,
)


def test_every_provider_is_in_this_suite() -> None:
    # The embedded model is a process of ours; test_local.py holds it to the same.
    assert {wire.provider for wire in PROVIDERS} | {"local"} == set(providers())


def history_of(parts: tuple[object, ...], results: tuple[ToolResultPart, ...]) -> ModelRequest:
    return ModelRequest(
        messages=(
            Message("user", (TextPart("Read it"),)),
            Message("assistant", parts),  # type: ignore[arg-type]
            Message("user", results, "tool_result"),
            Message("user", (TextPart("And now?"),)),
        ),
        tools=(READ_FILE,),
    )


async def test_streams_text_in_the_order_it_was_written(wire: Wire, server: ModelServer) -> None:
    server.script(Reply(deltas=("Hel", "lo", " wor", "ld")))
    outcome = await collect(models_for(wire, server).select(wire.provider), ask())
    assert outcome.error is None
    assert outcome.events[0] == Answering(wire.provider, wire.model)
    assert [e.text for e in outcome.events if isinstance(e, TextDelta)] == ["Hel", "lo", " wor", "ld"]
    assert outcome.stop == "end"
    assert isinstance(outcome.events[-1], Stopped)
    assert server.requests[0].dialect == wire.dialect
    assert server.requests[0].model == wire.model


async def test_first_delta_arrives_before_the_last_is_sent(wire: Wire, server: ModelServer) -> None:
    server.script(Reply(text="one two three", gated=True))
    stream = models_for(wire, server).select(wire.provider).stream(ask())
    assert isinstance(await anext(stream), Answering)
    server.release()
    assert await anext(stream) == TextDelta("one ")
    assert server.requests[0].sent_deltas <= 1
    server.release(2)
    assert [e.text async for e in stream if isinstance(e, TextDelta)] == ["two ", "three"]


async def test_loading_ahead_asks_the_service_nothing(wire: Wire, server: ModelServer) -> None:
    server.script(Reply(text="hello"))
    model = models_for(wire, server).select(wire.provider)
    await model.load()
    assert server.requests == []
    assert (await collect(model, ask())).error is None


SMALL = Reply(text="ß👩", reasoning="é", tool_calls=(Call("f", {"ü": "👩"}, split=3),))


@pytest.mark.parametrize(("reply", "size"), [(SMALL, 1), (SMALL, 3), (FULL, 7), (FULL, 100)])
async def test_reads_a_stream_cut_at_any_byte(wire: Wire, server: ModelServer, reply: Reply, size: int) -> None:
    server.script(replace(reply, chunk_bytes=size))
    outcome = await collect(models_for(wire, server).select(wire.provider), ask(tools=(READ_FILE,)))
    assert outcome.error is None
    assert outcome.text == reply.text
    assert outcome.reasoning == reply.reasoning
    assert [c.arguments for c in outcome.calls] == [c.arguments for c in reply.tool_calls]
    assert outcome.stop == "tool_use"


async def test_reasoning_is_kept_apart_and_finished_before_the_answer(wire: Wire, server: ModelServer) -> None:
    server.script(Reply(text="42", reasoning="six times seven"))
    outcome = await collect(models_for(wire, server).select(wire.provider), ask())
    assert outcome.reasoning == "six times seven"
    assert outcome.text == "42"
    kinds = [type(e) for e in outcome.events]
    assert kinds.index(ReasoningDelta) < kinds.index(ReasoningDone) < kinds.index(TextDelta)
    done = next(e.part for e in outcome.events if isinstance(e, ReasoningDone))
    assert done.text == "six times seven"
    assert done.provider == wire.provider


@pytest.mark.parametrize("split", [1, 2, 5, 1000])
async def test_calls_come_whole_with_unique_ids(wire: Wire, server: ModelServer, split: int) -> None:
    calls = (
        Call("read_file", {"path": "a", "text": 'quote " and \\ and é'}, "same", split),
        Call("read_file", {"path": "b"}, "same", split),
    )
    server.script(Reply(tool_calls=calls))
    outcome = await collect(models_for(wire, server).select(wire.provider), ask(tools=(READ_FILE,)))
    assert [dict(c.arguments) for c in outcome.calls] == [c.arguments for c in calls]
    assert len({c.id for c in outcome.calls}) == 2
    assert outcome.stop == "tool_use"
    for call in outcome.calls:
        started = [e for e in outcome.events if isinstance(e, ToolCallStarted) and e.id == call.id]
        written = "".join(e.arguments for e in outcome.events if isinstance(e, ToolCallDelta) and e.id == call.id)
        assert [e.name for e in started] == ["read_file"]
        assert json.loads(written) == call.arguments


WITH_JSON_TEXT = [w for w in PROVIDERS if w.dialect not in ("gemini", "ollama")]
"""The other wires carry arguments as an object, which cannot be broken."""


@pytest.mark.parametrize("wire", WITH_JSON_TEXT, ids=lambda w: w.provider, indirect=True)
@pytest.mark.parametrize("raw", ['{"path": "a', "[1]", '{"n": NaN}', "nonsense"])
async def test_broken_arguments_are_reported_not_guessed(wire: Wire, server: ModelServer, raw: str) -> None:
    server.script(Reply(tool_calls=(Call("read_file", raw),)))
    outcome = await collect(models_for(wire, server).select(wire.provider), ask(tools=(READ_FILE,)))
    assert outcome.calls[0].error
    assert outcome.calls[0].raw == raw
    assert outcome.calls[0].arguments == {}


async def test_an_answer_sent_in_one_piece_is_read_too(wire: Wire, server: ModelServer) -> None:
    whole = {
        "anthropic": "anthropic_whole",
        "openai": "chat_whole",
        "responses": "responses_whole",
        "gemini": "gemini_whole",
        "ollama": "ollama_whole",
    }
    from tests.fakes import wires

    body = json.dumps(getattr(wires, whole[wire.dialect])(FULL, {"model": wire.model}))
    if wire.dialect == "gemini":
        body = f"data: {body}\n\n"
    server.script(RawReply(body, content_type="text/event-stream" if wire.dialect == "gemini" else "application/json"))
    outcome = await collect(models_for(wire, server).select(wire.provider), ask(tools=(READ_FILE,)))
    assert outcome.error is None
    assert outcome.text == FULL.text
    assert [c.arguments for c in outcome.calls] == [c.arguments for c in FULL.tool_calls]
    assert outcome.stop == "tool_use"


@pytest.mark.parametrize("reason", ["end", "max_tokens", "refused"])
async def test_stop_reasons(wire: Wire, server: ModelServer, reason: str) -> None:
    server.script(Reply(text="so far", stop=reason))
    expected = "end" if (wire.dialect, reason) == ("ollama", "refused") else reason  # that wire knows no refusal
    assert (await collect(models_for(wire, server).select(wire.provider), ask())).stop == expected


async def test_usage_is_normalised(wire: Wire, server: ModelServer) -> None:
    server.script(Reply(text="hi", usage=Tokens(input=100, output=50, cache_read=1000, cache_write=200, reasoning=30)))
    usage = (await collect(models_for(wire, server).select(wire.provider), ask())).usage
    assert usage.output_tokens == 50
    assert usage.provider == wire.provider
    assert usage.model == wire.model
    if wire.dialect == "gemini":  # writes are not told apart
        assert (usage.input_tokens, usage.cache_read_tokens, usage.reasoning_tokens) == (300, 1000, 30)
    elif wire.dialect == "ollama":  # nothing is told apart
        assert usage.input_tokens == 1100
    else:
        assert (usage.input_tokens, usage.cache_read_tokens, usage.cache_write_tokens) == (100, 1000, 200)
        assert usage.prompt_tokens == 1300
    if wire.provider == "github_models":
        assert usage.cost_usd is None, "nobody says what it costs, and unknown is not nothing"
    elif wire.provider in ("ollama", "lmstudio", "compatible"):
        assert usage.cost_usd == 0
    else:
        assert usage.cost_usd is not None
        assert usage.cost_usd > 0


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, "bad_request"),
        (401, "auth"),
        (403, "auth"),
        (404, "model_not_found"),
        (413, "context_overflow"),
        (429, "rate_limit"),
        (500, "server"),
        (502, "server"),
        (503, "overloaded"),
        (529, "overloaded"),
    ],
)
async def test_http_errors_are_typed(wire: Wire, server: ModelServer, status: int, kind: str) -> None:
    server.script(ErrorReply(status, f"it failed for key {KEY}"))
    outcome = await collect(models_for(wire, server, **ONCE).select(wire.provider), ask())
    error = outcome.error
    assert error is not None
    assert error.kind == kind
    assert error.status == status
    assert error.provider == wire.provider
    assert error.hint
    assert KEY not in f"{error!s} {error!r} {error.hint} {error.args}"


async def test_a_gateway_page_is_an_error_in_one_line(wire: Wire, server: ModelServer) -> None:
    page = "<!DOCTYPE html><html><head><title>502 Bad Gateway</title></head><body>" + "x" * 5000 + "</body></html>"
    server.script(ErrorReply(502, body=page, content_type="text/html"))
    error = (await collect(models_for(wire, server, **ONCE).select(wire.provider), ask())).error
    assert error is not None
    assert error.kind == "server"
    assert "502 Bad Gateway" in str(error)
    assert len(str(error)) < 200


async def test_a_page_with_status_200_is_no_answer(wire: Wire, server: ModelServer) -> None:
    server.script(RawReply("<html><title>Sign in to the hotel network</title></html>", content_type="text/html"))
    outcome = await collect(models_for(wire, server, **ONCE).select(wire.provider), ask())
    assert outcome.error is not None
    assert outcome.text == ""


async def test_a_filled_context_is_told_apart_from_a_bad_request(wire: Wire, server: ModelServer) -> None:
    server.script(ErrorReply(400, "prompt is too long: 250000 tokens > 200000 maximum"))
    error = (await collect(models_for(wire, server).select(wire.provider), ask())).error
    assert error is not None
    assert error.kind == "context_overflow"


@pytest.mark.parametrize("reply", [Reply(text="a b c", cut_after=2), Reply(text="a b", unfinished=True)])
async def test_a_cut_stream_never_passes_for_whole(wire: Wire, server: ModelServer, reply: Reply) -> None:
    server.script(reply)
    outcome = await collect(models_for(wire, server).select(wire.provider), ask())
    assert outcome.text == "a b" + (" " if reply.cut_after else "")
    assert outcome.error is not None
    assert outcome.error.kind == "network"
    assert not any(isinstance(e, Stopped) for e in outcome.events)
    assert len(server.requests) == 1, "visible output is never asked for twice"


async def test_an_error_inside_the_stream_is_typed(wire: Wire, server: ModelServer) -> None:
    server.script(Reply(text="a b", error_after=1))
    outcome = await collect(models_for(wire, server).select(wire.provider), ask())
    assert outcome.text == "a "
    assert outcome.error is not None
    assert outcome.error.kind == ("server" if wire.dialect == "ollama" else "overloaded")


async def test_truncated_json_is_an_error(wire: Wire, server: ModelServer) -> None:
    prefix = "" if wire.dialect == "ollama" else "event: content_block_delta\ndata: "
    server.script(RawReply(f'{prefix}{{"type": "content_block_delta", "del\n\n'))
    outcome = await collect(models_for(wire, server, **ONCE).select(wire.provider), ask())
    assert outcome.error is not None
    assert outcome.error.kind == "server"


async def test_silence_in_the_stream_is_a_timeout(wire: Wire, server: ModelServer) -> None:
    server.script(Reply(text="a b c", stall_after=1))
    settings = {"retries": {"idleTimeoutSeconds": 0.15}}
    outcome = await collect(models_for(wire, server, **settings).select(wire.provider), ask())
    assert outcome.text == "a "
    assert outcome.error is not None
    assert outcome.error.kind == "timeout"
    await asyncio.wait_for(server.requests[0].closed.wait(), 5)


async def test_silence_before_the_stream_is_a_timeout(wire: Wire, server: ModelServer) -> None:
    server.script(Reply(text="a", hold_start=True))
    settings = {"retries": {"idleTimeoutSeconds": 0.1, "max": 1}}
    outcome = await collect(models_for(wire, server, **settings).select(wire.provider), ask())
    assert outcome.error is not None
    assert outcome.error.kind == "timeout"


async def test_a_slow_start_is_waited_for(wire: Wire, server: ModelServer) -> None:
    server.script(Reply(text="late", hold_start=True))
    waiting = asyncio.ensure_future(collect(models_for(wire, server).select(wire.provider), ask()))
    await server.wait_held()
    server.release()
    assert (await waiting).text == "late"


async def test_a_lost_connection_is_tried_again(wire: Wire, server: ModelServer) -> None:
    server.script(DropReply(), ErrorReply(503), Reply(text="third time"))
    outcome = await collect(models_for(wire, server).select(wire.provider), ask())
    assert outcome.text == "third time"
    assert len(server.requests) == 3


async def test_cancelling_closes_the_connection_at_once(wire: Wire, server: ModelServer) -> None:
    server.script(Reply(text="a b c", hold=(1,)))
    seen = asyncio.Event()

    async def run() -> None:
        async for event in models_for(wire, server).select(wire.provider).stream(ask()):
            if isinstance(event, TextDelta):
                seen.set()

    task = asyncio.ensure_future(run())
    await asyncio.wait_for(seen.wait(), 10)
    loop = asyncio.get_running_loop()
    before = loop.time()
    task.cancel()
    await asyncio.wait_for(server.requests[0].closed.wait(), 5)
    assert loop.time() - before < 0.2
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_cancelling_while_waiting_for_the_first_byte(wire: Wire, server: ModelServer) -> None:
    server.script(Reply(text="a", hold_start=True))
    task = asyncio.ensure_future(collect(models_for(wire, server).select(wire.provider), ask()))
    await server.wait_held()
    task.cancel()
    await asyncio.wait_for(server.requests[0].closed.wait(), 5)


async def test_leaving_the_stream_closes_the_connection(wire: Wire, server: ModelServer) -> None:
    server.script(Reply(text="a b c", hold=(1,)))
    stream = models_for(wire, server).select(wire.provider).stream(ask())
    async for event in stream:
        if isinstance(event, TextDelta):
            break
    await stream.aclose()  # type: ignore[attr-defined]
    await asyncio.wait_for(server.requests[0].closed.wait(), 5)


async def test_two_streams_run_side_by_side(wire: Wire, server: ModelServer) -> None:
    server.script(Reply(text="first one", hold=(1,), match="question A"), Reply(text="second", match="question B"))
    models = models_for(wire, server)
    first = asyncio.ensure_future(collect(models.select(wire.provider), ask("question A")))
    await server.wait_held()
    assert (await collect(models.select(wire.provider), ask("question B"))).text == "second"
    server.release()
    assert (await first).text == "first one"


async def test_calls_results_and_images_reach_the_service(wire: Wire, server: ModelServer) -> None:
    call = ToolCallPart("c1", "read_file", {"path": "a.py"}, '{"path": "a.py"}')
    result = ToolResultPart("c1", "read_file", "print(1)", images=(ImagePart("aGk=", "image/png"),))
    outcome = await collect(
        models_for(wire, server).select(wire.provider), history_of((TextPart("Reading"), call), (result,))
    )
    assert outcome.error is None
    body = server.requests[0].body.decode()
    for piece in ("read_file", "a.py", "print(1)", "aGk=", "Reading", "And now?", "Reads a file."):
        assert piece in body
    assert server.requests[0].tool_names == ["read_file"]


async def test_an_image_of_the_user_reaches_the_service(wire: Wire, server: ModelServer) -> None:
    message = Message("user", (TextPart("What is this?"), ImagePart("cGljdHVyZQ==", "image/jpeg")))
    await collect(models_for(wire, server).select(wire.provider), ModelRequest((message,)))
    body = server.requests[0].body.decode()
    assert "cGljdHVyZQ==" in body
    assert "image/jpeg" in body or wire.dialect == "ollama"
    assert server.requests[0].last_user_text == "What is this?"


async def test_a_call_without_result_is_answered_for(wire: Wire, server: ModelServer) -> None:
    calls = (ToolCallPart("c1", "read_file", {}), ToolCallPart("c2", "read_file", {}))
    await collect(
        models_for(wire, server).select(wire.provider), history_of(calls, (ToolResultPart("c2", "read_file", "two"),))
    )
    body = server.requests[0].body.decode()
    assert body.index("Not run") < body.index('"two"')


async def test_reasoning_of_another_provider_stays_at_home(wire: Wire, server: ModelServer) -> None:
    foreign = ReasoningPart("secret thought", "somebody_else", {"type": "thinking", "thinking": "secret thought"})
    await collect(
        models_for(wire, server).select(wire.provider),
        history_of((foreign, ToolCallPart("c1", "read_file", {}, "{}")), (ToolResultPart("c1", "read_file", "two"),)),
    )
    assert "secret thought" not in server.requests[0].body.decode()


async def test_what_it_thought_is_given_back_where_the_service_wants_it(wire: Wire, server: ModelServer) -> None:
    model = models_for(wire, server).select(wire.provider)
    server.script(Reply(reasoning="weighing", signature="c2lnLTEy", tool_calls=(Call("read_file", {"path": "x"}),)))
    first = await collect(model, ask("Read x", tools=(READ_FILE,)))
    parts = [e.part for e in first.events if isinstance(e, ReasoningDone)] + first.calls
    results = tuple(ToolResultPart(c.id, c.name, "content") for c in first.calls)
    await collect(model, history_of(tuple(parts), results))
    signed = "c2lnLTEy" in server.requests[1].body.decode()
    assert signed == (wire.dialect in ("anthropic", "responses", "gemini"))


async def test_listing_and_token_count(wire: Wire, server: ModelServer) -> None:
    models = models_for(wire, server)
    await models.refresh()
    status = next(s for s in models.list() if s.name == wire.provider)
    assert status.available
    assert status.model in [m.name for m in status.models]
    count = await models.select(wire.provider).count_tokens(ask("word " * 100))
    assert count is None if wire.dialect in ("openai", "ollama") else count and count > 100


async def test_the_key_goes_to_its_service_and_nowhere_else(
    wire: Wire, server: ModelServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    server.script(ErrorReply(401, f"Incorrect API key provided: {KEY}"))
    models = models_for(wire, server)
    with pytest.raises(ModelError) as caught:
        async for _ in models.select(wire.provider).stream(ask()):
            pass
    sent = server.requests[0].headers
    assert KEY in " ".join(sent.values())
    assert KEY not in server.requests[0].path
    told = f"{caught.value!r} {caught.value.hint} {models!r} {models.select(wire.provider)!r} {models.list()!r}"
    assert KEY not in told
    assert KEY not in caplog.text


@pytest.mark.parametrize("size", [1, 3, 100])
async def test_thoughts_left_in_the_text_are_taken_out(server: ModelServer, size: int) -> None:
    text = "<think>\nhm </thin k> <b>\n</think>\n\nThe <think> answer"
    server.script(Reply(deltas=tuple(text[i : i + size] for i in range(0, len(text), size))))
    wire = next(w for w in WIRES if w.provider == "openai")
    outcome = await collect(models_for(wire, server).select("openai"), ask())
    assert outcome.reasoning == "hm </thin k> <b>\n"
    assert outcome.text == "The <think> answer"


@pytest.mark.parametrize("text", ["<thin", "<", " <think", "x <think>y</think>", "<think>never closed"])
async def test_half_a_tag_is_not_lost(server: ModelServer, text: str) -> None:
    server.script(Reply(deltas=tuple(text)))
    wire = next(w for w in WIRES if w.provider == "openai")
    outcome = await collect(models_for(wire, server).select("openai"), ask())
    assert (outcome.text + outcome.reasoning).replace("<think>", "") == text.replace("<think>", "")
