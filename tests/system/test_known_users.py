"""A company says who its signed-in user is, and the widget's conversation is that user's."""

import time

import aiohttp
import jwt
import pytest

from nexus_cli.drill.log_reader import read_log
from tests.support.chat_client import ChatClient, ConnectionEndedError
from tests.support.running_stack import RunningStack

SECRET = "the shop's own secret, of more than 32 characters"
NEXT_SECRET = "the secret that follows it, of more than 32 as well"


def signed(user: str, company: str, secret: str = SECRET) -> str:
    return jwt.encode(
        {
            "sub": user,
            "aud": company,
            "exp": int(time.time()) + 600,
            "plan": "premium",
            "name": "Ana  Ruiz",
            "email": "ana@shop.example",
        },
        secret,
        algorithm="HS256",
    )


async def test_a_user_whom_the_company_has_signed_chats_as_a_customer_of_that_company_alone(
    stack: RunningStack,
) -> None:
    key = {"id": "shop", "algorithm": "HS256", "key": SECRET}
    identity = {"keys": [key], "highestPlan": "pro"}
    await stack.create_company("shop-a", aiAutoResponseEnabled=True, responseDelayMs=0, identity=identity)
    await stack.create_company("shop-b", aiAutoResponseEnabled=True, identity={"keys": [key | {"key": SECRET[::-1]}]})
    token, user = await stack.visitor("shop-a", identity=signed("ana-7", "shop-a"))
    claims = jwt.decode(token, options={"verify_signature": False})
    assert user == "ana-7"
    assert (claims["role"], claims["plan"], claims["company"]) == ("user", "pro", "shop-a")
    assert claims["exp"] <= time.time() + 601
    async with stack.chat(token) as chat:
        await chat.ask("hello, it is me")
        facts = await read_log(stack.facts()["urls"]["nats"], "shop-a", chat.conversation or "")
    assert facts[0].data["role"] == "user"
    async with aiohttp.ClientSession() as http:
        agent = {"Authorization": f"Bearer {stack.mint('commercial', 'eva', 'shop-a')}"}
        async with http.get(f"{stack.url}/v2/conversations/{chat.conversation}", headers=agent) as answer:
            visitor = (await answer.json())["visitor"]
    assert (visitor["id"], visitor["name"], visitor["email"]) == ("ana-7", "Ana Ruiz", "ana@shop.example")

    async with aiohttp.ClientSession() as http:
        memory = {"Authorization": f"Bearer {token}"}
        async with http.get(f"{stack.url}/v2/memory", headers=memory) as answer:
            assert answer.status == 200
        for company, word in (("shop-b", signed("ana-7", "shop-b")), ("shop-a", signed("ana-7", "shop-b"))):
            body = {"companyId": company, "identity": word}
            async with http.post(f"{stack.url}/v2/visitors", json=body) as refused:
                problem = await refused.json()
                assert refused.status == 401
                assert "identity" in problem["detail"]
                assert SECRET not in str(problem)
        # The user's token is not a visitor's: it is not made anew without the company's word.
        async with http.post(f"{stack.url}/v2/visitors", json={"companyId": "shop-a"}, headers=memory) as refused:
            assert refused.status == 401
        admin = {"Authorization": f"Bearer {stack.mint('admin', 'boss', 'shop-a')}"}
        async with http.get(f"{stack.url}/v2/llm/config/shop-a", headers=admin) as answer:
            text = await answer.text()
            assert SECRET not in text
            assert "********" in text

        async def keep_keys(*keys: dict[str, str]) -> None:
            async with http.patch(
                f"{stack.url}/v2/llm/config/shop-a",
                headers=admin | {"If-Match": "*"},
                json={"identity": {"keys": list(keys)}},
            ) as answer:
                assert answer.status == 200

        # A key that is replaced or revoked ends the open chat that it let in, and its token; a visitor stays, and so
        # does who was signed in by a key that is kept.
        other, _ = await stack.visitor("shop-a")
        async with ChatClient(stack.url, token) as chat, ChatClient(stack.url, other) as visitor_chat:
            await chat.hello()
            await visitor_chat.hello()
            await keep_keys(key | {"key": "********"}, key | {"id": "next", "key": NEXT_SECRET})
            await chat.ask("am I still here?")
            await keep_keys(key | {"key": NEXT_SECRET})
            with pytest.raises(ConnectionEndedError) as ended:
                await chat.wait_for("never")
            assert ended.value.code == 4500
            async with http.get(f"{stack.url}/v2/memory", headers=memory) as answer:
                assert answer.status == 401
            async with stack.visit("shop-a", identity=signed("ana-7", "shop-a", NEXT_SECRET)) as chat:
                await keep_keys()
                with pytest.raises(ConnectionEndedError) as ended:
                    await chat.wait_for("never")
            assert ended.value.code == 4500
            await visitor_chat.ask("and me?")
