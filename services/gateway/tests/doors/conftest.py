"""OpenAI's client at a gateway whose agent answers."""

from collections.abc import AsyncIterator

import pytest
from nats.aio.client import Client
from openai import AsyncOpenAI

from gateway.testing.doors import AnsweringAgent
from gateway.testing.harness import GatewayUnderTest, MemoryStandIn
from gateway.testing.openai import openai_client
from gateway.testing.tokens import TokenMaker


@pytest.fixture
async def client(gateway: GatewayUnderTest, memory: MemoryStandIn, tokens: TokenMaker) -> AsyncIterator[AsyncOpenAI]:
    """The official client, with a customer's token as its key; it does not try again by itself."""
    del memory
    key = tokens.user("ana", "user")
    async with openai_client(gateway.url, key) as made:
        yield made


@pytest.fixture
async def agent(nats_client: Client, gateway: GatewayUnderTest) -> AnsweringAgent:
    del gateway
    answering = AnsweringAgent(nats_client)
    await answering.start()
    return answering
