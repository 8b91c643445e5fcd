"""create_alert, list_alerts, delete_alert. An alert has the id of the call that made it, so repeating the call makes
no second one."""

from datetime import datetime

from contracts.envelope import Snake
from contracts.ids import derive_id
from contracts.tools.account import AlertArguments, AlertRef, Condition, ListArguments
from market_adapter.adapters.mongo_alerts import MongoAlerts
from market_adapter.domain.alerts import Alert, AlertState
from market_adapter.domain.asked import asked_symbol
from market_adapter.errors import ActionRefusedError, NotFoundError
from market_adapter.ports import MarketProvider
from market_adapter.texts import TEXTS
from market_adapter.tools.caller import CallBy
from market_adapter.tools.shapes import Sourced
from market_adapter.tools.tool import tool
from runtime.clock import Clock

MOST = 100
"""Active alerts of one user."""


class AlertData(Snake):
    """One alert."""

    alert_id: str
    symbol: str
    condition: Condition
    price: float
    message: str | None
    status: AlertState
    created_at: datetime

    @classmethod
    def of(cls, alert: Alert) -> "AlertData":
        return cls(
            alert_id=alert.id,
            symbol=alert.symbol,
            condition=alert.condition,
            price=float(alert.price),
            message=alert.message,
            status=alert.state,
            created_at=alert.created_at,
        )


class CreatedAlertData(AlertData, Sourced):
    """Output of create_alert, with the price at which it begins to watch. `already_true`: its condition holds at that
    price, so that it fires with the next market data unless the price moves away."""

    current_price: float
    already_true: bool


class AlertsData(Sourced):
    """Output of list_alerts: the active ones, oldest first."""

    alerts: list[AlertData]


class DeletedAlertData(Snake):
    """Output of delete_alert."""

    alert_id: str
    status: AlertState = AlertState.DELETED


class AlertTools:
    def __init__(self, provider: MarketProvider, store: MongoAlerts, wall: Clock) -> None:
        self._provider = provider
        self._store = store
        self._wall = wall

    @tool
    async def create_alert(self, asked: AlertArguments, by: CallBy) -> CreatedAlertData:
        """Watches a price from now on: what has been traded before does not count."""
        if (made := await self.created(by)) is not None:
            return made
        symbol = asked_symbol(asked.symbol)
        quote = await self._provider.quote(symbol)
        now = self._provider.now()
        alert = Alert(
            id=alert_id_of(by),
            owner=by.owner,
            symbol=symbol.name,
            condition=asked.condition,
            price=asked.price,
            created_at=self._wall.now(),
            seen_until=now,
            session=now.date(),
            last=quote.price,
            message=asked.message,
            conversation=by.conversation,
        )
        mine = await self._store.active(by.owner)
        if len(mine) >= MOST:
            raise ActionRefusedError(symbol.name, TEXTS["alert.too_many"].format(most=MOST), "too_many_alerts")
        by.check_time()
        return _created(await self._store.add(alert), quote.source, quote.as_of)

    async def created(self, by: CallBy) -> CreatedAlertData | None:
        """The alert that this call has made, as it is now; None: it has made none."""
        made = await self._store.find(by.owner, alert_id_of(by))
        return None if made is None else _created(made, self._provider.source, self._provider.now())

    @tool
    async def list_alerts(self, asked: ListArguments, by: CallBy) -> AlertsData:
        """The active ones."""
        symbol = None if asked.symbol is None else asked_symbol(asked.symbol).name
        found = await self._store.active(by.owner, symbol)
        return AlertsData(
            alerts=[AlertData.of(one) for one in found], source=self._provider.source, as_of=self._provider.now()
        )

    @tool
    async def delete_alert(self, asked: AlertRef, by: CallBy) -> DeletedAlertData:
        """Makes it inactive; one that is deleted already stays so."""
        by.check_time()
        if not await self._store.delete(by.owner, asked.alert_id):
            raise NotFoundError(asked.alert_id, TEXTS["alert.not_yours"].format(alert_id=asked.alert_id))
        return DeletedAlertData(alert_id=asked.alert_id)

    async def deleted(self, asked: AlertRef, by: CallBy) -> DeletedAlertData | None:
        """The alert as deleted; None: it is not, by this call or any other."""
        found = await self._store.find(by.owner, asked.alert_id)
        return DeletedAlertData(alert_id=found.id) if found is not None and found.state is AlertState.DELETED else None


def alert_id_of(by: CallBy) -> str:
    return derive_id(str(by.owner), "alert", by.call_id).replace("-", "")


def _created(alert: Alert, source: str, as_of: datetime) -> CreatedAlertData:
    return CreatedAlertData(
        **AlertData.of(alert).model_dump(), current_price=float(alert.last), already_true=alert.holds_at(alert.last),
        source=source, as_of=as_of,
    )  # fmt: skip
