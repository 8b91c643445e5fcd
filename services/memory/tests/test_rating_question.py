"""Whoever wrote is asked once whether it helped, when the conversation is over."""

from contracts.company_rpc import COMPANY_CREATE, CompanyCreateRequest
from contracts.desk_rpc import CONVERSATION_UPDATE, ConversationUpdate
from contracts.ids import uuid7
from memory.testing.harness import Replica, Servers, Writer, replica
from runtime.conversation import ConversationLog
from runtime.testing.servers import eventually


async def resolve(on: Replica, writer: Writer, state: str = "resolved") -> None:
    request = {
        "companyId": writer.company,
        "conversationId": writer.conversation,
        "updateId": uuid7(),
        "by": "ana",
        "state": state,
    }
    await on.rpc.call(CONVERSATION_UPDATE, ConversationUpdate.model_validate(request))


async def questions(on: Replica, writer: Writer) -> list[str]:
    log = ConversationLog(on.client)
    facts = await log.read(writer.company, writer.conversation, 0, (await log.bounds()).last_seq)
    return [fact.event.decode() for fact in facts if b"RATING_ASKED" in fact.event]


async def test_who_is_resolved_is_asked_once_and_in_their_language(servers: Servers) -> None:
    async with replica(servers) as one, replica(servers):
        await one.rpc.call(COMPANY_CREATE, CompanyCreateRequest(config={"companyId": "acme"}))
        quiet = {"companyId": "quiet", "askRating": False}
        await one.rpc.call(COMPANY_CREATE, CompanyCreateRequest(config=quiet))
        asked, silent, off = Writer(one.client), Writer(one.client), Writer(one.client, "quiet")
        await asked.assistant("29 euros", await asked.visitor("how much?", locale="en"))
        await silent.visitor("hello?")
        await resolve(one, silent)
        await resolve(one, asked)

        async def told() -> bool:
            return len(await questions(one, asked)) == 1

        await eventually(told)
        assert "Did this conversation help?" in (await questions(one, asked))[0]
        # It is opened and resolved again, by a person and by a message: nobody is asked twice.
        await resolve(one, asked, "open")
        await resolve(one, asked)
        await asked.assistant("yes", await asked.visitor("with tax?", locale="en"))
        await resolve(one, asked)
        await off.assistant("29 euros", await off.visitor("how much?"))
        await resolve(one, off)
        last = Writer(one.client)
        await last.assistant("29 euros", await last.visitor("how much?"))
        await resolve(one, last)

        async def last_told() -> bool:
            return len(await questions(one, last)) == 1

        await eventually(last_told)
        assert len(await questions(one, asked)) == 1
        assert await questions(one, silent) == []
        assert await questions(one, off) == []
