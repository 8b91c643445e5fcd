"""How an assistant is doing: counted once, whatever comes twice or in another order."""

from datetime import UTC, datetime, timedelta
from typing import Literal

from contracts.channels import fact
from contracts.envelope import CloudEvent
from contracts.events.chat import OwnerKind
from contracts.events.fact import FeedbackGiven
from contracts.insight_rpc import INSIGHTS, InsightsReply, InsightsRequest
from contracts.memory_rpc import USER_FORGET, UserRef
from contracts.streams import FACTS
from memory.testing.harness import Replica, Servers, Writer, replica, serve_deletions
from runtime.bus.publisher import Publisher
from runtime.testing.servers import eventually


async def report(on: Replica, company: str = "acme") -> InsightsReply:
    today = datetime.now(UTC).date()
    request = InsightsRequest(company_id=company, since=today - timedelta(days=1), until=today)
    return await on.rpc.call(INSIGHTS, request)


async def rate(
    on: Replica,
    writer: Writer,
    message: str,
    user: str,
    rating: Literal["up", "down"],
    *,
    reason: str | None = None,
    minutes: int = 0,
    times: int = 1,
) -> None:
    data = FeedbackGiven(
        company_id="acme",
        conversation_id=writer.conversation,
        message_id=message,
        user_id=user,
        rating=rating,
        reason=reason,
    )
    at = datetime.now(UTC) + timedelta(seconds=minutes)
    event = CloudEvent(source="/test", type="feedback.given.v1", time=at, data=data)
    for copy in range(times):
        subject = fact("feedback.given.v1", "acme", user)
        await Publisher(on.client).append(subject, event, stream=FACTS.name, msg_id=f"{event.id}-{copy}")


async def test_hand_offs_failures_and_ratings_are_counted_by_the_day(servers: Servers) -> None:
    async with replica(servers) as one, replica(servers) as two:
        answered, handed, failed = (Writer(one.client, "acme", name) for name in ("c1", "c2", "c3"))
        await answered.assistant("hi", await answered.visitor("hello"))
        await answered.assistant("29", await answered.visitor("how much?"))
        await handed.visitor("a person, please")
        await handed.owner(OwnerKind.WAITING)
        await handed.owner(OwnerKind.HUMAN, "op1")
        await handed.owner(OwnerKind.AI)
        await failed.system("DEADLINE", await failed.visitor("slow"))
        await Writer(one.client, "rival").visitor("theirs")
        await rate(one, answered, "m1", "ana", "up", times=3)
        await rate(one, answered, "m2", "ana", "down", reason="wrong price", minutes=2)
        await rate(one, answered, "m2", "ana", "up", minutes=1)  # an earlier word that comes later
        await rate(one, handed, "m3", "bob", "down", minutes=3)

        async def counted() -> bool:
            found = await report(two)
            # A visitor's message is counted before its failure is.
            return [(d.conversations, d.thumbs_up + d.thumbs_down, d.failed) for d in found.days] == [(3, 3, 1)]

        await eventually(counted)
        found = await report(one)
        (day,) = found.days
        assert (day.answers, day.handed_off, day.failed) == (2, 1, 1)
        assert (day.thumbs_up, day.thumbs_down) == (1, 2)
        assert [(c.message_id, c.reason) for c in found.complaints] == [("m3", None), ("m2", "wrong price")]
        assert found.complete
        assert (await report(one, "nobody")).days == []


async def test_what_a_deleted_user_thought_goes_with_the_conversation(servers: Servers) -> None:
    async with replica(servers) as one:
        mine, other = Writer(one.client, "acme", "c1"), Writer(one.client, "acme", "c2")
        await mine.visitor("hello", user="ana", role="user")
        await other.visitor("hello", user="bob", role="user")
        await rate(one, mine, "m1", "ana", "down", reason="my secret")
        await rate(one, other, "m2", "bob", "down")

        async def counted() -> bool:
            return len((await report(one)).complaints) == 2

        await eventually(counted)
        await serve_deletions(one.client)
        await one.rpc.call(USER_FORGET, UserRef(company_id="acme", user_id="ana"))
        assert [complaint.message_id for complaint in (await report(one)).complaints] == ["m2"]
