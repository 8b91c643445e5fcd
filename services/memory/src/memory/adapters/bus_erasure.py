"""BusEraser: a user taken out of every stream, by subject where it names them, by message where it does not."""

from collections.abc import Collection, Sequence
from typing import Any

import orjson
from nats.aio.client import Client
from nats.errors import Error as NatsError
from nats.js.errors import NotFoundError

from contracts.channels import TOOL_REQUESTS, analyses_of, client_results_of, conversation_tree, fact, journal
from contracts.ids import NOBODY
from contracts.streams import CHAT, DLQ, FACTS, TOOLS, TURNS, WEBHOOKS
from memory.errors import BusUnavailable
from runtime.connection import jetstream
from runtime.dead_letters import DeadLetters
from runtime.direct import DirectReader
from runtime.errors import RuntimeFault

PAGE = 256
LETTERS = 10_000
FEEDBACK = "feedback.given.v1"
"""About an answer of anybody's conversation, under the name of whoever gave it."""
KNOWLEDGE = tuple(one.removesuffix(".>") for one in FACTS.subjects if one.startswith("knowledge."))
COMPANYS_OWN = ("company.config.changed.v1", "tools.announced.v1", "tools.withdrawn.v1", *KNOWLEDGE)


class StreamErasure:
    """BusEraser."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._js = jetstream(client)
        self._letters = DeadLetters(client)

    async def erase(self, company: str, user: str, conversations: Sequence[str]) -> None:
        """Deletes everything of the user; raises BusUnavailable."""
        try:
            for name in conversations:
                await self._js.purge_stream(CHAT.name, subject=conversation_tree(company, name))
                await self._js.purge_stream(TURNS.name, subject=journal(company, name))
                await self._js.purge_stream(TURNS.name, subject=client_results_of(company, name))
            await self._js.purge_stream(TURNS.name, subject=analyses_of(company, user))
            for event_type in _fact_types():
                await self._js.purge_stream(FACTS.name, subject=fact(event_type, company, user))
            names = frozenset(conversations)
            await self._sift(FACTS.name, f"{FEEDBACK}.{company}.*", company, names)
            for event_type in ("turn.failed.v1", *_fact_types()):
                if event_type not in COMPANYS_OWN:
                    await self._sift(FACTS.name, fact(event_type, company, None), company, names)
            await self._sift(TOOLS.name, TOOL_REQUESTS, company, names)
            await self._withhold(company, {f"{company}/{name}" for name in (user, *conversations)}, names)
            await self._bury_letters(company, user, names)
        except (NatsError, TimeoutError, RuntimeFault) as error:
            raise BusUnavailable(f"a user could not be taken out of the streams: {error!r}"[:300]) from error

    async def erase_company(self, company: str) -> None:
        """CompanyEraser. What is told of the company itself stays: that it has ended is told there."""
        try:
            await self._js.purge_stream(CHAT.name, subject=f"chat.{company}.>")
            await self._js.purge_stream(TURNS.name, subject=f"turn.{company}.>")
            for event_type in _fact_types():
                if event_type not in COMPANYS_OWN:
                    await self._js.purge_stream(FACTS.name, subject=f"{event_type}.{company}.*")
        except (NatsError, TimeoutError, RuntimeFault) as error:
            raise BusUnavailable(f"a company could not be taken out of the streams: {error!r}"[:300]) from error

    async def erase_told(self, company: str, user: str, conversations: Sequence[str]) -> None:
        """Deletes what was told of the conversations in the user's name; raises BusUnavailable."""
        names = frozenset(conversations)
        try:
            for event_type in _fact_types():
                await self._sift(FACTS.name, fact(event_type, company, user), company, names)
        except (NatsError, TimeoutError, RuntimeFault) as error:
            raise BusUnavailable(f"a user could not be taken out of the streams: {error!r}"[:300]) from error

    async def _sift(self, stream: str, subject: str, company: str, conversations: Collection[str]) -> None:
        """Deletes those messages whose data name one of the conversations."""
        reader = DirectReader(self._client, stream)
        position = 1
        while conversations:
            batch = await reader.batch(subject, position, PAGE)
            for found in batch.facts:
                if _about(found.event, company, conversations):
                    await self._delete(stream, found.seq)
            if not batch.more or not batch.facts:
                return
            position = batch.facts[-1].seq + 1

    async def _withhold(self, company: str, about: Collection[str], conversations: Collection[str]) -> None:
        """Deletes what waits to be told to the company's endpoints."""
        reader = DirectReader(self._client, WEBHOOKS.name)
        position = 1
        while (batch := await reader.batch(f"webhooks.delivery.v1.{company}.*", position, PAGE)).facts:
            for found in batch.facts:
                if _subject(found.event) in about or _about(found.event, company, conversations):
                    await self._delete(WEBHOOKS.name, found.seq)
            if not batch.more:
                return
            position = batch.facts[-1].seq + 1

    async def _bury_letters(self, company: str, user: str, conversations: Collection[str]) -> None:
        trees = tuple(f"chat.{company}.{name}." for name in conversations)
        own = f".v1.{company}.{user}"
        for letter in await self._letters.list(limit=LETTERS):
            named = letter.subject.startswith(trees) or letter.subject.endswith(own)
            if letter.stream == WEBHOOKS.name:
                named = _subject(letter.body) in {f"{company}/{name}" for name in (user, *conversations)}
            if named or _about(letter.body, company, conversations):
                await self._delete(DLQ.name, letter.seq)

    async def _delete(self, stream: str, seq: int) -> None:
        try:
            await self._js.delete_msg(stream, seq)
        except NotFoundError:
            return  # a worker has just taken it, or another replica deletes too


def _fact_types() -> list[str]:
    """Every type in FACTS whose subject names a user."""
    return [subject.removesuffix(".>") for subject in FACTS.subjects if subject.endswith(".>")]


def _subject(raw: bytes) -> str | None:
    try:
        return orjson.loads(raw).get("subject")
    except (orjson.JSONDecodeError, AttributeError):
        return None


def _about(raw: bytes, company: str, conversations: Collection[str]) -> bool:
    try:
        event: Any = orjson.loads(raw)
        data: dict[str, Any] = event["data"]
        return data.get("conversationId") in conversations and data.get("companyId") in (company, None, NOBODY)
    except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError):
        return False
