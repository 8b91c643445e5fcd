"""Reads recorded turns and former settings from the stream FACTS, which holds the last thirty days."""

import base64
from collections.abc import AsyncIterator
from datetime import date, datetime, timedelta

import orjson
import structlog
from nats.aio.client import Client

from agent.errors import UnreachableError
from agent.ports import ConversationKey
from agent.record.recorded_turn import RecordedTurn, recorded_turn
from agent.record.turn import TYPE
from contracts import channels
from contracts.channels import ChatKind
from contracts.company import CompanySettings
from contracts.company_rpc import COMPANY_GET, CompanyRequest
from contracts.envelope import CloudEvent
from contracts.events.fact import CompanyConfigChanged
from contracts.ids import NOBODY, is_id
from contracts.json_values import JsonObject
from contracts.streams import CHAT, FACTS
from runtime.bus.direct import DirectReader, StoredFact
from runtime.calls.deadlines import part_deadline
from runtime.calls.rpc import CALL_DEADLINE, RpcClient
from runtime.errors import ReadFailedError, RpcError

log = structlog.get_logger(__name__)

PAGE = 256
READ_DEADLINE = 10.0
"""Seconds to read a page of records; a part of the caller's deadline where one waits."""
RECORDED_WITHIN = timedelta(seconds=5)
"""The clocks of two servers may differ by so much."""
NEAR = 50
"""Turns of one person that are looked through: a record is stored a moment after its answer."""


class TurnArchive:
    """Reads what agents have recorded."""

    def __init__(self, client: Client) -> None:
        self._facts = DirectReader(client, FACTS.name)
        self._chat = DirectReader(client, CHAT.name)
        self._rpc = RpcClient(client)

    async def conversation(self, company: str | None, conversation: str) -> list[RecordedTurn]:
        """The conversation's turns, oldest first; None: whichever company it belongs to."""
        owner = await self._owner(company, conversation) if company else None
        # A conversation that changed hands, or whose log is gone, is looked for among all.
        for user in [owner, None] if owner else [None]:
            subject = f"{TYPE}.{company or '*'}.{user or '*'}"
            found = [turn async for turn in self._turns(subject) if turn.key.conversation == conversation]
            if found:
                return found
        return []

    async def turn(self, company: str, user: str | None, turn_id: str, answered_at: datetime) -> RecordedTurn | None:
        """The record of a turn of a visitor or customer; None if there is none (any more).

        Raises:
            UnreachableError: the stream cannot be read.
        """
        subject = channels.fact(TYPE, company, user if user and is_id(user) else None)
        try:
            batch = await self._facts.batch_since(subject, answered_at - RECORDED_WITHIN, NEAR)
        except ReadFailedError as error:
            raise UnreachableError(f"the records of turns cannot be read: {error}") from error
        for fact in batch.facts:
            # Told apart before it is taken apart: a record can be large.
            if turn_id.encode() in fact.event and (found := _record(fact)) and found.journal.turn_id == turn_id:
                return found
        return None

    async def day(self, company: str | None, day: date) -> list[RecordedTurn]:
        """The turns of a company, or of all, that began on a day (UTC), conversation by conversation, oldest first."""
        first = day.isoformat()
        found: dict[ConversationKey, list[RecordedTurn]] = {}
        async for turn in self._turns(f"{TYPE}.{company or '*'}.*", day=first):
            found.setdefault(turn.key, []).append(turn)
        return [turn for turns in found.values() for turn in turns]

    async def settings(self, company: str) -> dict[int, CompanySettings]:
        """The company's settings by version, as far as they are kept, the newest among them.

        Raises:
            UnreachableError: memory does not tell what they are now.
        """
        found: dict[int, CompanySettings] = {}
        async for fact in self._all(channels.fact("company.config.changed.v1", company, None)):
            try:
                data = CloudEvent[CompanyConfigChanged].parse(fact.event).data
            except ValueError as error:
                _unreadable(fact, error)
                continue
            found[data.version] = CompanySettings(config=data.config, version=data.version)
        try:
            now = (
                await self._rpc.call(
                    COMPANY_GET, CompanyRequest(company_id=company), deadline=part_deadline(CALL_DEADLINE)
                )
            ).settings
        except RpcError as error:
            raise UnreachableError(f"the settings of {company} cannot be had: {error}") from error
        if now is not None:
            found.setdefault(now.version, now)
        return found

    async def _owner(self, company: str, conversation: str) -> str | None:
        """Returns the author of the first message, by its principal, which the gateway has verified."""
        fact = await self._chat.next(channels.chat(company, conversation, ChatKind.VISITOR), 1)
        if fact is None:
            return None
        try:
            principal = str(orjson.loads(fact.event)["data"].get("principal") or "")
            body = principal.split(".")[1]
            claims: JsonObject = orjson.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
            user = str(claims.get("sub") or NOBODY)
        except (KeyError, IndexError, ValueError, TypeError):
            return None
        return user if is_id(user) else NOBODY

    async def _turns(self, subject: str, day: str | None = None) -> AsyncIterator[RecordedTurn]:
        async for fact in self._all(subject):
            try:
                wanted = day is None or str(orjson.loads(fact.event)["data"]["startedAt"]).startswith(day)
            except (ValueError, KeyError, TypeError) as error:
                _unreadable(fact, error)
                continue
            if wanted and (turn := _record(fact)) is not None:
                yield turn

    async def _all(self, subject: str) -> AsyncIterator[StoredFact]:
        position = 1
        while True:
            batch = await self._facts.batch(subject, position, PAGE, deadline=part_deadline(READ_DEADLINE))
            for fact in batch.facts:
                yield fact
            if not batch.more or not batch.facts:
                return
            position = batch.facts[-1].seq + 1


def _record(fact: StoredFact) -> RecordedTurn | None:
    """The recorded turn; None: it cannot be read."""
    try:
        return recorded_turn(fact.event)
    except ValueError as error:
        _unreadable(fact, error)
        return None


def _unreadable(fact: StoredFact, error: Exception) -> None:
    log.warning("replay.unreadable_record", seq=fact.seq, reason=str(error)[:200])
