"""usage.recorded.v1 in FACTS, one for each model call, behind the turn's back: nobody waits for it to be written."""

from collections.abc import Callable
from functools import partial

from agent.adapters.behind import Behind
from agent.domain.spending import Account, Prices
from agent.domain.turn.journal import Tokens
from agent.measures import MODEL_COST, USAGE_LOST
from agent.ports import Reservation
from contracts import channels
from contracts.envelope import CloudEvent
from contracts.events.chat import Usage
from contracts.events.fact import UsageRecorded, UsageReservation
from contracts.ids import is_id
from runtime.errors import PublishFailed
from runtime.publishing import Publisher

SOURCE = "/nexus/agent"
TYPE = "usage.recorded.v1"
WAITING = 5_000
"""Facts on their way at once; more are lost, and counted as lost."""


class UsageBook:
    """UsageFacts."""

    def __init__(self, publisher: Publisher, prices: Prices, settle: Callable[[Reservation, int], None]) -> None:
        """`settle`: what is done for the reservation of a call whose fact, which settles it, is lost."""
        self._settle = settle
        self._publisher = publisher
        self._prices = prices
        self._behind = Behind(TYPE, WAITING, USAGE_LOST)

    def record(
        self,
        account: Account,
        provider: str,
        model: str,
        usage: Tokens,
        *,
        estimated: bool,
        reservation: Reservation | None = None,
    ) -> None:
        """One model call, by the price list's price where it has one."""
        price = self._prices.get((provider, model))
        data = UsageRecorded(
            company_id=account.company,
            conversation_id=account.conversation,
            user_id=account.user,
            turn_id=account.turn_id,
            provider=provider,
            model=model,
            usage=Usage(prompt_tokens=usage.prompt, completion_tokens=usage.completion),
            purpose=account.purpose,
            cost=None if price is None else round(price.cost(usage), 9),
            currency=None if price is None else price.currency,
            priced_on=None if price is None else price.as_of,
            estimated=estimated,
            reservation=None if reservation is None else _told(reservation),
        )
        if data.cost is not None and data.currency is not None:
            MODEL_COST.labels(provider, data.currency).inc(data.cost)
        event = CloudEvent(source=SOURCE, type=TYPE, data=data)
        used = usage.prompt + usage.completion
        if not self._behind.write(partial(self._write, event, reservation, used), company=account.company):
            self._unsettled(reservation, used)

    async def flush(self, deadline: float) -> None:
        """Waits for what is on its way, at most so many seconds."""
        await self._behind.flush(deadline)

    async def _write(self, event: CloudEvent[UsageRecorded], reservation: Reservation | None, used: int) -> None:
        user = event.data.user_id
        subject = channels.fact(TYPE, event.data.company_id, user if user and is_id(user) else None)
        try:
            await self._publisher.append(subject, event, stream="FACTS", msg_id=event.id)
        except PublishFailed:
            self._unsettled(reservation, used)
            raise

    def _unsettled(self, reservation: Reservation | None, used: int) -> None:
        if reservation is not None:
            self._settle(reservation, used)


def _told(reservation: Reservation) -> UsageReservation:
    return UsageReservation(
        id=reservation.call,
        tokens=reservation.tokens,
        at=reservation.at,
        payer=reservation.payer,
        tier=reservation.tier,
    )
