"""The chat protocol: sessions, open conversations, recovery and commands, over the ports."""
