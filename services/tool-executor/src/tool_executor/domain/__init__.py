"""The rules of tools: plain Python, without any server."""
