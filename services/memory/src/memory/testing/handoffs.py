"""For tests: hand-off sweeps as replicas would run them, and what they have appended."""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta

from pymongo import AsyncMongoClient
from pymongo.monitoring import CommandListener
from redis.asyncio import Redis

from contracts.channels import ChatKind
from contracts.envelope import CloudEvent
from contracts.events.chat import (
    OwnerChanged,
    OwnerKind,
)
from memory.adapters.chat_log import StreamLog
from memory.adapters.mongo import for_requests
from memory.adapters.mongo_companies import MongoCompanies
from memory.adapters.mongo_conversations import MongoConversations
from memory.adapters.redis_looks import RedisLooks
from memory.application.handoffs import BATCH, Handoffs
from memory.domain.conversation import InboxConversation
from memory.domain.keys import milliseconds
from memory.ports import LogClock
from memory.testing.harness import Replica, Servers, Writer
from runtime.bus.connection import connect
from runtime.bus.direct import StoredFact
from runtime.bus.publisher import Publisher
from runtime.conversation import ConversationLog
from runtime.settings import NatsSettings
from runtime.stores.mongo import Document
from runtime.testing.servers import eventually


async def facts_of(memory: Replica, writer: Writer) -> list[StoredFact]:
    log = ConversationLog(memory.client)
    return await log.read(writer.company, writer.conversation, 0, (await log.bounds()).last_seq)


def kinds(facts: Sequence[StoredFact]) -> list[str]:
    return [fact.subject.split(".", 3)[3] for fact in facts]


class ClockAhead:
    """The log's clock, some time ahead."""

    def __init__(self, ahead: timedelta) -> None:
        self.ahead = ahead

    async def __call__(self) -> datetime:
        return datetime.now(UTC) + self.ahead


async def no_usual_wait(company: str) -> None:
    """The usual wait of a company where nobody has waited yet."""


async def assign_nobody(state: InboxConversation, now: datetime) -> datetime | None:
    """Assigns the conversation to nobody."""


async def sweepers(
    stack: AsyncExitStack,
    servers: Servers,
    count: int,
    clock: LogClock | None = None,
    listeners: Sequence[CommandListener] = (),
) -> list[Handoffs]:
    """Returns as many sweeps as there would be replicas, each with its own connections, ten minutes ahead."""
    sweeps: list[Handoffs] = []
    clock = clock or ClockAhead(timedelta(minutes=10))
    for _ in range(count):
        client = await connect(NatsSettings(url=servers.nats), name="sweeper")
        stack.push_async_callback(client.close)
        redis: Redis = Redis.from_url(servers.redis)  # pyright: ignore[reportUnknownMemberType]
        stack.push_async_callback(redis.aclose)
        mongo = await stack.enter_async_context(AsyncMongoClient[Document](servers.mongo, event_listeners=[*listeners]))
        database = for_requests(mongo[servers.database])
        log = StreamLog(ConversationLog(client), Publisher(client))
        await log.refresh()
        sweeps.append(
            Handoffs(
                conversations=MongoConversations(database["conversations"]),
                companies=MongoCompanies(database["companies"]),
                log=log,
                looks=RedisLooks(redis),
                clock=clock,
                measure_usual_wait=no_usual_wait,
                assign_in_turn=assign_nobody,
            )
        )
    return sweeps


async def owners(memory: Replica, writer: Writer) -> list[OwnerKind]:
    return [
        CloudEvent[OwnerChanged].model_validate_json(stored.event).data.owner.kind
        for stored in await facts_of(memory, writer)
        if stored.subject.endswith(ChatKind.OWNER)
    ]


async def due(sweep: Handoffs) -> list[str]:
    """Returns the conversations that the store lists as due."""
    rows = await sweep.conversations.due_for_look(milliseconds(await sweep.clock()), BATCH)
    return [state.conversation for state, _ in rows]


async def run_sweeps(sweeps: Sequence[Handoffs], writer: Writer) -> int:
    """Returns how much the replicas append once the projection has the conversation on its list."""
    total = 0

    async def seen() -> bool:
        nonlocal total
        is_listed = all([writer.conversation in await due(sweep) for sweep in sweeps])
        total += sum(await asyncio.gather(*(sweep.sweep() for sweep in sweeps)))
        return is_listed or total > 0

    await eventually(seen)
    return total
