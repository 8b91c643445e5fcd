"""Settings of companies: known for as long as the process lives, whoever hangs."""

import asyncio

import pytest
from nats.aio.client import Client

from contracts.channels import fact
from contracts.company import CompanyConfig, CompanySettings
from contracts.company_rpc import COMPANY_GET, CompanyReply, CompanyRequest
from contracts.envelope import CloudEvent
from contracts.events.fact import CompanyConfigChanged
from contracts.streams import FACTS
from runtime.bus.connection import subscribe
from runtime.bus.publisher import Publisher
from runtime.calls.rpc import RpcClient, RpcServer
from runtime.companies import CHANGES, COMPANY_CHANGED, CONFIRM_INTERVAL, RETRY_INTERVAL, CompanyCache
from runtime.errors import RpcError
from runtime.testing.clock import FakeClock
from runtime.testing.servers import eventually

ACME = CompanySettings(config=CompanyConfig(company_id="acme"), version=3)


class MemoryOfSettings:
    """Memory's method; `hangs`: it never answers."""

    def __init__(self, client: Client) -> None:
        self._server = RpcServer(client)
        self._client = client
        self.settings: CompanySettings | None = ACME
        self.hangs = False
        self.asked = 0

    async def start(self) -> None:
        await self._server.serve(COMPANY_GET, self._get)
        await self._client.flush()

    async def stop(self) -> None:
        await self._server.drain(0.1)

    async def _get(self, request: CompanyRequest) -> CompanyReply:
        assert request.company_id
        self.asked += 1
        if self.hangs:
            await asyncio.Event().wait()
        return CompanyReply(settings=self.settings if request.company_id == "acme" else None)


@pytest.fixture
async def memory(nats_streams: Client) -> MemoryOfSettings:
    one = MemoryOfSettings(nats_streams)
    await one.start()
    return one


async def tell(client: Client, version: int, **config: object) -> CompanySettings:
    settings = CompanyConfig.model_validate({"companyId": "acme", **config})
    event = CloudEvent(
        source="/test", type=COMPANY_CHANGED, data=CompanyConfigChanged(config=settings, version=version)
    )
    await Publisher(client).append(
        fact(COMPANY_CHANGED, "acme", None), event, stream=FACTS.name, msg_id=f"acme.{version}"
    )
    return CompanySettings(config=settings, version=version)


async def test_many_who_want_the_same_settings_are_one_question(nats_streams: Client, memory: MemoryOfSettings) -> None:
    cache = CompanyCache(nats_streams, RpcClient(nats_streams))
    assert await asyncio.gather(*(cache.get("acme") for _ in range(20))) == [ACME] * 20
    assert await cache.get("acme") == ACME
    assert memory.asked == 1


async def test_while_memory_hangs_a_service_that_has_just_started_takes_the_newest_fact_on_the_bus(
    nats_streams: Client, memory: MemoryOfSettings
) -> None:
    memory.hangs = True
    await tell(nats_streams, 3)
    newest = await tell(nats_streams, 4, aiAutoResponseEnabled=False)
    cache = CompanyCache(nats_streams, RpcClient(nats_streams))
    assert await cache.get("acme") == newest
    with pytest.raises(RpcError):
        await cache.get("never-told")
    await memory.stop()


async def test_what_is_known_outlives_a_reconnect_that_nobody_can_confirm_it_after_and_says_for_how_long(
    nats_streams: Client, memory: MemoryOfSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runtime.companies.DEADLINE", 0.5)
    clock = FakeClock()
    cache = CompanyCache(nats_streams, RpcClient(nats_streams), clock.monotonic)
    assert await cache.get("acme") == ACME
    assert await cache.check() == "1 known, confirmed"
    memory.hangs = True
    await clock.advance(1.0)
    cache.missed()
    assert await cache.get("acme") == ACME
    await clock.advance(45.0)
    assert cache.age() == 46.0
    assert await cache.check() == "1 known, not confirmed for 46 s"
    memory.hangs = False
    assert await cache.get("acme") == ACME
    assert cache.age() == 0.0
    await memory.stop()


async def test_after_a_reconnect_a_change_that_was_missed_counts_at_once(
    nats_streams: Client, memory: MemoryOfSettings
) -> None:
    cache = CompanyCache(nats_streams, RpcClient(nats_streams))
    assert await cache.get("acme") == ACME
    memory.settings = await tell(nats_streams, 4, aiAutoResponseEnabled=False)
    cache.missed()
    assert await asyncio.gather(cache.get("acme"), cache.get("acme")) == [memory.settings] * 2


async def test_a_change_that_was_dropped_is_found_a_minute_later_and_nobody_waits_for_the_look(
    nats_streams: Client, memory: MemoryOfSettings
) -> None:
    clock = FakeClock()
    cache = CompanyCache(nats_streams, RpcClient(nats_streams), clock.monotonic)
    told: list[int] = []
    cache.on_change(lambda _, settings: told.append(settings.version if settings else 0))
    assert await cache.get("acme") == ACME
    memory.settings = CompanySettings(config=ACME.config, version=4)
    await clock.advance(CONFIRM_INTERVAL - 1)
    await cache.get("acme")
    assert memory.asked == 1
    await clock.advance(1 + RETRY_INTERVAL)
    assert await cache.get("acme") == ACME
    await eventually(lambda: told == [3, 4])
    assert await cache.get("acme") == memory.settings


async def test_an_answer_that_was_on_its_way_does_not_undo_a_change(
    nats_streams: Client, memory: MemoryOfSettings
) -> None:
    cache = CompanyCache(nats_streams, RpcClient(nats_streams))
    await subscribe(nats_streams, CHANGES, cache.changed)
    await nats_streams.flush()
    newest = await tell(nats_streams, 5)
    await eventually(lambda: cache.count == 1)
    assert await cache.latest_settings("acme") == newest
    assert memory.asked == 1


async def test_a_company_that_there_is_not_is_asked_about_once_in_a_while_and_known_when_it_is_told(
    nats_streams: Client, memory: MemoryOfSettings
) -> None:
    memory.settings = None
    cache = CompanyCache(nats_streams, RpcClient(nats_streams))
    await subscribe(nats_streams, CHANGES, cache.changed)
    await nats_streams.flush()
    for _ in range(5):
        assert await cache.get("acme") is None
    assert memory.asked == 1
    made = await tell(nats_streams, 1)

    async def known() -> bool:
        return await cache.get("acme") == made

    await eventually(known)
