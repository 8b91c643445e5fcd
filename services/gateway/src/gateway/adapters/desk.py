"""Changes at the desk to conversations, made by memory."""

from contracts import desk_rpc
from contracts.conversation_rpc import ConversationView
from gateway.adapters.service_calls import CHANGE_SECONDS, ask
from gateway.errors import found
from runtime.calls.rpc import RpcClient


async def change_conversation(rpc: RpcClient, request: desk_rpc.ConversationUpdate) -> ConversationView:
    """Changes a conversation and returns it; raises RefusedError: NOT_FOUND, or CONFLICT if somebody else has it."""
    reply = await ask(rpc, desk_rpc.CONVERSATION_UPDATE, request, deadline=CHANGE_SECONDS)
    return found(reply.conversation, "conversation")
