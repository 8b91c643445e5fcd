"""What memory knows about conversations, settings and tool calls: plain Python, tested with no server."""
