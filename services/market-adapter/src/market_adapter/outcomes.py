"""Tells how calls with side effects ended, by their ids (rpc.tool.outcome.v1). Asking changes nothing.

Orders and alerts carry the id of the call that made them, watchlists the ids of their last changes, and what was
cancelled or deleted stays so. An attempt that is still on its way either comes after its deadline or finds the id, so
there is no second effect.
"""

from collections.abc import Awaitable, Callable, Mapping

from pydantic import BaseModel

from contracts.tools.account import AlertRef, OrderRef
from contracts.tools_rpc import ToolOutcome, ToolServiceRequest
from market_adapter.handlers import arguments, as_error_reply
from market_adapter.tools.alerts import AlertTools
from market_adapter.tools.caller import CallBy, call_by
from market_adapter.tools.trading import TradingTools
from market_adapter.tools.watchlists import WatchlistTools

LookUp = Callable[[ToolServiceRequest, CallBy], Awaitable[BaseModel | None]]


class CallOutcomes:
    """Looks up what became of a call, a method for each tool with side effects."""

    def __init__(self, trading: TradingTools, alerts: AlertTools, watchlists: WatchlistTools) -> None:
        self._look_ups: Mapping[str, LookUp] = {
            "create_paper_order": lambda _, by: trading.created(by),
            "cancel_paper_order": lambda request, by: trading.cancelled(arguments(OrderRef, request), by),
            "create_alert": lambda _, by: alerts.created(by),
            "delete_alert": lambda request, by: alerts.deleted(arguments(AlertRef, request), by),
            "add_to_watchlist": lambda _, by: watchlists.changed(by),
            "remove_from_watchlist": lambda _, by: watchlists.changed(by),
        }

    async def look_up(self, request: ToolServiceRequest) -> ToolOutcome:
        """Raises RpcError when the store does not answer: it is not known then."""
        look_up = self._look_ups.get(request.tool)
        if look_up is None:
            return ToolOutcome(state="unknown")
        with as_error_reply(request.caller.language):
            made = await look_up(request, call_by(request))
        if made is None:
            return ToolOutcome(state="not_done")
        return ToolOutcome(state="done", result=made.model_dump(mode="json"))
