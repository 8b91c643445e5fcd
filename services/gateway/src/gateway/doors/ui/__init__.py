"""The AI SDK's UI message stream v1: POST /v2/ui/chat, a chat of the SDK on a conversation."""
