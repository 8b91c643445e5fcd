"""Every frame, by every role, about a conversation of somebody else, of another company, and one that is not there."""

import json
import uuid
from typing import Any

import pytest
from nats.aio.client import Client

from contracts import ws
from contracts.ids import turn_id
from gateway.testing.harness import ChatClient, GatewayUnderTest, MemoryStandIn, conversation_view
from gateway.testing.tokens import TokenMaker

SECRET = "known-to-one-person-alone"
FRAMES: dict[str, dict[str, Any]] = {
    "message.send": {"clientMessageId": str(uuid.uuid4()), "text": "I am somebody else"},
    "typing": {},
    "receipt": {"upToSeq": 1},
    "run.cancel": {"turnId": turn_id("acme", "c", 1)},
    "action.confirm": {"actionId": "a1"},
    "action.reject": {"actionId": "a1"},
    "feedback": {"messageId": "m1", "rating": "up"},
    "conversation.rate": {"score": 1},
    "handoff.request": {},
    "conversation.watch": {},
    "owner.take": {},
    "owner.release": {},
}
NAMES_NONE = {"hello", "ping", "inbox.watch"}
"""Hello is the first frame (test_hello); a ping is answered to whoever sends it; an inbox is one's own company's."""
REFUSED = {"NOT_FOUND", "FORBIDDEN"}


def test_every_frame_is_tried() -> None:
    assert FRAMES.keys() | NAMES_NONE == ws.CLIENT_FRAMES.keys()


async def stored(client: Client, company: str, conversation: str) -> dict[str, int]:
    """How many facts the log holds of a conversation, by subject."""
    wanted = json.dumps({"subjects_filter": f"chat.{company}.{conversation}.>"}).encode()
    answer = await client.request("$JS.API.STREAM.INFO.CHAT", wanted, timeout=10)
    return json.loads(answer.data)["state"].get("subjects") or {}


@pytest.mark.parametrize("role", ["visitor", "user", "commercial", "admin"])
async def test_nothing_comes_of_a_frame_about_what_is_not_ones_own(
    gateway: GatewayUnderTest, memory: MemoryStandIn, tokens: TokenMaker, nats_client: Client, role: str
) -> None:
    memory.add_company("other", aiAutoResponseEnabled=True)
    theirs: dict[str, str] = {}
    for company in ("acme", "other"):
        async with ChatClient(gateway.url) as victim:
            theirs[company] = (await victim.hello(tokens.visitor("victim", company)))["conversationId"]
            await victim.say(SECRET)
        memory.known_conversations[theirs[company]] = conversation_view(theirs[company], company, "victim")
    tried = [("other", theirs["other"]), ("acme", "not-there-at-all")]
    # Of their own company everything is people's.
    tried += [("acme", theirs["acme"])] if role in ("visitor", "user") else []
    token = tokens.visitor("me") if role == "visitor" else tokens.user("me", role)
    for company, conversation in tried:
        before = await stored(nats_client, company, conversation)
        async with ChatClient(gateway.url, hello=token) as client:
            for kind, fields in FRAMES.items():
                seen = await answers(client, kind, {"conversationId": conversation, **fields})
                told = [one for one in seen if one["type"] == "error"]
                assert {one["code"] for one in told} <= REFUSED, (kind, told)
                assert SECRET not in json.dumps(seen), kind
                assert all(one["type"] == "error" for one in seen if one.get("conversationId") == conversation), kind
        assert await stored(nats_client, company, conversation) == before


async def answers(client: ChatClient, kind: str, fields: dict[str, Any]) -> list[dict[str, Any]]:
    """What comes of a frame, up to the error: a ping overtakes what is slow."""
    await client.send(kind, **fields)
    await client.send("ping")
    seen: list[dict[str, Any]] = []
    while (frame := await client.next())["type"] != "pong":
        seen.append(frame)
    while not any(one["type"] == "error" for one in seen):
        seen.append(await client.next())
    return seen
