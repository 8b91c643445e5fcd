"""The earlier items, for an unkept response that continues a kept one."""

from contracts.events.chat import Role
from gateway.doors.responses.kept import previous
from gateway.doors.responses.names import read_name
from gateway.doors.responses.requests import CreateResponse, InputItem
from gateway.ports import TokenCaller
from gateway.web.deps import Api

MOST = 50


async def items_before(api: Api, caller: TokenCaller, body: CreateResponse) -> list[InputItem]:
    """The conversation up to the end of the previous response; raises NOT_FOUND unless it is the caller's."""
    name = read_name(body.previous_response_id or "")
    conversation = await previous(api, caller, str(name))
    reply = await api.memory.snapshot(caller.company, conversation, name.asked, MOST, events=False)
    items: list[InputItem] = []
    replied = False
    for message in reply.messages:
        asks = message.role.gets_answers
        if asks and replied:
            break
        replied = replied or (not asks and message.seq > name.asked)
        if message.role is not Role.SYSTEM:
            items.append(InputItem(role="user" if asks else "assistant", content=message.text))
    return items
