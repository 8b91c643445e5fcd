"""Runs deliveries through the state machine."""

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
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
from contracts.agent_rpc import TurnState
from contracts.company import CompanySettings
from contracts.ids import answer_id
from runtime.observability.correlation import add_ids
from runtime.observability.gen_ai import CONVERSATION, OPERATION, SPAN_QUEUE, SPAN_TURN
from runtime.observability.telemetry import TURN, current, record, span
from runtime.workers.deliveries import nothing

log = structlog.get_logger(__name__)


class TurnEngine:
    """All turns of this agent. `last_standstill`: see Lease."""

    def __init__(
        self,
        ports: Ports,
        watches: Watches,
        limits: Limits | None = None,
        last_standstill: Callable[[], float] = float,
    ) -> None:
        self._ports = ports
        self._watches = watches
        self._limits = limits or Limits()
        self._last_standstill = last_standstill
        self._drivers: dict[ConversationKey, list[TurnDriver]] = {}

    async def handle(
        self, key: ConversationKey, trigger: Trigger, stored_at: float, under_way: Callable[[], None] = nothing
    ) -> Ack | Retry:
        """Handles one delivery; returns whether to acknowledge it or to hand it back. `stored_at`: when the message was
        stored, in seconds by the bus's clock. `under_way`: see Delivery."""
        add_ids(key.company, key.conversation)
        other_drivers = partial(self._drivers.get, key, ())
        driver = TurnDriver(
            self._ports,
            self._limits,
            key,
            self._watches.watch(key),
            stored_at,
            other_drivers,
            self._last_standstill,
            under_way,
        )
        with self._listed(key, driver):
            try:
                outcome = await self._drive(driver, key, trigger, stored_at)
            except UnreachableError as error:
                log.warning("turn.postponed", error=str(error))
                return Retry(1.0, str(error))
        if isinstance(outcome, Ack):
            TURNS.labels(outcome.reason).inc()
        log.debug("turn.handled", seq=trigger.seq, why=outcome.reason)
        return outcome

    async def _drive(self, driver: TurnDriver, key: ConversationKey, trigger: Trigger, stored_at: float) -> Ack | Retry:
        """Handles the delivery in a span of its own, after a span for its wait in the queue. A delivery that opens no
        turn leaves no spans."""
        caller_span, started_at = current(), time.time_ns()
        wait_seconds = max(self._ports.clock.now() - stored_at, 0.0)
        with span(SPAN_TURN, **{OPERATION: SPAN_TURN, CONVERSATION: key.conversation}) as turn_span:
            try:
                return await driver.run(trigger)
            finally:
                if driver.opened is None:
                    turn_span.discard()
                else:
                    turn_span.set_attributes({TURN: driver.opened})
                    if stored_at:
                        record(SPAN_QUEUE, started_at - int(wait_seconds * 1e9), started_at, beside=caller_span)

    def running(self, key: ConversationKey, turn_id: str | None = None) -> TurnState | None:
        """Returns the turn that this agent drives in the conversation, or None. If there are several, because a
        superseded turn still waits for its model or its tools, it is the newest. `turn_id`: only this turn."""
        drivers = [d for d in self._drivers.get(key, ()) if d.driving and turn_id in {None, d.driving}]
        newest = max(drivers, key=lambda drive: drive.basis, default=None)
        if newest is None or newest.driving is None:
            return None
        text, delta_seq = newest.progress()
        return TurnState(
            turn_id=newest.driving,
            message_id=answer_id(newest.driving),
            text_so_far=text,
            delta_seq=delta_seq,
            waiting=list(newest.handed.waiting) or None,
        )

    def settings_changed(self, company: str, settings: CompanySettings | None) -> None:
        """Stops the company's running turns if the new settings disable the AI."""
        if policy_of(settings).enabled:
            return
        for key, drivers in self._drivers.items():
            if key.company == company:
                for driver in drivers:
                    driver.stop(StopReason.DISABLED)

    def deleted(self, key: ConversationKey) -> None:
        """Stops the turns of a conversation that was deleted."""
        for driver in self._drivers.get(key, ()):
            driver.stop(StopReason.USER)

    @property
    def count(self) -> int:
        """The number of deliveries that are being handled."""
        return sum(len(drivers) for drivers in self._drivers.values())

    @property
    def driven(self) -> int:
        """The number of turns that are driven. The other deliveries in `count` are still finding out whether they open
        a turn."""
        return sum(driver.driving is not None for drivers in list(self._drivers.values()) for driver in drivers)

    @contextmanager
    def _listed(self, key: ConversationKey, driver: TurnDriver) -> Generator[None]:
        self._drivers.setdefault(key, []).append(driver)
        try:
            yield
        finally:
            driver.close()
            drivers = self._drivers[key]
            drivers.remove(driver)
            if not drivers:
                del self._drivers[key]
