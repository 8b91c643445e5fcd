"""Everyday words for what the grammar knows: slang, abbreviations, formal commands, asides, numbers in words."""

from typing import Any

import pytest

from agent.domain.offline.intents import wish_in
from agent.domain.offline.nearest_readings import foreign_words, nearest_readings
from agent.domain.offline.shorthand import spelled_out
from agent.domain.offline.wishes import Intent, Wish
from agent.domain.shortcuts.shown_actions import ShownAction
from agent.domain.shortcuts.words import verdict_in
from agent.domain.text_features import language_of
from agent.testing.offered import SCHEMAS
from agent.texts import TEXTS
from contracts.languages import Language

BUY: dict[str, Any] = {"side": "buy", "order_type": "market"}


def read(*said: str, language: Language = "en") -> Wish:
    """What the last message asks for."""
    texts = [spelled_out(one, language_of(one, language)) for one in said]
    return wish_in(texts[-1], SCHEMAS, texts[:-1])


@pytest.mark.parametrize(
    ("text", "language", "quantity"),
    [
        ("snag me 4 MSFT", "en", 4),
        ("aight, scoop up a dozen MSFT", "en", 12),
        ("let's get half a dozen MSFT", "en", 6),
        ("i want 3 msft", "en", 3),
        ("long msft 15", "en", 15),
        ("oh dear, please order me 20 MSFT", "en", 20),
        ("póngame cinco de Microsoft", "es", 5),
        ("Oiga, cómpreme veinticinco de Microsoft, si es tan amable", "es", 25),
        ("échame 7 msft", "es", 7),
        ("quisiera 8 MSFT", "es", 8),
    ],
)
def test_a_purchase_is_read_in_everyday_words(text: str, language: Language, quantity: float) -> None:
    wish = read(text, language=language)
    assert wish.calls == (("create_paper_order", {"quantity": quantity, "symbol": "MSFT", **BUY}),)


@pytest.mark.parametrize(
    "text",
    [
        "my cousin might snag 4 MSFT",
        "should i cop 5 MSFT",
        "did they bag 10 msft?",
        "gimme 5 headlines about MSFT",
        "get 3 days of MSFT",
        "no compre 5 MSFT",
        "if i dump my msft what do i get",
        "me dijo que comprara 5 MSFT",
        "si vendiera mis acciones de Microsoft, ¿cuánto me darían?",
        "cuánto tendría que pagar si compro 10 de MSFT",
        "how much would i have left if i bought 10 MSFT",
        "thinking of dumping 5 msft",
        "i'll have 2 coffees",
        "give me 10 of those headlines",
        "ditch all my alerts",
        "dump my watchlist",
        "larga 5 frases",
        "quiero 5 por ciento",
        "put 3 on my list",
        "my mate says cop 5 MSFT",
        "get 5 MSFT unless it drops",
    ],
)
def test_what_orders_nothing_prepares_no_order(text: str) -> None:
    wish = read("price of MSFT", text)
    assert wish.missing or all(tool != "create_paper_order" for tool, _ in wish.calls)


@pytest.mark.parametrize(
    ("text", "sum_of_money"),
    [
        ("chuck 400 bucks at MSFT", 400),
        ("stick two thousand dollars in MSFT", 2000),
        ("métele 300 pavos a msft", 300),
        ("cómprame mil quinientos pesos de msft", 1500),
    ],
)
def test_money_is_money_and_no_number_of_shares(text: str, sum_of_money: float) -> None:
    wish = read(text)
    assert (wish.way, wish.amount) == ("spend", sum_of_money)
    assert "quantity" not in wish.calls[0][1]


@pytest.mark.parametrize(
    ("said", "changed"),
    [
        (("buy 10 MSFT", "goodness no, far too many. Four."), {"quantity": 4}),
        (("buy 10 MSFT", "trim it to 7"), {"quantity": 7}),
        (("buy 10 MSFT", "chng to 6"), {"quantity": 6}),
        (("compra 10 MSFT", "pásalo a 8"), {"quantity": 8}),
        (("compra 10 MSFT", "es demasiado. Mejor tres"), {"quantity": 3}),
        (("buy 10 MSFT limit 25", "change lim to 24"), {"limit_price": 24}),
        (("buy 10 MSFT", "make it just the two"), {"quantity": 2}),
    ],
)
def test_a_change_is_read_whatever_its_verb(said: tuple[str, ...], changed: dict[str, float]) -> None:
    wish = read(*said)
    assert wish.way == "replace"
    assert changed.items() <= wish.calls[0][1].items()


@pytest.mark.parametrize(
    ("text", "condition", "price"),
    [
        ("nudge me when IBM hits 210", "==", 210),
        ("give me a shout if IBM falls below a hundred and eighty", "<=", 180),
        ("péguame un grito cuando IBM supere 210", ">=", 210),
        ("alrta ibm <= 175", "<=", 175),
        ("mándeme un aviso si IBM baja de ciento ochenta", "<=", 180),
        ("set an alarm if IBM goes above 205", ">=", 205),
        ("give me a tap should IBM fall below 170", "<=", 170),
    ],
)
def test_an_alert_is_read_in_everyday_words(text: str, condition: str, price: float) -> None:
    alert = {"symbol": "IBM", "condition": condition, "price": price}
    assert read(text).calls == (("create_alert", alert),)


@pytest.mark.parametrize(
    ("text", "tool"),
    [
        ("any gossip about IBM?", "get_news"),
        ("hay chisme de IBM?", "get_news"),
        ("does IBM pay any divs", "get_fundamentals"),
        ("is IBM profitable", "get_fundamentals"),
        ("mktcap ibm", "get_fundamentals"),
        ("how risky is IBM", "market_snapshot"),
        ("IBM has been falling, right", "market_snapshot"),
        ("stop following IBM", "remove_from_watchlist"),
        ("pon IBM en seguimiento", "add_to_watchlist"),
        ("which of my shares is up the most", "get_portfolio"),
        ("how much dough do i have left", "get_portfolio"),
        ("balance?", "get_portfolio"),
        ("list ords", "get_pending_orders"),
        ("cuantas alrtas tngo", "list_alerts"),
        ("what did i tell you about pensions", "search_memory"),
        ("people mention the MACD, what is that?", "explain_concept"),
        ("¿me puede explicar qué es eso del MACD?", "explain_concept"),
    ],
)
def test_a_look_up_is_read_in_everyday_words(text: str, tool: str) -> None:
    assert [name for name, _ in read(text).calls] == [tool]


def test_sell_everything_is_all_that_is_held_and_not_the_share_that_was_spoken_of() -> None:
    assert "symbol" not in read("price of IBM", "please sell everything").calls[0][1]


def test_the_figures_of_a_year_are_asked_of_another_share() -> None:
    wish = read("how was IBM in 2011", "and MSFT?")
    assert wish.calls[0][1] == {"tickers": ["MSFT"], "start": "2011-01-01", "end": "2011-12-31"}


def test_the_movers_of_the_day_are_of_no_share_that_was_spoken_of() -> None:
    assert read("price of IBM", "what's up the most today?").intent is Intent.UNLISTED


def test_a_number_of_shares_in_place_of_an_order_is_no_price() -> None:
    wish = read("my orders", "change the MSFT order to 10 shares")
    assert wish.way == "replace_listed"
    assert wish.calls[0][1] == {"symbol": "MSFT", "quantity": 10}


def test_words_are_spelled_out_and_what_joins_two_years_stays() -> None:
    assert spelled_out("ibm 10y chart", "en") == "ibm 10 years chart"
    assert spelled_out("IBM entre 2005 y 2010", "es") == "IBM entre 2005 y 2010"
    assert spelled_out("De acuerdo, adelante", "es") == "De acuerdo, adelante"
    assert spelled_out("What did we talk about last time?", "en") == "What did we talk about last time?"
    assert spelled_out("mi hijo tiene IBM, joven, y usted", "es") == "mi hijo tiene IBM , y"
    assert spelled_out("cop me 5 cakes", "en", is_trading=False) == "cop me 5 cakes"


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("whats the diffrence between free and pro", "what's the difference between free and pro"),
        ("caunto cuesta el curso", "cuanto cuesta el curso"),
        ("the cheepest one", "the cheapest one"),
        ("un cuarto con vistas", "un cuarto con vistas"),
        ("¿cuánto cuesta?", "¿cuánto cuesta?"),
    ],
)
def test_words_of_asking_are_corrected(said: str, meant: str) -> None:
    assert spelled_out(said, language_of(said, "es"), is_trading=False) == meant


@pytest.mark.parametrize(
    ("text", "summary", "decision"),
    [
        ("bet", "Buy 5 MSFT at market", "confirm"),
        ("yep send it", "Buy 5 MSFT at market", "confirm"),
        ("ok, buy them", "Buy 5 MSFT at market", "confirm"),
        ("está bien, cómprelas", "Comprar 5 MSFT a mercado", "confirm"),
        ("buy them", "Sell 5 MSFT at market", None),
        ("anúlela", "Comprar 5 MSFT a mercado", "reject"),
        ("nel", "Comprar 5 MSFT a mercado", "reject"),
    ],
)
def test_a_yes_to_a_purchase_is_no_yes_to_a_sale(text: str, summary: str, decision: str | None) -> None:
    verdict = verdict_in(text, [ShownAction("1", summary, None, "MSFT")])
    assert (verdict and verdict.decision) == decision


@pytest.mark.parametrize("language", ["es", "en"])
def test_each_reading_that_is_offered_is_read_as_its_tool(language: Language) -> None:
    read_as = {
        tool: wish_in(said.in_language(language).format(symbol="IBM"), SCHEMAS).calls[0][0]
        for tool, said in TEXTS.section("offline.reading").items()
    }
    assert read_as == {tool: tool for tool in read_as}


def test_the_nearest_readings_are_by_the_words_of_the_message() -> None:
    assert nearest_readings("the headlines and the press on it", SCHEMAS, "en", "IBM")[0] == "news about IBM"
    assert nearest_readings("xyzzy", SCHEMAS, "en") == []
    assert foreign_words("get_price", "what is IBM worth today?") == []
    assert foreign_words("get_price", "what do the tea spoons of IBM cost?") == ["tea", "spoons"]


@pytest.mark.parametrize("text", ["cuánto poder de compra me queda", "¿cuánta pasta me queda?", "mi poder adquisitivo"])
def test_money_is_called_by_many_names(text: str) -> None:
    assert read(text, language="es").calls == (("get_portfolio", {}),)


@pytest.mark.parametrize("text", ["can you buy 3 msft shares for me?", "would you buy 3 MSFT for me please?"])
def test_an_order_for_oneself_may_be_put_as_a_question(text: str) -> None:
    assert read(text).calls == (("create_paper_order", {"quantity": 3, "symbol": "MSFT", **BUY}),)


@pytest.mark.parametrize(
    ("said", "changed"),
    [
        (("compra 15 IBM a 170", "mejor a 165", "no, mejor 10 acciones"), {"quantity": 10, "limit_price": 165}),
        (("buy 15 IBM limit 170", "sorry, 10 shares"), {"quantity": 10, "limit_price": 170}),
    ],
)
def test_a_change_that_names_shares_or_the_price_changes_the_order(
    said: tuple[str, ...], changed: dict[str, float]
) -> None:
    wish = read(*said, language="es")
    assert wish.way == "replace"
    assert changed.items() <= wish.calls[0][1].items()


@pytest.mark.parametrize("text", ["cámbiale el precio a 168", "bájale el precio a 168", "change its price to 168"])
def test_a_new_price_changes_the_order_that_waits(text: str) -> None:
    wish = read("compra 15 IBM a 170", text, language="es")
    assert wish.way == "replace"
    assert {"symbol": "IBM", "quantity": 15, "limit_price": 168}.items() <= wish.calls[0][1].items()
