"""Memory's rules about conversations, settings and tool calls: plain Python, tested without a server."""
