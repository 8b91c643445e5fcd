"""Opens, resumes and resynchronises conversations: join and buffer first, then read the gap, then send the buffer."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import structlog

from contracts.agent_rpc import TurnState
from contracts.channels import ChatKind
from contracts.conversation import Fact, Snapshot, message_view, owner_event
from contracts.ws import Cursor
from gateway.adapters.agents import BusAgents
from gateway.adapters.log import NatsLog
from gateway.adapters.memory import BusMemory, facts_in
from gateway.chat.action_states import ActionStates
from gateway.chat.hub import Attachment, EpochSnapshot, Hub
from gateway.domain import server_frames
from gateway.domain.close_codes import CloseCode
from gateway.domain.recovery import AskMemory, Plan, ReadLog, SendSnapshot, UpToDate, plan_recovery
from gateway.domain.server_frames import Json
from gateway.errors import GatewayError, UnavailableError
from gateway.metrics import RESYNCED

log = structlog.get_logger(__name__)

SNAPSHOT_MESSAGES = 50
MAX_MEMORY_PAGES = 200
"""Pages of facts that one recovery reads from memory; a client farther behind gets a snapshot instead."""
FRAMES_PER_PAUSE = 64
"""Frames after which a long recovery waits for the client to read."""
RESYNC_CONCURRENCY = 16
"""Gaps that are filled concurrently."""


@dataclass(frozen=True, slots=True)
class _Missed:
    """What the client gets: the facts in its gap, or a snapshot of the last messages."""

    facts: Sequence[Fact] = ()
    messages: Sequence[Json] | None = None
    events: Sequence[Json] = ()
    recovered: bool = True
    complete: bool = True


@dataclass(eq=False, repr=False, slots=True)
class Recovery:
    """Brings sockets up to the newest fact, and fills gaps later."""

    _hub: Hub
    _log: NatsLog
    _memory: BusMemory
    _agents: BusAgents
    _action_states: ActionStates
    _heartbeat_ms: int
    _stream_distance: int
    _is_resync_requested: bool = False
    _is_resyncing: bool = False
    _resyncs: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(RESYNC_CONCURRENCY))

    async def epoch(self) -> str:
        """The log's epoch."""
        return (await self._log.bounds()).epoch

    async def open(
        self,
        attachment: Attachment,
        since: Cursor | None,
        pending_actions: Sequence[Json] = (),
        *,
        is_new: bool = False,
    ) -> Snapshot:
        """Sends welcome, what the client has missed, then live frames; returns the snapshot sent from. `is_new`: the
        conversation's id was made just now, so it is empty.

        Raises:
            UnavailableError: the conversation could not be read; the attachment is then not joined.
        """
        async with attachment.recovering:
            try:
                await self._hub.join(attachment)
                return await self._open(attachment, since, pending_actions, is_new=is_new)
            except BaseException:
                await self._hub.leave(attachment)
                raise

    async def join(self, attachment: Attachment) -> Snapshot:
        """Sends live frames from now on, without a welcome; returns the snapshot at this moment.

        Raises:
            UnavailableError: the conversation could not be read; the attachment is then not joined.
        """
        async with attachment.recovering:
            company, conversation = attachment.company, attachment.conversation
            try:
                await self._hub.join(attachment)
                state = self._hub.log_state(company, conversation) or await self._read_state(company, conversation)
            except BaseException:
                await self._hub.leave(attachment)
                raise
            attachment.epoch = state.epoch
            self._follow(attachment, state.snapshot.seq, None)
            return state.snapshot

    async def _open(
        self,
        attachment: Attachment,
        since: Cursor | None,
        pending_actions: Sequence[Json],
        *,
        is_new: bool,
    ) -> Snapshot:
        company, conversation = attachment.company, attachment.conversation
        if is_new and since is None:
            snapshot, epoch = Snapshot(), await self.epoch()
            missed, running_turn = _Missed(messages=()), None
        else:
            snapshot, bounds = await self._log.snapshot_and_bounds(company, conversation)
            if since is not None and since.epoch == bounds.epoch and since.seq > max(bounds.last_seq, snapshot.seq):
                # Another gateway has sent more than this one knows, or than a lagging replica has.
                self._log.forget_bounds()
                bounds = await self._log.bounds()
                reached = min(since.seq, bounds.last_seq)
                snapshot = await self._log.snapshot(company, conversation, reached=reached)
            epoch = bounds.epoch
            plan = plan_recovery(since, snapshot.seq, bounds, self._stream_distance)
            missed, running_turn = await asyncio.gather(
                self._missed(company, conversation, plan, snapshot),
                self._running_turn(company, conversation, snapshot),
            )
        attachment.epoch = epoch
        attachment.socket.push(
            server_frames.welcome(
                conversation,
                epoch=epoch,
                seq=snapshot.seq,
                recovered=missed.recovered,
                heartbeat_ms=self._heartbeat_ms,
                owner=snapshot.owner_data,
                active_turn=running_turn.to_wire() if running_turn else None,
                pending_actions=pending_actions,
            )
        )
        if missed.messages is None:
            attachment.feed.cursor = since.seq if since else 0
            await self._send_facts(attachment, missed.facts)
        else:
            attachment.socket.push(
                server_frames.snapshot(
                    conversation,
                    messages=missed.messages,
                    epoch=epoch,
                    seq=snapshot.seq,
                    complete=missed.complete,
                    events=missed.events,
                )
            )
        self._follow(attachment, snapshot.seq, running_turn)
        return snapshot

    async def _read_state(self, company: str, conversation: str) -> EpochSnapshot:
        snapshot, bounds = await self._log.snapshot_and_bounds(company, conversation)
        state = EpochSnapshot(snapshot, bounds.epoch)
        self._hub.keep_state(company, conversation, state)
        return state

    def pause_all(self) -> None:
        """Makes every feed buffer at once, because there may be a gap: sending newer facts would hide it."""
        self._hub.forget_all_states()
        for attachment in self._hub.attachments():
            attachment.feed.pause()

    async def resync_all(self) -> None:
        """Fills the gaps of every feed, after a reconnect or when the bus dropped messages.

        If requested while it runs, it runs once more afterwards, however often it was requested.
        """
        self._is_resync_requested = True
        if self._is_resyncing:
            return
        self._is_resyncing = True
        try:
            while self._is_resync_requested:
                self._is_resync_requested = False
                self._log.forget_bounds()
                with suppress(UnavailableError):  # then the sockets are closed one by one below
                    self._log.has_reached((await self._log.bounds()).last_seq)
                attachments = list(self._hub.attachments())
                log.info("chat.resync", sockets=len(attachments))
                await asyncio.gather(*(self.resync(attachment) for attachment in attachments))
        finally:
            self._is_resyncing = False

    async def resync(self, attachment: Attachment) -> None:
        """Fills the gap of one socket; if that is impossible, the client is told to reconnect (close code 4010)."""
        async with self._resyncs, attachment.recovering:
            attachment.feed.start_reading()
            company, conversation = attachment.company, attachment.conversation
            self._hub.forget_state(company, conversation)
            try:
                end = (await self._log.bounds()).last_seq
                snapshot, bounds = await self._log.snapshot_and_bounds(company, conversation, end)
                since = Cursor(epoch=attachment.epoch, seq=attachment.feed.cursor)
                plan = plan_recovery(since, snapshot.seq, bounds, self._stream_distance)
                missed = None
                if not isinstance(plan, SendSnapshot):
                    missed = await self._missed(company, conversation, plan, snapshot)
                if missed is None or missed.messages is not None:
                    self._give_up(attachment)
                    return
                await self._send_facts(attachment, missed.facts)
                self._follow(attachment, snapshot.seq, None)
                RESYNCED.labels("filled" if missed.facts else "no gap").inc()
            except GatewayError as error:
                log.warning("chat.resync_failed", conversation=conversation, error=error.message)
                self._give_up(attachment)

    async def _running_turn(self, company: str, conversation: str, snapshot: Snapshot) -> TurnState | None:
        # Only an unanswered message can have a turn; without this check every hello would wait for a call to time out.
        if not snapshot.unanswered:
            return None
        return await self._agents.turn_state(company, conversation)

    async def _missed(self, company: str, conversation: str, plan: Plan, snapshot: Snapshot) -> _Missed:
        match plan:
            case UpToDate():
                return _Missed()
            case ReadLog(after, up_to):
                return _Missed(facts=await self._log.read(company, conversation, after, up_to, require_last=True))
            case AskMemory(after, up_to):
                try:
                    facts = await self._from_memory(company, conversation, after, up_to)
                except UnavailableError:
                    facts = None
                if facts is not None:
                    return _Missed(facts=facts)
                return await self._last_messages(company, conversation, snapshot, recovered=False)
            case SendSnapshot(recovered):
                return await self._last_messages(company, conversation, snapshot, recovered=recovered)

    async def _from_memory(self, company: str, conversation: str, after: int, up_to: int) -> list[Fact] | None:
        """The facts from memory; None if the history after `after` is gone, or too long to send fact by fact."""
        facts: list[Fact] = []
        for _ in range(MAX_MEMORY_PAGES):
            reply = await self._memory.facts(company, conversation, after, up_to)
            if reply.gone:
                return None
            facts += [fact for fact in facts_in(reply) if fact.seq <= up_to]
            after = max([after, *(view.seq for view in reply.facts)])
            if reply.complete:
                return facts
            if not reply.facts:
                raise UnavailableError("memory has not caught up with the log: try again")
        return None

    async def _last_messages(self, company: str, conversation: str, snapshot: Snapshot, *, recovered: bool) -> _Missed:
        try:
            # A conversation that the log no longer has may have had owners too.
            owned = snapshot.owner_seq > 0 or snapshot.seq == 0
            reply = await self._memory.snapshot(company, conversation, snapshot.seq, SNAPSHOT_MESSAGES, events=owned)
        except UnavailableError:
            return await self._near_messages(company, conversation, snapshot, recovered=recovered)
        # Memory may know more than this snapshot; what is newer comes from the buffer, with other kinds of facts.
        views = list(reply.messages)
        # A log that was made anew, or no longer has the conversation, knows nothing of what memory has.
        is_only_in_memory = snapshot.seq == 0 and views and (await self._log.snapshot(company, conversation)).seq == 0
        while views and views[-1].seq > snapshot.seq and not is_only_in_memory:
            views.pop()
        current_views = await self._action_states.with_current_states(company, conversation, views)
        messages = [view.to_wire() for view in current_views]
        events = [event.to_wire() for event in reply.events or () if event.seq <= snapshot.seq or is_only_in_memory]
        return _Missed(messages=messages, events=_with_newest_owner(events, snapshot), recovered=recovered)

    async def _near_messages(self, company: str, conversation: str, snapshot: Snapshot, *, recovered: bool) -> _Missed:
        """The last messages that the log has, since a chat goes on without memory."""
        if snapshot.seq == 0:
            return _Missed(messages=[], recovered=recovered)
        facts, complete = await self._log.last_facts(company, conversation, snapshot, self._stream_distance)
        views = [view for fact in facts if (view := message_view(fact)) is not None]
        events = [event for fact in facts if (event := owner_event(fact)) is not None]
        messages = views[-SNAPSHOT_MESSAGES:]
        return _Missed(messages=messages, events=events, recovered=recovered, complete=complete)

    async def _send_facts(self, attachment: Attachment, facts: Sequence[Fact]) -> None:
        company, conversation = attachment.company, attachment.conversation
        current = await self._action_states.facts_with_current_states(company, conversation, facts, attachment.customer)
        for index, fact in enumerate(current):
            frame = server_frames.fact_frame(conversation, fact)
            if frame is not None and attachment.feed.accept_read_fact(fact.seq):
                attachment.acknowledge_fact(fact)
                attachment.socket.push(frame)
            if index % FRAMES_PER_PAUSE == FRAMES_PER_PAUSE - 1:
                await attachment.socket.drained()

    def _give_up(self, attachment: Attachment) -> None:
        RESYNCED.labels("sent away").inc()
        attachment.socket.terminate(CloseCode.RESYNC)

    def _follow(self, attachment: Attachment, up_to: int, turn: TurnState | None) -> None:
        turn_id, delta_seq = (turn.turn_id, turn.delta_seq) if turn else (None, -1)
        for frame in attachment.feed.finish_reading(up_to, turn_id, delta_seq):
            attachment.socket.push(frame)


def _with_newest_owner(events: list[Json], snapshot: Snapshot) -> list[Json]:
    """The events with the snapshot's newest change of owner added if missing: memory may not have stored it yet."""
    newest = snapshot.last.get(ChatKind.OWNER)
    event = owner_event(newest) if newest is not None else None
    return events if event is None or any(other["id"] == event["id"] for other in events) else [*events, event]
