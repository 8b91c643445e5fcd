"""Passes what the bus delivers live to open conversations, inboxes the companies' shares and the delays of answers."""

from collections.abc import Callable

import orjson
import structlog
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import Error as NatsError

from contracts.channels import LIVE_CHAT_ALL, LiveTurnKind, PresenceKind
from contracts.events.fact import ConversationRated
from contracts.ids import check_company, check_id
from contracts.json_values import JsonObject
from gateway.adapters.bus import ORIGIN_HEADER
from gateway.adapters.log import UNKNOWN_POSITION, NatsLog
from gateway.chat.delays import AnswerDelays
from gateway.chat.hub import Hub
from gateway.chat.inboxes import Inboxes
from gateway.chat.shares import CompanyShares
from gateway.errors import UnavailableError
from gateway.ports import Unsubscribe
from runtime.bus.connection import listen
from runtime.bus.marks import Marks
from runtime.conversation import fact_of

log = structlog.get_logger(__name__)

DESK_FACTS = ("conversation.updated.v1", "note.added.v1")
RATINGS = "conversation.rated.v1"
SEQUENCE_HEADER = "Nats-Sequence"


class NatsLive:
    """Permanent subscriptions to facts, and two for each open conversation: to signs of its turns and of presence."""

    _hub: Hub
    _inboxes: Inboxes
    _on_missed: Callable[[], None]

    def __init__(self, client: Client, log_: NatsLog, shares: CompanyShares, delays: AnswerDelays) -> None:
        self._client = client
        self._marks = Marks.of(client)
        self._log = log_
        self._shares = shares
        self._delays = delays
        self._end = 0

    async def start(self, hub: Hub, inboxes: Inboxes, on_missed: Callable[[], None]) -> None:
        """Passes every durable fact to the hub from now on. Calls `on_missed` if facts before a newer one have not
        arrived: when servers of the bus lose each other, facts get lost although this connection lives."""
        self._hub, self._inboxes, self._on_missed = hub, inboxes, on_missed
        await listen(self._client, LIVE_CHAT_ALL, self._on_fact)
        for kind in DESK_FACTS:
            await listen(self._client, f"{kind}.>", self._on_desk_fact)
        await listen(self._client, f"{RATINGS}.>", self._on_rating)

    def check_end(self, end: int) -> None:
        """Checks that everything up to the log's end at the previous call has been received. `end`: the log's end."""
        self._check_received(self._end + 1)
        self._end = end

    def _check_received(self, sequence: int) -> None:
        """Reports missed facts unless everything before this sequence has been received."""
        if UNKNOWN_POSITION < self._log.position < sequence - 1:
            log.warning("live.facts_missed", after=self._log.position, before=sequence)
            self._on_missed()

    async def follow(self, company: str, conversation: str) -> Unsubscribe:
        # Not live.*: facts arrive on the permanent subscription, in the log's order, and would arrive twice.
        suffix = f"{check_company(company)}.{check_id(conversation, 'conversation')}.>"
        unsubscribe_turns = await self._listen(f"live.turn.{suffix}", self._on_sign)
        try:
            unsubscribe_presence = await self._listen(f"live.presence.{suffix}", self._on_sign)
        except UnavailableError:
            await unsubscribe_turns()
            raise

        async def unsubscribe() -> None:
            await unsubscribe_turns()
            await unsubscribe_presence()

        return unsubscribe

    async def follow_presence(self, company: str) -> Unsubscribe:
        return await self._listen(f"live.presence.{check_company(company)}.>", self._on_presence)

    async def _listen(self, subject: str, handler: Callable[[Msg], None]) -> Unsubscribe:
        try:
            subscription = await listen(self._client, subject, handler)
        except NatsError as error:
            raise UnavailableError("the bus is away: try again") from error

        async def unsubscribe() -> None:
            try:
                await subscription.unsubscribe()
            except NatsError as error:
                log.debug("live.unsubscribe_failed", error=str(error))

        return unsubscribe

    def _on_fact(self, message: Msg) -> None:
        sequence = int((message.headers or {}).get(SEQUENCE_HEADER, 0))
        self._check_received(sequence)
        self._log.has_reached(sequence)
        parts = message.subject.split(".", 4)
        if len(parts) != 5:
            return
        self._shares.count_write(parts[2], len(message.subject) + len(message.data))
        self._delays.observe(*parts[2:])
        self._inboxes.changed(parts[2], parts[3])
        if not self._hub.is_open(parts[2], parts[3]):
            return
        is_genuine = self._marks.genuine_live(message)
        fact = fact_of(message.subject, sequence, message.data, genuine=is_genuine) if sequence else None
        if fact is None:
            log.warning("live.malformed_fact", subject=message.subject)
            return
        self._hub.deliver_fact(parts[2], parts[3], fact)

    def _on_desk_fact(self, message: Msg) -> None:
        """Handles a change of a conversation at the desk: inboxes read it again, and its visitor learns whether it is
        resolved."""
        company = message.subject.rsplit(".", 2)[1]
        try:
            data: JsonObject = orjson.loads(message.data)["data"]
            conversation, state, basis = check_id(str(data["conversationId"])), data.get("state"), data.get("basis")
        except (ValueError, KeyError, TypeError, AttributeError):
            log.warning("live.malformed_fact", subject=message.subject)
            return
        self._inboxes.changed(company, conversation)
        if state is not None and isinstance(basis, int):
            self._hub.deliver_update(company, conversation, resolved=state == "resolved", seq=basis)

    def _on_rating(self, message: Msg) -> None:
        """Passes a rating to whoever has the conversation open."""
        try:
            rated = ConversationRated.model_validate(orjson.loads(message.data)["data"])
        except (ValueError, KeyError, TypeError):
            log.warning("live.malformed_fact", subject=message.subject)
            return
        self._hub.deliver_rating(message.subject.rsplit(".", 2)[1], rated)

    def _on_presence(self, message: Msg) -> None:
        """Passes a presence signal to the company's open inboxes."""
        _, _, company, conversation, kind = message.subject.split(".", 4)
        try:
            data: JsonObject = orjson.loads(message.data)["data"]
            self._inboxes.presence(company, conversation, PresenceKind(kind.removesuffix(".v1")), data)
        except (ValueError, KeyError, TypeError, AttributeError):
            log.warning("live.malformed_sign", subject=message.subject)

    def _on_sign(self, message: Msg) -> None:
        _, family, company, conversation, kind = message.subject.split(".", 4)
        try:
            data: JsonObject = orjson.loads(message.data)["data"]
            if family == "turn":
                self._hub.deliver_live_sign(company, conversation, LiveTurnKind(kind.removesuffix(".v1")), data)
            else:
                source = (message.headers or {}).get(ORIGIN_HEADER, "")
                self._hub.deliver_presence(company, conversation, PresenceKind(kind.removesuffix(".v1")), data, source)
        except (ValueError, KeyError, TypeError, AttributeError):
            log.warning("live.malformed_sign", subject=message.subject)
