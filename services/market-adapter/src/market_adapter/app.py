"""The composition root: settings in, a running market-adapter out."""

import asyncio
from typing import Any

from pymongo import AsyncMongoClient
from pymongo.errors import PyMongoError

from contracts import market_rpc
from market_adapter.adapters.exchange_calendar import ExchangeCalendar
from market_adapter.adapters.mongo_session import MongoSessionStore
from market_adapter.adapters.nats_nudge import NatsNudge
from market_adapter.adapters.sample_facts import load_facts
from market_adapter.adapters.sample_files import load_sample
from market_adapter.adapters.sample_provider import SampleProvider
from market_adapter.context import MarketContext
from market_adapter.domain.sample_clock import SampleClock
from market_adapter.handlers import market_tools
from market_adapter.replay import Replay
from market_adapter.settings import MarketSettings
from runtime import service as runtime_service
from runtime.clock import SystemClock
from runtime.errors import NotReady
from runtime.logging import masked_text
from runtime.service import Service
from runtime.settings import DevSettings, MongoSettings, NatsSettings


def build() -> Service:
    """The service with everything in it, not yet started. Reads the environment."""
    settings = MarketSettings()
    service = Service("market-adapter", nats=NatsSettings(), port=settings.port, host=DevSettings().bind_host)
    sample = load_sample()
    clock = SampleClock(sample.sessions, sample.closes, at_end=settings.frozen)
    provider = SampleProvider(sample, load_facts(), clock)
    for method, handler in market_tools(provider):
        service.serve(method, handler)
    context = MarketContext(provider, ExchangeCalendar())
    service.serve(market_rpc.MARKET_STATUS, context.status)
    service.serve(market_rpc.MARKET_EVENTS, context.events)
    service.serve(market_rpc.MARKET_QUOTES, context.quotes)

    async def replay() -> None:
        await start_replay(service, clock, MongoSettings(), settings.seconds_per_bar)

    if not settings.frozen:
        service.on_start(replay)
    return service


async def start_replay(service: Service, clock: SampleClock, mongo: MongoSettings, seconds_per_bar: float) -> None:
    """Puts the sample clock where the store says it stands, and moves it on for as long as the service lives.

    Raises:
        NotReady: MongoDB does not answer.
    """
    client = AsyncMongoClient[dict[str, Any]](
        mongo.url, timeoutMS=int(mongo.deadline * 1000), serverSelectionTimeoutMS=int(mongo.deadline * 1000)
    )
    service.on_stop(client.close)
    nudge = NatsNudge(service.nats)
    store = MongoSessionStore(client[mongo.database])
    replay = Replay(clock, store, nudge, SystemClock(), seconds_per_bar=seconds_per_bar)
    await nudge.listen(replay.look)
    try:
        await replay.start()
    except PyMongoError as error:
        raise NotReady(f"MongoDB does not answer: is NEXUS_MONGODB_URL right? {masked_text(str(error))}") from error
    task = asyncio.create_task(replay.run())

    async def ping() -> None:
        await client.admin.command("ping")

    async def look_after_reconnect() -> None:
        replay.look()

    async def stop() -> None:
        replay.stop()
        await task

    service.add_check("mongodb", ping)
    service.on_reconnect(look_after_reconnect)
    service.on_stop(stop)


async def serve() -> None:
    """Builds the service and runs it until it is told to stop."""
    await build().run()


def main() -> None:
    """The process."""
    runtime_service.run(serve)
