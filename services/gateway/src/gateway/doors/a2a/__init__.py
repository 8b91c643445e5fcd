"""A2A 1.0: the agent card and POST /a2a (JSON-RPC, streamed as server-sent events). A task is one message and its
outcome."""
