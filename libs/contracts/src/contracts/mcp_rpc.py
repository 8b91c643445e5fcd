"""What an MCP client answers to a question that a gateway has put to it in mid-call: it may reach another gateway."""

from typing import Annotated, Any

from pydantic import Field

from contracts.envelope import Wire
from contracts.rpc import Method, Rpc


class ClientAnswerRequest(Wire):
    """`response` is the JSON-RPC response as the client sent it, whose token `caller` names (company/role/user)."""

    question_id: Annotated[str, Field(min_length=1, max_length=128)]
    caller: Annotated[str, Field(min_length=1, max_length=600)]
    response: dict[str, Any]


class ClientAnswerReply(Wire):
    """The gateway that waits for this answer has it. Every other one is silent."""

    taken: bool = True


CLIENT_ANSWER = Rpc("rpc.gateway.answer.v1", ClientAnswerRequest, ClientAnswerReply, queue=None, safe=False)

METHODS: tuple[Method, ...] = (CLIENT_ANSWER,)
