"""Conversations as memory stores them, read over the bus."""

import time
from typing import TypeVar

from pydantic import BaseModel

from contracts import conversation_rpc, file_rpc, identity_rpc, owner_rpc, rpc, withdrawal_rpc
from contracts.channels import ChatKind
from contracts.conversation import Fact
from contracts.ids import uuid7
from gateway.adapters.service_calls import ask
from gateway.errors import UnavailableError
from runtime.calls.rpc import RpcClient

START_SECONDS = 2.0
"""Deadline in seconds of a call without whose answer a chat can start."""
BACKOFF_SECONDS = 5.0
"""Seconds for which such calls get a short deadline after memory did not answer one."""
BACKOFF_CALL_SECONDS = 0.5
"""The short deadline in seconds."""

_KINDS = frozenset(kind.value for kind in ChatKind)

RequestT = TypeVar("RequestT", bound=BaseModel)
ReplyT = TypeVar("ReplyT", bound=BaseModel)


def facts_in(reply: conversation_rpc.FactsReply) -> list[Fact]:
    """The facts of a page, without those of kinds that only a newer release knows."""
    return [Fact.of(ChatKind(view.kind), view.seq, view.event) for view in reply.facts if view.kind in _KINDS]


class BusMemory:
    """Memory behind its RPC methods."""

    def __init__(self, client: RpcClient) -> None:
        self._client = client
        self._backoff_until = 0.0

    async def _ask_at_start(self, method: rpc.Rpc[RequestT, ReplyT], request: RequestT) -> ReplyT:
        """Makes a call without whose answer a chat can start. After a failure the deadline is short, so that many
        starting chats do not all wait in vain."""
        deadline = BACKOFF_CALL_SECONDS if time.monotonic() < self._backoff_until else START_SECONDS
        try:
            return await ask(self._client, method, request, deadline=deadline)
        except UnavailableError:
            self._backoff_until = time.monotonic() + BACKOFF_SECONDS
            raise

    async def snapshot(
        self, company: str, conversation: str, min_seq: int, limit: int, *, events: bool
    ) -> conversation_rpc.SnapshotReply:
        """The last messages, from a memory that has stored everything up to `min_seq`; `events`: with the changes of
        owner."""
        request = conversation_rpc.SnapshotRequest(
            company_id=company, conversation_id=conversation, min_seq=min_seq, limit=limit, events=events
        )
        if min_seq == 0:
            return await self._ask_at_start(conversation_rpc.SNAPSHOT, request)
        return await ask(self._client, conversation_rpc.SNAPSHOT, request)

    async def owner_seen(self, company: str, conversation: str, operator: str, up_to: int | None) -> None:
        """Reports that a human agent has just read the conversation up to `up_to`, or typed in it."""
        request = owner_rpc.OwnerSeenRequest(
            company_id=company, conversation_id=conversation, operator_id=operator, up_to_seq=up_to
        )
        await ask(self._client, owner_rpc.OWNER_SEEN, request)

    async def facts(self, company: str, conversation: str, since: int, min_seq: int) -> conversation_rpc.FactsReply:
        """A page of durable facts after `since`, from a memory that has stored everything up to `min_seq`."""
        request = conversation_rpc.FactsRequest(
            company_id=company, conversation_id=conversation, since=since, min_seq=min_seq
        )
        return await ask(self._client, conversation_rpc.FACTS_AFTER, request)

    async def message(self, company: str, conversation: str, message_id: str) -> conversation_rpc.MessageView | None:
        request = conversation_rpc.MessageByIdRequest(
            company_id=company, conversation_id=conversation, message_id=message_id
        )
        return (await ask(self._client, conversation_rpc.MESSAGE_BY_ID, request)).message

    async def keep_file(self, company: str, conversation: str, file: str, size: int) -> file_rpc.FileKeepReply:
        """Counts a file of this size in bytes, if the company has room for it."""
        request = file_rpc.FileKeepRequest(company_id=company, conversation_id=conversation, file_id=file, size=size)
        return await ask(self._client, file_rpc.FILE_KEEP, request)

    async def withdraw(self, company: str, conversation: str, response: str) -> bool:
        """Deletes a response for its door; False if it was deleted before."""
        request = withdrawal_rpc.WithdrawRequest(
            company_id=company, conversation_id=conversation, response=response, request_id=uuid7()
        )
        return (await ask(self._client, withdrawal_rpc.WITHDRAW, request)).withdrawn

    async def withdrawn(self, company: str, conversation: str, response: str) -> bool:
        """Whether a response was deleted."""
        request = withdrawal_rpc.ResponseRef(company_id=company, conversation_id=conversation, response=response)
        return (await self._ask_at_start(withdrawal_rpc.WITHDRAWN, request)).withdrawn

    async def identify(self, company: str, token: str) -> identity_rpc.IdentifyReply:
        """The user named by a JWT of the company, or what is wrong with it."""
        request = identity_rpc.IdentifyRequest(company_id=company, token=token)
        return await ask(self._client, identity_rpc.IDENTIFY, request)

    async def latest(self, company: str, user: str) -> str | None:
        """The id of a user's latest conversation."""
        request = conversation_rpc.LatestConversationRequest(company_id=company, user_id=user)
        return (await self._ask_at_start(conversation_rpc.LATEST_CONVERSATION, request)).conversation_id

    async def conversation(self, company: str, conversation: str) -> conversation_rpc.ConversationView | None:
        request = conversation_rpc.ConversationRef(company_id=company, conversation_id=conversation)
        return (await ask(self._client, conversation_rpc.CONVERSATION, request)).conversation

    async def conversations(
        self, request: conversation_rpc.ConversationsRequest
    ) -> conversation_rpc.ConversationsReply:
        return await ask(self._client, conversation_rpc.CONVERSATIONS, request)

    async def messages(
        self, company: str, conversation: str, limit: int, cursor: str | None, *, latest: bool = False
    ) -> conversation_rpc.MessagesReply:
        """A page of a conversation's messages, oldest first. `latest`: pages go from the last one backwards."""
        request = conversation_rpc.MessagesRequest(
            company_id=company, conversation_id=conversation, limit=limit, cursor=cursor, latest=latest
        )
        return await ask(self._client, conversation_rpc.CONVERSATION_MESSAGES, request)
