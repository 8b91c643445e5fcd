"""An MCP client's answer to a question that a gateway asked during a call; it may arrive at another gateway."""

from typing import Annotated, Any

from pydantic import Field

from contracts.envelope import Wire
from contracts.rpc import Rpc


class ClientAnswerRequest(Wire):
    """`response` is the JSON-RPC response as the client sent it; `caller` is who its token names
    (company/role/user)."""

    question_id: Annotated[str, Field(min_length=1, max_length=128)]
    caller: Annotated[str, Field(min_length=1, max_length=600)]
    response: dict[str, Any]


class ClientAnswerReply(Wire):
    """The gateway that waits for this answer has received it. Other gateways do not reply."""

    taken: bool = True


CLIENT_ANSWER = Rpc("rpc.gateway.answer.v1", ClientAnswerRequest, ClientAnswerReply, queue=None, safe=False)
