"""The chat protocol at work: sessions, open conversations, recovery and commands, over the ports."""
