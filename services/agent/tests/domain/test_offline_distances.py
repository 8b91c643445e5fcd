"""A change keeps the unit and the base of what it changes."""

import pytest

from agent.domain.offline.intents import wish_in
from agent.domain.offline.shorthand import spelled_out
from agent.domain.offline.step_results import Result, SayText, UseTools
from agent.domain.offline.steps import next_step
from agent.domain.offline.wishes import Intent
from agent.testing.offered import SCHEMAS

FALLS_5_PERCENT = "alert me when MSFT drops 5%"
FALLS_10_DOLLARS = "avísame si IBM baja 10 dólares"
BELOW_MARKET = "buy 4 MSFT at 3% below the market"
BELOW_PRICE = "buy 3 NVDA at limit 2 dollars under the price"


@pytest.mark.parametrize(
    ("before", "text", "way", "amount"),
    [
        (FALLS_5_PERCENT, "actually make it 8", "at_share", 0.92),
        (FALLS_5_PERCENT, "no, 12", "at_share", 0.88),
        (FALLS_5_PERCENT, "que sea un 4", "at_share", 0.96),
        (FALLS_5_PERCENT, "and one if it climbs 10%", "at_share", 1.1),
        (FALLS_10_DOLLARS, "cámbialo a 15", "at_distance", -15.0),
        (FALLS_10_DOLLARS, "mejor un 4%", "at_share", 0.96),
        (FALLS_10_DOLLARS, "y otra si sube 20", "at_distance", 20.0),
        (BELOW_MARKET, "make it 5%", "at_share", 0.95),
        (BELOW_PRICE, "make it 4 under", "at_distance", -4.0),
        (BELOW_PRICE, "cámbiala a 1 dólar por debajo", "at_distance", -1.0),
        (BELOW_PRICE, "mejor un 2%", "at_share", 0.98),
    ],
)
def test_a_figure_alone_is_in_the_unit_of_the_distance_before(before: str, text: str, way: str, amount: float) -> None:
    wish = wish_in(text, SCHEMAS, [before])
    assert (wish.way, wish.amount) == (way, pytest.approx(amount))
    assert wish.calls[0][1]["symbol"] in before


@pytest.mark.parametrize(("before", "text"), [(FALLS_5_PERCENT, "make it 600"), (FALLS_10_DOLLARS, "cámbialo a 195")])
def test_a_figure_that_can_only_be_a_price_is_one(before: str, text: str) -> None:
    assert wish_in(text, SCHEMAS, [before]).way == "replace_listed"


def test_a_count_changes_the_quantity_and_not_the_distance() -> None:
    wish = wish_in("actually 10 shares", SCHEMAS, [BELOW_MARKET])
    assert (wish.way, wish.amount, wish.calls[0][1]["quantity"]) == ("at_share", pytest.approx(0.97), 10.0)


def test_the_one_named_is_changed_in_its_unit() -> None:
    earlier = ["alert me when MSFT gains 5%", "and AAPL too"]
    assert wish_in(earlier[1], SCHEMAS, earlier[:1]).calls[0][1]["symbol"] == "AAPL"
    wish = wish_in("make the MSFT one 8", SCHEMAS, earlier)
    assert (wish.way, wish.amount, wish.calls[0][1]["symbol"]) == ("at_share", pytest.approx(1.08), "MSFT")


@pytest.mark.parametrize(
    ("texts", "arguments"),
    [
        (("put a stop 2 dollars below the price",), {"from_price": -2.0}),
        (("put a stop 2 dollars below the price", "make it 3"), {"from_price": -3.0}),
        (("put a stop 2 dollars below the price", "make it 4%"), {"of_price": 0.96}),
        (("put a stop 2 dollars below what I paid",), {"from_average_price": -2.0}),
        (("pon un stop un 8% por debajo de lo que pagué",), {"of_average_price": 0.92}),
        (("pon un stop un 8% por debajo de lo que pagué", "mejor un 5"), {"of_average_price": 0.95}),
    ],
)
def test_a_stop_keeps_its_distance_and_its_base(texts: tuple[str, ...], arguments: dict[str, float]) -> None:
    wish = wish_in(texts[-1], SCHEMAS, ["buy 10 AAPL", *texts[:-1]])
    assert {name: value for name, value in wish.calls[0][1].items() if "price" in name} == arguments


def test_a_stop_by_money_is_counted_from_the_position() -> None:
    wish = wish_in("put a stop 2 dollars below what I paid", SCHEMAS, ["buy 10 AAPL"])
    position = {"symbol": "AAPL", "quantity": 10, "average_price": 100.0, "price": 200.0}
    step = next_step(wish, [("get_portfolio", {}, {"positions": [position]})], "en")
    assert isinstance(step, UseTools)
    assert (step.calls[0][1]["stop_price"], step.calls[0][1]["quantity"]) == (98.0, 10)


def test_an_alert_is_counted_from_what_was_paid() -> None:
    wish = wish_in("set an alert 10% above what I paid", SCHEMAS, ["buy 10 AAPL"])
    look_up = next_step(wish, [], "en")
    assert isinstance(look_up, UseTools)
    assert [tool for tool, _ in look_up.calls] == ["get_portfolio"]
    held = {"symbol": "AAPL", "quantity": 10, "average_price": 100.0, "price": 200.0}
    step = next_step(wish, [("get_portfolio", {}, {"positions": [held]})], "en")
    assert isinstance(step, UseTools)
    assert step.calls[0][1]["price"] == 110.0
    assert isinstance(next_step(wish, [("get_portfolio", {}, {"positions": []})], "en"), SayText)


def test_a_stop_in_per_cent_belongs_to_the_shares_that_are_named() -> None:
    before = "I have 10000, risk 1%, buying GOOG at 600, stop 5% below. how many shares?"
    wish = wish_in("how many shares of IBM with 5000 risking 2% and an 8% stop?", SCHEMAS, [before])
    sized = {"capital": 5000.0, "risk_percent": 0.02, "symbol": "IBM"}
    assert (wish.way, wish.amount, wish.calls[0][1]) == ("sized", 0.92, sized)
    said = "tengo 8000 y quiero arriesgar un 2% en ibm con un stop un 8% por debajo cuantas compro"
    assert wish_in(said, SCHEMAS).calls[0][1] == {**sized, "capital": 8000.0}


def test_a_size_at_the_current_price_is_computed_anew_at_an_entry_that_is_told() -> None:
    before = "I have 20000 dollars and want to risk 1% per trade on IBM, stop at 185"
    entered = wish_in("how many shares is that if I enter at 195", SCHEMAS, [before])
    sized = {"capital": 20000.0, "risk_percent": 0.01, "stop_loss_price": 185.0, "entry_price": 195.0}
    assert entered.calls == (("calculate_position_size", sized),)
    assert entered.way == ""


@pytest.mark.parametrize(
    ("text", "quantity", "amount"),
    [
        ("Buy 30 shares of KO, limit $2 under the market", 30.0, -2.0),
        ("put in a buy limit for 5 IBM at ten dollars under the current price", 5.0, -10.0),
        ("compra 5 IBM limitada a 20 dólares menos que ahora", 5.0, -20.0),
    ],
)
def test_a_limit_at_a_distance_is_no_limit_of_that_figure(text: str, quantity: float, amount: float) -> None:
    wish = wish_in(text, SCHEMAS)
    order = wish.calls[0][1]
    assert (wish.way, wish.amount, order["quantity"]) == ("at_distance", amount, quantity)
    assert "limit_price" not in order


def test_one_of_two_orders_at_a_distance_is_asked_about() -> None:
    wish = wish_in("compra 10 KO a mercado y 5 IBM limitada a 20 dólares menos que ahora", SCHEMAS)
    assert (wish.intent, wish.calls) == (Intent.UNREAD, ())


@pytest.mark.parametrize(
    "text",
    ["stop 2 below, target 6 above on KO: what ratio?", "KO: ratio con stop 2 por debajo y objetivo 6 por encima"],
)
def test_a_ratio_for_distances_is_at_the_current_price(text: str) -> None:
    wish = wish_in(text, SCHEMAS)
    price: Result = ("get_price", {}, {"price": 60.0})
    prices = {"entry_price": 60.0, "stop_loss_price": 58.0, "take_profit_price": 66.0}
    assert next_step(wish, [price], "en") == UseTools((("calculate_risk_reward", prices),))
    changed = wish_in("and if the stop is 3 below", SCHEMAS, [text])
    assert next_step(changed, [price], "en") == UseTools(
        (("calculate_risk_reward", prices | {"stop_loss_price": 57.0}),)
    )


def test_a_ratio_for_distances_from_a_given_entry_needs_no_price() -> None:
    wish = wish_in("risk reward entering at 100 with stop 5 below and target 10 above", SCHEMAS)
    assert wish.calls[0][1] == {"entry_price": 100.0, "stop_loss_price": 95.0, "take_profit_price": 110.0}


@pytest.mark.parametrize(
    "text",
    [
        "alert me when the rsi of IBM goes below 30",
        "avísame si el volumen de IBM supera 2000000",
        "alert me if IBM crosses its 200 day average",
        "alert me if the P/E of IBM drops under 12",
    ],
)
def test_an_alert_waits_for_nothing_but_a_price(text: str) -> None:
    wish = wish_in(text, SCHEMAS)
    assert wish.missing == ("price",)
    assert wish.words in text.lower()
    assert "price" not in wish.calls[0][1]


def test_another_alert_is_not_of_the_share_that_waits_for_its_price() -> None:
    wish = wish_in("avísame si AAPL supera 700", SCHEMAS, ["alert me when the rsi of IBM goes below 30"])
    assert wish.calls == (("create_alert", {"symbol": "AAPL", "condition": ">=", "price": 700.0}),)


@pytest.mark.parametrize(
    "text", ["tell me when AAPL slips 3 %", "avísame si AAPL cede un 3 %", "alert me if AAPL sinks 3 %"]
)
def test_words_for_falls_make_one_alert(text: str) -> None:
    wish = wish_in(text, SCHEMAS)
    assert (wish.way, wish.amount) == ("at_share", pytest.approx(0.97))


@pytest.mark.parametrize("text", ["comprar con 2000 IBM", "compra IBM con 2000"])
def test_money_to_buy_with_is_no_quantity(text: str) -> None:
    wish = wish_in(text, SCHEMAS)
    assert (wish.way, wish.amount) == ("spend", 2000.0)


def test_a_part_of_the_cash_goes_on_with_another_share() -> None:
    texts = ["put a tenth of my cash into MSFT", "and another tenth into AAPL", "no wait, half of that"]
    wishes = [wish_in(text, SCHEMAS, texts[:i]) for i, text in enumerate(texts)]
    assert [(wish.way, wish.amount) for wish in wishes] == [
        ("share_of_cash", 0.1), ("share_of_cash", 0.1), ("share_of_cash", 0.05),
    ]  # fmt: skip
    assert [wish.calls[0][1]["symbol"] for wish in wishes] == ["MSFT", "AAPL", "AAPL"]


def test_another_stop_of_a_size_is_no_question_about_a_share() -> None:
    size = "tengo 12.500 €, arriesgo 2 %, entro en 187,40 con stop en 180"
    assert wish_in("y si subo el stop a 183", SCHEMAS, [size]).calls[0][1]["stop_loss_price"] == 183.0


def test_a_stop_at_a_distance_is_no_stop_at_that_price() -> None:
    wish = wish_in("capital 15000, risk 2%, entry 100 stop 4 below: how many shares", SCHEMAS)
    assert wish.calls[0][1]["stop_loss_price"] == 96.0
    at_price = wish_in("capital 15000, risk 2%, IBM with stop 12 dollars below, how many?", SCHEMAS)
    assert at_price.way == "sized"
    step = next_step(at_price, [("get_price", {}, {"price": 200.0})], "en")
    assert isinstance(step, UseTools)
    assert step.calls[0][1]["stop_loss_price"] == 188.0


@pytest.mark.parametrize("text", ["invierte una quinta parte de mi dinero en IBM", "put a fifth of my cash into IBM"])
def test_the_article_of_a_fraction_is_no_count(text: str) -> None:
    wish = wish_in(text, SCHEMAS)
    assert (wish.way, wish.amount) == ("share_of_cash", pytest.approx(0.2))


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("alert me if AAPL falls under 95% of today's price", 0.95),
        ("avísame si AAPL baja del 95% del precio actual", 0.95),
        ("buy 3 KO if it drops to 95% of its price", 0.95),
        ("sell 2 KO at 90% of the current price", 0.9),
        ("alert me if KO drops 5% of its value", 0.95),
        ("avísame si KO pierde un 5% de su valor", 0.95),
    ],
)
def test_a_share_of_the_price_is_no_move_by_so_much(text: str, share: float) -> None:
    wish = wish_in(text, SCHEMAS)
    assert (wish.way, round(wish.amount, 6)) == ("at_share", share)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("buy 10 KO but not more than 600 in total", "in total"),
        ("sell 10 KO limit 70 stop 55", "stop"),
        ("cancel all my orders except the old ones", "except"),
        ("borra todas mis alertas menos las nuevas", "menos"),
        ("alert me if KO falls 10% from its high", "its high"),
        ("avísame si KO cae un 10% desde máximos", "maximos"),
        ("alert me if KO drops 5% below its 52-week high", "its 52-week high"),
    ],
)
def test_what_means_something_else_is_not_done(text: str, word: str) -> None:
    wish = wish_in(spelled_out(text, "en"), SCHEMAS)
    assert (wish.intent, wish.words) == (Intent.UNREAD, word)


@pytest.mark.parametrize(
    "text", ["buy KO for $0.5k", "buy KO for $500", "buy KO for 500 dollars", "compra KO por 500 dólares"]
)
def test_a_sum_is_spent_and_is_no_limit(text: str) -> None:
    wish = wish_in(spelled_out(text, "es" if "ó" in text else "en"), SCHEMAS)
    assert (wish.way, wish.amount) == ("spend", 500)
