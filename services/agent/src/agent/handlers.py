"""The agent's subscriptions: one thin function for each kind of message."""

import orjson
import structlog
from nats.aio.msg import Msg
from pydantic import ValidationError

from agent.adapters.followed import FollowedConversations
from agent.analysis.analyst import Analyst
from agent.domain.turn import effects
from agent.domain.turn.effects import Trigger
from agent.ports import ConversationKey
from agent.turns.engine import TurnEngine
from agent.turns.sweep import TurnSweep
from agent.turns.watches import Watches
from contracts import channels
from contracts.channels import ChatKind, parse_chat
from contracts.events.analysis import AnalysisCompleted, AnalysisProblem
from runtime.analyses import REQUESTED, request_of
from runtime.bus.direct import StoredFact
from runtime.bus.marks import Marks
from runtime.bus.replies import headers_of
from runtime.conversation import fact_of
from runtime.workers.outcomes import Ack, DeadLetter, Outcome, Retry
from runtime.workers.pull_worker import Delivery

log = structlog.get_logger(__name__)

_MAX_MESSAGE_CHARS = 1_000


class TurnHandler:
    """Visitor messages and changes of owner, from the turn consumer."""

    def __init__(self, engine: TurnEngine, followed: FollowedConversations) -> None:
        self._engine = engine
        self._followed = followed

    async def handle(self, delivery: Delivery) -> Outcome:
        """Handles one delivery; an unexpected subject makes it a dead letter at once."""
        address = parse_chat(delivery.subject)
        if address is None or address.kind not in (ChatKind.VISITOR, ChatKind.OWNER):
            return DeadLetter(f"not a turn's trigger: {delivery.subject}")
        key = ConversationKey(address.company, address.conversation)
        known = delivery.genuine and self._followed.has_validated(key, delivery.seq, delivery.data)
        if not known and fact_of(delivery.subject, delivery.seq, delivery.data, genuine=delivery.genuine) is None:
            # Memory reads every fact and writes the dead letter. A misfit is not answered.
            log.warning("turn.misfit", subject=delivery.subject, seq=delivery.seq)
            return Ack()
        trigger = Trigger(delivery.seq, visitor=address.kind is ChatKind.VISITOR)
        match await self._engine.handle(key, trigger, delivery.stored_at, delivery.under_way):
            case effects.Ack():
                return Ack()
            case effects.Retry(seconds=seconds):
                return Retry(seconds)


class AnalysisHandler:
    """Requests for analyses, from their own consumer.

    A request that cannot be read becomes a dead letter; if it names its user, the analysis is reported as failed.
    """

    def __init__(self, analyst: Analyst) -> None:
        self._analyst = analyst

    async def handle(self, delivery: Delivery) -> Outcome:
        """Handles one delivery. It becomes a dead letter at once if it is no valid request, or if its company and user
        are not those of its subject."""
        try:
            request = request_of(delivery.data)
        except ValueError as error:
            if (outcome := _failure_of_unreadable(delivery, error)) is not None:
                await self._analyst.refuse(outcome)
            return DeadLetter(f"not a request for an analysis: {error}")
        if delivery.subject != channels.fact(REQUESTED, request.company_id, request.user_id):
            return DeadLetter("its company and user are not those of its subject")
        return await self._analyst.handle(request)


def _failure_of_unreadable(delivery: Delivery, error: ValueError) -> AnalysisCompleted | None:
    """Returns the failure to report for an invalid request; None if its ids cannot be read or are not those of its
    subject."""
    try:
        outcome = AnalysisCompleted.model_validate(
            {
                **{name: orjson.loads(delivery.data)["data"][name] for name in ("analysisId", "companyId", "userId")},
                "status": "failed",
                "error": AnalysisProblem(code="BAD_FIELD", message=_fault_text(error)),
            }
        )
    except (ValueError, KeyError, TypeError):
        return None
    expected_subject = channels.fact(REQUESTED, outcome.company_id, outcome.user_id)
    return outcome if delivery.subject == expected_subject else None


def _fault_text(error: ValueError) -> str:
    if not isinstance(error, ValidationError):
        return str(error)[:_MAX_MESSAGE_CHARS]
    faults = error.errors(include_url=False, include_input=False, include_context=False)
    return "; ".join(f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in faults)[:_MAX_MESSAGE_CHARS]


class LiveFacts:
    """The subscription to the live copy of the log: passes facts on to the running turns, the sweep and the cache of
    followed conversations."""

    def __init__(self, marks: Marks, watches: Watches, sweep: TurnSweep, followed: FollowedConversations) -> None:
        self._marks = marks
        self._followed = followed
        self._watches = watches
        self._sweep = sweep

    def take(self, message: Msg) -> None:
        """Passes on one fact; of a fact that nothing waits for, only the subject and headers are read."""
        address = parse_chat(message.subject)
        headers = headers_of(message)
        sequence_header = headers.get("Nats-Sequence", "")
        if not sequence_header.isdigit():
            return
        seq = int(sequence_header)
        self._followed.note_sequence(seq)
        if address is None:
            # A kind that this release does not know: it counts for a snapshot, but its conversation is unknown.
            self._followed.clear()
            return
        key = ConversationKey(address.company, address.conversation)
        is_wanted = address.kind is ChatKind.VISITOR or self._sweep.is_waiting(key) or self._watches.is_watched(key)
        is_followed = self._followed.needs(key, address.kind)
        if not is_wanted and not is_followed:
            return
        subject, genuine = message.subject.removeprefix("live."), self._marks.genuine_live(message)
        stored = StoredFact(seq, subject, message.data, headers["Nats-Time-Stamp"], genuine)
        fact = fact_of(subject, seq, stored.event, stored.time.timestamp(), genuine=genuine)
        if is_followed:
            self._followed.take(key, stored, fact)
        if is_wanted and fact is not None:
            self._sweep.observe(key, fact)
            self._watches.notify(key, fact)
