"""What memory keeps, asked over the bus (ports.Memory)."""

from typing import TypeVar

from pydantic import BaseModel

from contracts import rpc
from contracts.errors import ErrorCode
from contracts.rpc import Rpc
from gateway.errors import Refused, Unavailable
from runtime.errors import RpcError
from runtime.rpc import RpcClient

RequestT = TypeVar("RequestT", bound=BaseModel)
ReplyT = TypeVar("ReplyT", bound=BaseModel)

DEADLINE = 3.0
_PASSED_ON = {
    ErrorCode.NOT_FOUND,
    ErrorCode.BAD_FIELD,
    ErrorCode.CONFLICT,
    ErrorCode.PRECONDITION_FAILED,
    ErrorCode.FORBIDDEN,
}


async def ask(client: RpcClient, method: Rpc[RequestT, ReplyT], request: RequestT) -> ReplyT:
    """The reply; raises Unavailable when there is none in time, Refused with the service's own code."""
    try:
        return await client.call(method, request, deadline=DEADLINE)
    except RpcError as error:
        if error.code in _PASSED_ON:
            raise Refused(ErrorCode(error.code), error.message) from error
        raise Unavailable("what is kept of conversations cannot be read now: try again") from error


class BusMemory:
    """Memory behind its RPC methods."""

    def __init__(self, client: RpcClient) -> None:
        self._client = client

    async def snapshot(self, company: str, conversation: str, min_seq: int, limit: int) -> rpc.SnapshotReply:
        request = rpc.SnapshotRequest(company_id=company, conversation_id=conversation, min_seq=min_seq, limit=limit)
        return await ask(self._client, rpc.SNAPSHOT, request)

    async def facts(self, company: str, conversation: str, since: int, min_seq: int) -> rpc.FactsReply:
        request = rpc.FactsRequest(company_id=company, conversation_id=conversation, since=since, min_seq=min_seq)
        return await ask(self._client, rpc.FACTS_AFTER, request)

    async def message(self, company: str, conversation: str, message_id: str) -> rpc.MessageView | None:
        request = rpc.MessageByIdRequest(company_id=company, conversation_id=conversation, message_id=message_id)
        return (await ask(self._client, rpc.MESSAGE_BY_ID, request)).message

    async def latest(self, company: str, user: str) -> str | None:
        request = rpc.LatestConversationRequest(company_id=company, user_id=user)
        return (await ask(self._client, rpc.LATEST_CONVERSATION, request)).conversation_id

    async def conversation(self, company: str, conversation: str) -> rpc.ConversationView | None:
        request = rpc.ConversationRef(company_id=company, conversation_id=conversation)
        return (await ask(self._client, rpc.CONVERSATION, request)).conversation

    async def conversations(
        self,
        company: str,
        *,
        state: rpc.ConversationState | None,
        operator: str | None,
        user: str | None,
        limit: int,
        cursor: str | None,
    ) -> rpc.ConversationsReply:
        request = rpc.ConversationsRequest(
            company_id=company, state=state, operator_id=operator, user_id=user, limit=limit, cursor=cursor
        )
        return await ask(self._client, rpc.CONVERSATIONS, request)

    async def messages(self, company: str, conversation: str, limit: int, cursor: str | None) -> rpc.MessagesReply:
        request = rpc.MessagesRequest(company_id=company, conversation_id=conversation, limit=limit, cursor=cursor)
        return await ask(self._client, rpc.CONVERSATION_MESSAGES, request)
