"""Orders, alerts and watchlists while services stand still or die: each key is told the truth in the end, done once."""

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator

import aiohttp
import pytest
import pytest_asyncio

from contracts.errors import OUTCOME_UNKNOWN
from gateway.testing.http import Http
from runtime.testing.servers import eventually
from tests.support.effects_customer import SETTLED_WITHIN, Customer
from tests.support.effects_ledger import View
from tests.support.running_stack import RunningStack

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest_asyncio.fixture(loop_scope="session")
async def customer(stack: RunningStack) -> AsyncIterator[Customer]:
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=70)) as session:
        yield Customer(stack, Http(stack.url, session))


@pytest.mark.timeout(240)
async def test_what_a_paused_market_adapter_did_not_answer_is_told_as_it_is(
    stack: RunningStack, customer: Customer
) -> None:
    keys = [customer.effect(number) for number in range(4)]
    pid = stack.process("market-adapter").pid
    os.kill(pid, signal.SIGSTOP)
    try:
        began = time.monotonic()
        for status, body in await asyncio.gather(*(customer.ask(key) for key in keys)):
            assert (status, body["error"]["code"], body["error"]["reason"]) == (504, "TIMEOUT", OUTCOME_UNKNOWN)
        assert time.monotonic() - began < 30
    finally:
        os.kill(pid, signal.SIGCONT)
    # What it had not taken yet comes after its deadline. Nothing is made before the same key asks for it again.
    await stack.whole()
    await customer.settle()
    assert customer.ledger.count()[View.ACCEPTED] == len(keys)
    assert customer.ledger.findings(await customer.stands()) == []


@pytest.mark.timeout(420)
@pytest.mark.parametrize("service", ["market-adapter", "tool-executor", "mongodb"])
async def test_the_ledgers_agree_whatever_dies_in_the_middle_of_effects(
    stack: RunningStack, customer: Customer, service: str
) -> None:
    """Calls begin a few milliseconds one after the other: one kill meets each of them at another step."""
    calls = [customer.effect(number) for number in range(16)]

    async def ask(number: int, key: str) -> None:
        await asyncio.sleep(number * 0.008)
        await customer.ask(key)

    storm = [asyncio.create_task(ask(number, key)) for number, key in enumerate(calls)]
    await asyncio.sleep(0.07)
    dead = stack.kill(service)
    await asyncio.gather(*storm)
    await eventually(lambda: stack.process(service).pid != dead, SETTLED_WITHIN)
    await stack.whole()
    await customer.settle()
    assert customer.ledger.findings(await customer.stands()) == []
    assert customer.ledger.count()[View.ACCEPTED] == len(calls)
