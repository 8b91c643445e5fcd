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


async def forward_answer(client: RpcClient, question: str, caller: str, response: dict[str, object]) -> bool:
    """Calls all gateways at once; the one that waits for the answer replies."""
    request = ClientAnswerRequest(question_id=question, caller=caller, response=response)
    try:
        return await client.ask_all(CLIENT_ANSWER, request, deadline=FORWARD_SECONDS) is not None
    except RpcError as error:
        log.warning("mcp.answer_lost", code=error.code)
        return False


async def take_forwarded_answers(client: Client, answers: Answers) -> None:
    """Receives the answers that other gateways forward, from now on."""

    async def take(request: ClientAnswerRequest) -> ClientAnswerReply | None:
        is_taken = answers.accept(request.question_id, request.caller, request.response)
        return ClientAnswerReply() if is_taken else None

    await RpcServer(client).serve(CLIENT_ANSWER, take)
