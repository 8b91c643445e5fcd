"""The fenced append: look, decide, append, and again when something newer got there first."""

import asyncio

import orjson
import pytest
from nats.aio.client import Client
from nats.aio.msg import Msg

from contracts.channels import ChatKind, conversation_tree
from contracts.conversation import Snapshot
from contracts.events.chat import Owner, OwnerChanged, OwnerKind, SystemMessage
from runtime.bus.connection import connect
from runtime.bus.publisher import Appended, Publisher
from runtime.conversation import MAX_ATTEMPTS, ConversationLog, ConversationWriter, NewFact
from runtime.errors import ConversationBusyError
from runtime.settings import NatsSettings
from runtime.testing.network import proxy_to
from runtime.testing.servers import NatsServer, eventually

PLACE = ("acme", "c1")


def writer(client: Client) -> ConversationWriter:
    return ConversationWriter(ConversationLog(client), Publisher(client), "/tests")


def owner(kind: OwnerKind, identity: str) -> NewFact:
    return NewFact(ChatKind.OWNER, OwnerChanged(owner=Owner(kind=kind), by="op"), identity, event_id=f"e-{identity}")


def notice(identity: str) -> NewFact:
    data = SystemMessage(message_id=identity, text="noted", code="NOTE")
    return NewFact(ChatKind.SYSTEM, data, identity, event_id=f"e-{identity}")


async def test_what_is_decided_is_appended_from_the_snapshot_that_it_was_decided_from(nats_streams: Client) -> None:
    seen: list[int] = []

    async def take(now: Snapshot) -> NewFact | None:
        seen.append(now.seq)
        return owner(OwnerKind.HUMAN, "take") if now.owner is OwnerKind.AI else None

    writes = writer(nats_streams)
    assert await writes.append_if(*PLACE, take) == Appended(1, duplicate=False)
    assert await writes.append_if(*PLACE, take) is None
    assert seen == [0, 1]
    now = await ConversationLog(nats_streams).snapshot(*PLACE)
    assert (now.seq, now.owner, now.last[ChatKind.OWNER].event["source"]) == (1, OwnerKind.HUMAN, "/tests")


async def test_whoever_is_overtaken_decides_again(nats_streams: Client) -> None:
    writes, seen = writer(nats_streams), list[OwnerKind]()

    async def take(now: Snapshot) -> NewFact | None:
        seen.append(now.owner)
        if len(seen) == 1:
            await writer(nats_streams).append(*PLACE, owner(OwnerKind.WAITING, "other"))
        return owner(OwnerKind.HUMAN, "take")

    assert await writes.append_if(*PLACE, take) == Appended(2, duplicate=False)
    assert seen == [OwnerKind.AI, OwnerKind.WAITING]


async def test_a_conversation_that_changes_before_each_try_is_busy(nats_streams: Client) -> None:
    tries: list[int] = []

    async def overtaken(now: Snapshot) -> NewFact | None:
        tries.append(now.seq)
        await writer(nats_streams).append(*PLACE, notice(f"n{len(tries)}"))
        return owner(OwnerKind.HUMAN, "take")

    with pytest.raises(ConversationBusyError) as busy:
        await writer(nats_streams).append_if(*PLACE, overtaken)
    assert busy.value.retryable
    # Each look is at least as new as what overtook the one before.
    assert tries == list(range(MAX_ATTEMPTS))


async def test_what_an_earlier_call_has_stored_is_found_and_not_decided_again(nats_streams: Client) -> None:
    async def never(_: Snapshot) -> NewFact | None:
        raise AssertionError

    writes = writer(nats_streams)
    await writes.append(*PLACE, notice("n1"))
    assert await writes.append_if(*PLACE, never, repeats=(ChatKind.SYSTEM, "e-n1")) == Appended(1, duplicate=True)


async def test_an_append_whose_acknowledgement_was_lost_is_its_own_and_stored_once(
    nats_server: NatsServer, nats_streams: Client
) -> None:
    log = ConversationLog(nats_streams)
    decided: list[int] = []
    async with proxy_to(nats_server.url) as proxy:
        client = await connect(NatsSettings(url=proxy.url), name="far")

        async def take(now: Snapshot) -> NewFact | None:
            decided.append(now.seq)
            proxy.hold_replies()
            return owner(OwnerKind.HUMAN, "take")

        append = asyncio.create_task(writer(client).append_if(*PLACE, take))

        async def stored() -> bool:
            return (await log.bounds()).last_seq == 1

        await eventually(stored)
        # The connection goes with the acknowledgement: the same append once more meets its own fence.
        proxy.cut()
        assert await asyncio.wait_for(append, 30) == Appended(1, duplicate=True)
        await client.close()
    assert decided == [0]
    assert (await log.bounds()).last_seq == 1


async def test_a_replica_that_finds_nothing_is_asked_again_while_the_leader_has_something(nats_client: Client) -> None:
    """The replica is played: this stream has no direct reads of its own."""
    transport, tries = nats_client._transport, 0  # pyright: ignore[reportPrivateUsage]
    assert transport is not None
    subject = f"{conversation_tree(*PLACE)[:-1]}of.another.version"
    lags = orjson.dumps({"name": "LAGS", "subjects": [conversation_tree(*PLACE)], "storage": "memory"})
    await nats_client.request("$JS.API.STREAM.CREATE.LAGS", lags)
    await nats_client.request(subject, b"{}")
    held = f"NATS/1.0\r\nNats-Sequence: 1\r\nNats-Subject: {subject}\r\nNats-Time-Stamp: 2026-01-01T00:00:00Z\r\n\r\n"
    end = "NATS/1.0 204 EOB\r\nNats-Num-Pending: 0\r\nNats-UpTo-Sequence: 1\r\n\r\n"
    nothing = "NATS/1.0 404 No Results\r\n\r\n"

    async def replica(message: Msg) -> None:
        nonlocal tries
        tries += 1
        for head in [nothing] if tries < 3 else [held, end]:
            transport.write(f"HPUB {message.reply} {len(head)} {len(head)}\r\n{head}\r\n".encode())

    await nats_client.subscribe("$JS.API.DIRECT.GET.LAGS", cb=replica)  # pyright: ignore[reportUnknownMemberType]
    assert (await ConversationLog(nats_client, "LAGS").snapshot(*PLACE, reached=1)).seq == 1
    assert tries == 3
