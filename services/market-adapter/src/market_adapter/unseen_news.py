"""News that a user has not yet seen in the chat: triggered alerts, and orders that the market filled or ended."""

from collections.abc import Mapping
from dataclasses import replace

from contracts.market_rpc import AlertsToldReply, AlertsToldRequest, UntoldAlertsReply
from contracts.memory_rpc import UserRef
from market_adapter.adapters.mongo_alerts import MongoAlerts
from market_adapter.alert_watcher import triggered
from market_adapter.domain.paper.account import Account, News, Owner
from market_adapter.domain.paper.actions import action_of
from market_adapter.paper_trading import PaperTrading


class UnseenNews:
    """Answers the calls rpc.market.alerts…."""

    def __init__(self, alerts: MongoAlerts, books: PaperTrading) -> None:
        self._alerts = alerts
        self._books = books

    async def untold(self, asked: UserRef) -> UntoldAlertsReply:
        owner = Owner(asked.company_id, asked.user_id)
        alerts, account = await self._alerts.untold(owner), await self._books.store.load(owner)
        return UntoldAlertsReply(
            alerts=[triggered(alert) for alert in alerts],
            actions=[action_of(order) for order in account.orders if order.untold],
        )

    async def mark_told(self, asked: AlertsToldRequest) -> AlertsToldReply:
        owner, told = Owner(asked.company_id, asked.user_id), frozenset(asked.action_ids)

        def heard(account: Account, _news: Mapping[str, News]) -> tuple[Account, int]:
            marked = [one for one in account.orders if one.untold and one.id in told]
            for order in marked:
                account = account.with_order(replace(order, untold=False))
            return account, len(marked)

        count = await self._books.change(owner, heard) if told else 0
        count += await self._alerts.mark_told(owner, asked.alert_ids) if asked.alert_ids else 0
        return AlertsToldReply(told=count)
