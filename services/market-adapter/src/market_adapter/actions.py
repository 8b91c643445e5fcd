"""Handles a person's yes or no to a pending order (calls rpc.market.action…)."""

from collections.abc import Mapping

from pydantic import ValidationError

from contracts.errors import ErrorCode, FieldFault
from contracts.market_rpc import (
    ActionDecideRequest,
    ActionReply,
    ActionsReply,
    ActionsRequest,
    PendingActionsReply,
)
from contracts.memory_rpc import UserRef
from market_adapter.domain.paper.account import Account, News, Owner, decide
from market_adapter.domain.paper.actions import action_of
from market_adapter.domain.paper.orders import EDITABLE, Order, OrderState, editable_arguments
from market_adapter.errors import ActionRefusedError
from market_adapter.paper_trading import PaperTrading
from market_adapter.ports import MarketProvider
from market_adapter.texts import TEXTS
from market_adapter.tools.trading import check_affordable, edit_order
from market_adapter.tools.wrong_arguments import argument_faults
from runtime.calls.deadlines import caller_has_gone
from runtime.clock import Clock
from runtime.errors import RpcError


class ActionMethods:
    """The calls about actions, one method each."""

    def __init__(self, provider: MarketProvider, paper_trading: PaperTrading, wall_clock: Clock) -> None:
        self._provider = provider
        self._paper_trading = paper_trading
        self._wall_clock = wall_clock

    async def decide(self, request: ActionDecideRequest) -> ActionReply:
        """Decides an action, and returns it; a second decision changes nothing.

        Raises:
            RpcError: BAD_FIELD, the edits change what may not be changed, or the account cannot afford them; NOT_FOUND,
                this user has no such action; CONFLICT, it is not what was shown to them; UNAVAILABLE, the provider
                cannot be asked now whether there was a split, without which a yes is not accepted; TIMEOUT, the call
                was handled after its deadline, so nothing is decided.
        """
        owner = Owner(request.company_id, request.user_id)
        language = request.language or "en"

        def apply(account: Account, news: Mapping[str, News]) -> tuple[Account, Order | None]:
            order = account.order(request.action_id)
            if order is None or request.content_hash not in (None, order.content_hash):
                return account, order
            if order.state is OrderState.PENDING and caller_has_gone():
                message = TEXTS["action.late"].in_language(language)
                raise RpcError(ErrorCode.TIMEOUT, message, retryable=True, reason="deadline_passed")
            is_confirmed = request.decision == "confirm"
            if is_confirmed and order.state is OrderState.PENDING and order.symbol not in news:
                message = TEXTS["action.silent"].format(symbol=order.symbol).in_language(language)
                raise RpcError(ErrorCode.UNAVAILABLE, message, retryable=True)
            if is_confirmed and request.edits and order.state is OrderState.PENDING:
                order = _apply_edits(account, order, request.edits, language)
                account = account.with_order(order)
            splits = news[order.symbol].splits if order.symbol in news else ()
            changed = decide(
                account,
                order,
                confirm=is_confirmed,
                wall=self._wall_clock.now(),
                market=self._provider.now(),
                splits=splits,
            )
            return changed, changed.order(order.id)

        order = await self._paper_trading.change(owner, apply)
        order = order or await self._paper_trading.archived_order(owner, request.action_id)
        if order is None:
            message = TEXTS["action.not_yours"].format(action=request.action_id).in_language(language)
            raise RpcError(ErrorCode.NOT_FOUND, message)
        if request.content_hash not in (None, order.content_hash):
            raise RpcError(ErrorCode.CONFLICT, TEXTS["action.changed"].in_language(language))
        return ActionReply(action=action_of(order))

    async def pending(self, request: UserRef) -> PendingActionsReply:
        """Returns the actions that wait for this user's decision."""
        account = await self._paper_trading.current(Owner(request.company_id, request.user_id))
        pending_orders = [order for order in account.orders if order.state is OrderState.PENDING]
        return PendingActionsReply(actions=[action_of(order) for order in pending_orders])

    async def states(self, request: ActionsRequest) -> ActionsReply:
        """Returns those of the actions that belong to this user, in their current state."""
        owner = Owner(request.company_id, request.user_id)
        account = await self._paper_trading.current(owner)
        orders = {order.id: order for order in account.orders}
        archived = await self._paper_trading.store.archived_orders(
            owner, [action_id for action_id in request.action_ids if action_id not in orders]
        )
        states = [orders.get(action_id) or archived.get(action_id) for action_id in request.action_ids]
        return ActionsReply(actions=[action_of(order) for order in states if order is not None])


def _apply_edits(account: Account, order: Order, edits: Mapping[str, object], language: str) -> Order:
    """The order with the edits, which are checked like the original arguments. Raises BAD_FIELD; the action then
    remains pending."""
    allowed = {EDITABLE[name] for name in editable_arguments(order)}
    fixed_text = TEXTS["action.fixed"].in_language(language)
    if unknown := sorted(edits.keys() - allowed):
        raise _bad_edits([(name, fixed_text) for name in unknown], language)
    try:
        changed = edit_order(str(account.owner), order, edits)
        check_affordable(account, changed)
    except ValidationError as error:
        argument_errors = argument_faults(error, language)
        faults_by_field = [(EDITABLE.get(fault.field, fault.field), fault.message) for fault in argument_errors]
        raise _bad_edits(faults_by_field, language) from error
    except ActionRefusedError as error:
        raise _bad_edits([("", error.text.in_language(language))], language) from error
    return changed


def _bad_edits(faults: list[tuple[str, str]], language: str) -> RpcError:
    """The BAD_FIELD error for `faults`: each field ("": the order as a whole) with the problem. Its message is for the
    person who decides."""
    names = {"quantity": TEXTS["action.quantity"], "limitPrice": TEXTS["action.limit_price"]}
    lines = [
        f"{names[field].in_language(language) if field in names else field}: {problem}" if field else problem
        for field, problem in faults
    ]
    fields = [FieldFault(field=f"edits.{field}" if field else "edits", message=problem) for field, problem in faults]
    return RpcError(ErrorCode.BAD_FIELD, "; ".join(lines), fields=fields)
