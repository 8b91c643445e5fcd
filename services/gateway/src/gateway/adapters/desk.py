"""What human agents do at their desk, asked of memory. Each method raises Unavailable without an answer in time."""

from datetime import datetime

from contracts import desk_rpc
from contracts.rpc import ConversationRef, ConversationView
from gateway.adapters.service_calls import ask
from gateway.errors import not_found
from runtime.rpc import RpcClient

CHANGE_SECONDS = 10.0
"""For a change, which memory stores on the bus before it answers."""


class BusDesk:
    """Memory behind its RPC methods."""

    def __init__(self, client: RpcClient) -> None:
        self._client = client

    async def update(self, request: desk_rpc.ConversationUpdate) -> ConversationView:
        """The conversation as it is then; raises Refused: NOT_FOUND, or CONFLICT when somebody else has it."""
        reply = await ask(self._client, desk_rpc.CONVERSATION_UPDATE, request, deadline=CHANGE_SECONDS)
        if reply.conversation is None:
            raise not_found("conversation")
        return reply.conversation

    async def merge(self, request: desk_rpc.PersonMerge) -> desk_rpc.PersonMerged:
        """What changed hands; raises Refused: NOT_FOUND, CONFLICT."""
        return await ask(self._client, desk_rpc.PERSON_MERGE, request, deadline=CHANGE_SECONDS)

    async def colleagues(self, company: str) -> desk_rpc.Colleagues:
        """Who works at the company's desk."""
        return await ask(self._client, desk_rpc.COLLEAGUES, desk_rpc.ColleaguesRequest(company_id=company))

    async def add_note(self, request: desk_rpc.NoteRequest) -> desk_rpc.NoteView:
        """The note as it is stored."""
        return (await ask(self._client, desk_rpc.NOTE_ADD, request, deadline=CHANGE_SECONDS)).note

    async def notes(self, company: str, conversation: str) -> desk_rpc.NotesReply:
        """A conversation's notes, and what was done with it."""
        return await ask(
            self._client, desk_rpc.NOTES, ConversationRef(company_id=company, conversation_id=conversation)
        )

    async def named(
        self, company: str, operator: str, name: str | None, seen_up_to: datetime | None = None
    ) -> desk_rpc.NamedReply:
        """The notes that name a human agent."""
        request = desk_rpc.NamedRequest(
            company_id=company, operator_id=operator, operator_name=name, seen_up_to=seen_up_to
        )
        return await ask(self._client, desk_rpc.NAMED, request)

    async def counts(
        self, company: str, operator: str, name: str | None = None, *, present: bool = False
    ) -> desk_rpc.CountsReply:
        """How many conversations are in each list."""
        request = desk_rpc.CountsRequest(company_id=company, operator_id=operator, operator_name=name, present=present)
        return await ask(self._client, desk_rpc.COUNTS, request)

    async def replies(self, company: str) -> desk_rpc.CannedReplies:
        """A company's ready replies."""
        return await ask(self._client, desk_rpc.REPLIES, desk_rpc.CannedRepliesRequest(company_id=company))

    async def put_reply(self, company: str, reply: desk_rpc.CannedReply) -> desk_rpc.CannedReply:
        """Keeps it in the place of the one with its shortcut."""
        request = desk_rpc.CannedReplyRequest(company_id=company, reply=reply)
        return (await ask(self._client, desk_rpc.REPLY_PUT, request, deadline=CHANGE_SECONDS)).reply

    async def delete_reply(self, company: str, shortcut: str) -> None:
        """Raises Refused: NOT_FOUND."""
        request = desk_rpc.CannedReplyRef(company_id=company, shortcut=shortcut)
        if not (await ask(self._client, desk_rpc.REPLY_DELETE, request, deadline=CHANGE_SECONDS)).deleted:
            raise not_found("reply")
