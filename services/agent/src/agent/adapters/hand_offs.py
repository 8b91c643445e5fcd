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
    """Reports failed turns to operators; after a spent budget, requests a person if the company wants that."""

    def __init__(self, failures: Failures, hand_offs: "HandOffs") -> None:
        self._failures = failures
        self._hand_offs = hand_offs

    async def report(self, key: ConversationKey, journal: Journal) -> None:
        """Follows up a failed turn; may be repeated. Raises UnreachableError."""
        if journal.failure != "BUDGET_SPENT":
            await self._failures.report(key, journal)
        elif journal.detail == "handoff":
            await self._hand_offs.ask_for_person(key, journal)


class HandOffs:
    """Appends owner.changed to `waiting`, with the fence of every change of owner. Outside office hours the AI stays
    the owner, and the fact says when the office opens: a message was taken."""

    def __init__(self, writer: ConversationWriter, histories: Histories, companies: Companies, clock: BusClock) -> None:
        self._writer = writer
        self._histories = histories
        self._companies = companies
        self._clock = clock

    async def ask_for_person(self, key: ConversationKey, journal: Journal) -> None:
        """Requests a person, unless the owner has changed since the visitor was told about it."""
        identity = derive_id(journal.turn_id, REASON)
        try:
            messages = (await self._histories.up_to(key, journal.basis)).messages
        except UnreachableError:
            messages = ()
        summary = summary_of(messages, journal.calls) if messages else None
        data = _owner_changed(next_opening(await self._hours(key.company), self._now()), reason=REASON, summary=summary)

        async def decide(snapshot: Snapshot) -> NewFact | None:
            notice = snapshot.last.get(ChatKind.SYSTEM)
            after = notice.seq if notice is not None and notice.data.get("turnId") == journal.turn_id else journal.basis
            if snapshot.owner_seq > after or snapshot.owner is not OwnerKind.AI:
                return None
            return NewFact(ChatKind.OWNER, data, identity, event_id=identity)

        try:
            await self._writer.append_if(*key, decide)
        except RuntimeLibraryError as error:
            raise UnreachableError(f"no person could be requested in {key.conversation}: {error}") from error

    async def hand_over(self, key: ConversationKey, call: TurnCall) -> str:
        """Performs a call of the hand-over tool (domain/hand_over.py) and returns its result. It takes effect once: a
        second or restarted driver uses the same call id. Does nothing if the owner has changed since the visitor
        wrote."""
        arguments: dict[str, Any] = json.loads(call.arguments)
        hours, moment = await self._hours(key.company), self._now()
        opens = next_opening(hours, moment)
        author = arguments.get("by") or BY
        data = _owner_changed(
            opens, reason=arguments["reason"], by=author, summary=arguments["summary"], language=arguments["language"]
        )
        identity = derive_id(call.call_id, NAME)
        owner_states: list[str] = []

        async def decide(snapshot: Snapshot) -> NewFact | None:
            owner_states[:] = ["there" if snapshot.owner is not OwnerKind.AI else "before"]
            if snapshot.owner is not OwnerKind.AI or snapshot.owner_seq > arguments["basis"]:
                return None
            return NewFact(ChatKind.OWNER, data, identity, event_id=identity)

        try:
            stored = await self._writer.append_if(*key, decide, repeats=(ChatKind.OWNER, identity))
        except RuntimeLibraryError as error:
            raise UnreachableError(f"no person could be requested in {key.conversation}: {error}") from error
        if stored is None:
            return result(owner_states[0])
        if opens is None:
            return result("asked", stored.seq)
        return message_taken_result(
            stored.seq, away_notice(hours, opens, moment, arguments["language"]), opens.isoformat()
        )

    async def _hours(self, company: str) -> OfficeHours | None:
        settings = await self._companies.get(company)
        return settings.config.office_hours if settings is not None else None

    def _now(self) -> datetime:
        return datetime.fromtimestamp(self._clock.now(), UTC)


def _owner_changed(
    opens: datetime | None, *, reason: str, by: str = BY, summary: list[str] | None = None, language: str | None = None
) -> OwnerChanged:
    """`opens`: the next opening of the office; None if it is open now."""
    owner = Owner(kind=OwnerKind.WAITING if opens is None else OwnerKind.AI)
    return OwnerChanged(owner=owner, by=by, reason=reason, summary=summary, language=language, opens_at=opens)
