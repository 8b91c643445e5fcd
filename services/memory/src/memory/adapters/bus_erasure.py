"""Deletes users and conversations from every stream: by subject if it names them, otherwise message by message. A
message deleted singly is overwritten in the stream's file; purged ones stay there until the server rewrites the
file."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field

import orjson
from nats.aio.client import Client
from nats.js.errors import APIError

from contracts.channels import TOOL_REQUESTS, analyses_of, client_results_of, conversation_tree, fact, journal
from contracts.ids import NOBODY
from contracts.json_values import JsonObject, object_of
from contracts.streams import CHAT, DLQ, FACTS, TOOLS, TRACES, TURNS, WEBHOOKS
from memory.adapters.bus_errors import bus_errors
from memory.domain.erasure import Erasure
from runtime.bus.connection import jetstream
from runtime.bus.direct import DirectReader
from runtime.workers.dead_letters import DeadLetters

PAGE = 256
LETTERS = 10_000
FEEDBACK = "feedback.given.v1"
"""Ratings of answers; the subject names whoever rated, not whose conversation it is."""
KNOWLEDGE = tuple(one.removesuffix(".>") for one in FACTS.subjects if one.startswith("knowledge."))
COMPANYS_OWN = ("company.config.changed.v1", "tools.announced.v1", "tools.withdrawn.v1", *KNOWLEDGE)
_NO_SUCH_SEQUENCE = 10043
_GONE = frozenset({(10057, "no message found"), (10057, "stream store EOF")})
"""NATS's errors for a message that does not exist."""


@dataclass(slots=True)
class StreamPlan:
    """The messages that a deletion will remove from the streams, and how many there are in each stream."""

    purges: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    messages: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])
    found: dict[str, int] = field(default_factory=dict[str, int])

    def add(self, stream: str, count: int) -> None:
        """Adds what was found in a stream."""
        place = f"stream {stream}"
        self.found[place] = self.found.get(place, 0) + count


class StreamErasure:
    def __init__(self, client: Client) -> None:
        self._client = client
        self._js = jetstream(client)
        self._letters = DeadLetters(client)

    async def plan(self, job: Erasure) -> StreamPlan:
        """Finds everything that the streams hold of the user or of the conversations; raises BusUnavailableError."""
        company, names = job.company, frozenset(job.conversations)
        plan = StreamPlan()
        with bus_errors("look through the streams"):
            for name in job.conversations:
                await self._count(plan, CHAT.name, conversation_tree(company, name))
                await self._count(plan, TURNS.name, journal(company, name))
                await self._count(plan, TURNS.name, client_results_of(company, name))
            for event_type in fact_types():
                if job.user:
                    await self._find(plan, FACTS.name, fact(event_type, company, job.user), _any)
                for person in job.people:
                    await self._find(plan, FACTS.name, fact(event_type, company, person), _about(company, names))
            await self._find(plan, FACTS.name, f"{FEEDBACK}.{company}.*", _about(company, names))
            for event_type in ("turn.failed.v1", *fact_types()):
                if event_type not in COMPANYS_OWN:
                    await self._find(plan, FACTS.name, fact(event_type, company, None), _about(company, names))
            await self._find(plan, TOOLS.name, TOOL_REQUESTS, _about(company, names))
            if job.user:
                await self._count(plan, TURNS.name, analyses_of(company, job.user))
            about = frozenset(f"{company}/{name}" for name in (job.user, *names) if name)
            await self._find(
                plan,
                WEBHOOKS.name,
                f"webhooks.delivery.v1.{company}.*",
                lambda event: _subject(event) in about or _about(company, names)(event),
            )
            await self._letters_of(plan, job, about)
        return plan

    async def carry_out(self, plan: StreamPlan) -> None:
        """Removes what was planned, and what has been added under the same subjects since; raises
        BusUnavailableError."""
        with bus_errors("purge the streams"):
            for stream, subject in plan.purges:
                await self._js.purge_stream(stream, subject=subject)
            for stream, seq in plan.messages:
                await self._delete(stream, seq)

    async def remove(self, stream: str, seq: int) -> None:
        """Deletes one message, if it is still there; raises BusUnavailableError."""
        with bus_errors("delete a message"):
            await self._delete(stream, seq)

    async def erase_company(self, company: str) -> dict[str, int]:
        """Deletes a company's messages, except announcements about the company, which tell that it was deleted."""
        plan, about = StreamPlan(), _of(company)
        with bus_errors("look for a company in the streams"):
            await self._count(plan, CHAT.name, f"chat.{company}.>")
            await self._count(plan, TURNS.name, f"turn.{company}.>")
            await self._count(plan, TRACES.name, f"traces.recorded.v1.{NOBODY}.{company}.*")
            for event_type in fact_types():
                if event_type not in COMPANYS_OWN:
                    await self._count(plan, FACTS.name, f"{event_type}.{company}.*")
            await self._find(plan, TOOLS.name, TOOL_REQUESTS, about)
            await self._find(plan, WEBHOOKS.name, f"webhooks.delivery.v1.{company}.*", _any)
            for letter in await self._letters.list(limit=LETTERS):
                named = letter.subject.startswith((f"chat.{company}.", f"turn.{company}."))
                if named or f".v1.{company}." in letter.subject or about(letter.body):
                    plan.messages.append((DLQ.name, letter.seq))
                    plan.add(DLQ.name, 1)
        await self.carry_out(plan)
        return plan.found

    async def plan_conversation_facts(self, job: Erasure) -> StreamPlan:
        """The user's facts that concern these conversations; raises BusUnavailableError."""
        plan, names = StreamPlan(), frozenset(job.conversations)
        with bus_errors("look through the streams"):
            for event_type in fact_types():
                for person in (job.user, *job.people):
                    if person:
                        subject = fact(event_type, job.company, person)
                        await self._find(plan, FACTS.name, subject, _about(job.company, names))
        return plan

    async def _count(self, plan: StreamPlan, stream: str, subject: str) -> None:
        """Plans to purge a subject, whatever is counted, since more messages may follow."""
        info = await self._js.stream_info(stream, subjects_filter=subject)
        plan.purges.append((stream, subject))
        plan.add(stream, sum((info.state.subjects or {}).values()))

    async def _find(self, plan: StreamPlan, stream: str, subject: str, wanted: Callable[[bytes], bool]) -> None:
        reader = DirectReader(self._client, stream)
        position = 1
        while True:
            batch = await reader.batch(subject, position, PAGE)
            found = [(stream, one.seq) for one in batch.facts if wanted(one.event)]
            plan.messages.extend(found)
            plan.add(stream, len(found))
            if not batch.more or not batch.facts:
                return
            position = batch.facts[-1].seq + 1

    async def _letters_of(self, plan: StreamPlan, job: Erasure, told_of: Collection[str]) -> None:
        company, names = job.company, frozenset(job.conversations)
        trees = tuple(f"chat.{company}.{name}." for name in names)
        people = tuple(f".v1.{company}.{name}" for name in (job.user,) if name)
        about = _about(company, names)
        for letter in await self._letters.list(limit=LETTERS):
            named = letter.subject.startswith(trees) or letter.subject.endswith(people)
            if letter.stream == WEBHOOKS.name:
                named = _subject(letter.body) in told_of
            if named or about(letter.body):
                plan.messages.append((DLQ.name, letter.seq))
                plan.add(DLQ.name, 1)

    async def _delete(self, stream: str, seq: int) -> None:
        try:
            await self._js.delete_msg(stream, seq)
        except APIError as error:
            # A worker has just taken it, another replica deletes too, or it was found under two subjects.
            if (error.err_code, error.description) not in _GONE and error.err_code != _NO_SUCH_SEQUENCE:
                raise


def fact_types() -> list[str]:
    """Every event type in FACTS whose subject names a user."""
    return [subject.removesuffix(".>") for subject in FACTS.subjects if subject.endswith(".>")]


def _object(raw: bytes) -> JsonObject:
    """The message's JSON object; an empty one if it is none."""
    try:
        return object_of(orjson.loads(raw))
    except orjson.JSONDecodeError:
        return {}


def _subject(raw: bytes) -> object:
    return _object(raw).get("subject")


def _any(_: bytes) -> bool:
    return True


def _of(company: str) -> Callable[[bytes], bool]:
    """Whether an event's data belong to the company."""
    return lambda raw: object_of(_object(raw).get("data")).get("companyId") == company


def _about(company: str, conversations: Collection[str]) -> Callable[[bytes], bool]:
    """Whether a fact's data name one of the conversations."""

    def named(raw: bytes) -> bool:
        data = object_of(_object(raw).get("data"))
        # Of data of any form: what is no text is not in them, and cannot be looked for in a set.
        conversation, of = data.get("conversationId"), data.get("companyId")
        return isinstance(conversation, str) and conversation in conversations and of in (company, None, NOBODY)

    return named
