"""For tests: a stand-in for memory's desk. It knows every conversation and records its requests."""

from dataclasses import dataclass, field
from datetime import UTC, datetime

from nats.aio.client import Client

from contracts import desk_rpc
from contracts.conversation_rpc import ConversationRef, ConversationReply
from gateway.testing.harness import conversation_view
from runtime.calls.rpc import RpcServer
from runtime.errors import RpcError


@dataclass
class DeskStandIn:
    """Answers the methods of the desk."""

    client: Client
    updates: list[desk_rpc.ConversationUpdate] = field(default_factory=list[desk_rpc.ConversationUpdate])
    failing_updates: int = 0
    """How many of the next updates fail."""
    merges: list[desk_rpc.PersonMerge] = field(default_factory=list[desk_rpc.PersonMerge])
    notes: list[desk_rpc.NoteRequest] = field(default_factory=list[desk_rpc.NoteRequest])
    named: list[desk_rpc.NamedRequest] = field(default_factory=list[desk_rpc.NamedRequest])
    replies: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])

    async def start(self) -> None:
        """Starts answering."""
        server = RpcServer(self.client)
        await server.serve(desk_rpc.CONVERSATION_UPDATE, self._update)
        await server.serve(desk_rpc.PERSON_MERGE, self._merge)
        await server.serve(desk_rpc.COLLEAGUES, self._colleagues)
        await server.serve(desk_rpc.NOTE_ADD, self._note)
        await server.serve(desk_rpc.NOTES, self._notes)
        await server.serve(desk_rpc.COUNTS, self._counts)
        await server.serve(desk_rpc.NAMED, self._named)
        await server.serve(desk_rpc.REPLIES, self._list)
        await server.serve(desk_rpc.REPLY_PUT, self._put)
        await server.serve(desk_rpc.REPLY_DELETE, self._delete)
        await self.client.flush()

    async def _update(self, request: desk_rpc.ConversationUpdate) -> ConversationReply:
        if self.failing_updates:
            self.failing_updates -= 1
            raise RpcError("UNAVAILABLE", "the desk is away")
        self.updates.append(request)
        return ConversationReply(conversation=conversation_view(request.conversation_id, request.company_id, "me"))

    async def _merge(self, request: desk_rpc.PersonMerge) -> desk_rpc.PersonMerged:
        self.merges.append(request)
        return desk_rpc.PersonMerged(person_id=request.person_id, into=request.into, conversations=["c1"])

    async def _colleagues(self, _: desk_rpc.ColleaguesRequest) -> desk_rpc.Colleagues:
        return desk_rpc.Colleagues(items=[desk_rpc.Colleague(user_id="ben", name="Ben Ortiz", mention="ben")])

    async def _note(self, request: desk_rpc.NoteRequest) -> desk_rpc.NoteReply:
        self.notes.append(request)
        return desk_rpc.NoteReply(note=_view(next(note for note in self.notes if note.note_id == request.note_id)))

    async def _notes(self, request: ConversationRef) -> desk_rpc.NotesReply:
        return desk_rpc.NotesReply(
            items=[_view(note) for note in self.notes if note.conversation_id == request.conversation_id]
        )

    async def _named(self, request: desk_rpc.NamedRequest) -> desk_rpc.NamedReply:
        self.named.append(request)
        return desk_rpc.NamedReply(items=[])

    async def _counts(self, _: desk_rpc.CountsRequest) -> desk_rpc.CountsReply:
        return desk_rpc.CountsReply(
            all=3, needs_human=1, mine=0, unassigned=2, ai=1, stuck=0, snoozed=0, resolved=1
        )  # fmt: skip

    async def _list(self, request: desk_rpc.CannedRepliesRequest) -> desk_rpc.CannedReplies:
        replies = [(name, text) for (company, name), text in self.replies.items() if company == request.company_id]
        return desk_rpc.CannedReplies(
            items=[desk_rpc.CannedReply(shortcut=name, text=text) for name, text in sorted(replies)]
        )

    async def _put(self, request: desk_rpc.CannedReplyRequest) -> desk_rpc.CannedReplySaved:
        self.replies[request.company_id, request.reply.shortcut] = request.reply.text
        return desk_rpc.CannedReplySaved(reply=request.reply)

    async def _delete(self, request: desk_rpc.CannedReplyRef) -> desk_rpc.CannedReplyGone:
        return desk_rpc.CannedReplyGone(
            deleted=self.replies.pop((request.company_id, request.shortcut), None) is not None
        )


def _view(note: desk_rpc.NoteRequest) -> desk_rpc.NoteView:
    return desk_rpc.NoteView(
        id=note.note_id, text=note.text, by=note.by, name=note.name, created_at=datetime(2026, 1, 1, tzinfo=UTC)
    )
