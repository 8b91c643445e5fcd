"""Reports how calls with side effects ended, by their ids (rpc.tool.outcome.v1), without changing anything.

Orders and alerts contain the id of the call that created them, watchlists the ids of their last changes, and what was
cancelled or deleted stays so. An attempt that is still on its way either arrives after its deadline or finds the id, so
it has no second effect.
"""

from collections.abc import Awaitable, Callable, Mapping

from pydantic import BaseModel

from contracts.tools.account import AlertRef, OrderRef
from contracts.tools_rpc import ToolOutcome, ToolServiceRequest
from market_adapter.handlers import as_error_reply, parse_arguments
from market_adapter.tools.alerts import AlertTools
from market_adapter.tools.caller import ToolCaller, caller_of
from market_adapter.tools.trading import TradingTools
from market_adapter.tools.watchlists import WatchlistTools

LookUp = Callable[[ToolServiceRequest, ToolCaller], Awaitable[BaseModel | None]]


class CallOutcomes:
    """Looks up the result of a call of a tool with side effects."""

    def __init__(self, trading: TradingTools, alerts: AlertTools, watchlists: WatchlistTools) -> None:
        self._look_ups: Mapping[str, LookUp] = {
            "create_paper_order": lambda _, caller: trading.created(caller),
            "cancel_paper_order": lambda request, caller: trading.cancelled(parse_arguments(OrderRef, request), caller),
            "create_alert": lambda _, caller: alerts.created(caller),
            "delete_alert": lambda request, caller: alerts.deleted(parse_arguments(AlertRef, request), caller),
            "add_to_watchlist": lambda _, caller: watchlists.changed(caller),
            "remove_from_watchlist": lambda _, caller: watchlists.changed(caller),
        }

    async def look_up(self, request: ToolServiceRequest) -> ToolOutcome:
        """Returns the outcome of a call; raises RpcError if the store does not answer, since it is unknown then."""
        look_up = self._look_ups.get(request.tool)
        if look_up is None:
            return ToolOutcome(state="unknown")
        with as_error_reply(request.caller.language):
            result = await look_up(request, caller_of(request))
        if result is None:
            return ToolOutcome(state="not_done")
        return ToolOutcome(state="done", result=result.model_dump(mode="json"))
