"""Failed turns, as agents keep them."""

from contracts.failed_rpc import FAILED_TURNS, FailedTurnsReply, FailedTurnsRequest
from gateway.adapters.service_calls import ask
from runtime.rpc import RpcClient

SECONDS = 10.0
"""What reading a page may take: rare failures lie far apart."""


class BusFailures:
    """The agents behind their RPC method."""

    def __init__(self, client: RpcClient) -> None:
        self._client = client

    async def failed(self, company: str, limit: int, before: int | None) -> FailedTurnsReply:
        """A page of the company's, newest first; raises Unavailable."""
        request = FailedTurnsRequest(company_id=company, limit=limit, before=before)
        return await ask(self._client, FAILED_TURNS, request, deadline=SECONDS)
