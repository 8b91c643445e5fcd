"""Servers that go away, come back, or are replaced."""

import pytest

from contracts.company_rpc import COMPANY_CREATE, COMPANY_GET, CompanyCreateRequest, CompanyRequest
from contracts.conversation_rpc import CONVERSATION_MESSAGES, HISTORY, HistoryRequest, MessagesRequest
from contracts.streams import CHAT
from memory.testing.harness import Replica, Servers, Writer, replica
from runtime.bus.connection import jetstream
from runtime.bus.streams import ensure_streams
from runtime.errors import RpcError
from runtime.testing.servers import NatsServer, ValkeyServer, eventually, run_mongo_server


async def history(on: Replica, writer: Writer, up_to: int) -> list[str]:
    request = HistoryRequest(company_id=writer.company, conversation_id=writer.conversation, up_to_seq=up_to)
    return [message.text for message in (await on.rpc.call(HISTORY, request)).messages]


async def stored(on: Replica, writer: Writer) -> list[str]:
    request = MessagesRequest(company_id=writer.company, conversation_id=writer.conversation)
    return [message.text for message in (await on.rpc.call(CONVERSATION_MESSAGES, request)).items]


@pytest.mark.own_servers
async def test_without_redis_histories_are_right_all_the_same(servers: Servers, valkey_server: ValkeyServer) -> None:
    async with replica(servers) as one:
        writer = Writer(one.client)
        first = await writer.visitor("before")
        assert await history(one, writer, first) == ["before"]
        valkey_server.kill()
        for number in range(3):
            seq = await writer.visitor(f"m{number}")
            assert (await history(one, writer, seq))[-1] == f"m{number}"
        other = Writer(one.client)
        assert await history(one, other, await other.visitor("new")) == ["new"]
        valkey_server.start()
        assert await history(one, other, await other.visitor("after")) == ["new", "after"]


@pytest.mark.own_servers
async def test_a_frozen_redis_delays_a_history_but_does_not_stop_it(
    servers: Servers, valkey_server: ValkeyServer
) -> None:
    async with replica(servers) as one:
        writer = Writer(one.client)
        valkey_server.pause()
        try:
            assert await history(one, writer, await writer.visitor("hola")) == ["hola"]
        finally:
            valkey_server.resume()


async def test_while_mongodb_is_away_histories_come_from_the_log_and_everything_is_stored_afterwards(
    servers: Servers,
) -> None:
    with run_mongo_server() as mongo:
        here = Servers(servers.nats, mongo.url, "test", servers.redis)
        async with replica(here) as one:
            writer = Writer(one.client)
            assert await history(one, writer, await writer.visitor("m0")) == ["m0"]
            mongo.kill()
            for number in range(1, 4):
                seq = await writer.visitor(f"m{number}")
                assert (await history(one, writer, seq))[-1] == f"m{number}"
            cold = Writer(one.client)
            assert await history(one, cold, await cold.visitor("cold")) == ["cold"]
            with pytest.raises(RpcError) as refused:
                await one.rpc.call(COMPANY_GET, CompanyRequest(company_id="acme"))
            assert (refused.value.code, refused.value.retryable) == ("UNAVAILABLE", True)
            mongo.start()

            async def complete() -> bool:
                return await stored(one, writer) == ["m0", "m1", "m2", "m3"]

            assert await eventually(complete)


async def test_settings_survive_the_database_server(servers: Servers) -> None:
    with run_mongo_server() as mongo:
        async with replica(Servers(servers.nats, mongo.url, "test", servers.redis)) as one:
            await one.rpc.call(COMPANY_CREATE, CompanyCreateRequest(config={"companyId": "acme"}))
            mongo.restart()
            found = (await one.rpc.call(COMPANY_GET, CompanyRequest(company_id="acme"))).settings
            assert found is not None


@pytest.mark.own_servers
async def test_after_the_bus_was_killed_the_projection_goes_on(servers: Servers, nats_server: NatsServer) -> None:
    async with replica(servers) as one:
        writer = Writer(one.client)
        await writer.visitor("before")
        assert await stored(one, writer) == ["before"]
        nats_server.restart()
        seq = await writer.visitor("after")
        assert await history(one, writer, seq) == ["before", "after"]

        async def complete() -> bool:
            return await stored(one, writer) == ["before", "after"]

        assert await eventually(complete)


async def test_a_log_made_anew_keeps_what_was_said_before_in_its_place(servers: Servers) -> None:
    async with replica(servers) as one:
        writer = Writer(one.client)
        for number in range(5):
            await writer.visitor(f"old {number}")
        assert len(await stored(one, writer)) == 5
        await jetstream(one.service.nats).delete_stream(CHAT.name)
        await ensure_streams(one.client)
        seq = await writer.visitor("new")
        expected = [f"old {number}" for number in range(5)] + ["new"]

        async def complete() -> bool:
            return await stored(one, writer) == expected

        assert await eventually(complete)
        assert await history(one, writer, seq) == expected
