"""Human agents who follow their company's inbox are told which conversations have changed."""

from nats.aio.client import Client

from contracts.erasure_rpc import FORGOTTEN, DeletedConversations
from gateway.chat.inboxes import MAX_NAMED
from gateway.testing.harness import ChatClient, GatewayUnderTest, MemoryStandIn
from gateway.testing.tokens import TokenMaker


async def test_a_human_agent_hears_which_conversations_of_the_company_change(
    gateway: GatewayUnderTest, tokens: TokenMaker, memory: MemoryStandIn
) -> None:
    memory.add_company("other", aiAutoResponseEnabled=True)
    async with ChatClient(gateway.url) as agent, ChatClient(gateway.url) as eve, ChatClient(gateway.url) as ana:
        await agent.hello(tokens.user("ben", "commercial"))
        await agent.send("inbox.watch")
        assert (await agent.until("inbox.changed"))["conversationIds"] == []
        await eve.hello(tokens.user("eve", "user", company="other"))
        await eve.say("not theirs to see")
        talk = (await ana.hello(tokens.user("ana", "user")))["conversationId"]
        await ana.say("hello")
        await ana.say("are you there?")
        changed = await agent.until("inbox.changed")
        assert (changed["conversationId"], changed["conversationIds"]) == (None, [talk])

        await eve.send("typing")
        for _ in range(3):  # said once in a while, however often it comes
            await ana.send("typing")
        assert (await agent.until("typing"))["conversationId"] == talk
        async with ChatClient(gateway.url, hello=tokens.user("carla", "commercial")) as carla:
            await carla.send("conversation.watch", conversationId=talk)
            await carla.until("snapshot")
            await ana.send("receipt", upToSeq=1)
            await carla.send("receipt", conversationId=talk, upToSeq=1)
            looked = await agent.until("receipt")
            assert (looked["conversationId"], looked["actor"]) == (talk, "operator")
        await agent.send("conversation.watch", conversationId=talk)
        await agent.until("snapshot")
        agent.seen.clear()
        await ana.send("typing")
        await ana.say("here is more")
        await agent.until("inbox.changed")
        assert [frame["type"] for frame in agent.seen if frame["type"] == "typing"] == ["typing"]


async def test_after_the_bus_was_away_the_whole_list_is_to_be_read_anew(
    gateway: GatewayUnderTest, tokens: TokenMaker, memory: MemoryStandIn
) -> None:
    async with ChatClient(gateway.url, hello=tokens.user("ben", "admin")) as agent:
        await agent.send("inbox.watch")
        await agent.until("inbox.changed")
        gateway.gateway.chat.inboxes.all_changed()
        assert (await agent.until("inbox.changed"))["conversationIds"] == []


async def test_a_human_agent_hears_which_conversations_are_deleted_and_of_many_that_the_list_is_to_be_read(
    gateway: GatewayUnderTest, tokens: TokenMaker, memory: MemoryStandIn, nats_client: Client
) -> None:
    async with ChatClient(gateway.url, hello=tokens.user("ben", "commercial")) as agent:
        await agent.send("inbox.watch")
        await agent.until("inbox.changed")
        for names in (["c1", "c2"], [f"c{number}" for number in range(MAX_NAMED + 1)]):
            await nats_client.publish(FORGOTTEN, DeletedConversations(company="acme", conversations=names).to_json())
            told = (await agent.until("inbox.changed"))["conversationIds"]
            assert told == (names if len(names) <= MAX_NAMED else [])


async def test_the_inbox_is_for_human_agents(
    gateway: GatewayUnderTest, tokens: TokenMaker, memory: MemoryStandIn
) -> None:
    async with ChatClient(gateway.url, hello=tokens.user("ana", "user")) as ana:
        await ana.send("inbox.watch")
        assert (await ana.until("error"))["code"] == "FORBIDDEN"
