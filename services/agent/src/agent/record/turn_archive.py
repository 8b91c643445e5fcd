"""Reads recorded turns and former settings from the stream FACTS, which contains the last thirty days."""

import base64
from collections.abc import AsyncIterator
from datetime import date, datetime, timedelta
from functools import partial

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

READ_DEADLINE = 10.0
"""Seconds to read a batch of records; a part of the caller's deadline if there is one."""
MAX_CLOCK_DIFFERENCE = timedelta(seconds=5)
"""How far the clocks of two servers may differ."""
MAX_CANDIDATES = 50
"""Records of one person that are searched for a turn; a record is stored a moment after its answer."""


class TurnArchive:
    """Reads the records that agents have stored."""

    def __init__(self, client: Client) -> None:
        self._facts = DirectReader(client, FACTS.name)
        self._chat = DirectReader(client, CHAT.name)
        self._rpc = RpcClient(client)

    async def conversation(self, company: str | None, conversation: str) -> list[RecordedTurn]:
        """Returns the conversation's turns, oldest first. `company`: None for any company."""
        owner = await self._owner(company, conversation) if company else None
        # If the owner has changed, or the log is gone, all records are searched.
        for user in [owner, None] if owner else [None]:
            subject = f"{TYPE}.{company or '*'}.{user or '*'}"
            turns = [turn async for turn in self._turns(subject) if turn.key.conversation == conversation]
            if turns:
                return turns
        return []

    async def turn(self, company: str, user: str | None, turn_id: str, answered_at: datetime) -> RecordedTurn | None:
        """Returns the record of a visitor's or customer's turn; None if there is none (any more).

        Raises:
            UnreachableError: the stream cannot be read.
        """
        subject = channels.fact(TYPE, company, user if user and is_id(user) else None)
        try:
            batch = await self._facts.batch_since(subject, answered_at - MAX_CLOCK_DIFFERENCE, MAX_CANDIDATES)
        except ReadFailedError as error:
            raise UnreachableError(f"the records of turns cannot be read: {error}") from error
        for fact in batch.facts:
            # The id is searched in the raw bytes first, because a record can be large.
            if turn_id.encode() in fact.event and (turn := _record(fact)) and turn.journal.turn_id == turn_id:
                return turn
        return None

    async def day(self, company: str | None, day: date) -> list[RecordedTurn]:
        """Returns the turns of a company (None: of all) that began on a day (UTC), by conversation, oldest first."""
        day_text = day.isoformat()
        by_conversation: dict[ConversationKey, list[RecordedTurn]] = {}
        async for turn in self._turns(f"{TYPE}.{company or '*'}.*", day=day_text):
            by_conversation.setdefault(turn.key, []).append(turn)
        return [turn for turns in by_conversation.values() for turn in turns]

    async def settings(self, company: str) -> dict[int, CompanySettings]:
        """Returns the company's settings by version, as far as they are stored, including the current ones.

        Raises:
            UnreachableError: memory does not return the current settings.
        """
        versions: dict[int, CompanySettings] = {}
        async for fact in self._all(channels.fact("company.config.changed.v1", company, None)):
            try:
                data = CloudEvent[CompanyConfigChanged].parse(fact.event).data
            except ValueError as error:
                _unreadable(fact, error)
                continue
            versions[data.version] = CompanySettings(config=data.config, version=data.version)
        request = CompanyRequest(company_id=company)
        try:
            current = (await self._rpc.call(COMPANY_GET, request, deadline=part_deadline(CALL_DEADLINE))).settings
        except RpcError as error:
            raise UnreachableError(f"the settings of {company} cannot be read: {error}") from error
        if current is not None:
            versions.setdefault(current.version, current)
        return versions

    async def _owner(self, company: str, conversation: str) -> str | None:
        """Returns the author of the first message, from its principal, which the gateway has verified."""
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
                is_wanted = day is None or str(orjson.loads(fact.event)["data"]["startedAt"]).startswith(day)
            except (ValueError, KeyError, TypeError) as error:
                _unreadable(fact, error)
                continue
            if is_wanted and (turn := _record(fact)) is not None:
                yield turn

    def _all(self, subject: str) -> AsyncIterator[StoredFact]:
        return self._facts.all(subject, deadline=partial(part_deadline, READ_DEADLINE))


def _record(fact: StoredFact) -> RecordedTurn | None:
    """Returns the recorded turn; None if it cannot be read."""
    try:
        return recorded_turn(fact.event)
    except ValueError as error:
        _unreadable(fact, error)
        return None


def _unreadable(fact: StoredFact, error: Exception) -> None:
    log.warning("replay.unreadable_record", seq=fact.seq, reason=str(error)[:200])
