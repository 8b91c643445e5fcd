"""Publishes usage.recorded.v1 to FACTS in the background. Calls of one turn that follow each other closely share an
event: a call that asks for tools waits a moment for the next one."""

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
WAITING = 5_000
"""Facts on their way at once; more are lost, and counted as lost. As many wait for a next call at most."""
NEXT_CALL = 2.0
"""Seconds that a fact waits for the next call of its turn: what an agent that dies has not told of."""

Kind = tuple[SpendingAccount, str, str, str | None, str | None]
"""Account, provider, model, and the reservation's payer and tier: those alike become one fact."""


class UsageBook:
    def __init__(self, publisher: Publisher, prices: Prices, settle: Callable[[Reservation, int], None]) -> None:
        """`settle`: called for the reservation of a call whose event was lost, since the event would have settled
        it."""
        self._settle = settle
        self._publisher = publisher
        self._prices = prices
        self._behind = WriteBehind(TYPE, WAITING, USAGE_LOST)
        self._waiting: dict[Kind, tuple[UsageRecorded, asyncio.TimerHandle]] = {}

    def record(self, use: ModelUse) -> None:
        """Records a model call with its price, or with that of the price list if it has none."""
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
            reservation=None if reservation is None else _told(reservation),
            further=None if use.further is None else [_told(use.further)],
        )
        if data.cost is not None and data.currency is not None:
            MODEL_COST.labels(provider, data.currency).inc(data.cost)
        payer, tier = (None, None) if reservation is None else (reservation.payer, reservation.tier)
        kind = (account, provider, model, payer, tier)
        if (before := self._waiting.pop(kind, None)) is not None:
            before[1].cancel()
            data = _together(before[0], data)
        if use.goes_on and account.turn_id is not None and len(self._waiting) < WAITING:
            timer = asyncio.get_running_loop().call_later(NEXT_CALL, self._waited, kind)
            self._waiting[kind] = data, timer
        else:
            self._tell(data)

    async def flush(self, deadline: float) -> None:
        """Publishes what is waiting, and waits for what is under way, at most so many seconds."""
        for kind in list(self._waiting):
            self._waited(kind)
        await self._behind.flush(deadline)

    def _waited(self, kind: Kind) -> None:
        data, timer = self._waiting.pop(kind)
        timer.cancel()
        self._tell(data)

    def _tell(self, data: UsageRecorded) -> None:
        if not self._behind.write(partial(self._write, data), company=data.company_id):
            self._unsettled(data)

    async def _write(self, data: UsageRecorded) -> None:
        event, user = CloudEvent(source=SOURCE, type=TYPE, data=data), data.user_id
        subject = channels.fact(TYPE, data.company_id, user if user and is_id(user) else None)
        try:
            await self._publisher.append(subject, event, stream="FACTS", msg_id=event.id)
        except PublishFailedError:
            self._unsettled(data)
            raise

    def _unsettled(self, data: UsageRecorded) -> None:
        used = data.usage.prompt_tokens + data.usage.completion_tokens
        for held in _reservations(data):
            self._settle(Reservation(held.id, data.company_id, held.payer, held.tokens, 0.0, held.tier, held.at), used)
            used = 0


def _together(one: UsageRecorded, other: UsageRecorded) -> UsageRecorded:
    """Two calls alike, as one: the first reservation is settled with all that was used, the others with nothing."""
    first, *further = [*_reservations(one), *_reservations(other)] or [None]
    usage = Usage(
        prompt_tokens=one.usage.prompt_tokens + other.usage.prompt_tokens,
        completion_tokens=one.usage.completion_tokens + other.usage.completion_tokens,
    )
    cost = None if one.cost is None or other.cost is None else round(one.cost + other.cost, 9)
    return other.model_copy(
        update={
            "usage": usage,
            "cost": cost,
            "estimated": one.estimated or other.estimated,
            "reservation": first,
            "further": [held for held in further if held is not None] or None,
        }
    )


def _reservations(data: UsageRecorded) -> list[UsageReservation]:
    return [*([data.reservation] if data.reservation is not None else []), *(data.further or ())]


def _told(reservation: Reservation) -> UsageReservation:
    return UsageReservation(
        id=reservation.call,
        tokens=reservation.tokens,
        at=reservation.at,
        payer=reservation.payer,
        tier=reservation.tier,
    )
