"""Publishes usage.recorded.v1 to FACTS in the background. Calls of a turn that follow each other closely share one
event: the event of a call that asks for tools waits a moment for the next call."""

import asyncio
from collections.abc import Callable
from functools import partial

from agent.adapters.write_behind import WriteBehind
from agent.domain.cost import ModelUse, Prices, Reservation, SpendingAccount
from agent.metrics import MODEL_COST, USAGE_LOST
from contracts import channels
from contracts.envelope import CloudEvent
from contracts.events.chat import Usage
from contracts.events.fact import UsageRecorded, UsageReservation
from contracts.ids import is_id
from runtime.bus.publisher import Publisher
from runtime.errors import PublishFailedError

SOURCE = "/nexus/agent"
TYPE = "usage.recorded.v1"
MAX_WAITING = 5_000
"""Facts being published at once; further ones are lost, and counted as lost. Also the limit of facts that wait for a
next call."""
NEXT_CALL_SECONDS = 2.0
"""Seconds that a fact waits for the next call of its turn. It is lost if the agent dies meanwhile."""

MergeKey = tuple[SpendingAccount, str, str, str | None, str | None]
"""Account, provider, model, and the reservation's payer and tier: calls with the same key are merged into one fact."""


class UsageBook:
    def __init__(self, publisher: Publisher, prices: Prices, settle: Callable[[Reservation, int], None]) -> None:
        """`settle`: called for the reservation of a call whose event was lost, because the event would have settled
        it."""
        self._settle = settle
        self._publisher = publisher
        self._prices = prices
        self._writer = WriteBehind(TYPE, MAX_WAITING, USAGE_LOST)
        self._waiting: dict[MergeKey, tuple[UsageRecorded, asyncio.TimerHandle]] = {}

    def record(self, use: ModelUse) -> None:
        """Records a model call with its own price or, if it has none, that of the price list."""
        account, provider, model, reservation = use.account, use.provider, use.model, use.reservation
        price = use.price or self._prices.get((provider, model))
        data = UsageRecorded(
            company_id=account.company,
            conversation_id=account.conversation,
            user_id=account.user,
            turn_id=account.turn_id,
            provider=provider,
            model=model,
            usage=Usage(prompt_tokens=use.usage.prompt, completion_tokens=use.usage.completion),
            purpose=account.purpose,
            door=account.door,
            cost=None if price is None else round(price.cost(use.usage), 9),
            currency=None if price is None else price.currency,
            priced_on=None if price is None else price.as_of,
            estimated=use.estimated,
            reservation=None if reservation is None else _wire_reservation(reservation),
            further=None if use.further is None else [_wire_reservation(use.further)],
        )
        if data.cost is not None and data.currency is not None:
            MODEL_COST.labels(provider, data.currency).inc(data.cost)
        payer, tier = (None, None) if reservation is None else (reservation.payer, reservation.tier)
        merge_key = (account, provider, model, payer, tier)
        if (earlier := self._waiting.pop(merge_key, None)) is not None:
            earlier[1].cancel()
            data = _merged(earlier[0], data)
        if use.requested_tools and account.turn_id is not None and len(self._waiting) < MAX_WAITING:
            timer = asyncio.get_running_loop().call_later(NEXT_CALL_SECONDS, self._publish_waiting, merge_key)
            self._waiting[merge_key] = data, timer
        else:
            self._publish(data)

    async def flush(self, deadline: float) -> None:
        """Publishes the waiting facts, and waits for the running publications at most `deadline` seconds."""
        for merge_key in list(self._waiting):
            self._publish_waiting(merge_key)
        await self._writer.flush(deadline)

    def _publish_waiting(self, merge_key: MergeKey) -> None:
        data, timer = self._waiting.pop(merge_key)
        timer.cancel()
        self._publish(data)

    def _publish(self, data: UsageRecorded) -> None:
        if not self._writer.write(partial(self._write, data), company=data.company_id):
            self._settle_lost(data)

    async def _write(self, data: UsageRecorded) -> None:
        event, user = CloudEvent(source=SOURCE, type=TYPE, data=data), data.user_id
        subject = channels.fact(TYPE, data.company_id, user if user and is_id(user) else None)
        try:
            await self._publisher.append(subject, event, stream="FACTS", msg_id=event.id)
        except PublishFailedError:
            self._settle_lost(data)
            raise

    def _settle_lost(self, data: UsageRecorded) -> None:
        used = data.usage.prompt_tokens + data.usage.completion_tokens
        for reservation in _reservations(data):
            self._settle(
                Reservation(
                    reservation.id,
                    data.company_id,
                    reservation.payer,
                    reservation.tokens,
                    0.0,
                    reservation.tier,
                    reservation.at,
                ),
                used,
            )
            used = 0


def _merged(earlier: UsageRecorded, later: UsageRecorded) -> UsageRecorded:
    """Merges two calls into one fact, which settles the first reservation with all tokens and the others with none."""
    first, *further = [*_reservations(earlier), *_reservations(later)] or [None]
    usage = Usage(
        prompt_tokens=earlier.usage.prompt_tokens + later.usage.prompt_tokens,
        completion_tokens=earlier.usage.completion_tokens + later.usage.completion_tokens,
    )
    cost = None if earlier.cost is None or later.cost is None else round(earlier.cost + later.cost, 9)
    return later.model_copy(
        update={
            "usage": usage,
            "cost": cost,
            "estimated": earlier.estimated or later.estimated,
            "reservation": first,
            "further": [reservation for reservation in further if reservation is not None] or None,
        }
    )


def _reservations(data: UsageRecorded) -> list[UsageReservation]:
    return [*([data.reservation] if data.reservation is not None else []), *(data.further or ())]


def _wire_reservation(reservation: Reservation) -> UsageReservation:
    return UsageReservation(
        id=reservation.call,
        tokens=reservation.tokens,
        at=reservation.at,
        payer=reservation.payer,
        tier=reservation.tier,
    )
