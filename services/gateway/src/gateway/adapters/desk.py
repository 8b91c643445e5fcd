"""Changes at the desk to conversations and people, made by memory."""

from contracts import desk_rpc
from contracts.conversation_rpc import ConversationView
from gateway.adapters.service_calls import CHANGE_SECONDS, ask
from gateway.errors import found
from runtime.calls.rpc import RpcClient


async def change_conversation(rpc: RpcClient, request: desk_rpc.ConversationUpdate) -> ConversationView:
    """Changes a conversation and returns it; raises RefusedError: NOT_FOUND, or CONFLICT if somebody else has it."""
    reply = await ask(rpc, desk_rpc.CONVERSATION_UPDATE, request, deadline=CHANGE_SECONDS)
    return found(reply.conversation, "conversation")


async def merge_person(rpc: RpcClient, request: desk_rpc.PersonMerge) -> desk_rpc.PersonMerged:
    """Merges one person into another and returns the conversations moved; raises RefusedError: NOT_FOUND, CONFLICT."""
    return await ask(rpc, desk_rpc.PERSON_MERGE, request, deadline=CHANGE_SECONDS)
