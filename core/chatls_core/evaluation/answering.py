"""A reader answers from what was found, a judge says whether the answer is right.

The judge is told the benchmark's rules in our words (what counts as right differs by type of question). For a figure
that compares with published ones, run the benchmark's own judge over the answers that ``--output`` keeps.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from chatls_core.evaluation.longmemeval import Case
from chatls_core.evaluation.retrieval import Place, date_shown
from chatls_core.llm.messages import Message, ModelRequest, TextPart

if TYPE_CHECKING:
    from chatls_core.llm.model import Model

CHARS_PER_TOKEN = 4
ANSWER_TOKENS = 800
VERDICT_TOKENS = 400
"""Room for models that think before they say yes or no."""

_READER = """\
Below are parts of earlier conversations between you and the user, oldest first, each with its date. Answer the user's
question from them. Later statements replace earlier ones. Work out dates from the dates shown. If the conversations do
not tell, say that you do not know. Answer in a few sentences.

{passages}

Today is {today}.
Question: {question}"""

_JUDGE = """\
You grade an answer to a question about earlier conversations.
{rule}

Question: {question}

{label}: {answer}

Answer to grade: {response}

Is the answer to grade right? Reply with yes or no only."""

_CONTAINS = (
    "It is right if it contains the reference answer, says the same in other words, or holds every step that leads to "
    "it. It is wrong if it holds only a part of what is asked."
)
_RULES = {
    "temporal-reasoning": _CONTAINS + " A count of days, weeks or months that is off by one is right.",
    "knowledge-update": (
        "It is right if it contains the reference answer as the current state; mentioning earlier states beside it is "
        "no fault. Otherwise it is wrong."
    ),
    "single-session-preference": (
        "The reference describes what a personal answer would take into account. It is right if it remembers and uses "
        "what the user told about themselves; it need not meet every point."
    ),
}
_ABSTAIN = (
    "The question cannot be answered from the conversations; the reference says why. It is right if it says that the "
    "information is missing, or that only something else is known. Otherwise it is wrong."
)


def passages(case: Case, turns: Sequence[Place], most_chars: int) -> str:
    """The found turns, each with the turn that answers it, in the order of time, within ``most_chars``.

    Only whole turns are taken, the best first; one that does not fit lets the next smaller one through.
    """
    taken: dict[Place, str] = {}
    for session, turn in turns:
        told = case.sessions[session].turns
        for place in (turn, turn + 1) if told[turn].role == "user" and turn + 1 < len(told) else (turn,):
            text = f"{told[place].role}: {told[place].text.strip()}"
            if (session, place) not in taken and len(text) + 60 <= most_chars:
                taken[session, place] = text
                most_chars -= len(text) + 60
    return "\n".join(_by_session(case, taken)) or "(nothing was found)"


def _by_session(case: Case, taken: dict[Place, str]) -> Iterator[str]:
    last = -1
    for (session, _), text in sorted(taken.items()):
        if session != last:
            yield f"\n### Conversation of {date_shown(case.sessions[session].time)}"
            last = session
        yield text


def reader_request(case: Case, found: str, model: Model) -> ModelRequest:
    """What the reader is asked."""
    text = _READER.format(passages=found, today=date_shown(case.asked), question=case.question)
    return _request(text, model, ANSWER_TOKENS)


def judge_request(case: Case, response: str, model: Model) -> ModelRequest:
    """What the judge is asked."""
    rule = _ABSTAIN if case.abstention else _RULES.get(case.type, _CONTAINS)
    label = "Reference" if case.abstention or case.type == "single-session-preference" else "Reference answer"
    text = _JUDGE.format(rule=rule, question=case.question, label=label, answer=case.answer, response=response)
    return _request(text, model, VERDICT_TOKENS)


def _request(text: str, model: Model, tokens: int) -> ModelRequest:
    # A model that thinks needs room for it; a longest answer would cut it off before its first word.
    limit = None if model.info.reasoning else tokens
    message = Message("user", (TextPart(text),))
    return ModelRequest((message,), model=model.model, max_output_tokens=limit, temperature=0.0)


def verdict(text: str) -> bool | None:
    """What a judge said: its first word, which must be yes or no ("INCORRECT" holds "correct"); else ``None``."""
    words = text.strip().lstrip("*\"'`").split()
    word = words[0].strip("*\"'`.,:;!").casefold() if words else ""
    return {"yes": True, "no": False}.get(word)
