"""A server's words as text for the model: results, descriptions, error messages."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from chatls_core.mcp.model import RemoteTool, ToolReply
from chatls_core.text import cut, injection
from chatls_core.text.redaction import redact

if TYPE_CHECKING:
    from mcp.types import CallToolResult, Tool

MAX_DESCRIPTION = 2000
MAX_SCHEMA_CHARS = 20_000
MAX_ERROR = 400
MAX_REPLY = 2_000_000
"""Characters of one answer that are looked at; more is no answer but a dump, and would only take up memory."""


def reply_of(result: CallToolResult) -> ToolReply:
    """What a call gave, as text: images and sound are named, not shown."""
    parts = [text for block in result.content if (text := _block(block))]
    if not parts and result.structured_content is not None:
        parts = [json.dumps(result.structured_content, ensure_ascii=False, indent=1)]
    return ToolReply(
        cut.by_chars("\n".join(parts), MAX_REPLY, "\n[more was sent than can be taken in]"), bool(result.is_error)
    )


def _block(block: Any) -> str:
    match block.type:
        case "text":
            return str(block.text)
        case "image" | "audio":
            return f"[{block.type} {block.mime_type}, {len(block.data) * 3 // 4} bytes, not shown]"
        case "resource":
            held = block.resource
            text = getattr(held, "text", None)
            return f"[{held.uri}]\n{text}" if text is not None else f"[{held.uri}: binary, not shown]"
        case "resource_link":
            return f"[{block.name}: {block.uri}]"
    return f"[{block.type}, not shown]"


def tool_of(server: str, tool: Tool) -> RemoteTool | None:
    """A listed tool; ``None`` when it cannot be offered. Its description is data: lines that command are blanked."""
    schema = dict(tool.input_schema or {})
    if schema.get("type", "object") != "object" or len(json.dumps(schema)) > MAX_SCHEMA_CHARS:
        return None
    schema = {"type": "object", "properties": {}, **schema}
    described = cut.by_chars((tool.description or tool.title or "").strip(), MAX_DESCRIPTION)
    return RemoteTool(server, tool.name, injection.blank(described, "context"), schema)


def one_line(text: object) -> str:
    """A server's or the system's words in one line without secrets, cut to a readable length."""
    return cut.by_chars(" ".join(redact(str(text)).split()), MAX_ERROR)
