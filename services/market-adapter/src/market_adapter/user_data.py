"""All data of one user: read for a prompt's context, and deleted on request (calls rpc.market.…)."""

from contracts.company_rpc import CompanyRequest
from contracts.ids import uuid7
from contracts.market_rpc import ActiveAlert, ForgottenReply, Holdings
from contracts.memory_rpc import UserRef
from contracts.tools.arguments import NoArguments
from market_adapter.adapters.mongo_alerts import MongoAlerts
from market_adapter.adapters.mongo_watchlists import MongoWatchlists
from market_adapter.domain.paper.account import Owner
from market_adapter.ports import AccountStore
from market_adapter.tools.caller import CallBy
from market_adapter.tools.portfolio import PortfolioTools


class UserData:
    """The calls about a user's data, a method for each."""

    def __init__(
        self, portfolio: PortfolioTools, accounts: AccountStore, alerts: MongoAlerts, watchlists: MongoWatchlists
    ) -> None:
        self._portfolio = portfolio
        self._accounts = accounts
        self._alerts = alerts
        self._watchlists = watchlists

    async def holdings(self, asked: UserRef) -> Holdings:
        """Returns what a user holds and watches."""
        owner = Owner(asked.company_id, asked.user_id)
        portfolio = await self._portfolio.get_portfolio(NoArguments(), CallBy(owner, uuid7(), None))
        return Holdings(
            portfolio=portfolio.model_dump(mode="json"),
            alerts=[
                ActiveAlert(
                    id=one.id,
                    symbol=one.symbol,
                    condition=one.condition.value,
                    price=float(one.price),
                    message=one.message,
                )
                for one in await self._alerts.active(owner)
            ],
            watchlist=list(await self._watchlists.symbols(owner)),
        )

    async def forget(self, asked: UserRef) -> ForgottenReply:
        """Deletes all of it, orders and alerts that wait included."""
        owner = Owner(asked.company_id, asked.user_id)
        deleted = await self._accounts.forget(owner)
        deleted += await self._alerts.forget(owner)
        deleted += await self._watchlists.forget(owner)
        return ForgottenReply(deleted=deleted)

    async def forget_company(self, asked: CompanyRequest) -> ForgottenReply:
        deleted = await self._accounts.forget_company(asked.company_id)
        deleted += await self._alerts.forget_company(asked.company_id)
        deleted += await self._watchlists.forget_company(asked.company_id)
        return ForgottenReply(deleted=deleted)
