"""An MCP server over standard input and output, by which agents tune: `python -m espalier.mcp` (docs/agents.md)."""
