"""Checks alerts against the market. A fired alert is stored first, then published until the bus has it."""

import structlog

from contracts.events.market import TriggeredAlert
from contracts.symbols import parse_symbol
from market_adapter.adapters.mongo_alerts import MongoAlerts
from market_adapter.domain.alerts import Alert, watch
from market_adapter.domain.paper.account import Fact
from market_adapter.errors import MarketError
from market_adapter.ports import MarketProvider, Tell

FACT = "alert.triggered.v1"


class AlertWatcher:
    """Checks all users' alerts in one replica."""

    def __init__(self, store: MongoAlerts, provider: MarketProvider, tell: Tell) -> None:
        self._store = store
        self._provider = provider
        self._tell = tell
        self._log = structlog.get_logger()

    async def attend(self) -> None:
        """New bars against every active alert; then whatever is not announced yet."""
        for alert in await self._store.behind(self._provider.now()):
            try:
                await self._look(alert)
            except MarketError as error:
                self._log.warning("alerts.no_news", symbol=alert.symbol, reason=error.reason)
            except Exception as error:  # one alert that cannot be dealt with must not hold up everybody after it
                self._log.warning("alerts.alert_waits", alert=alert.id, error=str(error) or type(error).__name__)
        for alert in await self._store.unannounced():
            await self._tell(alert.owner, _fact(alert, self._provider.source))
            await self._store.announced(alert.id)

    async def _look(self, alert: Alert) -> None:
        symbol = parse_symbol(alert.symbol)
        news = await self._provider.bars_since(symbol, alert.seen_until)
        if news is None:
            return
        after = watch(alert, news.bars, news.splits)
        # Another replica, or the user who deletes it, may be first: then theirs counts, and nothing is told from here.
        if after != alert and await self._store.seen(alert, after) and after.triggered_at is not None:
            self._log.info("alert.triggered", alert=after.id, symbol=after.symbol)


def triggered(alert: Alert) -> TriggeredAlert:
    """A fired alert as clients see it."""
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
        "alert": triggered(alert).to_wire(),
        "source": source,
    }
    return Fact(FACT, alert.id, data)
