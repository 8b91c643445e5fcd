"""What a company used, counted from the bus."""

from datetime import UTC, date, datetime

from contracts.channels import fact
from contracts.company_rpc import COMPANY_CREATE, CompanyCreateRequest
from contracts.envelope import CloudEvent
from contracts.events.chat import Usage
from contracts.events.fact import UsageRecorded
from contracts.memory_rpc import USAGE, UsageReply, UsageRequest
from contracts.streams import FACTS
from memory.testing.harness import Replica, Servers, replica
from runtime.bus.publisher import Publisher
from runtime.testing.clock import FakeClock
from runtime.testing.servers import eventually

NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)


def used(
    turn: str, tokens: int, day: int, *, cost: float | None = None, company: str = "acme"
) -> CloudEvent[UsageRecorded]:
    data = UsageRecorded(
        company_id=company,
        turn_id=turn,
        provider="p",
        model="m",
        usage=Usage(prompt_tokens=tokens, completion_tokens=1),
        cost=cost,
    )
    return CloudEvent(source="/test", type="usage.recorded.v1", time=NOW.replace(day=day), data=data)


async def report(on: Replica, since: int, until: int) -> UsageReply:
    request = UsageRequest(company_id="acme", since=date(2026, 3, since), until=date(2026, 3, until))
    return await on.rpc.call(USAGE, request)


async def test_usage_is_told_by_the_day_each_event_once_beside_todays_budget(servers: Servers) -> None:
    async with replica(servers, clock=FakeClock(NOW)) as one, replica(servers, clock=FakeClock(NOW)) as two:
        publisher = Publisher(one.client)
        config = {"companyId": "acme", "budget": {"dailyTokens": 5000}}
        await one.rpc.call(COMPANY_CREATE, CompanyCreateRequest(config=config))
        events = [used(f"turn{n % 20}", 10, 2, cost=0.5) for n in range(60)] + [used("old", 7, 1)]
        for copy in range(3):
            for event in events:
                subject = fact("usage.recorded.v1", "acme", "ana")
                await publisher.append(subject, event, stream=FACTS.name, msg_id=f"{event.id}-{copy}")
        await publisher.append(
            fact("usage.recorded.v1", "other", None),
            used("x", 99, 2, company="acme"),
            stream=FACTS.name,
            msg_id="other",
        )

        async def counted() -> bool:
            return sum(day.prompt_tokens for day in (await report(two, 1, 31)).days) >= 607

        await eventually(counted)
        # Whatever is still to come of the copies has come when a later event is counted.
        await publisher.append(
            fact("usage.recorded.v1", "acme", None), used("last", 1, 3), stream=FACTS.name, msg_id="last"
        )

        async def last() -> bool:
            return (await report(two, 3, 3)).days != []

        await eventually(last)
        found = await report(one, 1, 2)
        assert [(day.date.day, day.turns, day.prompt_tokens, day.completion_tokens) for day in found.days] == [
            (1, 1, 7, 1),
            (2, 20, 600, 60),
        ]
        assert [day.cost for day in found.days] == [0, 30]
        assert [day.unpriced_tokens for day in found.days] == [8, None]
        assert (found.budget.daily_tokens, found.budget.used_today) == (5000, 660)
        assert (await report(one, 1, 1)).budget.used_today == 660
