"""Who has a chat open hears of the company's switch."""

import pytest
from nats.aio.client import Client

from contracts.company_rpc import COMPANY_PATCH, CompanyPatchRequest
from gateway.testing.harness import ChatClient, GatewayUnderTest
from gateway.testing.tokens import TokenMaker
from runtime.calls.rpc import RpcClient


@pytest.mark.usefixtures("memory", "settings")
async def test_whoever_has_the_chat_open_is_told_when_the_assistant_is_switched(
    gateway: GatewayUnderTest, tokens: TokenMaker, nats_client: Client
) -> None:
    async with ChatClient(gateway.url, hello=tokens.visitor("v1")) as visitor, ChatClient(gateway.url) as agent:
        await agent.hello(tokens.user("ben", "commercial"))
        for version, patch in enumerate(
            ({"aiAutoResponseEnabled": False}, {"name": "Acme"}, {"aiAutoResponseEnabled": True}), start=1
        ):
            request = CompanyPatchRequest(company_id="acme", version=version, patch=patch)
            await RpcClient(nats_client).call(COMPANY_PATCH, request, deadline=10)
        assert [(await visitor.until("assistant.changed"))["ai"] for _ in range(2)] == [False, True]
        await agent.send("ping")
        assert (await agent.next())["type"] == "pong"
