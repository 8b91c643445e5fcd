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
from contracts.rpc import ConversationRef
from memory.adapters.mongo import asked
from memory.adapters.mongo_companies import MongoCompanies
from memory.adapters.mongo_reports import MongoReports
from memory.application.reports import Reports
from memory.testing import Replica, Servers, Writer, replica
from memory.testing_reports import Chatter, Recount, rate
from runtime.mongo import Document
from runtime.testing import eventually

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
    lane = asked(database)
    return Reports(
        store=MongoReports(lane), companies=MongoCompanies(lane["companies"]), fresh=clock.fresh, clock=clock
    )


import pytest
@pytest.mark.parametrize('seed',range(100,112))
async def test_every_figure_is_a_recount_of_the_log(servers: Servers, seed: int) -> None:
    async with replica(servers) as one:
        users = {f"c{number}": random.Random(number+seed).choice([None, "u1", "u2"]) for number in range(40)}
        chatter = Chatter(one, seed=seed)
        for name, user in users.items():
            await chatter.conversation(name, user)
        await Writer(one.client, "rival").visitor("theirs")

        async def equal(by: By) -> bool:
            found, recount = await asked_for(one, by), Recount()
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
        # What was counted is counted anew where something has been said since, and only there.
        for name in list(users)[:6]:
            await chatter.conversation(name, users[name])
        for by in get_args(By):
            await eventually(lambda by=by: equal(by), 120)

        today = datetime.now(UTC).date()
        recount = Recount()
        await recount.read(one, list(users))
        counts: dict[str, Callable[[str], bool]] = {
            "conversations": lambda _: True,
            "handedOver": recount.handed,
            "answeredByAi": recount.alone,
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

