"""Runs deliveries through the state machine."""

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

import structlog

from agent.domain.turn.effects import Ack, Retry, Trigger
from agent.domain.turn.policy import StopReason
from agent.errors import UnreachableError
from agent.metrics import TURNS
from agent.ports import ConversationKey
from agent.turns.deps import Limits, Ports, policy_of
from agent.turns.driver import TurnDriver
from agent.turns.watches import Watches
from contracts.company import CompanySettings
from contracts.events.turn import HandedCall
from contracts.ids import answer_id
from runtime.observability.correlation import add_ids
from runtime.observability.gen_ai import CONVERSATION, OPERATION, SPAN_QUEUE, SPAN_TURN
from runtime.observability.telemetry import TURN, current, record, span

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class RunningTurn:
    """The state of a turn in the agent that drives it."""

    turn_id: str
    message_id: str
    text: str
    delta_seq: int
    waiting: tuple[HandedCall, ...] = ()


class TurnEngine:
    """All turns of this agent. `stood_still`: see Lease."""

    def __init__(
        self,
        ports: Ports,
        watches: Watches,
        limits: Limits | None = None,
        stood_still: Callable[[], float] = float,
    ) -> None:
        self._ports = ports
        self._watches = watches
        self._limits = limits or Limits()
        self._stood_still = stood_still
        self._drives: dict[ConversationKey, list[TurnDriver]] = {}

    async def handle(self, key: ConversationKey, trigger: Trigger, stored_at: float) -> Ack | Retry:
        """Handles one delivery to its end: acknowledges it or hands it back. `stored_at` is in seconds by the bus's
        clock."""
        add_ids(key.company, key.conversation)
        others = partial(self._drives.get, key, ())
        drive = TurnDriver(
            self._ports, self._limits, key, self._watches.watch(key), stored_at, others, self._stood_still
        )
        with self._listed(key, drive):
            try:
                end = await self._drive(drive, key, trigger, stored_at)
            except UnreachableError as error:
                log.warning("turn.postponed", error=str(error))
                return Retry(1.0, str(error))
        if isinstance(end, Ack):
            TURNS.labels(end.why).inc()
        log.debug("turn.handled", seq=trigger.seq, why=end.why)
        return end

    async def _drive(self, drive: TurnDriver, key: ConversationKey, trigger: Trigger, stored_at: float) -> Ack | Retry:
        """The delivery with its span, and with the wait that led to it; one that opens no turn leaves none."""
        caller, began = current(), time.time_ns()
        waited = max(self._ports.clock.now() - stored_at, 0.0)
        with span(SPAN_TURN, **{OPERATION: SPAN_TURN, CONVERSATION: key.conversation}) as work:
            try:
                return await drive.run(trigger)
            finally:
                if drive.opened is None:
                    work.discard()
                else:
                    work.set_attributes({TURN: drive.opened})
                    if stored_at:
                        record(SPAN_QUEUE, began - int(waited * 1e9), began, beside=caller)

    def running(self, key: ConversationKey, turn_id: str | None = None) -> RunningTurn | None:
        """The turn that this agent drives in the conversation, if it does: the newest one, since a superseded one may
        still be waiting for its model or its tools. `turn_id`: that very turn."""
        drives = [d for d in self._drives.get(key, ()) if d.driving and turn_id in {None, d.driving}]
        newest = max(drives, key=lambda drive: drive.basis, default=None)
        if newest is None or newest.driving is None:
            return None
        text, delta_seq = newest.progress()
        return RunningTurn(newest.driving, answer_id(newest.driving), text, delta_seq, newest.handed.waiting)

    def settings_changed(self, company: str, settings: CompanySettings | None) -> None:
        """The kill switch stops running turns too."""
        if policy_of(settings).enabled:
            return
        for key, drives in self._drives.items():
            if key.company == company:
                for drive in drives:
                    drive.stop(StopReason.DISABLED)

    def deleted(self, key: ConversationKey) -> None:
        """The conversation was deleted: nobody is left to answer."""
        for drive in self._drives.get(key, ()):
            drive.stop(StopReason.USER)

    @property
    def count(self) -> int:
        """The number of deliveries that are being handled."""
        return sum(len(drives) for drives in self._drives.values())

    @property
    def driven(self) -> int:
        """The number of turns that are driven. The other deliveries in `count` check whether there is a turn for
        them."""
        return sum(drive.driving is not None for drives in list(self._drives.values()) for drive in drives)

    @contextmanager
    def _listed(self, key: ConversationKey, drive: TurnDriver) -> Generator[None]:
        self._drives.setdefault(key, []).append(drive)
        try:
            yield
        finally:
            drive.close()
            drives = self._drives[key]
            drives.remove(drive)
            if not drives:
                del self._drives[key]
