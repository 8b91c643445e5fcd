"""What a tool is and which rules apply to it: plain Python, without any server."""
