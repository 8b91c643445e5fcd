"""The earlier items of an unkept response that continues a kept one."""

from contracts.events.chat import Role
from gateway.doors.responses.kept import previous_conversation
from gateway.doors.responses.names import parse_response_id
from gateway.doors.responses.requests import CreateResponse, InputItem
from gateway.ports import TokenCaller
from gateway.web.deps import Api

MAX_MESSAGES = 50


async def items_before(api: Api, caller: TokenCaller, body: CreateResponse) -> list[InputItem]:
    """The conversation's items up to the end of the previous response; raises NOT_FOUND unless it is the caller's."""
    response_id = parse_response_id(body.previous_response_id or "")
    conversation = await previous_conversation(api, caller, str(response_id))
    reply = await api.memory.snapshot(
        caller.company, conversation, response_id.question_seq, MAX_MESSAGES, events=False
    )
    items: list[InputItem] = []
    has_reply = False
    for message in reply.messages:
        is_question = message.role.gets_answers
        if is_question and has_reply:
            break
        has_reply = has_reply or (not is_question and message.seq > response_id.question_seq)
        if message.role is not Role.SYSTEM:
            items.append(InputItem(role="user" if is_question else "assistant", content=message.text))
    return items
