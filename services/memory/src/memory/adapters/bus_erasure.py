"""Deletes users and conversations from every stream: by subject if it names them, otherwise message by message.

A message that is deleted singly is overwritten in the stream's file; purged messages stay there until the server
rewrites the file.
"""

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

MAX_DEAD_LETTERS = 10_000
FEEDBACK = "feedback.given.v1"
"""Ratings of answers; their subject names the person who rated, not the conversation's visitor."""
KNOWLEDGE = tuple(subject.removesuffix(".>") for subject in FACTS.subjects if subject.startswith("knowledge."))
COMPANY_EVENT_TYPES = ("company.config.changed.v1", "tools.announced.v1", "tools.withdrawn.v1", *KNOWLEDGE)
_NO_SUCH_SEQUENCE = 10043
_NO_MESSAGE_ERRORS = frozenset({(10057, "no message found"), (10057, "stream store EOF")})
"""NATS's errors for a message that does not exist."""


@dataclass(slots=True)
class StreamPlan:
    """The messages that a deletion will remove from the streams. `counts`: how many, by place."""

    purges: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    messages: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])
    counts: dict[str, int] = field(default_factory=dict[str, int])

    def add(self, stream: str, count: int) -> None:
        """Adds to the number of messages found in a stream."""
        place = f"stream {stream}"
        self.counts[place] = self.counts.get(place, 0) + count


class StreamErasure:
    """Plans and carries out deletions in the streams."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._js = jetstream(client)
        self._letters = DeadLetters(client)

    async def plan(self, job: Erasure) -> StreamPlan:
        """Finds everything in the streams about the user or the conversations; raises BusUnavailableError."""
        company, conversations = job.company, frozenset(job.conversations)
        plan, is_about = StreamPlan(), _is_about(company, conversations)
        with bus_errors("look through the streams"):
            for conversation in job.conversations:
                await self._count(plan, CHAT.name, conversation_tree(company, conversation))
                await self._count(plan, TURNS.name, journal(company, conversation))
                await self._count(plan, TURNS.name, client_results_of(company, conversation))
            for event_type in fact_types():
                if job.user:
                    await self._find(plan, FACTS.name, fact(event_type, company, job.user), _always)
                for person in job.people:
                    await self._find(plan, FACTS.name, fact(event_type, company, person), is_about)
            await self._find(plan, FACTS.name, f"{FEEDBACK}.{company}.*", is_about)
            for event_type in ("turn.failed.v1", *fact_types()):
                if event_type not in COMPANY_EVENT_TYPES:
                    await self._find(plan, FACTS.name, fact(event_type, company, None), is_about)
            await self._find(plan, TOOLS.name, TOOL_REQUESTS, is_about)
            if job.user:
                await self._count(plan, TURNS.name, analyses_of(company, job.user))
            subjects = frozenset(f"{company}/{part}" for part in (job.user, *conversations) if part)
            await self._find(
                plan,
                WEBHOOKS.name,
                f"webhooks.delivery.v1.{company}.*",
                lambda event: _subject(event) in subjects or is_about(event),
            )
            await self._find_dead_letters(plan, job, subjects, is_about)
        return plan

    async def carry_out(self, plan: StreamPlan) -> None:
        """Removes what was planned, and what was added to the same subjects since; raises BusUnavailableError."""
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
        """Deletes a company's messages, except announcements about the company, which report that it was deleted.
        Returns how many, by place."""
        plan, is_of_company = StreamPlan(), _is_of_company(company)
        with bus_errors("look for a company in the streams"):
            await self._count(plan, CHAT.name, f"chat.{company}.>")
            await self._count(plan, TURNS.name, f"turn.{company}.>")
            await self._count(plan, TRACES.name, f"traces.recorded.v1.{NOBODY}.{company}.*")
            for event_type in fact_types():
                if event_type not in COMPANY_EVENT_TYPES:
                    await self._count(plan, FACTS.name, f"{event_type}.{company}.*")
            await self._find(plan, TOOLS.name, TOOL_REQUESTS, is_of_company)
            await self._find(plan, WEBHOOKS.name, f"webhooks.delivery.v1.{company}.*", _always)
            for letter in await self._letters.list(limit=MAX_DEAD_LETTERS):
                has_subject = letter.subject.startswith((f"chat.{company}.", f"turn.{company}."))
                if has_subject or f".v1.{company}." in letter.subject or is_of_company(letter.body):
                    plan.messages.append((DLQ.name, letter.seq))
                    plan.add(DLQ.name, 1)
        await self.carry_out(plan)
        return plan.counts

    async def plan_conversation_facts(self, job: Erasure) -> StreamPlan:
        """Finds the user's facts that concern these conversations; raises BusUnavailableError."""
        plan, conversations = StreamPlan(), frozenset(job.conversations)
        with bus_errors("look through the streams"):
            for event_type in fact_types():
                for person in (job.user, *job.people):
                    if person:
                        subject = fact(event_type, job.company, person)
                        await self._find(plan, FACTS.name, subject, _is_about(job.company, conversations))
        return plan

    async def _count(self, plan: StreamPlan, stream: str, subject: str) -> None:
        """Plans to purge a subject and counts its messages. It is purged even if there are none, since more may
        follow."""
        info = await self._js.stream_info(stream, subjects_filter=subject)
        plan.purges.append((stream, subject))
        plan.add(stream, sum((info.state.subjects or {}).values()))

    async def _find(self, plan: StreamPlan, stream: str, subject: str, matches: Callable[[bytes], bool]) -> None:
        matching = [
            (stream, message.seq)
            async for message in DirectReader(self._client, stream).all(subject)
            if matches(message.event)
        ]
        plan.messages.extend(matching)
        plan.add(stream, len(matching))

    async def _find_dead_letters(
        self, plan: StreamPlan, job: Erasure, subjects: Collection[str], is_about: Callable[[bytes], bool]
    ) -> None:
        trees = tuple(f"chat.{job.company}.{conversation}." for conversation in job.conversations)
        people = (f".v1.{job.company}.{job.user}",) if job.user else ()
        for letter in await self._letters.list(limit=MAX_DEAD_LETTERS):
            has_subject = letter.subject.startswith(trees) or letter.subject.endswith(people)
            if letter.stream == WEBHOOKS.name:
                has_subject = _subject(letter.body) in subjects
            if has_subject or is_about(letter.body):
                plan.messages.append((DLQ.name, letter.seq))
                plan.add(DLQ.name, 1)

    async def _delete(self, stream: str, seq: int) -> None:
        try:
            await self._js.delete_msg(stream, seq)
        except APIError as error:
            # A worker has just processed it, another replica deletes it too, or it was found under two subjects.
            if (error.err_code, error.description) not in _NO_MESSAGE_ERRORS and error.err_code != _NO_SUCH_SEQUENCE:
                raise


def fact_types() -> list[str]:
    """Every event type in FACTS whose subject names a user."""
    return [subject.removesuffix(".>") for subject in FACTS.subjects if subject.endswith(".>")]


def _object(raw: bytes) -> JsonObject:
    """The message as a JSON object; empty if it is not one."""
    try:
        return object_of(orjson.loads(raw))
    except orjson.JSONDecodeError:
        return {}


def _subject(raw: bytes) -> object:
    return _object(raw).get("subject")


def _always(_: bytes) -> bool:
    return True


def _is_of_company(company: str) -> Callable[[bytes], bool]:
    """A test whether an event's data belong to the company."""
    return lambda raw: object_of(_object(raw).get("data")).get("companyId") == company


def _is_about(company: str, conversations: Collection[str]) -> Callable[[bytes], bool]:
    """A test whether a fact's data name one of the conversations."""

    def named(raw: bytes) -> bool:
        data = object_of(_object(raw).get("data"))
        # The data can have any form: a value that is not a text matches nothing, and may not even be hashable.
        conversation, owner = data.get("conversationId"), data.get("companyId")
        return isinstance(conversation, str) and conversation in conversations and owner in (company, None, NOBODY)

    return named
