"""The conversations open in this process, and the fan-out of facts and live signs to their sockets."""

import asyncio
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import count

import structlog

from contracts.channels import ChatKind, LiveTurnKind, PresenceKind
from contracts.conversation import Fact, Snapshot, snapshot_of
from contracts.ids import uuid7
from gateway.domain import server_frames
from gateway.domain.close_codes import CloseCode
from gateway.domain.feed import Feed, FeedOverflowError
from gateway.domain.server_frames import Json
from gateway.errors import GatewayError
from gateway.ports import Follow, Socket, Unsubscribe
from runtime.observability.correlation import Correlation

log = structlog.get_logger(__name__)

_ENDS = frozenset({LiveTurnKind.RUN_FINISHED, LiveTurnKind.RUN_ERROR})
MAX_OVERTAKEN = 8
"""Abandoned runs of a conversation that are remembered."""
LINGER = 30.0
"""Seconds for which a conversation opened for one request stays open afterwards, for the next request."""
MOST_LINGERING = 2_000
MOST_NEWER = 16
"""Facts of a conversation that wait to be counted in its log state."""


_HERE, _numbers = uuid7(), count()
"""Together an attachment's id, which no other gateway gives."""


class Attachment:
    """One socket's place in one conversation."""

    __slots__ = (
        "_acknowledged",
        "_sending",
        "company",
        "conversation",
        "customer",
        "epoch",
        "feed",
        "id",
        "recovering",
        "socket",
    )

    def __init__(self, socket: Socket, company: str, conversation: str, customer: str | None = None) -> None:
        """`customer`: whose conversation it is, if they opened it themselves."""
        self.id = f"{_HERE}-{next(_numbers)}"
        self.socket = socket
        self.company = company
        self.conversation = conversation
        self.customer = customer
        self.feed = Feed()
        self.epoch = ""
        self.recovering = asyncio.Lock()
        """Lock held while a gap is read, so that one reader at a time moves the cursor."""
        self._sending: dict[str, str] = {}
        self._acknowledged = 0

    def expect_message(self, message_id: str, client_message_id: str) -> None:
        """The client's message is being appended, and needs exactly one acknowledgement."""
        self._sending[message_id] = client_message_id

    def acknowledge(self, message_id: str, seq: int, *, duplicate: bool) -> None:
        """Tells the client that its message is in the log, unless it has been told."""
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

    def not_stored(self, message_id: str) -> bool:
        """The append seems to have failed. Returns whether the client still needs to be told."""
        return self._sending.pop(message_id, None) is not None

    def is_awaited(self, fact: Fact) -> bool:
        """Whether the fact is a message that this client is sending and that has not been acknowledged."""
        # What was acknowledged already is no first copy of a message that is being sent again.
        return fact.data.get("messageId") in self._sending and fact.seq > self._acknowledged

    def came_back(self, fact: Fact) -> None:
        """The fact is in the log. If a message arrives here before the log's acknowledgement, it is acknowledged
        now, so that the client learns that it was stored before it sees the consequences."""
        if self.is_awaited(fact):
            self.acknowledge(fact.data["messageId"], fact.seq, duplicate=False)


ConversationKey = tuple[str, str]


@dataclass(frozen=True, slots=True)
class LogState:
    """A conversation's snapshot and the log's epoch."""

    snapshot: Snapshot
    epoch: str

    def behind(self, facts: Iterable[Fact]) -> "LogState":
        """The same after these facts."""
        newer = [fact for fact in facts if fact.seq > self.snapshot.seq]
        return LogState(snapshot_of((*self.snapshot.last.values(), *newer), self.snapshot.seq), self.epoch)


@dataclass(slots=True)
class ConversationNotes:
    """What requests have learned about an open conversation: whose it is, when (by the event loop's clock) it was
    last seen without a fact, their last message in it, unless its answer was taken back since, and whether an action
    may have been proposed in it."""

    whose: str | None = None
    empty_at: float = float("-inf")
    sent: int = 0
    has_actions: bool = True


class _Channel:
    __slots__ = ("answered", "attachments", "cancelled", "heard", "known", "newer", "opening", "overtaken", "state")

    def __init__(self, opening: asyncio.Task[Unsubscribe]) -> None:
        self.attachments: list[Attachment] = []
        self.opening = opening
        self.cancelled: str | None = None
        """The turn that was cancelled last."""
        self.answered: str | None = None
        """The turn whose final message came last."""
        self.overtaken: tuple[str, ...] = ()
        """Turns with abandoned runs: several agents may report this, and the turn's driver may be the last to know."""
        self.heard = 0
        """The sequence of the newest fact received."""
        self.state: LogState | None = None
        """Read once, and brought up to date by the facts received since, when it is asked for."""
        self.newer: list[Fact] = []
        self.known = ConversationNotes()

    def now(self) -> LogState | None:
        """The log state, brought up to date."""
        if self.state is not None and self.newer:
            self.state = self.state.behind(self.newer)
            self.newer.clear()
        return self.state


class Hub:
    """Keeps which sockets have which conversation open."""

    def __init__(self, linger: float = LINGER) -> None:
        self._channels: dict[ConversationKey, _Channel] = {}
        self._follow: Follow | None = None
        self._linger = linger
        self._lingering: OrderedDict[ConversationKey, asyncio.TimerHandle] = OrderedDict()
        self._closing: set[asyncio.Task[None]] = set()

    def connect(self, follow: Follow) -> None:
        """Sets the source of single conversations' live signs; before the first `join`."""
        self._follow = follow

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
        """Sends facts and live signs to the attachment's feed from now on (which buffers them while recovering)."""
        key = (attachment.company, attachment.conversation)
        channel = self._channels.get(key)
        if channel is None:
            if self._follow is None:
                raise RuntimeError("the hub is not connected to the bus")
            task = asyncio.get_running_loop().create_task(self._follow(*key))
            channel = self._channels[key] = _Channel(task)
        if (ending := self._lingering.pop(key, None)) is not None:
            ending.cancel()
        channel.attachments.append(attachment)
        # Shielded: a client that leaves while it joins must not take the others' subscription with it.
        await asyncio.shield(channel.opening)

    async def leave(self, attachment: Attachment, *, linger: bool = False) -> None:
        """Stops sending to it; the last one to leave closes the conversation. `linger`: only after a while, if its
        log state is known."""
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
        self._lingering[key] = asyncio.get_running_loop().call_later(self._linger, self._let_go, key)
        if len(self._lingering) > MOST_LINGERING:
            self._let_go(next(iter(self._lingering)))

    def _let_go(self, key: ConversationKey) -> None:
        self._lingering.pop(key).cancel()
        closing = asyncio.get_running_loop().create_task(_unsubscribe(self._channels.pop(key)))
        self._closing.add(closing)
        closing.add_done_callback(self._closing.discard)

    def known_of(self, company: str, conversation: str) -> ConversationNotes:
        """Returns what is known of an open conversation."""
        channel = self._channels.get((company, conversation))
        return ConversationNotes() if channel is None else channel.known

    def log_state(self, company: str, conversation: str) -> LogState | None:
        """An open conversation's log state; None: it must be read."""
        channel = self._channels.get((company, conversation))
        return None if channel is None else channel.now()

    def read(self, company: str, conversation: str, state: LogState) -> None:
        """Keeps the log state of an open conversation, unless something newer has come."""
        channel = self._channels.get((company, conversation))
        if channel is not None and state.snapshot.seq >= channel.heard:
            channel.state = state
            channel.newer.clear()

    def forget(self, company: str, conversation: str) -> None:
        """Facts of it may have been missed: its log state is no longer known."""
        if (channel := self._channels.get((company, conversation))) is not None:
            channel.state, channel.known.has_actions = None, True

    def deleted(self, company: str, conversation: str) -> None:
        """Forgets a conversation that was deleted."""
        if (channel := self._channels.get((company, conversation))) is not None:
            channel.state, channel.known = None, ConversationNotes()

    def forget_all(self) -> None:
        """Facts of any conversation may have been missed."""
        for channel in self._channels.values():
            channel.state, channel.known.has_actions = None, True

    def fact(self, company: str, conversation: str, fact: Fact) -> None:
        """A durable fact arrived on the live feed."""
        channel = self._channels.get((company, conversation))
        if channel is None:
            return
        channel.heard = max(channel.heard, fact.seq)
        if channel.state is not None:
            channel.newer.append(fact)
            if len(channel.newer) > MOST_NEWER:
                channel.now()
        if fact.data.get("actions"):
            channel.known.has_actions = True
        if fact.kind is ChatKind.CANCEL:
            channel.cancelled = fact.data.get("turnId")
        ends: str | None = fact.data.get("turnId") if fact.kind in {ChatKind.ASSISTANT, ChatKind.SYSTEM} else None
        channel.answered = ends or channel.answered
        frame = server_frames.of_fact(conversation, fact)
        with Correlation(company, conversation, ends or ""):
            if frame is None:
                log.warning("chat.malformed_fact", seq=fact.seq)
                return
            log.debug("chat.told", kind=fact.kind.short, seq=fact.seq, sockets=len(channel.attachments))
        senders = [one for one in channel.attachments if one.is_awaited(fact)]
        for attachment in list(channel.attachments):
            # Also while the feed waits behind a gap: it is let go with no look at what is in it. Which of two that send
            # the same message at once was first, the log's own acknowledgements tell.
            if senders == [attachment]:
                attachment.came_back(fact)
            try:
                if attachment.feed.fact(fact.seq, frame, ends):
                    attachment.socket.push(frame)
            except FeedOverflowError:
                attachment.socket.terminate(CloseCode.RESYNC)

    def live_turn(self, company: str, conversation: str, kind: LiveTurnKind, data: Json) -> None:
        """A live sign of a running turn arrived."""
        channel = self._channels.get((company, conversation))
        turn_id = data.get("turnId")
        if channel is None or (turn_id is not None and turn_id == channel.cancelled):
            # Its agent hears of the cancel a moment later than who is told here that it has ended.
            return
        about = turn_id if kind not in _ENDS else None
        if about is not None and about == channel.answered:
            # Signs and facts have no common order, and a second driver may hear last that the turn has its answer.
            return
        if kind is LiveTurnKind.RUN_STARTED:
            channel.overtaken = tuple(turn for turn in channel.overtaken if turn != about)
        elif about in channel.overtaken:
            return
        frame = server_frames.of_live_turn(conversation, kind, data)
        if frame is None:
            return
        if kind is LiveTurnKind.RUN_CANCELLED:
            channel.overtaken = (*channel.overtaken, str(turn_id))[-MAX_OVERTAKEN:]
        turn: str | None = None
        delta_seq = -1
        if kind is LiveTurnKind.MESSAGE_DELTA:
            turn, delta_seq = data.get("turnId"), data.get("deltaSeq", -1)
        self._hand_out(company, conversation, frame, turn=turn, delta_seq=delta_seq, about=about)

    def presence(self, company: str, conversation: str, kind: PresenceKind, data: Json, source: str) -> None:
        """Somebody is typing or has read; `source` is the attachment that it came from."""
        if kind is PresenceKind.RECEIPT:
            self.known_of(company, conversation).sent = 0
        frame = server_frames.of_presence(conversation, kind, data)
        self._hand_out(company, conversation, frame, but=source)

    def updated(self, company: str, conversation: str, *, resolved: bool, seq: int) -> None:
        """The conversation was resolved or reopened at the desk."""
        frame = server_frames.conversation_updated(conversation, resolved=resolved, seq=seq)
        self._hand_out(company, conversation, frame)

    def _hand_out(
        self,
        company: str,
        conversation: str,
        frame: bytes,
        *,
        turn: str | None = None,
        delta_seq: int = -1,
        about: str | None = None,
        but: str | None = None,
    ) -> None:
        channel = self._channels.get((company, conversation))
        if channel is None:
            return
        for attachment in list(channel.attachments):
            if attachment.id == but:
                continue
            try:
                if attachment.feed.live(frame, turn, delta_seq, about):
                    attachment.socket.push(frame)
            except FeedOverflowError:
                attachment.socket.terminate(CloseCode.RESYNC)


async def _unsubscribe(channel: _Channel) -> None:
    with suppress(GatewayError):  # it could not be opened
        unsubscribe = await channel.opening
        await unsubscribe()
