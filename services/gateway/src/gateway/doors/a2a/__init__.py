"""A2A 1.0: the agent card and POST /a2a (JSON-RPC, server-sent events for streams): a task is a message's exchange."""
