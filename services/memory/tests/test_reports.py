"""Reports: every figure is what a recount of the log says, whatever has happened and however often it came."""

import random
from collections import Counter, defaultdict
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from statistics import fmean, median
from typing import Any, get_args
from zoneinfo import ZoneInfo

import orjson
from pymongo import AsyncMongoClient
from pymongo.asynchronous.database import AsyncDatabase

from contracts.channels import ChatKind, fact
from contracts.company_rpc import COMPANY_CREATE, COMPANY_PATCH, CompanyCreateRequest, CompanyPatchRequest
from contracts.envelope import CloudEvent
from contracts.events.chat import AssistantMessage, Owner, OwnerChanged, OwnerKind, Usage, VisitorMessage
from contracts.events.desk import ConversationUpdated
from contracts.events.fact import ConversationRated, UsageRecorded
from contracts.events.tool import ToolCallCompleted, ToolMetadata, ToolResult
from contracts.ids import answer_id, turn_id, uuid7
from contracts.knowledge import Grounding
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
from contracts.streams import FACTS
from memory.adapters.mongo import asked
from memory.adapters.mongo_companies import MongoCompanies
from memory.adapters.mongo_reports import MongoReports
from memory.application.reports import Reports
from memory.testing import Replica, Servers, Writer, replica
from runtime.conversation import ConversationLog
from runtime.direct import DirectReader, StoredFact
from runtime.mongo import Document
from runtime.publisher import Publisher
from runtime.testing import eventually

DAY = timedelta(days=1)
DESK: list[dict[str, Any]] = [
    {"assignee": "op1"},
    {"assignee": ""},
    {"state": "resolved"},
    {"state": "open"},
    {"state": "snoozed"},
    {"person": "u9"},
    {"person": ""},
]


class Chatter:
    """Somebody whose conversations have anything in them that conversations can have."""

    def __init__(self, on: Replica, seed: int) -> None:
        self._on = on
        self._publisher = Publisher(on.client)
        self._chance = random.Random(seed)

    async def conversation(self, name: str, user: str | None) -> None:
        chance, writer = self._chance, Writer(self._on.client, "acme", name)
        locale = chance.choice([None, "es", "en-GB", "fil-PH"])
        door = chance.choice([None, "chat", "chat", "responses", "a2a"])
        heard = 0
        for _ in range(chance.randint(1, 9)):
            match chance.randint(0, 11):
                case 0 | 1 | 2:
                    heard = await self._visitor(writer, user, locale, door)
                case 3 | 4 | 5 if heard:
                    await self._answer(writer, heard)
                case 6:
                    await writer.operator("I am here")
                case 7:
                    opens = chance.choice([None, datetime.now(UTC) + DAY])
                    await self._asked(writer, opens)
                case 8:
                    await writer.owner(chance.choice([OwnerKind.HUMAN, OwnerKind.AI]), "op1")
                case 9 | 10:
                    await self._at_the_desk(name)
                case _:
                    await writer.system("DEADLINE", heard)
        for _ in range(chance.randint(0, 2)):
            await self._used(name, user)
        for _ in range(chance.randint(0, 2)):
            await self._called(name, user)
        for _ in range(chance.randint(0, 2)):
            await rate(self._on, name, user or "-", chance.randint(1, 5))

    async def _visitor(self, writer: Writer, user: str | None, locale: str | None, door: str | None) -> int:
        identity = uuid7()
        signer = writer._signer  # pyright: ignore[reportPrivateUsage]
        data = VisitorMessage(
            message_id=identity,
            client_message_id=identity,
            text="what does it cost?",
            principal=signer.issue(sub=user, role="visitor", company="acme") if user else None,
            locale=locale,
            door=door,
        )
        return await writer.put(ChatKind.VISITOR, data, identity)

    async def _answer(self, writer: Writer, basis: int) -> None:
        known = self._chance.choice([None, True, False])
        turn = turn_id("acme", writer.conversation, basis)
        data = AssistantMessage(
            message_id=answer_id(turn),
            turn_id=turn,
            basis=basis,
            text="29 euros",
            model="m",
            config_version=1,
            grounding=None if known is None else Grounding(question="cost?", known=known),
        )
        await writer.put(ChatKind.ASSISTANT, data, uuid7())

    async def _asked(self, writer: Writer, opens: datetime | None) -> None:
        owner = Owner(kind=OwnerKind.WAITING if opens is None else OwnerKind.AI)
        await writer.put(ChatKind.OWNER, OwnerChanged(owner=owner, by="v1", reason="asked", opens_at=opens), uuid7())

    async def _at_the_desk(self, name: str) -> None:
        """Given to somebody else, resolved, opened again, put off, or merged with a customer: no figure is another."""
        change = self._chance.choice(DESK)
        data = ConversationUpdated(company_id="acme", conversation_id=name, by="op2", **change)
        await self._tell("conversation.updated.v1", None, data)

    async def _used(self, name: str, user: str | None) -> None:
        data = UsageRecorded(
            company_id="acme",
            conversation_id=name,
            turn_id=uuid7(),
            provider="groq",
            model="m",
            usage=Usage(prompt_tokens=self._chance.randint(1, 900), completion_tokens=self._chance.randint(1, 90)),
            cost=self._chance.choice([None, 0.0125, 0.5]),
        )
        await self._tell("usage.recorded.v1", user, data)

    async def _called(self, name: str, user: str | None) -> None:
        result = ToolResult(success=self._chance.random() < 0.7, metadata=ToolMetadata(execution_time=1))
        call = ToolCallCompleted(call_id=uuid7(), tool="t", arguments={}, result=result, conversation_id=name)
        await self._tell("tools.call.completed.v1", user, call)

    async def _tell(self, kind: str, user: str | None, data: Any) -> None:
        event = CloudEvent(source="/t", type=kind, data=data)
        for copy in range(self._chance.randint(1, 2)):
            await self._publisher.append(
                fact(kind, "acme", user), event, stream=FACTS.name, msg_id=f"{event.id}-{copy}"
            )


async def rate(on: Replica, name: str, user: str, score: int, seconds: float = 0, comment: str | None = None) -> None:
    data = ConversationRated(company_id="acme", conversation_id=name, user_id=user, score=score, comment=comment)
    at = datetime.now(UTC) + timedelta(seconds=seconds)
    event = CloudEvent(source="/t", type="conversation.rated.v1", time=at, data=data)
    subject = fact("conversation.rated.v1", "acme", None if user == "-" else user)
    await Publisher(on.client).append(subject, event, stream=FACTS.name, msg_id=event.id)


async def asked_for(on: Replica, by: By = "day", company: str = "acme") -> ReportReply:
    today = datetime.now(UTC).date()
    return await on.rpc.call(REPORT, ReportRequest(company_id=company, since=today - DAY, until=today, by=by))


class Later:
    """The log's clock in a while, and a store that is not waited for."""

    ahead = timedelta()

    async def now(self) -> datetime:
        return datetime.now(UTC) + self.ahead

    async def fresh(self) -> None:
        return


def counting(database: AsyncDatabase[Document], clock: Later) -> Reports:
    lane = asked(database)
    return Reports(
        store=MongoReports(lane), companies=MongoCompanies(lane["companies"]), fresh=clock.fresh, clock=clock
    )


class Recount:
    """The same from the streams alone, fact by fact, in the plainest way."""

    def __init__(self) -> None:
        self.talks: dict[str, list[tuple[str, StoredFact, dict[str, Any]]]] = defaultdict(list)
        self.facts: list[tuple[str, dict[str, Any]]] = []

    async def read(self, on: Replica, names: list[str]) -> None:
        log = ConversationLog(on.client)
        end = (await log.bounds()).last_seq
        for name in names:
            for one in await log.read("acme", name, 0, end):
                self.talks[name].append((one.subject.split(".", 3)[3], one, orjson.loads(one.event)["data"]))
        seen: set[str] = set()
        for one in (await DirectReader(on.client, FACTS.name).batch(">", 1, 4096)).facts:
            event = orjson.loads(one.event)
            if event["id"] not in seen:
                seen.add(event["id"])
                self.facts.append((event["type"], event | {"user": one.subject.rsplit(".", 1)[1]}))

    def of(self, kind: str, name: str) -> list[dict[str, Any]]:
        return [event for type_, event in self.facts if type_ == kind and event["data"]["conversationId"] == name]

    def key(self, name: str, by: str, users: dict[str, str | None]) -> str:
        talk = self.talks[name]
        nothing: dict[str, Any] = {}
        first = next((data for kind, _, data in talk if kind == "message.visitor.v1"), nothing)
        door = first.get("door", "unknown")
        return {
            "day": talk[0][1].time.astimezone(UTC).date().isoformat(),
            "door": door,
            "channel": door if door in ("unknown", "chat") else "api",
            "language": (first.get("locale") or "unknown").split("-")[0],
            "user": users[name] or "-" if first else "-",
        }[by]

    def figures(self, names: list[str]) -> ReportFigures:
        answers = {name: self._firsts(name) for name in names}
        spent = [event["data"] for name in names for event in self.of("usage.recorded.v1", name)]
        cost = sum(data.get("cost") or 0 for data in spent)
        scores = [
            max(given, key=lambda event: event["time"])["data"]["score"]
            for name in names
            if (given := self.of("conversation.rated.v1", name))
        ]
        waits = [wait for _, wait in answers.values() if wait is not None]
        firsts = [first for first, _ in answers.values() if first is not None]
        return ReportFigures(
            conversations=len(names),
            answered_by_ai=sum(self.alone(name) for name in names),
            resolved_by_ai=0,
            handed_over=sum(self.handed(name) for name in names),
            first_answer_seconds=round(median(firsts), 3) if firsts else None,
            to_person_seconds=round(median(waits), 3) if waits else None,
            rated=len(scores),
            csat=round(fmean(scores), 3) if scores else None,
            cost=round(cost, 6),
            cost_per_conversation=round(cost / len(names), 6),
            unpriced=sum("cost" not in data for data in spent),
            prompt_tokens=sum(data["usage"]["promptTokens"] for data in spent),
            completion_tokens=sum(data["usage"]["completionTokens"] for data in spent),
            tools=sum(len(self.of("tools.call.completed.v1", name)) for name in names),
            gaps=sum(
                data.get("grounding", {}).get("known") is False
                for name in names
                for kind, _, data in self.talks[name]
                if kind == "message.assistant.v1"
            ),
        )

    def handed(self, name: str) -> bool:
        changes = [data for kind, _, data in self.talks[name] if kind == "owner.changed.v1"]
        return any(data["owner"]["kind"] != "ai" or "opensAt" in data for data in changes)

    def alone(self, name: str) -> bool:
        kinds = [kind for kind, _, _ in self.talks[name]]
        return "message.assistant.v1" in kinds and "message.operator.v1" not in kinds and not self.handed(name)

    def _firsts(self, name: str) -> tuple[float | None, float | None]:
        talk = self.talks[name]
        visits = [at for at, (kind, _, _) in enumerate(talk) if kind == "message.visitor.v1"]
        replies = [
            at
            for at, (kind, _, _) in enumerate(talk)
            if visits and at > visits[0] and kind in ("message.assistant.v1", "message.operator.v1")
        ]
        first = (talk[replies[0]][1].time - talk[visits[0]][1].time).total_seconds() if replies else None
        since = None
        for kind, one, data in talk:
            if kind == "owner.changed.v1":
                owner, opens = data["owner"]["kind"], "opensAt" in data
                if owner == "waiting" or opens:
                    since = since or one.time
                    continue
                if owner == "ai":
                    since = None
                    continue
            elif kind != "message.operator.v1":
                continue
            if since is not None:
                return first, (one.time - since).total_seconds()
        return first, None


async def test_every_figure_is_a_recount_of_the_log(servers: Servers) -> None:
    async with replica(servers) as one:
        users = {f"c{number}": random.Random(number).choice([None, "u1", "u2"]) for number in range(24)}
        chatter = Chatter(one, seed=7)
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


async def test_who_comes_back_within_a_day_takes_back_that_it_was_resolved(servers: Servers) -> None:
    async with replica(servers) as one, AsyncMongoClient[Document](servers.mongo) as mongo:
        clock, today = Later(), datetime.now(UTC).date()
        reports = counting(mongo[servers.database], clock)
        writer = Writer(one.client)
        await writer.assistant("29 euros", await writer.visitor("what does it cost?"))

        async def resolved(ahead: timedelta) -> int:
            await asked_for(one)
            clock.ahead = ahead
            return (await reports.report("acme", today - DAY, today, "day")).total.resolved_by_ai

        assert await resolved(timedelta(hours=23)) == 0
        assert await resolved(timedelta(hours=25)) == 1
        again = await writer.visitor("and what does it cost with tax?")
        assert await resolved(timedelta(hours=25)) == 0
        await writer.assistant("35 euros", again)
        assert await resolved(timedelta(hours=25)) == 1
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

        await eventually(five, 20)
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
        began = MongoReports(asked(mongo[servers.database])).began(
            "acme", date.min, date.max, 5, ZoneInfo("America/Mexico_City")
        )
        assert len(await began) >= 3
