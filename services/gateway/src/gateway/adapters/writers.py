"""Models that can be chosen, suggestions and better wording, asked of the agents."""

from contracts import agent_rpc
from gateway.adapters.service_calls import ask
from runtime.rpc import RpcClient

WRITING_SECONDS = agent_rpc.DEADLINE + 1.0
"""Seconds for a suggestion: the agent's own, and a moment for its answer to come back."""


class BusWriters:
    """The agents' help for human agents, by any one of them. Each method raises Refused, Limited (budget spent) or
    Unavailable."""

    def __init__(self, client: RpcClient) -> None:
        self._client = client

    async def providers(self, company: str) -> agent_rpc.ProvidersReply:
        """Which providers and models can be chosen."""
        return await ask(self._client, agent_rpc.PROVIDERS, agent_rpc.ProvidersRequest(company_id=company))

    async def suggest(self, company: str, conversation: str) -> agent_rpc.SuggestReply:
        """Three replies to choose from."""
        request = agent_rpc.SuggestRequest(company_id=company, conversation_id=conversation)
        return await ask(self._client, agent_rpc.SUGGEST, request, deadline=WRITING_SECONDS)

    async def improve(self, request: agent_rpc.ImproveRequest) -> agent_rpc.ImproveReply:
        """A draft, written better."""
        return await ask(self._client, agent_rpc.IMPROVE, request, deadline=WRITING_SECONDS)
