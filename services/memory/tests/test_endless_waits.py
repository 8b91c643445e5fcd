"""Conversations that wait for a person without an end."""

from contextlib import AsyncExitStack

import pytest
from prometheus_client import REGISTRY
from pymongo.monitoring import CommandFailedEvent, CommandListener, CommandStartedEvent, CommandSucceededEvent

from contracts.company_rpc import COMPANY_CREATE, COMPANY_PATCH, CompanyCreateRequest, CompanyPatchRequest
from contracts.conversation_rpc import CONVERSATION, ConversationRef
from contracts.events.chat import (
    OwnerKind,
)
from memory.testing.handoffs import due, facts_of, kinds, owners, run_sweeps, sweepers
from memory.testing.harness import Servers, Writer, replica
from runtime.testing.servers import eventually


class Queries(CommandListener):
    """Counts what a database is asked, and the documents that it answers with."""

    def __init__(self) -> None:
        self.asked = self.documents = 0

    def started(self, event: CommandStartedEvent) -> None:
        """Nothing is counted before it is answered."""

    def succeeded(self, event: CommandSucceededEvent) -> None:
        self.asked += 1
        self.documents += len(event.reply.get("cursor", {}).get("firstBatch", ()))

    def failed(self, event: CommandFailedEvent) -> None:
        """Nothing was read."""


async def test_those_who_wait_without_an_end_hold_up_nobody_and_cost_nothing(
    servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memory.application.handoffs.BATCH", 4)
    monkeypatch.setattr("memory.application.handoffs.NEWEST_FIRST", 1)
    async with AsyncExitStack() as stack:
        one = await stack.enter_async_context(replica(servers, handoff_sweep=3600))
        off: dict[str, object] = {"companyId": "acme", "aiAutoResponseEnabled": False}
        await one.rpc.call(COMPANY_CREATE, CompanyCreateRequest(config=off), deadline=20)
        waiting = [Writer(one.client) for _ in range(9)]
        for writer in waiting:
            await writer.visitor("a person, please", locale="en")
            await writer.owner(OwnerKind.WAITING)
        queries = Queries()
        (sweep,) = await sweepers(stack, servers, 1, listeners=[queries])

        async def queue() -> float | None:
            await sweep.measure()
            return REGISTRY.get_sample_value("nexus_handovers_waiting")

        async def at_rest() -> bool:
            await sweep.look()
            notices = [kinds(await facts_of(one, writer)).count("message.system.v1") for writer in waiting]
            refs = [ConversationRef(company_id="acme", conversation_id=writer.conversation) for writer in waiting]
            stored = [(await one.rpc.call(CONVERSATION, ref)).conversation for ref in refs]
            told = [found.message_count if found else 0 for found in stored]  # the notice too
            return notices == [1] * len(waiting) and told == [2] * len(waiting) and not await due(sweep)

        await eventually(at_rest)
        assert await queue() == len(waiting)
        assert (REGISTRY.get_sample_value("nexus_handover_oldest_seconds") or 0) > 500
        queries.asked = queries.documents = 0
        assert await sweep.look() is False
        assert (queries.asked, queries.documents) == (1, 0), "however many wait"

        # Whoever begins to wait behind more than one query reads has a turn at once, in whatever company.
        newest = Writer(one.client, "other")
        await newest.visitor("a person, please", locale="en")
        await newest.owner(OwnerKind.WAITING)
        assert await run_sweeps([sweep], newest) == 2
        assert await owners(one, newest) == [OwnerKind.WAITING, OwnerKind.AI]

        # New settings reach all of them.
        on = CompanyPatchRequest(company_id="acme", version=1, patch={"aiAutoResponseEnabled": True})
        await one.rpc.call(COMPANY_PATCH, on, deadline=20)

        late = Writer(one.client, "other")
        await late.visitor("a person, please", locale="en")
        await late.owner(OwnerKind.WAITING)

        async def stored() -> bool:
            return await queue() == len(waiting) + 1

        await eventually(stored)
        queries.asked = 0
        with monkeypatch.context() as one_query:
            one_query.setattr("memory.application.handoffs.QUERIES_PER_SWEEP", 1)
            await sweep.look()
        # What is due, the newest, two companies' settings, a place in the queue, and when to look again at all of them.
        assert queries.asked == 6
        assert await owners(one, late) == [OwnerKind.WAITING, OwnerKind.AI], (
            "who comes behind them has a turn meanwhile"
        )

        await sweep.look()
        for writer in waiting:
            assert await owners(one, writer) == [OwnerKind.WAITING, OwnerKind.AI], "all of them in one sweep"
