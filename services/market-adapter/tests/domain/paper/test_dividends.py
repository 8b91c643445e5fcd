"""Dividends are paid into the cash of whoever held the shares before the ex-date: once, to the cent."""

from datetime import timedelta
from decimal import Decimal
from fractions import Fraction

from market_adapter.adapters.mongo_accounts import MongoAccounts
from market_adapter.domain.bars import Dividend, Split
from market_adapter.domain.paper.account import OPENING_CASH
from market_adapter.testing.desk import ANN, Desk, market
from market_adapter.testing.markets import FIRST_DAY, ScriptedProvider


def paying(provider: ScriptedProvider, *dividends: tuple[int, str]) -> ScriptedProvider:
    """The market, with amounts a share by the number of the ex-date's day."""
    found = tuple(Dividend(FIRST_DAY + timedelta(days=day), Decimal(amount)) for day, amount in dividends)
    provider.dividends["IBM"] = found
    return provider


async def bought(desk: Desk) -> None:
    """Ten shares, filled on day 1."""
    await desk.decide(await desk.order())
    await desk.bars()


async def test_a_dividend_is_paid_once_on_its_ex_date(store: MongoAccounts) -> None:
    desk = Desk(paying(market(*["100"] * 6), (3, "0.845")), store)
    await bought(desk)
    await desk.bars()
    assert (await desk.call("get_portfolio"))["dividends"] == 0
    await desk.bars()
    for _ in range(2):
        portfolio = await desk.call("get_portfolio")
        assert (portfolio["dividends"], portfolio["cash"], portfolio["realized"]) == (8.45, 99008.45, 0)
        await desk.bars()
    again = await Desk(desk.provider, store).call("get_portfolio")
    assert (again["dividends"], again["cash"]) == (8.45, 99008.45)


async def test_who_buys_on_the_ex_date_or_later_gets_nothing_and_who_sells_on_it_does() -> None:
    desk = Desk(paying(market(*["100"] * 6), (1, "5"), (3, "0.5")))
    await bought(desk)  # filled on day 1, an ex-date
    await desk.bars()
    await desk.decide(await desk.order("sell", "c2"))
    await desk.bars()  # sold on day 3, the other one
    account = await desk.paper_trading.current(ANN)
    assert (account.positions, account.cash, account.dividends) == ({}, OPENING_CASH + 5, Decimal("5.00"))


async def test_a_dividend_after_a_split_is_of_the_new_shares() -> None:
    day = FIRST_DAY + timedelta(days=2)
    desk = Desk(paying(market("100", "100", "50", "50", splits=(Split(day, Fraction(2)),)), (1, "9"), (3, "1")))
    await bought(desk)
    await desk.bars(2)
    account = await desk.paper_trading.current(ANN)
    assert (account.positions["IBM"].quantity, account.dividends) == (20, Decimal("20.00"))


async def test_cash_and_cost_are_the_opening_cash_and_what_was_earned() -> None:
    desk = Desk(paying(market("100", "100", "120", "120", "120"), (2, "1.25")))
    await bought(desk)
    await desk.decide(await desk.order("sell", "c2", quantity=4))
    await desk.bars(2)
    portfolio = await desk.call("get_portfolio")
    cost = sum(one["cost"] for one in portfolio["positions"])
    assert (portfolio["dividends"], portfolio["realized"]) == (12.5, 80)
    assert portfolio["cash"] + cost == 100000 + portfolio["realized"] + portfolio["dividends"]
