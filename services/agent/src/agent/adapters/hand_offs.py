"""Follow-ups of a turn without an answer: a report to the operators or, if the budget is spent, a hand-off to a person.
A spent budget is not a fault, so it creates no dead letter."""

import json
from datetime import UTC, datetime
from typing import Any

from agent.domain.hand_over import NAME, message_taken_result, result, summary_of
from agent.domain.turn.journal import Journal, TurnCall
from agent.errors import UnreachableError
from agent.ports import BusClock, Companies, ConversationKey, Failures, Histories
from contracts.channels import ChatKind
from contracts.conversation import Snapshot
from contracts.events.chat import Owner, OwnerChanged, OwnerKind
from contracts.ids import derive_id
from contracts.office_hours import OfficeHours, away_notice, next_opening
from runtime.conversation import ConversationWriter, NewFact
from runtime.errors import RuntimeLibraryError

REASON = "budget_spent"
BY = "agent"


class EndedTurns:
    """Reports failed turns to operators; after a spent budget, asks for a person if the company wants that."""

    def __init__(self, failed: Failures, hand_offs: "HandOffs") -> None:
        self._failed = failed
        self._hand_offs = hand_offs

    async def report(self, key: ConversationKey, journal: Journal) -> None:
        """Follows up one failed turn; may be called twice. Raises UnreachableError if it could not be done."""
        if journal.failure != "BUDGET_SPENT":
            await self._failed.report(key, journal)
        elif journal.detail == "handoff":
            await self._hand_offs.ask_for_person(key, journal)


class HandOffs:
    """owner.changed to `waiting`, by the fence that every change of owner is appended with. Outside office hours the AI
    stays the owner, and the fact says when somebody is there: a message was taken."""

    def __init__(self, writer: ConversationWriter, histories: Histories, companies: Companies, clock: BusClock) -> None:
        self._writer = writer
        self._histories = histories
        self._companies = companies
        self._clock = clock

    async def ask_for_person(self, key: ConversationKey, journal: Journal) -> None:
        """Asks for a person, unless the owner has changed since the visitor was told so."""
        identity = derive_id(journal.turn_id, REASON)
        try:
            spoken = (await self._histories.up_to(key, journal.basis)).messages
        except UnreachableError:
            spoken = ()
        summary = summary_of(spoken, journal.calls) if spoken else None
        data = _asking(next_opening(await self._hours(key.company), self._now()), reason=REASON, summary=summary)

        async def decide(now: Snapshot) -> NewFact | None:
            told = now.last.get(ChatKind.SYSTEM)
            since = told.seq if told is not None and told.data.get("turnId") == journal.turn_id else journal.basis
            if now.owner_seq > since or now.owner is not OwnerKind.AI:
                return None
            return NewFact(ChatKind.OWNER, data, identity, event_id=identity)

        try:
            await self._writer.append_if(*key, decide)
        except RuntimeLibraryError as error:
            raise UnreachableError(f"no person could be asked for in {key.conversation}: {error}") from error

    async def hand_over(self, key: ConversationKey, call: TurnCall) -> str:
        """Performs a call of the hand-over tool (domain/hand_over.py), once: a second driver or a restarted one has
        the same call id. Does nothing if the owner has changed since the visitor wrote."""
        told: dict[str, Any] = json.loads(call.arguments)
        hours, at = await self._hours(key.company), self._now()
        opens = next_opening(hours, at)
        by = told.get("by") or BY
        data = _asking(opens, reason=told["reason"], by=by, summary=told["summary"], language=told["language"])
        identity = derive_id(call.call_id, NAME)
        found: list[str] = []

        async def decide(now: Snapshot) -> NewFact | None:
            found[:] = ["there" if now.owner is not OwnerKind.AI else "before"]
            if now.owner is not OwnerKind.AI or now.owner_seq > told["basis"]:
                return None
            return NewFact(ChatKind.OWNER, data, identity, event_id=identity)

        try:
            stored = await self._writer.append_if(*key, decide, repeats=(ChatKind.OWNER, identity))
        except RuntimeLibraryError as error:
            raise UnreachableError(f"no person could be asked for in {key.conversation}: {error}") from error
        if stored is None:
            return result(found[0])
        if opens is None:
            return result("asked", stored.seq)
        return message_taken_result(stored.seq, away_notice(hours, opens, at, told["language"]), opens.isoformat())

    async def _hours(self, company: str) -> OfficeHours | None:
        settings = await self._companies.get(company)
        return settings.config.office_hours if settings is not None else None

    def _now(self) -> datetime:
        return datetime.fromtimestamp(self._clock.now(), UTC)


def _asking(
    opens: datetime | None, *, reason: str, by: str = BY, summary: list[str] | None = None, language: str | None = None
) -> OwnerChanged:
    """`opens`: the next opening of the office; None: it is open now."""
    owner = Owner(kind=OwnerKind.WAITING if opens is None else OwnerKind.AI)
    return OwnerChanged(owner=owner, by=by, reason=reason, summary=summary, language=language, opens_at=opens)
