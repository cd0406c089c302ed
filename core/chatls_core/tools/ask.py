"""The tool with which the model asks the user (spec/agent.md §1.9: at most six questions)."""

from __future__ import annotations

from pydantic import Field

from chatls_core.host import Question
from chatls_core.tools.base import Tool, ToolArguments, ToolContext, ToolError, ToolOutcome


class AskQuestion(ToolArguments):
    text: str = Field(min_length=1, description="The question.")
    options: list[str] = Field(default_factory=list, max_length=12, description="Answers to choose from, if any.")
    multiple: bool = Field(False, description="Whether several options may be chosen.")


class AskUserArguments(ToolArguments):
    questions: list[AskQuestion] = Field(min_length=1, max_length=6)


class AskUser(Tool[AskUserArguments]):
    name = "ask_user"
    description = "Ask the user up to six questions when the task cannot be done well without the answers."
    kind = "think"
    arguments = AskUserArguments
    modes = frozenset({"chat", "agent", "coder"})

    def label(self, arguments: AskUserArguments) -> str:
        return "ask you"

    async def run(self, arguments: AskUserArguments, context: ToolContext) -> ToolOutcome:
        questions = [
            Question(f"q{n}", q.text, tuple(q.options), q.multiple) for n, q in enumerate(arguments.questions, 1)
        ]
        answers = await context.host.ask(context.call_id, questions)
        if answers is None:
            raise ToolError("The user did not answer. Go on with the most likely choice and say which one you took.")
        lines = []
        for q in questions:
            answer = answers.get(q.id, "")
            text = ", ".join(answer) if isinstance(answer, list) else answer
            lines.append(f"{q.text}\n→ {text or '(no answer)'}")
        return ToolOutcome("\n".join(lines), "answered")
