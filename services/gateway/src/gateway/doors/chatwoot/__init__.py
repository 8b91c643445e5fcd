"""Chatwoot's agent bot: POST /v2/channels/chatwoot/{channelId}. What is said there is said in a conversation here; what
is said here goes there from memory, which keeps the channel's token.
"""
