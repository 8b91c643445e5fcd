"""Chatwoot's agent bot: POST /v2/channels/chatwoot/{channelId}. Messages from Chatwoot are stored in a conversation
here; memory, which has the channel's token, sends the replies."""
