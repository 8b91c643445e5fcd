"""MCP at /mcp: the tool catalogue for any MCP client, with confirmations, tasks and views."""
