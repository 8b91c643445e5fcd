"""The conversations open in this process, and the fan-out of facts and live signs to their sockets."""

import asyncio
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count

import structlog

from contracts.channels import ChatKind, LiveTurnKind, PresenceKind
from contracts.conversation import Fact, Snapshot, snapshot_of
from contracts.events.fact import ConversationRated
from contracts.ids import uuid7
from gateway.domain import server_frames
from gateway.domain.close_codes import CloseCode
from gateway.domain.feed import Feed, FeedOverflowError
from gateway.domain.server_frames import Json
from gateway.errors import GatewayError
from gateway.ports import FollowSigns, Socket, Unsubscribe
from runtime.background import start_task
from runtime.observability.correlation import Correlation

log = structlog.get_logger(__name__)

_END_SIGNS = frozenset({LiveTurnKind.RUN_FINISHED, LiveTurnKind.RUN_ERROR})
MAX_ABANDONED_TURNS = 8
"""Turns of a conversation that are remembered as abandoned."""
LINGER_SECONDS = 30.0
"""Seconds for which a conversation stays open after a request, for the next one."""
MAX_LINGERING = 2_000
MAX_PENDING_FACTS = 16
"""Facts that may wait to be added to a conversation's log state."""


_PROCESS_ID, _attachment_numbers = uuid7(), count()
"""Together they make an attachment's id, unique among all gateways."""


@dataclass(eq=False, repr=False, slots=True)
class Attachment:
    """One socket's place in one conversation. `customer`: the conversation's signed-in owner, if they opened it."""

    socket: Socket
    company: str
    conversation: str
    customer: str | None = None
    id: str = field(default_factory=lambda: f"{_PROCESS_ID}-{next(_attachment_numbers)}")
    feed: Feed = field(default_factory=Feed)
    epoch: str = ""
    recovering: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Lock held while a gap is read, so that one reader at a time moves the cursor."""
    _sending: dict[str, str] = field(default_factory=dict[str, str])
    _acknowledged: int = 0

    def expect_message(self, message_id: str, client_message_id: str) -> None:
        """Notes that the client's message is being appended and needs exactly one acknowledgement."""
        self._sending[message_id] = client_message_id

    def acknowledge(self, message_id: str, seq: int, *, duplicate: bool) -> None:
        """Acknowledges the client's stored message, once."""
        client_message_id = self._sending.pop(message_id, None)
        if client_message_id is None:
            return
        self._acknowledged = max(self._acknowledged, seq)
        self.socket.push(
            server_frames.ack(
                self.conversation,
                client_message_id=client_message_id,
                message_id=message_id,
                seq=seq,
                duplicate=duplicate,
            )
        )

    def stop_expecting(self, message_id: str) -> bool:
        """Forgets a message whose append seems to have failed. Returns whether it was still unacknowledged."""
        return self._sending.pop(message_id, None) is not None

    def is_awaited(self, fact: Fact) -> bool:
        """Whether the fact is a message that this client is sending and that has not been acknowledged."""
        # Up to the last acknowledgement there is no first copy of a message that is being sent again.
        return fact.data.get("messageId") in self._sending and fact.seq > self._acknowledged

    def acknowledge_fact(self, fact: Fact) -> None:
        """Acknowledges the client's message when its fact arrives before the log's acknowledgement, so that the client
        learns that it was stored before it sees the consequences."""
        if self.is_awaited(fact):
            self.acknowledge(fact.data["messageId"], fact.seq, duplicate=False)


ConversationKey = tuple[str, str]


@dataclass(frozen=True, slots=True)
class EpochSnapshot:
    """A conversation's snapshot and the log's epoch."""

    snapshot: Snapshot
    epoch: str

    def with_facts(self, facts: Iterable[Fact]) -> "EpochSnapshot":
        """The state after these facts; facts that it contains already are ignored."""
        new_facts = [fact for fact in facts if fact.seq > self.snapshot.seq]
        return EpochSnapshot(snapshot_of((*self.snapshot.last.values(), *new_facts), self.snapshot.seq), self.epoch)


@dataclass(slots=True)
class ConversationHints:
    """What requests have learned about an open conversation."""

    person: str | None = None
    """The visitor or customer whose conversation it is."""
    seen_empty_at: float = float("-inf")
    """The last time, by the event loop's clock, at which it had no facts."""
    newest_sent_seq: int = 0
    """The sequence of the last message sent by a request; 0 if there is none or its answer was resumed since."""
    may_have_actions: bool = True
    """Whether an action may have been proposed in it."""


@dataclass(eq=False, repr=False, slots=True)
class _Channel:
    opening: asyncio.Task[Unsubscribe]
    attachments: list[Attachment] = field(default_factory=list[Attachment])
    cancelled_turn: str | None = None
    """The turn cancelled last."""
    answered_turn: str | None = None
    """The turn whose final message came last."""
    abandoned_turns: tuple[str, ...] = ()
    """Turns whose run was abandoned. Several agents may report this; the turn's driver may be the last to know."""
    newest_seq: int = 0
    """The sequence of the newest fact received."""
    state: EpochSnapshot | None = None
    """Read from the log once; `current_state` adds the facts received since."""
    pending_facts: list[Fact] = field(default_factory=list[Fact])
    hints: ConversationHints = field(default_factory=ConversationHints)

    def current_state(self) -> EpochSnapshot | None:
        """The log state, brought up to date."""
        if self.state is not None and self.pending_facts:
            self.state = self.state.with_facts(self.pending_facts)
            self.pending_facts.clear()
        return self.state


class Hub:
    """Knows which sockets have which conversation open. `follow`: subscribes to one conversation's live signs."""

    def __init__(self, follow: FollowSigns, linger: float = LINGER_SECONDS) -> None:
        self._channels: dict[ConversationKey, _Channel] = {}
        self._follow = follow
        self._linger = linger
        self._lingering: OrderedDict[ConversationKey, asyncio.TimerHandle] = OrderedDict()
        self._closing: set[asyncio.Task[None]] = set()

    @property
    def conversations(self) -> int:
        """The number of open conversations."""
        return len(self._channels) - len(self._lingering)

    def attachments(self) -> Iterator[Attachment]:
        for channel in list(self._channels.values()):
            yield from list(channel.attachments)

    def is_open(self, company: str, conversation: str) -> bool:
        """Whether the conversation is open here."""
        return (company, conversation) in self._channels

    async def join(self, attachment: Attachment) -> None:
        """Sends facts and live signs to the attachment's feed from now on; the feed buffers them while recovering."""
        key = (attachment.company, attachment.conversation)
        channel = self._channels.get(key)
        if channel is None:
            task = asyncio.get_running_loop().create_task(self._follow(*key))
            channel = self._channels[key] = _Channel(task)
        if (linger_timer := self._lingering.pop(key, None)) is not None:
            linger_timer.cancel()
        channel.attachments.append(attachment)
        # Shielded: a client that leaves while it joins must not take the others' subscription with it.
        await asyncio.shield(channel.opening)

    async def leave(self, attachment: Attachment, *, linger: bool = False) -> None:
        """Stops sending to the attachment; the last one to leave closes the conversation. `linger`: closes it only
        after a while, if its log state is known."""
        key = (attachment.company, attachment.conversation)
        channel = self._channels.get(key)
        if channel is None or attachment not in channel.attachments:
            return
        channel.attachments.remove(attachment)
        if channel.attachments:
            return
        if not linger or channel.state is None:
            await _unsubscribe(self._channels.pop(key))
            return
        self._lingering[key] = asyncio.get_running_loop().call_later(self._linger, self._close_lingering, key)
        if len(self._lingering) > MAX_LINGERING:
            self._close_lingering(next(iter(self._lingering)))

    def _close_lingering(self, key: ConversationKey) -> None:
        self._lingering.pop(key).cancel()
        start_task(_unsubscribe(self._channels.pop(key)), self._closing)

    def hints(self, company: str, conversation: str) -> ConversationHints:
        """What requests have learned about an open conversation."""
        channel = self._channels.get((company, conversation))
        return ConversationHints() if channel is None else channel.hints

    def log_state(self, company: str, conversation: str) -> EpochSnapshot | None:
        """An open conversation's log state; None if it must be read."""
        channel = self._channels.get((company, conversation))
        return None if channel is None else channel.current_state()

    def keep_state(self, company: str, conversation: str, state: EpochSnapshot) -> None:
        """Keeps the log state that was read of an open conversation, unless a newer fact has arrived."""
        channel = self._channels.get((company, conversation))
        if channel is not None and state.snapshot.seq >= channel.newest_seq:
            channel.state = state
            channel.pending_facts.clear()

    def forget_state(self, company: str, conversation: str) -> None:
        """Forgets a conversation's log state, because facts may have been missed."""
        if (channel := self._channels.get((company, conversation))) is not None:
            channel.state, channel.hints.may_have_actions = None, True

    def deleted(self, company: str, conversation: str) -> None:
        """Forgets what is known about a conversation that was deleted."""
        if (channel := self._channels.get((company, conversation))) is not None:
            channel.state, channel.hints = None, ConversationHints()

    def forget_all_states(self) -> None:
        """Forgets all log states, because facts of any conversation may have been missed."""
        for channel in self._channels.values():
            channel.state, channel.hints.may_have_actions = None, True

    def deliver_fact(self, company: str, conversation: str, fact: Fact) -> None:
        """Sends a durable fact from the live feed to the conversation's sockets."""
        channel = self._channels.get((company, conversation))
        if channel is None:
            return
        channel.newest_seq = max(channel.newest_seq, fact.seq)
        if channel.state is not None:
            channel.pending_facts.append(fact)
            if len(channel.pending_facts) > MAX_PENDING_FACTS:
                channel.current_state()
        if fact.data.get("actions"):
            channel.hints.may_have_actions = True
        if fact.kind is ChatKind.CANCEL:
            channel.cancelled_turn = fact.data.get("turnId")
        ended_turn: str | None = fact.data.get("turnId") if fact.kind in {ChatKind.ASSISTANT, ChatKind.SYSTEM} else None
        channel.answered_turn = ended_turn or channel.answered_turn
        frame = server_frames.fact_frame(conversation, fact)
        with Correlation(company, conversation, ended_turn or ""):
            if frame is None:
                log.warning("chat.malformed_fact", seq=fact.seq)
                return
            log.debug("chat.told", kind=fact.kind.short, seq=fact.seq, sockets=len(channel.attachments))
        senders = [attachment for attachment in channel.attachments if attachment.is_awaited(fact)]
        for attachment in list(channel.attachments):
            # Also while the feed buffers: its buffer is sent without looking for own messages. If two sockets send the
            # same message at once, the log's own acknowledgements say which was first.
            if senders == [attachment]:
                attachment.acknowledge_fact(fact)
            try:
                if attachment.feed.accept_fact(fact.seq, frame, ended_turn):
                    attachment.socket.push(frame)
            except FeedOverflowError:
                attachment.socket.terminate(CloseCode.RESYNC)

    def deliver_live_sign(self, company: str, conversation: str, kind: LiveTurnKind, data: Json) -> None:
        """Sends a live sign of a turn to the conversation's sockets, unless the turn is over or its run abandoned."""
        channel = self._channels.get((company, conversation))
        turn_id = data.get("turnId")
        if channel is None or (turn_id is not None and turn_id == channel.cancelled_turn):
            # The agent learns of the cancel a moment later than the clients here.
            return
        live_turn = turn_id if kind not in _END_SIGNS else None
        if live_turn is not None and live_turn == channel.answered_turn:
            # Signs and facts have no common order, and a second driver may learn late that the turn has its answer.
            return
        if kind is LiveTurnKind.RUN_STARTED:
            channel.abandoned_turns = tuple(turn for turn in channel.abandoned_turns if turn != live_turn)
        elif live_turn in channel.abandoned_turns:
            return
        frame = server_frames.live_sign_frame(conversation, kind, data)
        if frame is None:
            return
        if kind is LiveTurnKind.RUN_CANCELLED:
            channel.abandoned_turns = (*channel.abandoned_turns, str(turn_id))[-MAX_ABANDONED_TURNS:]
        delta_seq = data.get("deltaSeq", -1) if kind is LiveTurnKind.MESSAGE_DELTA else None
        self._deliver(company, conversation, frame, turn=live_turn, delta_seq=delta_seq)

    def deliver_presence(self, company: str, conversation: str, kind: PresenceKind, data: Json, source: str) -> None:
        """Sends typing or a receipt to all sockets but `source`, the id of the attachment that it came from."""
        if kind is PresenceKind.RECEIPT:
            self.hints(company, conversation).newest_sent_seq = 0
        frame = server_frames.presence_frame(conversation, kind, data)
        self._deliver(company, conversation, frame, except_id=source)

    def deliver_update(self, company: str, conversation: str, *, resolved: bool, seq: int) -> None:
        """Tells the sockets that the conversation was resolved or reopened at the desk."""
        frame = server_frames.conversation_updated(conversation, resolved=resolved, seq=seq)
        self._deliver(company, conversation, frame)

    def deliver_rating(self, company: str, rated: ConversationRated) -> None:
        """Tells the sockets how the visitor has rated the conversation."""
        frame = server_frames.conversation_rated(rated.conversation_id, rated.score, rated.comment)
        self._deliver(company, rated.conversation_id, frame)

    def _deliver(
        self,
        company: str,
        conversation: str,
        frame: bytes,
        *,
        turn: str | None = None,
        delta_seq: int | None = None,
        except_id: str | None = None,
    ) -> None:
        channel = self._channels.get((company, conversation))
        if channel is None:
            return
        for attachment in list(channel.attachments):
            if attachment.id == except_id:
                continue
            try:
                if attachment.feed.accept_sign(frame, turn, delta_seq):
                    attachment.socket.push(frame)
            except FeedOverflowError:
                attachment.socket.terminate(CloseCode.RESYNC)


async def _unsubscribe(channel: _Channel) -> None:
    with suppress(GatewayError):  # it could not be opened
        unsubscribe = await channel.opening
        await unsubscribe()
