"""Chatwoot's agent bot: POST /v2/channels/chatwoot/{channelId}. Messages from there go into a conversation here;
replies are sent by memory, which keeps the channel's token."""
