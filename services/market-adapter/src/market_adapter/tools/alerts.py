"""create_alert, list_alerts, delete_alert. An alert's id is derived from the call that created it, so repeating the
call creates no second one."""

from datetime import datetime

from contracts.tools.account import (
    AlertArguments,
    AlertData,
    AlertRef,
    AlertsData,
    CreatedAlertData,
    DeletedAlertData,
    ListArguments,
)
from market_adapter.adapters.mongo_alerts import MongoAlerts
from market_adapter.domain.alerts import Alert, AlertState
from market_adapter.domain.requested_symbol import requested_symbol
from market_adapter.errors import ActionRefusedError, UnknownIdError
from market_adapter.ports import MarketProvider
from market_adapter.texts import TEXTS
from market_adapter.tools.caller import ToolCaller
from market_adapter.tools.tool import tool
from runtime.clock import Clock

MAX_ALERTS = 100
"""Active alerts of one user at most."""


class AlertTools:
    def __init__(self, provider: MarketProvider, store: MongoAlerts, wall_clock: Clock) -> None:
        self._provider = provider
        self._store = store
        self._wall_clock = wall_clock

    @tool
    async def create_alert(self, arguments: AlertArguments, caller: ToolCaller) -> CreatedAlertData:
        """Creates an alert on a price from now on; earlier trades do not count."""
        if (existing := await self.created(caller)) is not None:
            return existing
        symbol = requested_symbol(arguments.symbol)
        quote = await self._provider.quote(symbol)
        now = self._provider.now()
        alert = Alert(
            id=caller.id_of("alert"),
            owner=caller.owner,
            symbol=symbol.name,
            condition=arguments.condition,
            price=arguments.price,
            created_at=self._wall_clock.now(),
            seen_until=now,
            session=now.date(),
            last=quote.price,
            message=arguments.message,
            conversation=caller.conversation,
        )
        active_alerts = await self._store.active(caller.owner)
        if len(active_alerts) >= MAX_ALERTS:
            raise ActionRefusedError(symbol.name, TEXTS["alert.too_many"].format(most=MAX_ALERTS), "too_many_alerts")
        caller.check_time()
        return _created(await self._store.add(alert), quote.source, quote.as_of)

    async def created(self, caller: ToolCaller) -> CreatedAlertData | None:
        """The alert that this call has created, as it is now; None if it has created none."""
        alert = await self._store.find(caller.owner, caller.id_of("alert"))
        return None if alert is None else _created(alert, self._provider.source, self._provider.now())

    @tool
    async def list_alerts(self, arguments: ListArguments, caller: ToolCaller) -> AlertsData:
        """Lists the active alerts."""
        symbol = None if arguments.symbol is None else requested_symbol(arguments.symbol).name
        alerts = await self._store.active(caller.owner, symbol)
        return AlertsData(
            alerts=[alert_data(alert) for alert in alerts], source=self._provider.source, as_of=self._provider.now()
        )

    @tool
    async def delete_alert(self, arguments: AlertRef, caller: ToolCaller) -> DeletedAlertData:
        """Deletes an active alert; a deleted one stays deleted."""
        caller.check_time()
        if not await self._store.delete(caller.owner, arguments.alert_id):
            raise UnknownIdError(arguments.alert_id, TEXTS["alert.not_yours"].format(alert_id=arguments.alert_id))
        return DeletedAlertData(alert_id=arguments.alert_id, status=AlertState.DELETED)

    async def deleted(self, arguments: AlertRef, caller: ToolCaller) -> DeletedAlertData | None:
        """The alert if it has been deleted, by this call or another; otherwise None."""
        alert = await self._store.find(caller.owner, arguments.alert_id)
        if alert is None or alert.state is not AlertState.DELETED:
            return None
        return DeletedAlertData(alert_id=alert.id, status=alert.state)


def _created(alert: Alert, source: str, as_of: datetime) -> CreatedAlertData:
    return CreatedAlertData(
        **alert_data(alert).model_dump(), current_price=float(alert.last), already_true=alert.holds_at(alert.last),
        source=source, as_of=as_of,
    )  # fmt: skip


def alert_data(alert: Alert) -> AlertData:
    """An alert as list_alerts returns it."""
    return AlertData(
        alert_id=alert.id,
        symbol=alert.symbol,
        condition=alert.condition,
        price=float(alert.price),
        message=alert.message,
        status=alert.state,
        created_at=alert.created_at,
    )
