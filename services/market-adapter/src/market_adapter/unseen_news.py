"""News that a user has not been told in the chat: fired alerts, and orders that the market filled or ended."""

from collections.abc import Mapping
from dataclasses import replace

from contracts.market_rpc import AlertsToldReply, AlertsToldRequest, UntoldAlertsReply
from contracts.memory_rpc import UserRef
from market_adapter.adapters.mongo_alerts import MongoAlerts
from market_adapter.alert_watcher import triggered_alert
from market_adapter.domain.paper.account import Account, News, Owner
from market_adapter.domain.paper.actions import action_of
from market_adapter.paper_trading import PaperTrading


class UnseenNews:
    """The calls rpc.market.alerts…, one method each."""

    def __init__(self, alerts: MongoAlerts, paper_trading: PaperTrading) -> None:
        self._alerts = alerts
        self._paper_trading = paper_trading

    async def untold(self, request: UserRef) -> UntoldAlertsReply:
        owner = Owner(request.company_id, request.user_id)
        alerts, account = await self._alerts.untold(owner), await self._paper_trading.store.load(owner)
        return UntoldAlertsReply(
            alerts=[triggered_alert(alert) for alert in alerts],
            actions=[action_of(order) for order in account.orders if order.untold],
        )

    async def mark_told(self, request: AlertsToldRequest) -> AlertsToldReply:
        owner, told_ids = Owner(request.company_id, request.user_id), frozenset(request.action_ids)

        def mark(account: Account, _news: Mapping[str, News]) -> tuple[Account, int]:
            newly_told = [order for order in account.orders if order.untold and order.id in told_ids]
            for order in newly_told:
                account = account.with_order(replace(order, untold=False))
            return account, len(newly_told)

        count = await self._paper_trading.change(owner, mark) if told_ids else 0
        count += await self._alerts.mark_told(owner, request.alert_ids) if request.alert_ids else 0
        return AlertsToldReply(told=count)
