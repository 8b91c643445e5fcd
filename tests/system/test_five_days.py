"""Five days with the copilot, on a clock of their own: what a customer states, changes and has forgotten is what the
model is told each day. Memory and agent with real servers; the model is scripted, the market is away.
"""

from collections.abc import AsyncIterator

import pytest

from memory.testing.harness import Servers
from runtime.testing.servers import MongoDatabase, NatsServer, ValkeyServer, eventually
from tests.support.life import Life, living


@pytest.fixture
async def life(
    nats_server: NatsServer, valkey_server: ValkeyServer, mongo_server: MongoDatabase
) -> AsyncIterator[Life]:
    async with living(Servers(nats_server.url, mongo_server.url, mongo_server.database, valkey_server.url)) as one:
        yield one


async def test_what_is_said_changed_and_forgotten_shows_in_the_prompt_of_each_day(life: Life) -> None:
    # The first day: nothing is known. Something is said, and learned from the turn.
    await life.day("I prefer dividend stocks", "I do swing trading", "remember that my goal is a house")

    async def learned() -> bool:
        known = await life.remembered()
        return bool(known.preferences) and known.trading_style == "swing" and bool(known.user_notes)

    await eventually(learned)
    # The second day: the copilot knows, and knows which day it is.
    prompt = await life.prompt()
    assert "- Trading style: swing" in prompt
    assert "- Preferences: I prefer dividend stocks" in prompt
    assert "- Asked to remember: my goal is a house" in prompt
    assert "2026-03-03" in prompt
    # The third day: something changes.
    await life.day("I moved from swing to day trading")

    async def moved() -> bool:
        return (await life.remembered()).trading_style == "day_trading"

    await eventually(moved)
    (past, *_) = (await life.remembered()).superseded
    assert (past.field, past.value) == ("tradingStyle", "swing")
    # The fourth day: it shows; something is to be forgotten, and is.
    prompt = await life.prompt()
    assert "- Trading style: day trading" in prompt
    (told,) = await life.day("forget that I prefer dividend stocks")
    assert told.startswith("Done, I have forgotten: “I prefer dividend stocks”.")
    # The last day: it is gone, the rest is there.
    prompt = await life.prompt()
    assert "dividend" not in prompt
    assert "- Asked to remember: my goal is a house" in prompt
    (told,) = await life.day("what do you remember about me?")
    assert "dividend" not in told
    assert "Your trading style is day trading (since " in told
    # And everything, on request.
    await life.day("forget everything you know about me")
    prompt = await life.prompt()
    assert "What is known of the user" not in prompt
    assert "Not available right now" in prompt, "the market is away all the time"
