"""``chatls eval longmemeval DIR``: retrieval alone, and end to end with a reader and a judge on loopback."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.model_server import ErrorReply, ModelServer, RecordedRequest, Reply, Tokens
from tests.server.test_terminal import Terminal

pytestmark = pytest.mark.timeout(120)


def said(*turns: tuple[str, str], evidence: int | None = None) -> list[dict[str, Any]]:
    """A session of (role, text) turns; ``evidence`` is the turn that holds the answer."""
    return [
        {"role": role, "content": text} | ({"has_answer": place == evidence} if evidence is not None else {})
        for place, (role, text) in enumerate(turns)
    ]


CELLO = said(
    ("user", "I finally rented a cello for my lessons with Odile."),
    ("assistant", "Wonderful! How often will you practise?"),
    evidence=0,
)
OVEN = said(
    ("user", "My oven runs hot, how do I calibrate it?"), ("assistant", "Use an oven thermometer and note the offset.")
)
RUN = said(("user", "My best time on the harbour loop is 27:12 now."), ("assistant", "Well done!"), evidence=0)
FASTER = said(("user", "New best on the harbour loop: 25:50!"), ("assistant", "Impressive progress."), evidence=0)
VISA = said(("user", "Which papers does a visa for Chile need?"), ("assistant", "A passport and proof of funds."))

QUESTIONS: list[dict[str, Any]] = [
    {
        "question_id": "q1",
        "question_type": "single-session-user",
        "question": "Which instrument did I rent?",
        "answer": "a cello",
        "question_date": "2024/03/20 (Wed) 10:00",
        "haystack_session_ids": ["a1", "a2", "a3"],
        "haystack_dates": ["2024/01/03 (Wed) 09:00", "2024/01/09 (Tue) 18:30", "2024/02/11 (Sun) 12:00"],
        "haystack_sessions": [OVEN, CELLO, VISA],
        "answer_session_ids": ["a2"],
    },
    {
        "question_id": "q2",
        "question_type": "knowledge-update",
        "question": "What is my best time on the harbour loop?",
        "answer": "25:50",
        "question_date": "2024/05/01 (Wed) 08:00",
        "haystack_session_ids": ["b1", "b2", "b3"],
        "haystack_dates": ["2024/03/01 (Fri) 07:00", "2024/04/02 (Tue) 07:00", "2024/04/20 (Sat) 11:00"],
        "haystack_sessions": [RUN, FASTER, OVEN],
        "answer_session_ids": ["b1", "b2"],
    },
    {
        "question_id": "q3_abs",
        "question_type": "single-session-user",
        "question": "What is my dog called?",
        "answer": "The user never mentioned a dog.",
        "question_date": "2024/05/01 (Wed) 08:00",
        "haystack_session_ids": ["c1"],
        "haystack_dates": ["2024/04/20 (Sat) 11:00"],
        "haystack_sessions": [OVEN],
        "answer_session_ids": [],
    },
]


@pytest.fixture
async def models() -> AsyncIterator[ModelServer]:
    """The model vendor."""
    async with ModelServer() as server:
        yield server


@pytest.fixture
def terminal(tmp_path: Path, models: ModelServer) -> Terminal:
    """A terminal beside a folder with a benchmark of three questions."""
    terminal = Terminal(tmp_path, models)
    folder = terminal.workspace / "lme"
    folder.mkdir()
    (folder / "longmemeval_s_cleaned.json").write_text(json.dumps(QUESTIONS))
    return terminal


def judging(verdicts: dict[str, str]) -> Any:
    """A model that reads well and judges by what stands in the prompt."""

    def answer(request: RecordedRequest) -> Reply:
        text = request.last_user_text
        for sign, verdict in verdicts.items():
            if sign in text and "yes or no" in text:
                return Reply(text=verdict, usage=Tokens(100, 1))
        for question, reply in (("instrument", "You rented a cello."), ("harbour", "27:12"), ("dog", "I do not know.")):
            if question in text:
                return Reply(text=reply, usage=Tokens(1000, 10))
        raise AssertionError(text)

    return answer


async def test_retrieval_alone_asks_no_model_and_says_what_was_measured(
    terminal: Terminal, models: ModelServer
) -> None:
    ended = await terminal.run("eval", "longmemeval", "lme")
    assert ended.code == 0, ended.errors
    assert models.requests == []
    for shown in ("longmemeval_s_cleaned.json", "3 questions", "seed 0", "knowledge-update", "single-session-user"):
        assert shown in ended.output
    assert "reader" in ended.output
    assert "none" in ended.output


async def test_retrieval_figures_count_evidence_and_leave_out_questions_without_any(terminal: Terminal) -> None:
    report = (await terminal.run("eval", "longmemeval", "lme", "--json")).json
    everything = report["retrieval"]["all"]
    assert everything["questions"] == 2
    assert everything["session R@5"] == 1.0
    assert everything["turn R@10"] == 1.0
    assert set(report["retrieval"]) == {"all", "knowledge-update", "single-session-user"}
    assert report["file"]["sha256"]


@pytest.mark.parametrize("through", ["passages", "sessions"])
async def test_the_search_of_saved_sessions_can_be_measured_as_well(terminal: Terminal, through: str) -> None:
    report = (await terminal.run("eval", "longmemeval", "lme", "--json", "--through", through)).json
    assert report["through"] == through
    assert report["retrieval"]["all"]["session any@5"] == 1.0


async def test_end_to_end_names_reader_and_judge_and_scores_each_type(terminal: Terminal, models: ModelServer) -> None:
    models.default = judging({"a cello": "yes", "25:50": "no", "never mentioned a dog": "Yes."})
    arguments = ("--answer", "--model", "anthropic:reader-1", "--judge-model", "anthropic:judge-1", "--seed", "7")
    ended = await terminal.run("eval", "longmemeval", "lme", "--json", *arguments)
    assert ended.code == 0, ended.errors
    report = ended.json
    assert (report["reader"], report["judge"], report["seed"]) == ("anthropic:reader-1", "anthropic:judge-1", 7)
    assert report["answers"]["single-session-user"] == {"questions": 2, "right": 2, "accuracy": 1.0}
    assert report["answers"]["knowledge-update"] == {"questions": 1, "right": 0, "accuracy": 0.0}
    assert report["answers"]["abstention"] == {"questions": 1, "right": 1, "accuracy": 1.0}
    assert report["answers"]["all"] == {"questions": 3, "right": 2, "accuracy": 0.6667}
    assert report["answers"]["mean of types"]["accuracy"] == 0.5
    assert report["usage"]["anthropic:reader-1"]["input_tokens"] == 3000
    assert report["usage"]["anthropic:judge-1"]["output_tokens"] == 3
    assert report["usage"]["anthropic:judge-1"]["cost_usd"] is None


async def test_a_judge_of_another_provider_is_asked_for_its_own_model(terminal: Terminal, models: ModelServer) -> None:
    models.default = judging({"Which": "yes", "best time": "yes", "dog": "yes"})
    more = {"OPENAI_API_KEY": "sk-judge", "OPENAI_BASE_URL": f"{models.url}/v1", "OPENAI_MODEL": "grader"}
    arguments = ("--answer", "--model", "anthropic:reader-1", "--judge-provider", "openai")
    environment = {**terminal.environment, **more}
    ended = await terminal.run("eval", "longmemeval", "lme", "--json", *arguments, environment=environment)
    assert ended.code == 0, ended.errors
    assert (ended.json["reader"], ended.json["judge"]) == ("anthropic:reader-1", "openai:grader")


async def test_the_reader_gets_dated_passages_in_order_and_the_date_of_the_question(
    terminal: Terminal, models: ModelServer
) -> None:
    models.default = judging({"Which": "yes", "best time": "yes", "dog": "yes"})
    await terminal.run("eval", "longmemeval", "lme", "--answer", "--parallel", "1")
    read = next(r.last_user_text for r in models.requests if "harbour" in r.last_user_text)
    assert read.index("2024-03-01") < read.index("27:12") < read.index("2024-04-02") < read.index("25:50")
    assert "2024-05-01" in read


async def test_answers_are_kept_for_the_benchmarks_own_judge_and_an_interrupted_run_goes_on(
    terminal: Terminal, models: ModelServer
) -> None:
    models.default = judging({"Which": "yes", "best time": "no", "dog": "yes"})
    arguments = ("eval", "longmemeval", "lme", "--answer", "--parallel", "1", "--output", "answers.jsonl")
    await terminal.run(*arguments, "--limit", "2")
    asked = len(models.requests)
    ended = await terminal.run(*arguments, "--json")
    rows = [json.loads(line) for line in (terminal.workspace / "answers.jsonl").read_text().splitlines()]
    assert sorted(row["question_id"] for row in rows) == ["q1", "q2", "q3_abs"]
    assert next(r for r in rows if r["question_id"] == "q1")["hypothesis"] == "You rented a cello."
    assert len(models.requests) == asked + 2
    assert ended.json["answers"]["all"]["questions"] == 3


async def test_what_an_earlier_run_paid_for_is_part_of_the_cost_and_what_is_found_anew_is_asked_anew(
    terminal: Terminal, models: ModelServer
) -> None:
    models.default = judging({"Which": "yes", "best time": "no", "dog": "yes"})
    arguments = ("eval", "longmemeval", "lme", "--answer", "--output", "answers.jsonl", "--model", "anthropic:reader-1")
    first = (await terminal.run(*arguments, "--json")).json
    again = await terminal.run(*arguments)
    assert len(models.requests) == 6
    assert "anthropic:reader-1: 3300 input" in again.output
    assert "3 answers were kept from an earlier run" in again.output
    assert (await terminal.run(*arguments, "--json")).json["usage"] == first["usage"]
    file = terminal.workspace / "lme" / "longmemeval_s_cleaned.json"
    file.write_text(file.read_text().replace("25:50!", "25:40!"))
    assert (await terminal.run(*arguments, "--json")).json["kept"] == 2
    assert len(models.requests) == 8


async def test_a_question_without_an_answer_counts_as_wrong_and_is_told(
    terminal: Terminal, models: ModelServer
) -> None:
    judge = judging({"Which": "yes", "best time": "yes", "dog": "yes"})

    def answer(request: RecordedRequest) -> Any:
        refused = "harbour" in request.last_user_text and "yes or no" not in request.last_user_text
        return ErrorReply(400, "cannot read that") if refused else judge(request)

    models.default = answer
    ended = await terminal.run("eval", "longmemeval", "lme", "--answer", "--json")
    assert ended.code == 0, ended.errors
    assert ended.json["answers"]["knowledge-update"]["accuracy"] == 0.0
    assert list(ended.json["failed"]) == ["q2"]


async def test_a_verdict_that_is_neither_yes_nor_no_is_not_taken_for_a_yes(
    terminal: Terminal, models: ModelServer
) -> None:
    models.default = judging({"Which": "The yes-or-no is unclear", "best time": "INCORRECT", "dog": "no, yes is wrong"})
    report = (await terminal.run("eval", "longmemeval", "lme", "--answer", "--json")).json
    assert report["answers"]["all"]["right"] == 0
    assert sorted(report["failed"]) == ["q1", "q2"]


async def test_pooling_is_seeded_and_named_for_what_it_is(terminal: Terminal) -> None:
    first = (await terminal.run("eval", "longmemeval", "lme", "--pool", "5", "--json")).json
    again = (await terminal.run("eval", "longmemeval", "lme", "--pool", "5", "--json")).json
    assert first["retrieval"] == again["retrieval"]
    assert first["sessions_per_question"] == 5.0
    assert first["retrieval"]["all"]["turn R@10"] == 1.0  # other questions' evidence is none of this one's
    ended = await terminal.run("eval", "longmemeval", "lme", "--pool", "5")
    assert "not comparable" in ended.output


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("nowhere",), "nowhere"),
        (("lme", "--split", "m"), "longmemeval_m"),
        (("lme", "--limit", "0"), "--limit"),
    ],
)
async def test_what_cannot_be_measured_is_said_with_a_usage_code(
    terminal: Terminal, arguments: tuple[str, ...], told: str
) -> None:
    ended = await terminal.run("eval", "longmemeval", *arguments)
    assert ended.code == 2
    assert told in ended.errors
    assert "Traceback" not in ended.errors


async def test_without_a_provider_end_to_end_says_so(terminal: Terminal) -> None:
    ended = await terminal.run("eval", "longmemeval", "lme", "--answer", environment=terminal.keyless)
    assert ended.code == 3
    assert "No model is configured" in ended.errors


async def test_a_file_that_is_no_benchmark_is_named(terminal: Terminal) -> None:
    (terminal.workspace / "lme" / "longmemeval_oracle.json").write_text('[{"question_id": "x"}]')
    ended = await terminal.run("eval", "longmemeval", "lme", "--split", "oracle")
    assert ended.code == 1
    assert "longmemeval_oracle.json" in ended.errors
    assert "question" in ended.errors
