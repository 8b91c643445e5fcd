"""For tests of reports: random conversations, and their figures counted again from the streams alone."""

import random
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from statistics import fmean, median
from typing import Any

import orjson

from contracts.channels import ChatKind, fact
from contracts.envelope import CloudEvent
from contracts.events.chat import AssistantMessage, Owner, OwnerChanged, OwnerKind, Usage, VisitorMessage
from contracts.events.desk import ConversationUpdated
from contracts.events.fact import ConversationRated, UsageRecorded
from contracts.events.tool import ToolCallCompleted, ToolMetadata, ToolResult
from contracts.ids import answer_id, turn_id, uuid7
from contracts.knowledge import Grounding
from contracts.report_rpc import (
    ReportFigures,
)
from contracts.streams import FACTS
from memory.testing.harness import Replica, Writer
from runtime.bus.direct import DirectReader, StoredFact
from runtime.bus.publisher import Publisher
from runtime.conversation import ConversationLog

QUESTION, FAREWELL = "what does it cost?", "that is all, thanks"
DESK_CHANGES: list[dict[str, Any]] = [
    {"assignee": "op1"},
    {"assignee": ""},
    {"state": "resolved"},
    {"state": "open"},
    {"state": "snoozed"},
    {"person": "u9"},
    {"person": ""},
]


async def rate(
    memory: Replica, name: str, user: str, score: int, seconds: float = 0, comment: str | None = None
) -> None:
    data = ConversationRated(company_id="acme", conversation_id=name, user_id=user, score=score, comment=comment)
    time = datetime.now(UTC) + timedelta(seconds=seconds)
    event = CloudEvent(source="/t", type="conversation.rated.v1", time=time, data=data)
    subject = fact("conversation.rated.v1", "acme", None if user == "-" else user)
    await Publisher(memory.client).append(subject, event, stream=FACTS.name, msg_id=event.id)


class ConversationGenerator:
    """Writes random conversations that contain anything a conversation can contain."""

    def __init__(self, on: Replica, seed: int) -> None:
        self._on = on
        self._publisher = Publisher(on.client)
        self._chance = random.Random(seed)

    async def conversation(self, name: str, user: str | None) -> None:
        chance, writer = self._chance, Writer(self._on.client, "acme", name)
        locale = chance.choice([None, "es", "en-GB", "fil-PH"])
        door = chance.choice([None, "chat", "chat", "responses", "a2a"])
        newest_visitor = 0
        for _ in range(chance.randint(1, 9)):
            match chance.randint(0, 11):
                case 0 | 1 | 2:
                    newest_visitor = await self._visitor(writer, user, locale, door)
                case 3 | 4 | 5 if newest_visitor:
                    await self._answer(writer, newest_visitor)
                case 6:
                    await writer.operator("I am here")
                case 7:
                    opens_at = chance.choice([None, datetime.now(UTC) + timedelta(days=1)])
                    await self._asked(writer, opens_at)
                case 8:
                    await writer.owner(chance.choice([OwnerKind.HUMAN, OwnerKind.AI]), "op1")
                case 9 | 10:
                    await self._at_the_desk(name)
                case _:
                    await writer.system("DEADLINE", newest_visitor)
        for _ in range(chance.randint(0, 2)):
            await self._used(name, user)
        for _ in range(chance.randint(0, 2)):
            await self._called(name, user)
        for _ in range(chance.randint(0, 2)):
            await rate(self._on, name, user or "-", chance.randint(1, 5))

    async def _visitor(self, writer: Writer, user: str | None, locale: str | None, door: str | None) -> int:
        identity = uuid7()
        data = VisitorMessage(
            message_id=identity,
            client_message_id=identity,
            text=self._chance.choice([QUESTION, QUESTION, FAREWELL]),
            principal=writer.signer.issue(sub=user, role="visitor", company="acme") if user else None,
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

    async def _asked(self, writer: Writer, opens_at: datetime | None) -> None:
        owner = Owner(kind=OwnerKind.WAITING if opens_at is None else OwnerKind.AI)
        await writer.put(ChatKind.OWNER, OwnerChanged(owner=owner, by="v1", reason="asked", opens_at=opens_at), uuid7())

    async def _at_the_desk(self, name: str) -> None:
        """Assigns, resolves, reopens or snoozes a conversation, or merges it with a customer: no figure may change."""
        change = self._chance.choice(DESK_CHANGES)
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


class Recount:
    """The same figures from the streams alone, fact by fact, in the plainest way."""

    def __init__(self, ahead: timedelta = timedelta()) -> None:
        self._now = datetime.now(UTC) + ahead
        self.talks: dict[str, list[tuple[str, StoredFact, dict[str, Any]]]] = defaultdict(list)
        self.facts: list[tuple[str, dict[str, Any]]] = []

    async def read(self, memory: Replica, names: list[str]) -> None:
        log = ConversationLog(memory.client)
        end = (await log.bounds()).last_seq
        for name in names:
            for stored in await log.read("acme", name, 0, end):
                self.talks[name].append((stored.subject.split(".", 3)[3], stored, orjson.loads(stored.event)["data"]))
        seen: set[str] = set()
        for stored in (await DirectReader(memory.client, FACTS.name).batch(">", 1, 4096)).facts:
            event = orjson.loads(stored.event)
            if event["id"] not in seen:
                seen.add(event["id"])
                self.facts.append((event["type"], event | {"user": stored.subject.rsplit(".", 1)[1]}))

    def of(self, kind: str, name: str) -> list[dict[str, Any]]:
        return [event for type_, event in self.facts if type_ == kind and event["data"]["conversationId"] == name]

    def key(self, name: str, by: str, users: dict[str, str | None]) -> str:
        facts = self.talks[name]
        no_data: dict[str, Any] = {}
        first = next((data for kind, _, data in facts if kind == "message.visitor.v1"), no_data)
        door = first.get("door", "unknown")
        return {
            "day": facts[0][1].time.astimezone(UTC).date().isoformat(),
            "door": door,
            "channel": door if door in ("unknown", "chat") else "api",
            "language": (first.get("locale") or "unknown").split("-")[0],
            "user": users[name] or "-" if first else "-",
        }[by]

    def figures(self, names: list[str]) -> ReportFigures:
        times = {name: self._firsts(name) for name in names}
        usage = [event["data"] for name in names for event in self.of("usage.recorded.v1", name)]
        cost = round(sum(data.get("cost") or 0 for data in usage), 6)
        scores = [
            max(ratings, key=lambda event: event["time"])["data"]["score"]
            for name in names
            if (ratings := self.of("conversation.rated.v1", name))
        ]
        waits = [wait for _, wait in times.values() if wait is not None]
        first_answers = [first for first, _ in times.values() if first is not None]
        resolved = sum(self.resolved(name) for name in names)
        return ReportFigures(
            conversations=len(names),
            answered_by_ai=sum(self.alone(name) for name in names),
            resolved_by_ai=resolved,
            handed_over=sum(self.handed(name) for name in names),
            first_answer_seconds=round(median(first_answers), 3) if first_answers else None,
            to_person_seconds=round(median(waits), 3) if waits else None,
            rated=len(scores),
            csat=round(fmean(scores), 3) if scores else None,
            cost=cost,
            cost_per_conversation=round(cost / len(names), 6),
            cost_per_resolution=round(cost / resolved, 6) if resolved else None,
            unpriced=sum("cost" not in data for data in usage),
            prompt_tokens=sum(data["usage"]["promptTokens"] for data in usage),
            completion_tokens=sum(data["usage"]["completionTokens"] for data in usage),
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

    def resolved(self, name: str) -> bool:
        """Whether the AI alone resolved it: its newest question is answered, and was the visitor's farewell or asked a
        day ago."""
        facts = self.talks[name]
        newest_question = max(
            (index for index, (kind, _, _) in enumerate(facts) if kind == "message.visitor.v1"), default=None
        )
        if newest_question is None or not self.alone(name):
            return False
        seq = facts[newest_question][1].seq
        if not any("basis" in data and data["basis"] >= seq for _, _, data in facts):
            return False
        was_answered = any(kind == "message.assistant.v1" for kind, _, _ in facts[:newest_question])
        is_quiet = self._now - facts[newest_question][1].time >= timedelta(hours=24)
        return is_quiet or (was_answered and facts[newest_question][2]["text"] == FAREWELL)

    def _firsts(self, name: str) -> tuple[float | None, float | None]:
        facts = self.talks[name]
        visitor_indexes = [index for index, (kind, _, _) in enumerate(facts) if kind == "message.visitor.v1"]
        replies = [
            index
            for index, (kind, _, _) in enumerate(facts)
            if visitor_indexes
            and index > visitor_indexes[0]
            and kind in ("message.assistant.v1", "message.operator.v1")
        ]
        first = (facts[replies[0]][1].time - facts[visitor_indexes[0]][1].time).total_seconds() if replies else None
        waiting_since = None
        for kind, stored, data in facts:
            if kind == "owner.changed.v1":
                owner, has_opening = data["owner"]["kind"], "opensAt" in data
                if owner == "waiting" or has_opening:
                    waiting_since = waiting_since or stored.time
                    continue
                if owner == "ai":
                    waiting_since = None
                    continue
            elif kind != "message.operator.v1":
                continue
            if waiting_since is not None:
                return first, (stored.time - waiting_since).total_seconds()
        return first, None
