"""Handles a person's yes or no to an order that waits for it (calls rpc.market.action…)."""

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
from contracts.text import Text
from market_adapter.domain.paper.account import Account, News, Owner, decide
from market_adapter.domain.paper.actions import action_of
from market_adapter.domain.paper.orders import EDITABLE, Order, OrderState, may_change
from market_adapter.errors import ActionRefusedError
from market_adapter.paper_trading import PaperTrading
from market_adapter.ports import MarketProvider
from market_adapter.texts import TEXTS
from market_adapter.tools.trading import edited, refuse_impossible
from market_adapter.tools.wrong_arguments import argument_faults
from runtime.calls.deadlines import caller_has_gone
from runtime.clock import Clock
from runtime.errors import RpcError


class ActionMethods:
    """The calls about actions, a method for each."""

    def __init__(self, provider: MarketProvider, books: PaperTrading, wall: Clock) -> None:
        self._provider = provider
        self._books = books
        self._wall = wall

    async def decide(self, asked: ActionDecideRequest) -> ActionReply:
        """The action after the decision; a second one changes nothing.

        Raises:
            RpcError: BAD_FIELD, the edits are not what the action lets be changed, or the account cannot bear them;
                NOT_FOUND, this user has no such action; CONFLICT, it is not what was shown to them; UNAVAILABLE,
                whether a share is still what it was cannot be asked now: a yes is not taken on trust; TIMEOUT, it was
                taken after its deadline, so nothing is decided.
        """
        owner = Owner(asked.company_id, asked.user_id)
        language = asked.language or "en"

        def apply(account: Account, news: Mapping[str, News]) -> tuple[Account, Order | None]:
            order = account.order(asked.action_id)
            if order is None or asked.content_hash not in (None, order.content_hash):
                return account, order
            if order.state is OrderState.PENDING and caller_has_gone():
                late = TEXTS["action.late"].in_language(language)
                raise RpcError(ErrorCode.TIMEOUT, late, retryable=True, reason="deadline_passed")
            yes = asked.decision == "confirm"
            if yes and order.state is OrderState.PENDING and order.symbol not in news:
                raise RpcError(ErrorCode.UNAVAILABLE, _silent(order.symbol).in_language(language), retryable=True)
            if yes and asked.edits and order.state is OrderState.PENDING:
                order = _edited(account, order, asked.edits, language)
                account = account.with_order(order)
            splits = news[order.symbol].splits if order.symbol in news else ()
            changed = decide(
                account,
                order,
                confirm=yes,
                wall=self._wall.now(),
                market=self._provider.now(),
                splits=splits,
            )
            return changed, changed.order(order.id)

        order = await self._books.change(owner, apply)
        order = order or (await self._books.store.archived_orders(owner, [asked.action_id])).get(asked.action_id)
        if order is None:
            raise RpcError(ErrorCode.NOT_FOUND, _none(asked.action_id).in_language(language))
        if asked.content_hash not in (None, order.content_hash):
            raise RpcError(ErrorCode.CONFLICT, TEXTS["action.changed"].in_language(language))
        return ActionReply(action=action_of(order))

    async def pending(self, asked: UserRef) -> PendingActionsReply:
        """Returns the actions that wait for this user's yes."""
        account = await self._books.current(Owner(asked.company_id, asked.user_id))
        waiting = [order for order in account.orders if order.state is OrderState.PENDING]
        return PendingActionsReply(actions=[action_of(order) for order in waiting])

    async def states(self, asked: ActionsRequest) -> ActionsReply:
        """The state of these actions, as far as they belong to this user."""
        owner = Owner(asked.company_id, asked.user_id)
        account = await self._books.current(owner)
        kept = {order.id: order for order in account.orders}
        archived = await self._books.store.archived_orders(owner, [one for one in asked.action_ids if one not in kept])
        found = [kept.get(one) or archived.get(one) for one in asked.action_ids]
        return ActionsReply(actions=[action_of(order) for order in found if order is not None])


def _edited(account: Account, order: Order, edits: Mapping[str, object], language: str) -> Order:
    """Checked as the first ones were: raises BAD_FIELD, and the action goes on waiting."""
    allowed = {EDITABLE[name] for name in may_change(order)}
    fixed = TEXTS["action.fixed"].in_language(language)
    if unknown := sorted(edits.keys() - allowed):
        raise _refused([(name, fixed) for name in unknown], language)
    try:
        changed = edited(str(account.owner), order, edits)
        refuse_impossible(account, changed)
    except ValidationError as error:
        faults = argument_faults(error, language)
        named = [(EDITABLE.get(one.field, one.field), one.message) for one in faults]
        raise _refused(named, language) from error
    except ActionRefusedError as error:
        raise _refused([("", error.text.in_language(language))], language) from error
    return changed


def _refused(faults: list[tuple[str, str]], language: str) -> RpcError:
    """`faults`: field ("": the order as a whole) and what is wrong. The message is for the person who decides."""
    names = {"quantity": TEXTS["action.quantity"], "limitPrice": TEXTS["action.limit_price"]}
    told = [
        f"{names[field].in_language(language) if field in names else field}: {said}" if field else said
        for field, said in faults
    ]
    fields = [FieldFault(field=f"edits.{field}" if field else "edits", message=said) for field, said in faults]
    return RpcError(ErrorCode.BAD_FIELD, "; ".join(told), fields=fields)


def _silent(symbol: str) -> Text:
    return TEXTS["action.silent"].format(symbol=symbol)


def _none(action: str) -> Text:
    return TEXTS["action.not_yours"].format(action=action)
