"""Human agents: they watch, take over, write, and give back."""

from tests.support.chat_client import ChatClient
from tests.support.running_stack import RunningStack


async def test_a_human_agent_watches_takes_over_writes_and_returns(stack: RunningStack, visitor: ChatClient) -> None:
    ack = await visitor.say("what is IBM trading at?")
    await visitor.answer_after(ack["seq"])
    async with stack.chat(stack.token("commercial", "ana")) as ana:
        await ana.send_frame("conversation.watch", conversationId=visitor.conversation)
        await ana.wait_for("snapshot", lambda f: f["conversationId"] == visitor.conversation)
        await ana.send_frame("owner.take", conversationId=visitor.conversation)
        taken = await visitor.wait_for("owner.changed")
        assert taken["owner"]["kind"] == "human"
        assert taken["owner"]["operatorId"] == "ana"
        unanswered = await visitor.say("are you a person?")
        await ana.send_frame(
            "message.send",
            conversationId=visitor.conversation,
            clientMessageId="018f7e2a-7c0d-7b5e-8a9b-0c1d2e3f4a5c",
            text="Yes, I am Ana.",
        )
        said = await visitor.wait_for("message.created", lambda f: f["message"]["role"] == "operator")
        assert said["message"]["text"] == "Yes, I am Ana."
        await ana.send_frame("owner.release", conversationId=visitor.conversation)
        await visitor.wait_for("owner.changed", lambda f: f["owner"]["kind"] == "ai")
        answer = await visitor.ask("what does the Pro plan cost?")
        assert answer["role"] == "assistant"
        silent = [m for m in visitor.messages("assistant") if unanswered["seq"] < m["seq"] < said["message"]["seq"]]
        assert silent == []


async def test_a_message_that_nobody_answered_is_answered_when_the_ai_gets_it_back(
    stack: RunningStack, visitor: ChatClient
) -> None:
    await visitor.ask("what is IBM trading at?")
    async with stack.chat(stack.mint("commercial", "ana")) as ana:
        await ana.send_frame("conversation.watch", conversationId=visitor.conversation)
        await ana.send_frame("owner.take", conversationId=visitor.conversation)
        await visitor.wait_for("owner.changed", lambda f: f["owner"]["kind"] == "human")
        waiting = await visitor.say("what does the Pro plan cost?")
        await ana.wait_for("message.created", lambda f: f["message"]["id"] == waiting["messageId"])
        await ana.send_frame("owner.release", conversationId=visitor.conversation)
        answer = await visitor.answer_after(waiting["seq"])
        assert "29" in answer["text"]


async def test_typing_of_one_is_seen_by_the_other(stack: RunningStack, visitor: ChatClient) -> None:
    await visitor.say("hello")
    async with stack.chat(stack.mint("commercial", "ana")) as ana:
        await ana.send_frame("conversation.watch", conversationId=visitor.conversation)
        await ana.wait_for("snapshot", lambda f: f["conversationId"] == visitor.conversation)
        await visitor.send_frame("typing")
        typing = await ana.wait_for("typing")
        assert typing["expiresInMs"] > 0
        await ana.send_frame("typing", conversationId=visitor.conversation)
        await visitor.wait_for("typing")


async def test_asking_for_a_person_makes_the_conversation_wait_for_one(visitor: ChatClient) -> None:
    await visitor.ask("what is IBM trading at?")
    await visitor.send_frame("handoff.request")
    changed = await visitor.wait_for("owner.changed")
    assert changed["owner"]["kind"] == "waiting"
