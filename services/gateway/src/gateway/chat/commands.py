"""The commands by which people change a conversation. Each becomes a durable fact before it is answered.

Every fact that may veto an answer (owner.changed, run.cancelled, a human agent's message) is appended with the fence of
the snapshot that it was decided from, and decided again if something newer is there.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from contracts.channels import ChatKind
from contracts.company import CompanySettings
from contracts.conversation import Snapshot, message_view
from contracts.conversation_rpc import MessageView
from contracts.envelope import Wire
from contracts.errors import ErrorCode
from contracts.events.chat import (
    CancelReason,
    OperatorMessage,
    Owner,
    OwnerChanged,
    OwnerKind,
    Page,
    RunCancelled,
    VisitorMessage,
    Wishes,
)
from contracts.events.fact import ConversationRated, FeedbackGiven
from contracts.files import FileRef
from contracts.ids import derive_id, turn_id, uuid7
from contracts.languages import MAX_CHARS_READ, detected_language, named_language
from contracts.office_hours import next_opening
from contracts.person_rules import RuleInput, matching_rule
from gateway.adapters.agents import BusAgents
from gateway.adapters.bus import NatsBus
from gateway.adapters.companies import BusCompanies
from gateway.adapters.identity import CallerSigner
from gateway.adapters.log import CLOCK_SKEW_SECONDS, NatsLog
from gateway.adapters.memory import BusMemory
from gateway.chat.delays import AnswerDelays
from gateway.chat.shares import CompanyShares
from gateway.domain.recovery import MAX_STREAM_DISTANCE
from gateway.errors import RefusedError, UnavailableError, found, not_found
from gateway.ports import Decide, TokenCaller
from runtime.bus.publisher import Appended
from runtime.clock import Clock

ASKED_REASON = "asked"
"""The reason of a hand-off that the visitor asked for."""


@dataclass(frozen=True, slots=True)
class ConversationPlace:
    """A conversation and the caller in it."""

    caller: TokenCaller
    conversation: str

    @property
    def company(self) -> str:
        """The caller's company; nobody reaches another company's conversations."""
        return self.caller.company


@dataclass(frozen=True, slots=True)
class MessageDraft:
    """A message to send. `client_message_id` identifies a repeat; `seen_seq` is the sequence of the newest change of
    owner that the human agent who writes has seen."""

    client_message_id: str
    text: str
    locale: str | None = None
    page: Page | None = None
    visited: list[str] | None = None
    wishes: Wishes | None = None
    door: str | None = None
    files: list[FileRef] | None = None
    seen_seq: int | None = None


@dataclass(eq=False, repr=False, slots=True)
class Commands:
    """Appends facts for callers whose access has been checked."""

    _log: NatsLog
    _bus: NatsBus
    _memory: BusMemory
    _agents: BusAgents
    _principals: CallerSigner
    _shares: CompanyShares
    _delays: AnswerDelays
    _companies: BusCompanies
    _clock: Clock

    async def find_sent(self, place: ConversationPlace, client_message_id: str) -> Appended | None:
        """The message, if an earlier try stored it; looked up by id, since the log's deduplication lasts two minutes.

        Raises:
            UnavailableError: it cannot be determined; sending now could store the message twice.
        """
        kind = ChatKind.OPERATOR if place.caller.is_operator else ChatKind.VISITOR
        message = message_id(place, client_message_id)
        try:
            view = await self._memory.message(place.company, place.conversation, message)
        except UnavailableError:
            return await self._find_in_log(place, kind, message)
        return Appended(view.seq, duplicate=True) if view else None

    async def _find_in_log(self, place: ConversationPlace, kind: ChatKind, message: str) -> Appended | None:
        snapshot = await self._log.snapshot(place.company, place.conversation)
        facts, complete = await self._log.recent_facts(
            place.company, place.conversation, snapshot.seq, MAX_STREAM_DISTANCE
        )
        for fact in facts:
            if fact.kind is kind and fact.data.get("messageId") == message:
                return Appended(fact.seq, duplicate=True)
        if not complete:
            raise UnavailableError("whether this message was stored cannot be told now: try again")
        return None

    async def message_at(self, place: ConversationPlace, seq: int) -> MessageView | None:
        """The message at a sequence of the log; None if the log no longer has it. Raises UnavailableError."""
        facts = await self._log.read(place.company, place.conversation, seq - 1, seq)
        view = message_view(facts[0]) if facts else None
        return None if view is None else MessageView.model_validate(view)

    async def send_as_visitor(self, place: ConversationPlace, draft: MessageDraft) -> Appended:
        """Appends a visitor's or customer's message. Not fenced: an answer may be stored just before it, and the
        message is still answered.

        Raises:
            UnavailableError: no acknowledgement within 15 s; send again with the same id.
            RateLimitedError: the company has filled its share of the log.
            OverloadedError: its visitors wait too long for answers already.
        """
        caller = place.caller
        await self._shares.admit(caller.company)
        self._delays.admit(caller.company)
        locale = draft.locale or detected_language(draft.text[:MAX_CHARS_READ])
        data = VisitorMessage(
            message_id=message_id(place, draft.client_message_id),
            client_message_id=draft.client_message_id,
            text=draft.text,
            principal=self._principals.sign(caller, place.conversation, locale),
            role="user" if caller.role == "user" else "visitor",
            locale=locale,
            page=draft.page,
            visited=draft.visited,
            funnel_stage=caller.visit.funnel_stage,
            door=draft.door,
            wishes=draft.wishes,
            name=caller.visit.name or (caller.name if caller.role == "user" else None),
            email=caller.visit.email,
            files=draft.files,
        )
        return await self._log.append(
            place.company, place.conversation, ChatKind.VISITOR, data, identity=draft.client_message_id
        )

    async def send_as_operator(self, place: ConversationPlace, draft: MessageDraft) -> Appended:
        """Appends a human agent's message, which settles visitor messages before it. CONFLICT: `_refuse_if_taken`."""
        data = OperatorMessage(
            message_id=message_id(place, draft.client_message_id),
            client_message_id=draft.client_message_id,
            text=draft.text,
            operator_id=place.caller.subject,
            name=place.caller.name,
            files=draft.files,
        )

        async def decide(now: Snapshot) -> Wire:
            _refuse_if_taken(now, place, draft.seen_seq)
            return data

        stored = await self._append_if(place, ChatKind.OPERATOR, draft.client_message_id, decide)
        if stored is None:
            raise RefusedError(ErrorCode.CONFLICT, "the message was not sent: try again")
        return stored

    async def ask_for_person(self, place: ConversationPlace, locale: str | None) -> Snapshot | None:
        """Sets the owner to `waiting`; outside office hours the AI stays owner and a message is taken. Returns the
        snapshot if a person was asked for already or has the conversation. `locale`: the visitor's language, also if
        they have not written yet."""
        settings, now = await self._companies.get(place.company), self._clock.now()
        await self._refuse_by_rule(place, settings)
        opens_at = next_opening(settings.config.office_hours if settings else None, now)
        owner = Owner(kind=OwnerKind.WAITING if opens_at is None else OwnerKind.AI)

        def is_first_request(snapshot: Snapshot) -> bool:
            newest = snapshot.last.get(ChatKind.OWNER)
            is_message_taken = opens_at is not None and newest is not None and newest.data.get("opensAt") is not None
            return snapshot.owner is OwnerKind.AI and not is_message_taken

        language = named_language(locale)
        summary = await self._agents.summary(place.company, place.conversation, language)
        return await self._change_owner(place, owner, is_first_request, ASKED_REASON, opens_at, language, summary)

    async def _refuse_by_rule(self, place: ConversationPlace, settings: CompanySettings | None) -> None:
        """Raises FORBIDDEN if a rule of the company says that the last message, or its page, never goes to a person."""
        rules = settings.config.person_rules if settings else []
        if not any(rule.to == "never" for rule in rules):
            return
        visitor = (await self._log.snapshot(place.company, place.conversation)).last.get(ChatKind.VISITOR)
        message = visitor.typed if visitor is not None else None
        text, page = "", place.caller.visit.page
        if isinstance(message, VisitorMessage):
            text, page = message.text, message.page.url if message.page else page
        matched = matching_rule(rules, RuleInput(text, place.caller.plan, page))
        if matched is not None and matched.to == "never":
            raise RefusedError(ErrorCode.FORBIDDEN, "the company's rules say that this goes to the assistant alone")

    async def take(self, place: ConversationPlace, seen_seq: int | None = None) -> Snapshot | None:
        """Makes the human agent the owner; returns the snapshot if they already are. CONFLICT: `_refuse_if_taken`."""
        operator = place.caller.subject
        owner = Owner(kind=OwnerKind.HUMAN, operator_id=operator, name=place.caller.name)

        def is_needed(now: Snapshot) -> bool:
            _refuse_if_taken(now, place, seen_seq)
            return now.owner is not OwnerKind.HUMAN or now.owner_data.get("operatorId") != operator

        return await self._change_owner(place, owner, is_needed)

    async def hand_to(self, place: ConversationPlace, colleague: str, name: str | None) -> Owner | None:
        """Makes the new assignee the owner, if a person has the conversation. Returns the owner; None: no change."""
        owner = Owner(kind=OwnerKind.HUMAN, operator_id=colleague, name=name)

        def is_needed(now: Snapshot) -> bool:
            return now.owner is OwnerKind.HUMAN and now.owner_data.get("operatorId") != colleague

        return owner if await self._change_owner(place, owner, is_needed) is None else None

    async def release(self, place: ConversationPlace) -> Snapshot | None:
        """Makes the AI the owner again; returns the snapshot if it already is."""
        owner = Owner(kind=OwnerKind.AI)
        return await self._change_owner(place, owner, lambda now: now.owner is not OwnerKind.AI)

    async def follow_owner(
        self,
        place: ConversationPlace,
        owner: Owner,
        status: str,
        changed_at: float,
        is_needed: Callable[[Snapshot], bool],
    ) -> None:
        """Sets the owner that a channel reports, unless the report is older than one followed already. `changed_at`:
        the time at which the channel's conversation changed, by the channel's clock, in seconds since the epoch."""
        report = f"{changed_at:017.6f} {status}"
        reports = await self._followed_reports(place)
        time = _plausible_time(report, self._clock.now().timestamp())
        if report in reports or time < max(reports.values(), default=time):
            return

        async def decide(now: Snapshot) -> Wire | None:
            if not is_needed(now):
                return None
            return OwnerChanged(owner=owner, by=place.caller.subject, name=place.caller.name, outside=report)

        await self._append_if(place, ChatKind.OWNER, derive_id(place.conversation, report), decide)

    async def _followed_reports(self, place: ConversationPlace) -> dict[str, float]:
        """The reports followed in the recent part of the log, each with its `_plausible_time`."""
        snapshot = await self._log.snapshot(place.company, place.conversation)
        if ChatKind.OWNER not in snapshot.last:
            return {}
        facts, _ = await self._log.recent_facts(place.company, place.conversation, snapshot.seq, MAX_STREAM_DISTANCE)
        reports = ((fact.data.get("outside"), fact.at) for fact in facts if fact.kind is ChatKind.OWNER)
        return {
            report: _plausible_time(report, received_at) for report, received_at in reports if isinstance(report, str)
        }

    async def cancel(self, place: ConversationPlace, turn: str) -> None:
        """Stops a running turn and settles its messages. Raises NOT_FOUND if no such turn is running."""

        async def decide(now: Snapshot) -> Wire | None:
            basis = await self._unanswered_seq(place, turn, now)
            if basis is None:
                return None
            return RunCancelled(
                turn_id=turn, basis=max(basis, now.basis), by=place.caller.subject, reason=CancelReason.USER
            )

        if await self._append_if(place, ChatKind.CANCEL, turn, decide) is None:
            raise not_found("running turn")

    async def give_feedback(
        self, place: ConversationPlace, message: str, rating: Literal["up", "down"], reason: str | None
    ) -> None:
        """Records the rating of an answer; raises NOT_FOUND if the conversation has no such message."""
        if not await self._has_message(place, message):
            raise not_found("message")
        user = place.caller.subject
        data = FeedbackGiven(
            company_id=place.company,
            conversation_id=place.conversation,
            message_id=message,
            user_id=user,
            rating=rating,
            reason=reason,
        )
        identity = f"{place.company}.{place.conversation}.feedback.{message}.{user}.{uuid7()}"
        await self._bus.publish_fact("feedback.given.v1", place.company, user, data, identity=identity)

    async def rate(self, place: ConversationPlace, score: int, comment: str | None) -> None:
        """Records whether the conversation helped; a later rating replaces it."""
        user = place.caller.subject
        data = ConversationRated(
            company_id=place.company, conversation_id=place.conversation, user_id=user, score=score, comment=comment
        )
        identity = f"{place.company}.{place.conversation}.rated.{user}.{uuid7()}"
        await self._bus.publish_fact("conversation.rated.v1", place.company, user, data, identity=identity)

    async def _has_message(self, place: ConversationPlace, message: str) -> bool:
        """Whether the conversation has the message. True if memory is unavailable: the rating is then accepted."""
        snapshot = await self._log.snapshot(place.company, place.conversation)
        if any(fact.data.get("messageId") == message for fact in snapshot.last.values()):
            return True
        try:
            return await self._memory.message(place.company, place.conversation, message) is not None
        except UnavailableError:
            return True

    async def _unanswered_seq(self, place: ConversationPlace, turn: str, now: Snapshot) -> int | None:
        """The sequence of the visitor message that the turn answers, if unanswered; turn ids are derived from it."""
        if not now.unanswered:
            return None
        if turn_id(place.company, place.conversation, now.newest_visitor) == turn:
            return now.newest_visitor
        # A turn that can no longer be superseded continues while newer messages arrive.
        for fact in await self._log.read(place.company, place.conversation, now.basis, now.seq):
            if fact.kind is ChatKind.VISITOR and turn_id(place.company, place.conversation, fact.seq) == turn:
                return fact.seq
        return None

    async def _change_owner(
        self,
        place: ConversationPlace,
        owner: Owner,
        is_needed: Callable[[Snapshot], bool],
        reason: str | None = None,
        opens_at: datetime | None = None,
        language: str | None = None,
        summary: list[str] | None = None,
    ) -> Snapshot | None:
        snapshots: list[Snapshot] = []

        async def decide(now: Snapshot) -> Wire | None:
            if is_needed(now):
                return OwnerChanged(
                    owner=owner,
                    by=place.caller.subject,
                    name=place.caller.name,
                    reason=reason,
                    opens_at=opens_at,
                    language=language,
                    summary=summary,
                )
            snapshots[:] = [now]
            return None

        stored = await self._append_if(place, ChatKind.OWNER, uuid7(), decide)
        return snapshots[0] if stored is None else None

    async def _append_if(
        self, place: ConversationPlace, kind: ChatKind, identity: str, decide: Decide
    ) -> Appended | None:
        async def decide_if_there(now: Snapshot) -> Wire | None:
            # Whoever still looks at a conversation that has been deleted must not begin one there without its visitor.
            if now.seq == 0 and place.caller.is_operator:
                found(await self._memory.conversation(place.company, place.conversation), "conversation")
            return await decide(now)

        return await self._log.append_if(
            place.company, place.conversation, kind, identity=identity, decide=decide_if_there
        )


def _refuse_if_taken(now: Snapshot, place: ConversationPlace, seen_seq: int | None) -> None:
    """Raises CONFLICT if a colleague took the conversation after `seen_seq`, the newest change of owner that the human
    agent has seen."""
    owner = now.owner_data
    if now.owner is not OwnerKind.HUMAN or owner.get("operatorId") == place.caller.subject:
        return
    if seen_seq is not None and now.owner_seq > seen_seq:
        name = owner.get("name") or owner.get("operatorId")
        raise RefusedError(ErrorCode.CONFLICT, f"{name} took the conversation a moment ago")


def _plausible_time(report: str, received_at: float) -> float:
    """The time of a change that a channel reported: by the channel's clock, unless that is far ahead of ours, else the
    time at which the report was received. One time far ahead would make every later report look old."""
    reported_at = float(report.partition(" ")[0])
    return reported_at if reported_at <= received_at + CLOCK_SKEW_SECONDS else received_at


def message_id(place: ConversationPlace, client_message_id: str) -> str:
    """The message's id, which is the same for a late copy."""
    kind = ChatKind.OPERATOR if place.caller.is_operator else ChatKind.VISITOR
    return derive_id(place.company, place.conversation, kind.short, client_message_id)
