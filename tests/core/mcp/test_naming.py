"""Names of remote tools: the same for the same servers, whatever order they came in, and usable by every vendor."""

from __future__ import annotations

import random
import re

from hypothesis import given
from hypothesis import strategies as st

from chatls_core.mcp import RemoteTool
from chatls_core.mcp.naming import MAX_NAME, named

WORDS = st.text(st.sampled_from("abAB_- .é/漢"), min_size=1, max_size=90)
TOOLS = st.lists(st.tuples(st.sampled_from(["a", "b", "a b", "a_b"]), WORDS), max_size=12)


def remote(server: str, name: str) -> RemoteTool:
    return RemoteTool(server, name, "", {"type": "object"})


@given(TOOLS, st.randoms())
def test_order_changes_nothing_and_no_two_tools_share_a_name(pairs: list[tuple[str, str]], rng: random.Random) -> None:
    tools = [remote(*pair) for pair in pairs]
    found = named(tools)
    rng.shuffle(tools)
    assert named(tools) == found
    names = [t.exposed for t in found]
    assert names == sorted(names)
    assert len({n.lower() for n in names}) == len(set(pairs))
    assert all(re.fullmatch(r"mcp_[A-Za-z0-9_-]+", n) and len(n) <= MAX_NAME for n in names)


def test_names_are_plain_where_they_can_be() -> None:
    tools = [remote("git hub", "search"), remote("files", "search"), remote("files", "read")]
    assert [(t.exposed, t.remote.server) for t in named(tools)] == [
        ("mcp_files_search", "files"),
        ("mcp_git_hub_search", "git hub"),
        ("mcp_read", "files"),
    ]
