"""Handing over without a model: asked for in words, offered after the second miss, waited for, taken, given back."""

import asyncio
from typing import Any

import aiohttp
import pytest

from runtime.testing.servers import eventually
from tests.support.chat_client import ChatClient
from tests.support.running_stack import RunningStack

COMPANY = "hand-over"
SENT = "018f7e2a-7c0d-7b5e-8a9b-0c1d2e3f4a5d"


async def listed(stack: RunningStack, conversation: str, company: str = "demo") -> dict[str, Any] | None:
    """The conversation among those of the inbox that need a person; None: it is not."""
    headers = {"Authorization": f"Bearer {stack.mint('commercial', 'ana', company)}"}
    async with (
        aiohttp.ClientSession(headers=headers) as http,
        http.get(f"{stack.url}/v2/conversations?state=needs_human&limit=200") as reply,
    ):
        items = (await reply.json())["items"]
    return next((item for item in items if item["id"] == conversation), None)


@pytest.mark.parametrize(
    ("question", "wish", "locale", "summary", "told"),
    [
        (
            "what does the Pro plan cost?",
            "a human please",
            "en",
            "Asked: «what does the Pro plan cost?»",
            "next in line",
        ),
        (
            "¿cuánto cuesta el plan Pro?",
            "quisiera hablar con alguien del equipo",
            "es",
            "Pregunta: «¿cuánto",
            "delante",
        ),
    ],
)
async def test_who_asks_for_a_person_in_words_waits_in_the_inbox_and_is_answered_by_one(
    stack: RunningStack, question: str, wish: str, locale: str, summary: str, told: str
) -> None:
    token, _ = await stack.visitor(locale=locale)
    async with ChatClient(stack.url, token) as visitor, ChatClient(stack.url, stack.mint("commercial", "ana")) as ana:
        await visitor.hello(locale=locale, page={"url": "https://shop.example/pricing", "title": "Pricing"})
        await ana.hello()
        await visitor.ask(question)
        asked = await visitor.say(wish)
        changed = await visitor.wait_for("owner.changed")
        assert changed["owner"]["kind"] == "waiting"
        notice = await visitor.wait_for("message.created", lambda f: f["message"].get("code") == "HANDOFF_WAITING")
        assert told in notice["message"]["text"] or "2" in notice["message"]["text"]

        async def inboxed() -> dict[str, Any] | None:
            return await listed(stack, str(visitor.conversation))

        found = await eventually(inboxed)
        assert found is not None
        assert found["handOver"]["reason"] == "asked"
        assert (found["handOver"]["by"], found["handOver"]["language"]) == ("agent", locale)
        assert found["handOver"]["summary"][0].startswith(summary)
        assert 1 <= len(found["handOver"]["summary"]) <= 5
        assert [page["title"] for page in found["visitor"]["pages"]] == ["Pricing"]

        await ana.send_frame("owner.take", conversationId=visitor.conversation)
        await visitor.wait_for("owner.changed", lambda f: f["owner"].get("operatorId") == "ana")
        await ana.send_frame(
            "message.send", conversationId=visitor.conversation, clientMessageId=SENT, text="I am Ana. How can I help?"
        )
        said = await visitor.wait_for("message.created", lambda f: f["message"]["role"] == "operator")
        await ana.send_frame("owner.release", conversationId=visitor.conversation)
        await visitor.wait_for("owner.changed", lambda f: f["owner"]["kind"] == "ai")
        later = await visitor.ask(question)
        spoken = [message["seq"] for message in visitor.messages("assistant")]
        assert not [seq for seq in spoken if asked["seq"] < seq <= said["message"]["seq"]]
        assert later["seq"] in spoken


async def test_after_the_second_miss_a_person_is_offered_and_a_yes_is_enough(stack: RunningStack) -> None:
    async with stack.visit(locale="en") as visitor:
        await visitor.ask("what is the name of your founder's dog?")
        answer = await visitor.ask("what is the name of your founder's dog?")
        assert "“yes”" in answer["text"]
        await visitor.say("yes please")
        await visitor.wait_for("owner.changed", lambda f: f["owner"]["kind"] == "waiting")

        async def inboxed() -> dict[str, Any] | None:
            return await listed(stack, str(visitor.conversation))

        found = await eventually(inboxed)
        assert found is not None
        assert found["handOver"]["reason"] == "missed"
        assert "founder" in found["handOver"]["summary"][0]


async def test_when_nobody_comes_it_is_said_and_what_was_asked_beside_it_is_answered(stack: RunningStack) -> None:
    await stack.create_company(
        COMPANY, aiAutoResponseEnabled=True, handoffTimeoutSeconds=10, responseDelayMs=0, budget={"dailyTokens": 10**6}
    )

    async def visit(wish: str) -> str:
        async with stack.visit(COMPANY, locale="en") as visitor:
            await visitor.say(wish)
            await visitor.wait_for("owner.changed", lambda f: f["owner"]["kind"] == "waiting")
            await visitor.wait_for("message.created", lambda f: f["message"].get("code") == "HANDOFF_WAITING")
            await visitor.wait_for("message.created", lambda f: f["message"].get("code") == "HANDOFF_TIMEOUT")
            answer = await visitor.wait_for("message.created", lambda f: f["message"]["role"] == "assistant")
            owners = [frame["owner"]["kind"] for frame in visitor.of_type("owner.changed")]
            assert owners == ["waiting", "ai"]
            return str(answer["message"]["text"])

    alone, beside = await asyncio.gather(
        visit("can I talk to somebody?"), visit("what can you do for me? And I want to talk to a person.")
    )
    assert "tell me what you need" in alone
    assert "This is what I can do" in beside
