"""A customer who has used everything is deleted: no stream, collection or key holds their id or their words, but what
counts against limits until it expires."""

import uuid
from pathlib import Path
from typing import Any

import aiohttp

from agent.scripted_model.script import Rule, ScriptedCall, ScriptedReply
from agent.scripted_model.server import scripted_model
from gateway.testing.http import Http
from runtime.testing.servers import eventually
from tests.support import raw_scan
from tests.support.running_stack import RunningStack

COMPANY = "acme"
WORD, OTHERS = "xyzzy-hers", "xyzzy-his"
LIMITS = ("redis tool:limit:", "redis nexus:budget:")
ORDER = {"symbol": "IBM", "side": "buy", "quantity": 3, "order_type": "limit", "limit_price": 1}


async def everything(stack: RunningStack) -> dict[str, str]:
    return await raw_scan.streams(stack) | await raw_scan.databases(stack)


def places(found: dict[str, str], user: str, word: str, conversation: str) -> set[str]:
    """Where the person, their word or their conversation is named; spans name conversations, and nobody."""
    return {
        place
        for place, text in found.items()
        if user in text or word in text or (conversation in text and not place.startswith("stream TRACES"))
    }


async def use_everything(stack: RunningStack, http: Http, user: str, word: str) -> tuple[str, str]:
    """A chat with an order that waits, one that is confirmed, a turn that failed, tools, an alert, a watchlist; returns
    the token and the conversation.
    """
    token = stack.mint("user", user, COMPANY, plan="pro")

    async def tool(name: str, **arguments: Any) -> None:
        status, body, _ = await http("POST", f"/v2/tools/{name}", token=token, json={"arguments": arguments})
        assert status == 200, body

    async with stack.chat(token, locale="en") as chat:
        (action,) = (await chat.ask(f"buy 3 IBM with a limit of 1 dollar, says {word}"))["actions"]
        await chat.send_frame("action.confirm", actionId=action["id"])
        await chat.wait_for("action.updated")
        assert (await chat.ask(f"stumble over {word}"))["code"] == "LLM_UNAVAILABLE"
        answer = await chat.ask(f"Remember that my word is {word}. What of AAPL?")
        await chat.send_frame("feedback", messageId=answer["id"], rating="up", reason=word)
        await tool("create_alert", symbol="IBM", condition=">=", price=100_000, message=word)
        await tool("add_to_watchlist", symbol="MSFT")
        await tool("create_paper_order", **ORDER)
        await tool("get_portfolio")
    status, body, _ = await http("PATCH", "/v2/memory", token=token, json={"userNotes": [word], "name": word})
    assert status == 200, body
    assert chat.conversation is not None
    return token, chat.conversation


async def test_a_deleted_user_is_nowhere_and_others_keep_what_is_theirs(tmp_path: Path) -> None:
    hers, his = f"u-{uuid.uuid4().hex}", f"u-{uuid.uuid4().hex}"
    order = ScriptedReply(tool_calls=[ScriptedCall(name="create_paper_order", arguments=ORDER)])
    async with (
        scripted_model(
            Rule(match="buy", replies=[order, ScriptedReply(text="Shall I?")], again=True),
            Rule(match="stumble", replies=[ScriptedReply(status=401)], again=True),
        ) as model,
        aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=40)) as session,
        RunningStack(tmp_path, model.environment) as stack,
    ):
        budget = {"visitorHourlyTokens": 1_000_000}
        await stack.create_company(COMPANY, aiAutoResponseEnabled=True, responseDelayMs=0, budget=budget)
        http = Http(stack.url, session)
        (token, hers_said), (_, his_said) = [
            await use_everything(stack, http, user, word) for user, word in ((hers, WORD), (his, OTHERS))
        ]
        wanted = {"mongo facts", "mongo conversations", "mongo executions", "mongo memories"}
        # Not tool:limit: a slow machine needs more than the minute after which that expires.
        kinds = ("redis tool:call:", "redis nexus:memory:short:", "redis nexus:budget:")

        async def written() -> bool:
            found = places(await everything(stack), hers, WORD, hers_said)
            streams = {place.split()[1] for place in found if place.startswith("stream")}
            keys = {kind for kind in kinds if any(place.startswith(kind) for place in found)}
            assert {"CHAT", "FACTS", "DLQ"} <= streams
            assert any("turn.failed.v1" in place for place in found)
            assert keys == set(kinds)
            assert wanted <= found
            return True

        async def settled() -> set[str]:
            """Where his is, once no call of his holds a reservation."""
            found = places(await everything(stack), his, OTHERS, his_said)
            return set() if any(place.endswith(":held") for place in found) else found

        await eventually(written)
        before = await eventually(settled)
        status, body, _ = await http("DELETE", "/v2/users/me", token=token)
        assert status == 200, body

        async def gone() -> bool:
            found = places(await everything(stack), hers, WORD, hers_said)
            return not [one for one in found if not one.startswith(LIMITS)]

        await eventually(gone)
        left = places(await everything(stack), his, OTHERS, his_said)
        # Results are kept for seconds, calls are counted for a minute, requests are kept until they are taken.
        passing = ("redis tool:cache", "redis tool:lead", "redis tool:limit:", "stream TOOLS")
        assert {place for place in before if not place.startswith(passing)} <= left
