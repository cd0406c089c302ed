"""Whatever the prefix budget folds, the calls it names return it exactly (DESIGN.md, shape 6)."""

from __future__ import annotations

import json
import re
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from chatls_core.config import load
from chatls_core.contexts import ContextStore
from chatls_core.prompt.attached_contexts import rendered
from chatls_core.prompt.knowledge_tool import Knowledge
from chatls_core.tools.base import ToolContext, TurnFiles
from chatls_core.tools.paths import walk
from tests.fakes.host import FakeHost

NOW = datetime(2026, 3, 2, tzinfo=UTC)
FILES = st.dictionaries(st.sampled_from(["a.md", "b c.md", "é.md", "sub/d.md"]), st.integers(0, 30_000), min_size=1)
CONTEXTS = st.lists(
    st.tuples(FILES, st.sampled_from(["full", "chunked", "summary", "knowledge"]), st.booleans()),
    min_size=1,
    max_size=3,
)


def content(name: str, size: int) -> str:
    """A text of about ``size`` characters, no two lines alike."""
    return "".join(f"{name} line {n}: </data> é🙂\n" for n in range(size // 25)) or f"{name} is short"


@settings(max_examples=25, deadline=None)
@given(CONTEXTS, st.integers(0, 120_000))
async def test_every_file_is_whole_in_the_prompt_or_comes_back_by_the_calls_it_names(
    drawn: list[tuple[dict[str, int], str, bool]], budget: int
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = ContextStore(Path(folder) / "contexts", Path(folder) / "index", walk, lambda: NOW)
        made, folded = [], set()
        for number, (files, mode, fold) in enumerate(drawn):
            root = Path(folder) / f"ws{number}"
            for name, size in files.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(content(name, size), encoding="utf-8")
            made.append(store.create(f"docs {number}", [root], mode=mode))
            folded |= {f"docs {number}"} if fold else set()
        tool = Knowledge(store, [c.name for c in made])
        context = ToolContext(FakeHost(Path(folder)), load({}).settings, "chat", "c", TurnFiles(), lambda _: None)

        async def called(call: str, **more: object) -> str:
            return (await tool.run(tool.parse({**json.loads(call), **more}), context)).text

        for shown, (files, _, _) in zip(rendered(made, budget, folded=folded), drawn, strict=True):
            text = shown.section.text
            calls = re.findall(r'knowledge (\{"command": "(\w+)".*?\})(?=[.:]|$)', text, re.M)
            ways = {name: call for call, name in calls}
            listed = await called(ways["toc"]) if "toc" in ways else text
            for name, size in files.items():
                whole = content(name, size)
                if whole in text:
                    continue
                source = next(
                    line.removeprefix("- ").partition(" (")[0]
                    for line in listed.splitlines()
                    if Path(name).name in line
                )
                found, offset = "", 0
                while True:
                    page = await called(ways["get"], source=source, offset=offset)
                    found += page.rpartition("\n</data-")[0].partition(">\n")[2]
                    more = re.search(r'"offset": (\d+)\}', page)
                    if more is None:
                        break
                    offset = int(more.group(1))
                assert found == whole
        total = sum(len(r.section.text) for r in rendered(made, budget, folded=folded))
        shortest = sum(len(r.section.text) for r in rendered(made, 0))
        assert total <= max(budget, shortest)
