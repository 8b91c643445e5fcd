"""Orders and alerts that wait for a price, and what is meant by "the better one"."""

from collections.abc import Sequence
from typing import Any

import pytest

from agent.domain.offline import tool_wishes
from agent.domain.offline.answers import plain_answer
from agent.domain.offline.calls import OfferedTools
from agent.domain.offline.intents import wish_in
from agent.domain.offline.shorthand import spelled_out
from agent.domain.offline.step_results import Result, UseTools
from agent.domain.offline.steps import next_step
from agent.domain.offline.wishes import Wish
from agent.testing.offered import SCHEMAS

ORDER, ALERT = "create_paper_order", "create_alert"


def asked(text: str, *before: str) -> tuple[str, dict[str, Any], tuple[str, ...], str]:
    wish = wish_in(text, SCHEMAS, before)
    ((tool, arguments),) = wish.calls
    return tool, arguments, wish.missing, wish.way


@pytest.mark.parametrize(
    ("text", "side", "price"),
    [
        ("buy 3 AAPL if it goes above 700", "buy", {"stop_price": 700.0}),
        ("buy 3 AAPL when it drops to 600", "buy", {"limit_price": 600.0}),
        ("if AAPL drops to 600 buy 3", "buy", {"limit_price": 600.0}),
        ("compra 3 AAPL cuando baje a 600", "buy", {"limit_price": 600.0}),
        ("si AAPL supera 700, vende 3", "sell", {"limit_price": 700.0}),
        ("sell 3 AAPL if it falls below 650", "sell", {"stop_price": 650.0}),
    ],
)
def test_an_order_with_a_condition_waits_for_its_price(text: str, side: str, price: dict[str, float]) -> None:
    (kind,) = price
    told = {"symbol": "AAPL", "quantity": 3.0, "side": side, "order_type": kind.removesuffix("_price"), **price}
    assert asked(text) == (ORDER, told, (), "")


@pytest.mark.parametrize(
    "text",
    [
        "buy 5 AAPL when the earnings are good",
        "buy 5 AAPL if MSFT drops to 28",
        "buy 5 AAPL if it drops below its 200-day average",
        "buy 5 AAPL when the RSI falls below 30",
        "compra 5 AAPL si baja durante 3 días",
        "buy 5 AAPL if it drops 5% in 2 weeks",
    ],
)
def test_a_condition_that_no_order_can_have_is_no_order_at_once(text: str) -> None:
    tool, _, missing, _ = asked(text)
    assert (tool, missing) == (ORDER, ("limit_price",))


@pytest.mark.parametrize(
    "text", ["don't buy AAPL if it drops to 600", "no vendas IBM si cae un 5 %", "never buy 3 AAPL"]
)
def test_what_shall_not_be_ordered_is_no_order(text: str) -> None:
    assert all(tool != ORDER for tool, _ in wish_in(text, SCHEMAS).calls)


@pytest.mark.parametrize("text", ["buy 5 AAPL if you can", "sí, compra 5 AAPL", "compra 5 AAPL, sí"])
def test_a_polite_word_is_no_condition(text: str) -> None:
    told = {"symbol": "AAPL", "quantity": 5.0, "side": "buy", "order_type": "market"}
    assert asked(text) == (ORDER, told, (), "")


@pytest.mark.parametrize(
    ("text", "tool", "name", "price"),
    [
        ("put an alert at 10% below", ALERT, "price", 180.0),
        ("avísame si sube un 5 %", ALERT, "price", 210.0),
        ("buy 5 at 10% below the market", ORDER, "limit_price", 180.0),
        ("vende 5 si cae un 2 %", ORDER, "stop_price", 196.0),
    ],
)
def test_per_cent_are_counted_from_the_price_of_now(text: str, tool: str, name: str, price: float) -> None:
    wish = wish_in(text, SCHEMAS, ["how is NVDA?"])
    assert next_step(wish, [], "en") == UseTools((("get_price", {"symbol": "NVDA"}),))
    step = next_step(wish, [("get_price", {"symbol": "NVDA"}, {"symbol": "NVDA", "price": 200.0})], "en")
    assert isinstance(step, UseTools)
    ((made, arguments),) = step.calls
    assert (made, arguments["symbol"], arguments[name]) == (tool, "NVDA", price)


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("can you place a limit order at 600 for google, 4 shares", ("side",)),
    ],
)
def test_what_an_order_lacks_is_asked_for(text: str, missing: tuple[str, ...]) -> None:
    tool, arguments, lacks, _ = asked(text)
    assert (tool, arguments["symbol"], lacks) == (ORDER, "GOOG", missing)


def test_a_question_about_a_size_is_no_order_on_a_condition() -> None:
    text = "si tengo 8000 euros y arriesgo un 1 % con entrada en 670 y stop en 650, ¿cuántas compro?"
    assert asked(text)[0] == "calculate_position_size"


@pytest.mark.parametrize("text", ["alert me when AAPL moves 5%", "avísame si AAPL se mueve un 5 %"])
def test_per_cent_without_a_direction_are_alerts_on_both_sides(text: str) -> None:
    wish = wish_in(text, SCHEMAS, ())
    assert next_step(wish, [], "en") == UseTools((("get_price", {"symbol": "AAPL"}),))
    alert = {"symbol": "AAPL"}
    assert next_step(wish, [("get_price", {}, {"price": 600.0})], "en") == UseTools(
        ((ALERT, {**alert, "condition": ">=", "price": 630.0}), (ALERT, {**alert, "condition": "<=", "price": 570.0}))
    )


@pytest.mark.parametrize(
    ("text", "before"),
    [
        ("buy 5 of the better one", ["what's tesla at", "and nvidia?"]),
        ("compra 5 de la mejor", ["compara TSLA y NVDA"]),
        ("buy 5 of whichever is cheaper, TSLA or NVDA", []),
    ],
)
def test_which_of_several_is_asked(text: str, before: Sequence[str]) -> None:
    tool, arguments, missing, _ = asked(text, *before)
    assert (tool, arguments.get("symbol"), arguments["quantity"], missing) == (ORDER, None, 5.0, ("symbol",))


@pytest.mark.parametrize(
    ("text", "before", "tool"),
    [
        ("what's its RSI?", "how is NVDA?", "get_indicators"),
        ("get rid of it", "set an alert when AAPL drops under 150", "delete_alert"),
        ("how did that trade go?", "buy 5 NVDA", "get_portfolio"),
        ("¿cuál fue mi ganancia?", "hola", "get_portfolio"),
        ("cuánto llevo ganado", "¿qué noticias hay de AAPL?", "get_portfolio"),
    ],
)
def test_what_was_spoken_of_last_is_gone_on_with(text: str, before: str, tool: str) -> None:
    assert wish_in(text, SCHEMAS, [before]).calls[0][0] == tool


def test_an_index_has_one_name() -> None:
    for text in ("how is the sp500 doing?", "how is the S&P 500 doing?", "¿a cuánto está el S&P?"):
        assert wish_in(text, SCHEMAS).calls == (("get_price", {"symbol": "^GSPC"}),), text


@pytest.mark.parametrize(
    "said",
    [
        ["buy 10 IBM tomorrow"],
        ["buy 10 IBM at the open"],
        ["compra 10 IBM el lunes"],
        ["compra 10 IBM a la apertura"],
        ["buy 10 IBM", "no, next week"],
        ["sell half my IBM on Friday"],
        ["buy 5 AAPL and 3 MSFT tomorrow"],
        ["buy 4 IBM tomorrow", "make it 10"],
    ],
)
def test_an_order_for_a_later_time_does_not_go_to_the_market_at_once(said: list[str]) -> None:
    *before, text = said
    wish = wish_in(text, SCHEMAS, before)
    assert {tool for tool, _ in wish.calls} == {ORDER}
    assert wish.missing == ("when",)
    assert "cannot keep an order for a later time" in plain_answer(wish, "en", SCHEMAS)


@pytest.mark.parametrize(
    ("answer", "order"),
    [
        ("ok now then", {"order_type": "market"}),
        ("a mercado", {"order_type": "market"}),
        ("at 180", {"order_type": "limit", "limit_price": 180.0}),
    ],
)
def test_it_is_placed_now_or_waits_for_a_price(answer: str, order: dict[str, Any]) -> None:
    told = {"symbol": "IBM", "quantity": 10.0, "side": "buy", **order}
    assert asked(answer, "buy 10 IBM tomorrow") == (ORDER, told, (), "")


@pytest.mark.parametrize("clause", ["if i buy ", "if it drops to 600 buy 5, ", "buy 5 IBM, no wait, 3. "])
def test_clauses_within_clauses_are_read_a_bounded_number_of_times(
    clause: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    inner = tool_wishes._read_wish  # pyright: ignore[reportPrivateUsage]

    def counted(text: str, tools: OfferedTools, before: Sequence[str]) -> Wish | None:
        read.append(text)
        return inner(text, tools, before)

    monkeypatch.setattr(tool_wishes, "_read_wish", counted)
    wish_in(clause * 20, SCHEMAS, [clause * 20] * 6)
    assert len(read) <= 100


@pytest.mark.parametrize(
    ("said", "condition", "share"),
    [
        ("tell me when IBM is above 210|make that 5%", ">=", 1.05),
        ("avísame cuando AAPL suba un 3 %|cámbialo a 4 %", ">=", 1.04),
        ("avísame si IBM baja un 5 %|mejor un 6 %", "<=", 0.94),
        ("tell me when IBM rises 3%|change it to 4%|make it 3% below", "<=", 0.97),
        ("alert me when AAPL goes above 650|change it to 3 % above the price", ">=", 1.03),
    ],
)
def test_a_percentage_in_place_of_an_alerts_level_is_counted_from_the_price(
    said: str, condition: str, share: float
) -> None:
    *before, text = said.split("|")
    wish = wish_in(text, SCHEMAS, before)
    (tool, arguments), (ending, _) = wish.calls
    assert (tool, ending, wish.way, arguments["condition"], "price" in arguments) == (
        ALERT, "delete_alert", "at_share", condition, False
    )  # fmt: skip
    assert wish.amount == pytest.approx(share)


def test_the_alert_that_is_replaced_by_one_at_another_percentage_is_deleted_first() -> None:
    wish = wish_in("change it to 4%", SCHEMAS, ["tell me when IBM rises 3%"])
    assert next_step(wish, [], "en") == UseTools((("list_alerts", {}), ("get_price", {"symbol": "IBM"})))
    alerts = [{"alert_id": name, "symbol": "IBM", "condition": ">=", "price": 206.0} for name in ("a1", "a2")]
    looked_up: list[Result] = [
        ("list_alerts", {}, {"alerts": alerts}),
        ("get_price", {}, {"symbol": "IBM", "price": 200.0}),
    ]
    assert next_step(wish, looked_up, "en") == UseTools((("delete_alert", {"alert_id": "a2"}),))
    deleted = ("delete_alert", {"alert_id": "a2"}, {"alert_id": "a2"})
    alert = {"symbol": "IBM", "condition": ">=", "price": 208.0}
    assert next_step(wish, [*looked_up, deleted], "en") == UseTools(((ALERT, alert),))


@pytest.mark.parametrize(
    ("text", "spelled"),
    [
        ("compra 5 AAPL pero no por encima de 600", "compra 5 AAPL límite 600"),
        ("compra 10 MSFT, no más de 31", "compra 10 MSFT límite 31"),
        ("compra MSFT, no más de 31 acciones", "compra MSFT, no más de 31 acciones"),
        ("sube el riesgo, no más de 2 %", "sube el riesgo, no más de 2 %"),
        ("vende 5 IBM no por debajo de 180", "vende 5 IBM limit 180"),
    ],
)
def test_a_price_not_to_be_passed_is_a_limit(text: str, spelled: str) -> None:
    assert spelled_out(text, "es") == spelled
