"""A deleted user's analyses go with them, and nobody else's do."""

from datetime import UTC, datetime

from nats.aio.client import Client

from contracts.events.analysis import AnalysisRequested
from memory.adapters.bus_erasure import StreamErasure
from memory.domain.erasure import Erasure
from memory.domain.keys import LogPosition
from runtime.analyses import Analyses
from runtime.bus.direct import DirectReader
from runtime.bus.streams import ensure_streams


async def test_a_users_analyses_are_purged_with_their_requests(nats_client: Client) -> None:
    await ensure_streams(nats_client)
    analyses = Analyses(nats_client, "/test")
    for user in ("ana", "ben"):
        request = AnalysisRequested(analysis_id="a1", company_id="acme", user_id=user, query=f"{user} asks about IBM")
        record = await analyses.begin(request)
        assert record.asked_at <= datetime.now(UTC)
    streams = StreamErasure(nats_client)
    plan = await streams.plan(Erasure("acme", "ana", (), datetime.now(UTC), LogPosition(0, 0)))
    assert (plan.counts["stream TURNS"], plan.counts["stream FACTS"]) == (1, 1)
    await streams.carry_out(plan)
    assert await analyses.read("acme", "ana", "a1") is None
    assert await analyses.read("acme", "ben", "a1") is not None
    left = (await DirectReader(nats_client, "FACTS").batch("analysis.requested.v1.>", 1, 10)).facts
    assert [fact.subject for fact in left] == ["analysis.requested.v1.acme.ben"]
