"""Checks alerts against the market. A fired alert is stored first, then published until the bus has it."""

import structlog

from contracts.events.market import TriggeredAlert
from contracts.symbols import parse_symbol
from market_adapter.adapters.mongo_alerts import MongoAlerts
from market_adapter.domain.alerts import Alert, watch
from market_adapter.domain.paper.account import Fact
from market_adapter.errors import MarketError
from market_adapter.ports import MarketProvider, PublishFact

ALERT_TRIGGERED = "alert.triggered.v1"


class AlertWatcher:
    """Checks all users' alerts in one replica."""

    def __init__(self, store: MongoAlerts, provider: MarketProvider, publish: PublishFact) -> None:
        self._store = store
        self._provider = provider
        self._publish = publish
        self._log = structlog.get_logger()

    async def run(self) -> None:
        """Checks every active alert against new bars, then publishes the fired alerts that are not published yet."""
        for alert in await self._store.behind(self._provider.now()):
            try:
                await self._check(alert)
            except MarketError as error:
                self._log.warning("alerts.no_news", symbol=alert.symbol, reason=error.reason)
            except Exception as error:  # one alert that fails must not block the others
                self._log.warning("alerts.alert_waits", alert=alert.id, error=str(error) or type(error).__name__)
        for alert in await self._store.unannounced():
            await self._publish(alert.owner, _fact(alert, self._provider.source))
            await self._store.mark_announced(alert.id)

    async def _check(self, alert: Alert) -> None:
        symbol = parse_symbol(alert.symbol)
        news = await self._provider.bars_since(symbol, alert.seen_until)
        if news is None:
            return
        watched = watch(alert, news.bars, news.splits)
        # Another replica, or the user who deletes it, may be first: then their change counts, and this one is dropped.
        if watched != alert and await self._store.replace_watched(alert, watched) and watched.triggered_at is not None:
            self._log.info("alert.triggered", alert=watched.id, symbol=watched.symbol)


def triggered_alert(alert: Alert) -> TriggeredAlert:
    """A fired alert as clients get it."""
    if alert.triggered_price is None or alert.triggered_at is None:
        raise ValueError(f"alert {alert.id} has not fired")
    return TriggeredAlert(
        id=alert.id,
        symbol=alert.symbol,
        condition=alert.condition.value,
        price=float(alert.price),
        triggered_price=float(alert.triggered_price),
        triggered_at=alert.triggered_at,
        message=alert.message,
    )


def _fact(alert: Alert, source: str) -> Fact:
    data = {
        "companyId": alert.owner.company,
        "userId": alert.owner.user,
        "conversationId": alert.conversation,
        "alert": triggered_alert(alert).to_wire(),
        "source": source,
    }
    return Fact(ALERT_TRIGGERED, alert.id, data)
