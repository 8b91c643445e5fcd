"""Companies' channels: memory, which keeps their secrets, says whether what comes is genuine and whether they work."""

from contracts import channel_rpc
from contracts.channel_rpc import ChannelEchoRequest, ChannelProblem, ChannelVerifyReply, ChannelVerifyRequest
from gateway.adapters.service_calls import ask
from runtime.rpc import RpcClient

VERIFY_SECONDS = 2.0
"""For memory to look at a signature."""
CHECK_SECONDS = 5.0
"""For the channels themselves to answer."""


class BusChannels:
    """Over the bus."""

    def __init__(self, client: RpcClient) -> None:
        self._client = client

    async def verify(self, channel: str, timestamp: str, signature: str, body: str) -> ChannelVerifyReply:
        """Whose the webhook is; raises Refused: NOT_FOUND, FORBIDDEN; Unavailable."""
        request = ChannelVerifyRequest(channel_id=channel, timestamp=timestamp, signature=signature, body=body)
        return await ask(self._client, channel_rpc.CHANNEL_VERIFY, request, deadline=VERIFY_SECONDS)

    async def echo(self, company: str, conversation: str, message: str | None, text: str) -> None:
        """A message of ours has come to its channel; raises Unavailable."""
        digest = channel_rpc.text_digest(text)
        request = ChannelEchoRequest(company_id=company, conversation_id=conversation, message_id=message, text=digest)
        await ask(self._client, channel_rpc.CHANNEL_ECHO, request)

    async def check(self, company: str) -> list[ChannelProblem]:
        """What keeps the company's channels from working; raises Unavailable."""
        request = channel_rpc.ChannelCheckRequest(company_id=company)
        return (await ask(self._client, channel_rpc.CHANNEL_CHECK, request, deadline=CHECK_SECONDS)).problems
