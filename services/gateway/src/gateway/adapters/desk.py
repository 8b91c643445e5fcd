"""Changes to conversations and people at the desk, sent to memory; used by routes and chats."""

from contracts import desk_rpc
from contracts.conversation_rpc import ConversationView
from gateway.adapters.service_calls import CHANGE_SECONDS, ask
from gateway.errors import not_found
from runtime.calls.rpc import RpcClient


async def change_conversation(rpc: RpcClient, request: desk_rpc.ConversationUpdate) -> ConversationView:
    """The conversation after the change; raises RefusedError: NOT_FOUND, or CONFLICT if somebody else has it."""
    reply = await ask(rpc, desk_rpc.CONVERSATION_UPDATE, request, deadline=CHANGE_SECONDS)
    if reply.conversation is None:
        raise not_found("conversation")
    return reply.conversation


async def merge_person(rpc: RpcClient, request: desk_rpc.PersonMerge) -> desk_rpc.PersonMerged:
    """The conversations that changed hands; raises RefusedError: NOT_FOUND, CONFLICT."""
    return await ask(rpc, desk_rpc.PERSON_MERGE, request, deadline=CHANGE_SECONDS)
