"""From the log into MongoDB: once each, in any order, whatever is delivered again."""

import asyncio

from pymongo import AsyncMongoClient

from contracts.channels import ChatKind, chat
from contracts.conversation_rpc import (
    CONVERSATION,
    CONVERSATION_MESSAGES,
    MESSAGE_BY_ID,
    ConversationRef,
    ConversationView,
    MessageByIdRequest,
    MessagesRequest,
)
from contracts.events.chat import OwnerKind, VisitorMessage
from contracts.ids import derive_id
from contracts.streams import CHAT
from memory.adapters.chat_consumer import DURABLE
from memory.testing.harness import Replica, Servers, Writer, replica
from runtime.bus.connection import jetstream
from runtime.bus.publisher import Publisher
from runtime.testing.servers import eventually
from runtime.workers.dead_letters import DeadLetters


async def conversation(on: Replica, writer: Writer) -> ConversationView:
    ref = ConversationRef(company_id=writer.company, conversation_id=writer.conversation)
    found = (await on.rpc.call(CONVERSATION, ref)).conversation
    assert found is not None
    return found


async def texts(on: Replica, writer: Writer) -> list[str]:
    request = MessagesRequest(company_id=writer.company, conversation_id=writer.conversation)
    return [message.text for message in (await on.rpc.call(CONVERSATION_MESSAGES, request)).items]


async def test_a_conversation_is_projected_with_its_owner_its_visitor_and_its_messages(servers: Servers) -> None:
    async with replica(servers) as one:
        writer = Writer(one.client)
        first = await writer.visitor("hola", page="https://acme.example/", user="v7")
        await writer.assistant("buenas", first)
        await writer.owner(OwnerKind.HUMAN, "op1")
        await writer.operator("soy Ana")
        found = await conversation(one, writer)
        assert (found.state, found.owner.kind, found.owner.operator_id) == ("human", OwnerKind.HUMAN, "op1")
        assert (found.visitor.id, found.message_count) == ("v7", 3)
        assert found.visitor.page is not None
        assert found.last_message is not None
        assert found.last_message.text == "soy Ana"
        assert await texts(one, writer) == ["hola", "buenas", "soy Ana"]


async def test_a_conversation_that_nobody_began_is_none(servers: Servers) -> None:
    async with replica(servers) as one:
        ref = ConversationRef(company_id="acme", conversation_id="nothing")
        assert (await one.rpc.call(CONVERSATION, ref)).conversation is None


async def test_a_copy_of_a_message_is_stored_once_however_late_it_comes(servers: Servers) -> None:
    async with replica(servers) as one:
        writer = Writer(one.client)
        identity = derive_id(writer.company, writer.conversation, "visitor", "c1")
        message = VisitorMessage(message_id=identity, client_message_id="c1", text="once")
        for copy in range(5):
            await writer.put(ChatKind.VISITOR, message, identity, msg_id=f"copy-{copy}")
        await writer.visitor("twice")
        assert (await conversation(one, writer)).message_count == 2
        assert await texts(one, writer) == ["once", "twice"]


async def test_replicas_share_the_work_and_count_each_message_once(servers: Servers) -> None:
    async with replica(servers) as one, replica(servers) as two, replica(servers) as three:
        writer = Writer(one.client)
        for batch in range(10):
            await asyncio.gather(*(writer.visitor(f"{batch}-{number}") for number in range(20)))
        for each in (one, two, three):
            assert (await conversation(each, writer)).message_count == 200


async def test_the_whole_log_projected_again_changes_nothing(servers: Servers) -> None:
    async with replica(servers) as one:
        writer = Writer(one.client)
        first = await writer.visitor("hola")
        await writer.assistant("buenas", first)
        before = await conversation(one, writer)
    async with AsyncMongoClient[dict[str, object]](servers.mongo) as mongo:
        await mongo[servers.database]["meta"].delete_many({})
    async with replica(servers) as one:
        await writer_on(one, writer).visitor("more")
        after = await conversation(one, writer)
        assert (after.message_count, after.started_at) == (before.message_count + 1, before.started_at)


async def test_a_new_database_gets_the_whole_log(servers: Servers) -> None:
    async with replica(servers) as one:
        writer = Writer(one.client)
        first = await writer.visitor("hola")
        await writer.assistant("buenas", first)
        await conversation(one, writer)
    async with replica(Servers(servers.nats, servers.mongo, f"{servers.database}_new", servers.redis)) as one:
        assert await texts(one, writer) == ["hola", "buenas"]


async def test_facts_that_fit_no_contract_are_dead_letters_and_stop_nobody(servers: Servers) -> None:
    async with replica(servers) as one:
        writer = Writer(one.client)
        publisher = Publisher(one.client)
        subject = chat(writer.company, writer.conversation, ChatKind.VISITOR)
        bad = (b"{}", b"\xff\x00", b'{"specversion":"1.0","id":"x","source":"s","type":"chat.other.v1","data":{}}')
        for number, body in enumerate(bad):
            await publisher.append(subject, body, stream=CHAT.name, msg_id=f"bad-{number}")
        await publisher.append("chat.acme.c1.something.else.v1", b"{}", stream=CHAT.name, msg_id="unknown-kind")
        await writer.visitor("good")
        assert await texts(one, writer) == ["good"]
        letters = DeadLetters(one.client)

        async def buried() -> bool:
            return len(await letters.list(service="memory")) == len(bad) + 1

        assert await eventually(buried)


async def test_a_message_is_found_by_its_id_at_once(servers: Servers) -> None:
    async with replica(servers) as one:
        writer = Writer(one.client)
        identity = derive_id(writer.company, writer.conversation, "visitor", "c1")
        request = MessageByIdRequest(company_id="acme", conversation_id=writer.conversation, message_id=identity)
        assert (await one.rpc.call(MESSAGE_BY_ID, request)).message is None
        seq = await writer.visitor("hola", client_message_id="c1")
        found = (await one.rpc.call(MESSAGE_BY_ID, request)).message
        assert found is not None
        assert (found.seq, found.text) == (seq, "hola")
        other = request.model_copy(update={"company_id": "other"})
        assert (await one.rpc.call(MESSAGE_BY_ID, other)).message is None


async def test_the_projection_goes_on_when_its_consumer_was_deleted(servers: Servers) -> None:
    async with replica(servers) as one:
        writer = Writer(one.client)
        await writer.visitor("before")
        assert await texts(one, writer) == ["before"]
        await jetstream(one.service.nats).delete_consumer(CHAT.name, DURABLE)
        await writer.visitor("after")

        async def there() -> bool:
            return (await texts(one, writer)) == ["before", "after"]

        assert await eventually(there)


def writer_on(on: Replica, writer: Writer) -> Writer:
    """The same conversation, written over another connection."""
    return Writer(on.client, writer.company, writer.conversation)
