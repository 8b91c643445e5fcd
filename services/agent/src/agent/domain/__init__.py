"""The rules of turns, analyses and prompts: plain Python, without a server or a clock."""
