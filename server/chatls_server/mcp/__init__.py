"""``chatls mcp``: our memory for other agents, as an MCP server (spec/agent.md §10.6)."""
