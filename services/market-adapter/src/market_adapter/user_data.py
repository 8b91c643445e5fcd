"""All data of one user: read for the context of a prompt, and deleted on request (calls rpc.market.…)."""

from contracts.company_rpc import CompanyRequest
from contracts.ids import uuid7
from contracts.market_rpc import ActiveAlert, ForgottenReply, Holdings
from contracts.memory_rpc import UserRef
from contracts.tools.arguments import NoArguments
from market_adapter.adapters.mongo_alerts import MongoAlerts
from market_adapter.adapters.mongo_watchlists import MongoWatchlists
from market_adapter.domain.paper.account import Owner
from market_adapter.ports import AccountStore
from market_adapter.tools.caller import ToolCaller
from market_adapter.tools.portfolio import PortfolioTools


class UserData:
    """The calls about a user's data, one method each."""

    def __init__(
        self, portfolio: PortfolioTools, accounts: AccountStore, alerts: MongoAlerts, watchlists: MongoWatchlists
    ) -> None:
        self._portfolio = portfolio
        self._alerts = alerts
        self._watchlists = watchlists
        self._stores = (accounts, alerts, watchlists)

    async def holdings(self, request: UserRef) -> Holdings:
        """Returns what a user holds and watches."""
        owner = Owner(request.company_id, request.user_id)
        portfolio = await self._portfolio.get_portfolio(NoArguments(), ToolCaller(owner, uuid7(), None))
        return Holdings(
            portfolio=portfolio.model_dump(mode="json"),
            alerts=[
                ActiveAlert(
                    id=alert.id,
                    symbol=alert.symbol,
                    condition=alert.condition.value,
                    price=float(alert.price),
                    message=alert.message,
                )
                for alert in await self._alerts.active(owner)
            ],
            watchlist=list(await self._watchlists.symbols(owner)),
        )

    async def forget(self, request: UserRef) -> ForgottenReply:
        """Deletes all of a user's data, live orders and active alerts included."""
        owner = Owner(request.company_id, request.user_id)
        return ForgottenReply(deleted=sum([await store.forget(owner) for store in self._stores]))

    async def forget_company(self, request: CompanyRequest) -> ForgottenReply:
        return ForgottenReply(deleted=sum([await store.forget_company(request.company_id) for store in self._stores]))
