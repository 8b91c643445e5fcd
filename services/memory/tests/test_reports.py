"""Reports: every figure is what a recount of the log says, whatever has happened and however often it came."""

import random
from collections import Counter, defaultdict
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import get_args
from zoneinfo import ZoneInfo

from pymongo import AsyncMongoClient
from pymongo.asynchronous.database import AsyncDatabase

from contracts.company_rpc import COMPANY_CREATE, COMPANY_PATCH, CompanyCreateRequest, CompanyPatchRequest
from contracts.conversation_rpc import ConversationRef
from contracts.events.chat import OwnerKind
from contracts.report_rpc import (
    RATING,
    REPORT,
    REPORT_OPEN,
    By,
    Figure,
    ReportFigures,
    ReportOpenRequest,
    ReportReply,
    ReportRequest,
)
from memory.adapters.mongo import for_requests
from memory.adapters.mongo_companies import MongoCompanies
from memory.adapters.mongo_reports import MongoReports
from memory.application.reports import Reports
from memory.testing.harness import Replica, Servers, Writer, replica
from memory.testing.reports import ConversationGenerator, Recount, rate
from runtime.stores.mongo import Document
from runtime.testing.servers import eventually

DAY = timedelta(days=1)


async def asked_for(on: Replica, by: By = "day", company: str = "acme") -> ReportReply:
    today = datetime.now(UTC).date()
    return await on.rpc.call(REPORT, ReportRequest(company_id=company, since=today - DAY, until=today, by=by))


class Later:
    """The log's clock in a while, and a store that is not waited for."""

    ahead = timedelta()

    async def __call__(self) -> datetime:
        return datetime.now(UTC) + self.ahead

    async def fresh(self) -> None:
        return


def counting(database: AsyncDatabase[Document], clock: Later) -> Reports:
    lane = for_requests(database)
    return Reports(
        store=MongoReports(lane), companies=MongoCompanies(lane["companies"]), fresh=clock.fresh, clock=clock
    )


async def test_every_figure_is_a_recount_of_the_log(servers: Servers) -> None:
    async with replica(servers) as one, AsyncMongoClient[Document](servers.mongo) as mongo:
        clock, today = Later(), datetime.now(UTC).date()
        later = counting(mongo[servers.database], clock)
        users = {f"c{number}": random.Random(number).choice([None, "u1", "u2"]) for number in range(24)}
        chatter = ConversationGenerator(one, seed=7)
        for name, user in users.items():
            await chatter.conversation(name, user)
        await Writer(one.client, "rival").visitor("theirs")

        async def equal(by: By, ahead: timedelta = timedelta()) -> bool:
            clock.ahead = ahead
            asked = ReportRequest(company_id="acme", since=today - DAY, until=today, by=by)
            found = await (later.report(asked) if ahead else one.rpc.call(REPORT, asked))
            recount = Recount(ahead)
            await recount.read(one, list(users))
            names = [name for name in users if recount.talks[name]]
            groups: dict[str, list[str]] = defaultdict(list)
            for name in names:
                groups[recount.key(name, by, users)].append(name)
            rows = {key: recount.figures(group) for key, group in groups.items()}
            told = {row.key: ReportFigures.model_validate(row.model_dump(exclude={"key"})) for row in found.rows}
            assert (told, found.total, found.complete) == (rows, recount.figures(names), True)
            return True

        # What is told in FACTS is counted a moment later than what stands in the log.
        for by in get_args(By):
            await eventually(lambda by=by: equal(by), 120)
        assert await equal("day", 2 * DAY)
        # What was counted is counted anew where something has been said since, and only there.
        for name in list(users)[:6]:
            await chatter.conversation(name, users[name])
        for by in get_args(By):
            await eventually(lambda by=by: equal(by), 120)
        assert await equal("day", 2 * DAY)

        recount = Recount()
        await recount.read(one, list(users))
        counts: dict[str, Callable[[str], bool]] = {
            "conversations": lambda _: True,
            "handedOver": recount.handed,
            "answeredByAi": recount.alone,
            "resolvedByAi": recount.resolved,
        }
        for figure in get_args(Figure):
            request = ReportOpenRequest(
                company_id="acme", since=today - DAY, until=today, by="channel", key="api", figure=figure
            )
            opened = set((await one.rpc.call(REPORT_OPEN, request)).conversation_ids)
            api = {name for name in users if recount.talks[name] and recount.key(name, "channel", users) == "api"}
            assert opened <= api
            if figure in counts:
                assert opened == {name for name in api if counts[figure](name)}

        # A day begins where the company is: these two never have the same.
        version = (
            await one.rpc.call(COMPANY_CREATE, CompanyCreateRequest(config={"companyId": "acme"}))
        ).settings.version
        for zone in ("Pacific/Kiritimati", "Pacific/Pago_Pago"):
            patch = CompanyPatchRequest(company_id="acme", version=version, patch={"timeZone": zone})
            version = (await one.rpc.call(COMPANY_PATCH, patch)).settings.version
            began = [recount.talks[name][0][1].time.astimezone(ZoneInfo(zone)) for name in users if recount.talks[name]]
            days = Counter(at.date() for at in began)
            request = ReportRequest(company_id="acme", since=min(days), until=max(days))
            found = await one.rpc.call(REPORT, request)
            assert {row.key: row.conversations for row in found.rows} == {str(day): many for day, many in days.items()}


async def test_who_comes_back_within_a_day_takes_back_that_it_was_resolved(servers: Servers) -> None:
    async with replica(servers) as one, AsyncMongoClient[Document](servers.mongo) as mongo:
        clock, today = Later(), datetime.now(UTC).date()
        reports = counting(mongo[servers.database], clock)
        writer = Writer(one.client)
        await writer.assistant("29 euros", await writer.visitor("what does it cost?"))

        async def resolved(ahead: timedelta) -> int:
            await asked_for(one)
            clock.ahead = ahead
            return (
                await reports.report(ReportRequest(company_id="acme", since=today - DAY, until=today))
            ).total.resolved_by_ai

        assert await resolved(timedelta(hours=23)) == 0
        assert await resolved(timedelta(hours=25)) == 1
        again = await writer.visitor("and what does it cost with tax?")
        assert await resolved(timedelta(hours=25)) == 0
        await writer.assistant("35 euros", again)
        assert await resolved(timedelta(hours=25)) == 1
        # Who says that this was all has confirmed it, and takes it back as well by coming back.
        await writer.assistant("you are welcome", await writer.visitor("that is all, thanks"))
        assert await resolved(timedelta()) == 1
        again = await writer.visitor("what does it cost?")
        assert await resolved(timedelta()) == 0
        await writer.assistant("35 euros", again)
        assert (await resolved(timedelta()), await resolved(timedelta(hours=25))) == (0, 1)
        await writer.owner(OwnerKind.WAITING)
        assert await resolved(timedelta(hours=25)) == 0


async def test_a_conversation_has_one_rating_the_latest(servers: Servers) -> None:
    async with replica(servers) as one:
        writer = Writer(one.client)
        await writer.visitor("hello")
        await rate(one, writer.conversation, "v1", 2, comment="slow")
        await rate(one, writer.conversation, "v1", 5, seconds=1)
        await rate(one, writer.conversation, "v1", 1, seconds=-60)
        ref = ConversationRef(company_id="acme", conversation_id=writer.conversation)

        async def five() -> bool:
            rating = (await one.rpc.call(RATING, ref)).rating
            return rating is not None and (rating.score, rating.comment) == (5, None)

        await eventually(five)
        found = (await asked_for(one)).total
        assert (found.rated, found.csat) == (1, 5.0)
        other = ConversationRef(company_id="rival", conversation_id=writer.conversation)
        assert (await one.rpc.call(RATING, other)).rating is None


async def test_a_usual_wait_is_measured_or_not_told(servers: Servers) -> None:
    async with replica(servers) as one, AsyncMongoClient[Document](servers.mongo) as mongo:
        reports = counting(mongo[servers.database], Later())
        for number in range(4):
            await asked_for(one)
            assert (await reports.usual_wait("acme") is not None) == (number >= 3)
            writer = Writer(one.client)
            await writer.visitor("a person, please", locale="en")
            await writer.owner(OwnerKind.WAITING)
            await writer.owner(OwnerKind.HUMAN, "op1")
        assert await reports.usual_wait("rival") is None
        # The calendar's ends are days like others.
        began = MongoReports(for_requests(mongo[servers.database])).began(
            "acme", date.min, date.max, 5, ZoneInfo("America/Mexico_City")
        )
        assert len(await began) >= 3
