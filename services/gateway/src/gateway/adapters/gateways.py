"""Calls to the other gateways over the bus."""

import structlog
from nats.aio.client import Client

from contracts.mcp_rpc import CLIENT_ANSWER, ClientAnswerReply, ClientAnswerRequest
from gateway.domain.client_answers import Answers
from runtime.calls.rpc import RpcClient, RpcServer
from runtime.errors import RpcError

log = structlog.get_logger(__name__)

FORWARD_SECONDS = 1.0
"""Seconds for the waiting gateway to confirm that it has the answer."""


class BusGateways:
    """Calls all gateways at once; the one that waits for the answer replies."""

    def __init__(self, client: RpcClient) -> None:
        self._client = client

    async def forward_answer(self, question: str, caller: str, response: dict[str, object]) -> bool:
        request = ClientAnswerRequest(question_id=question, caller=caller, response=response)
        try:
            return await self._client.ask_all(CLIENT_ANSWER, request, deadline=FORWARD_SECONDS) is not None
        except RpcError as error:
            log.warning("mcp.answer_lost", code=error.code)
            return False


class ForwardedAnswers:
    """Receives the answers that other gateways forward."""

    def __init__(self, client: Client, answers: Answers) -> None:
        self._server = RpcServer(client)
        self._answers = answers

    async def start(self) -> None:
        await self._server.serve(CLIENT_ANSWER, self._take)

    async def _take(self, request: ClientAnswerRequest) -> ClientAnswerReply | None:
        is_taken = self._answers.accept(request.question_id, request.caller, request.response)
        return ClientAnswerReply() if is_taken else None
