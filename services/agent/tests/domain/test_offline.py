"""The offline assistant: what it understands, in es and en, and that its figures are the tools' own."""

import json
import re
from typing import Any

import pytest

from agent.domain.offline.answers import NOTICE
from agent.domain.offline.assistant import respond
from agent.domain.offline.excerpts import SitePage
from agent.domain.offline.passages import answer_from_pages
from agent.domain.offline.step_results import SayText, UseTools
from agent.domain.prompt.messages import INTERRUPTED, conversation
from agent.domain.text_features import language_of, number_of, symbols_in
from agent.domain.turn.journal import TurnCall, TurnStep
from agent.testing.offered import SCHEMAS

NAMES = ("fetch_page", "get_price", "calculate_position_size", "calculate_risk_reward")
TOOLS = {name: SCHEMAS[name] for name in NAMES}
PRICING = """# Plans and prices
Start free, change plan whenever you like. Prices are per person, without tax.
## Free
The Free plan costs 0 USD per month.
- Prices, bars, indicators and fundamentals
## Pro
The Pro plan costs 29 USD per month, or 290 USD per year.
- Everything in Free
## Premium
The Premium plan costs 99 USD per month, or 990 USD per year.
## Trial and refunds
Pro and Premium come with a free trial of 14 days; no card is needed."""
PRICES_ES = """# Planes y precios
## Pro
El plan Pro cuesta 29 USD al mes, o 290 USD al año.
## Premium
El plan Premium cuesta 99 USD al mes."""


def asked(text: str, *, page: str | None = None, said: tuple[str, ...] = ()) -> SayText | UseTools:
    spoken = [*((True, notice) for notice in said), (False, text)]
    return respond(conversation("s", spoken, (), language="en", last=False), TOOLS, "en", page)


def after(text: str, *calls: tuple[str, dict[str, Any], dict[str, Any]], page: str | None = None) -> SayText | UseTools:
    steps = tuple(
        TurnStep(1, "", (TurnCall(f"t-{number}-0", tool, json.dumps(arguments), "", json.dumps(result)),))
        for number, (tool, arguments, result) in enumerate(calls)
    )
    return respond(conversation("s", [(False, text)], steps, language="en", last=False), TOOLS, "en", page)


def answered(text: str, tool: str, arguments: dict[str, Any], result: dict[str, Any]) -> str:
    response = after(text, (tool, arguments, result))
    assert isinstance(response, SayText)
    return response.text


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("what is AAPL trading at?", [("get_price", {"symbol": "AAPL"})]),
        ("¿A cuánto cotiza Apple?", [("get_price", {"symbol": "AAPL"})]),
        ("precio de btc", [("get_price", {"symbol": "BTC/USD"})]),
        ("MSFT and IBM price?", [("get_price", {"symbol": "MSFT"}), ("get_price", {"symbol": "IBM"})]),
        ("TSLA?", [("get_price", {"symbol": "TSLA"})]),
        (
            "Position size for a capital of 10,000, entry 150, stop 145 and risk 2%?",
            [
                (
                    "calculate_position_size",
                    {"capital": 10_000.0, "entry_price": 150.0, "stop_loss_price": 145.0, "risk_percent": 0.02},
                )
            ],
        ),
        (
            "tamaño de la posición con capital 10.000, entrada 150, stop 145, riesgo 1,5 %",
            [
                (
                    "calculate_position_size",
                    {"capital": 10_000.0, "entry_price": 150.0, "stop_loss_price": 145.0, "risk_percent": 0.015},
                )
            ],
        ),
        (
            "¿cuántas acciones compro con capital 10000 entrada 50 stop 45 riesgo 1%?",
            [
                (
                    "calculate_position_size",
                    {"capital": 10_000.0, "entry_price": 50.0, "stop_loss_price": 45.0, "risk_percent": 0.01},
                )
            ],
        ),
        (
            "risk/reward with entry 100, stop loss 95 and target 115",
            [("calculate_risk_reward", {"entry_price": 100.0, "stop_loss_price": 95.0, "take_profit_price": 115.0})],
        ),
    ],
)
def test_it_calls_the_tool_that_serves_the_question(text: str, calls: list[tuple[str, dict[str, Any]]]) -> None:
    response = asked(text)
    assert isinstance(response, UseTools)
    assert list(response.calls) == calls


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("hello", "How can I help?"),
        ("¡Hola!", "¿En qué te ayudo?"),
        ("I want to talk to a person", "Talk to a person"),
        ("quiero hablar con una persona", "Hablar con una persona"),
        ("gracias", "¡De nada!"),
        ("What can you do?", "look up prices"),
        ("hi, how can you help me?", "look up prices"),
        ("Are you a bot?", "look up prices"),
        ("¿Qué puedes hacer?", "consulto precios"),
        ("¿en qué me puedes ayudar?", "consulto precios"),
        ("¿Quién eres?", "consulto precios"),
        ("position size with capital 1000 and entry 10", "I still need: the stop, the risk in %"),
        ("How many shares can I buy with a capital of 10000, stop 45, risk 1%?", "I still need: the entry price"),
    ],
)
def test_it_answers_without_a_tool(text: str, part: str) -> None:
    response = asked(text)
    assert isinstance(response, SayText)
    assert part in response.text


def test_it_says_that_it_has_no_model_once_per_conversation() -> None:
    first = asked("hello")
    assert isinstance(first, SayText)
    # The answer comes first: it is what people look for, also in a list of conversations.
    assert first.text.endswith(f"\n\n{NOTICE['en']}")
    for again in ("hello", "thanks", "What can you do?", "¿quién eres?"):
        second = asked(again, said=(first.text,))
        assert isinstance(second, SayText)
        assert not [notice for notice in NOTICE.values() if notice in second.text]


@pytest.mark.parametrize("text", ["What can you do?", "are you a bot?", "¿Quién eres?"])
def test_what_its_first_answer_says_of_itself_it_says_once(text: str) -> None:
    first = asked(text)
    assert isinstance(first, SayText)
    assert len(re.findall("an automatic assistant|un asistente automático", first.text)) == 1


def test_it_does_not_introduce_itself_again_in_a_long_conversation() -> None:
    messages = conversation("s", [(False, "hello")], (), language="en", last=False)
    response = respond(messages, TOOLS, "en", introduced=True)
    assert isinstance(response, SayText)
    assert NOTICE["en"] not in response.text


def test_it_quotes_the_page_and_names_it() -> None:
    page = {"url": "https://x.test/pricing", "title": "Plans and prices", "text": PRICING, "truncated": False}
    text = answered("what does the Pro plan cost?", "fetch_page", {"path": "/pricing"}, {"success": True, "data": page})
    assert "The Pro plan costs 29 USD per month, or 290 USD per year." in text
    assert "Premium plan costs" not in text
    assert "https://x.test/pricing" in text


@pytest.mark.parametrize(
    ("page", "question", "line"),
    [
        (PRICING, "is there a free trial?", "Pro and Premium come with a free trial of 14 days; no card is needed."),
        (PRICING, "how much does premium cost", "The Premium plan costs 99 USD per month, or 990 USD per year."),
        (PRICES_ES, "¿Cuánto cuesta el plan Pro?", "El plan Pro cuesta 29 USD al mes, o 290 USD al año."),
    ],
)
def test_the_relevant_line_is_found(page: str, question: str, line: str) -> None:
    found = answer_from_pages(question, "", [SitePage("/pricing", "u", "t", page)])
    assert found[0].text == line


def test_a_page_that_says_nothing_about_it_is_not_made_to() -> None:
    assert answer_from_pages("do you sell elephants?", "", [SitePage("/pricing", "u", "t", PRICING)]) == []


def test_a_figure_comes_with_its_date_and_source() -> None:
    data = {"symbol": "AAPL", "price": 171.5, "change": -1.2, "change_percent": -0.7, "source": "sample"}
    text = answered(
        "what is AAPL trading at?",
        "get_price",
        {"symbol": "AAPL"},
        {"success": True, "data": {**data, "as_of": "2024-03-28"}},
    )
    assert "AAPL: 171.5 USD (-1.2, -0.7 %), as of 28 March 2024 (source: sample)" in text
    assert "not financial advice" in text


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("what is AAPL trading at?", "as of 1 November 2012, 20:00 UTC (source: sample)"),
        ("¿A cuánto cotiza AAPL?", "a fecha de 1 de noviembre de 2012, 20:00 UTC (fuente: sample)"),
    ],
)
def test_a_moment_is_told_as_people_say_it(question: str, told: str) -> None:
    data = {"symbol": "AAPL", "price": 171.5, "source": "sample", "as_of": "2012-11-01T20:00:00Z"}
    assert told in answered(question, "get_price", {"symbol": "AAPL"}, {"success": True, "data": data})


def test_figures_are_written_as_the_language_does_and_keep_their_digits() -> None:
    data = {"symbol": "BTC/USD", "price": 65432.125, "change": 1.0, "change_percent": 0.70234}
    result = {"success": True, "data": {**data, "source": "sample", "as_of": "2024-03-28"}}
    for question, told in (
        ("what is BTC trading at?", "BTC/USD: 65,432.125 USD (+1, +0.7 %)"),
        ("¿A cuánto cotiza BTC?", "BTC/USD: 65432,125 USD (+1, +0,7 %)"),
    ):
        assert told in answered(question, "get_price", {"symbol": "BTC/USD"}, result)


def test_a_failed_call_is_admitted() -> None:
    error = {"code": "EXECUTION_ERROR", "message": "ZZZZ is not in the sample data."}
    text = answered("ZZZZ price", "get_price", {"symbol": "ZZZZ"}, {"success": False, "error": error})
    assert "I could not look up ZZZZ: ZZZZ is not in the sample data." in text
    silent = answered("¿A cuánto cotiza IBM?", "get_price", {"symbol": "IBM"}, json.loads(INTERRUPTED))
    assert "No he podido consultar IBM: el servidor no ha respondido a tiempo" in silent


def read(path: str, text: str, *links: tuple[str, str, str | None]) -> tuple[str, dict[str, Any], dict[str, Any]]:
    found = [{"path": to, "text": words, **({"language": spoken} if spoken else {})} for to, words, spoken in links]
    data = {"url": f"https://x.test{path}", "title": path, "text": text, "truncated": False, "links": found}
    return "fetch_page", {"path": path}, {"success": True, "data": data}


MISSING = {"success": False, "error": {"code": "EXECUTION_ERROR", "message": "the page answered 404"}}
HOME = read("/", "# Welcome", ("/es", "Español", "es"), ("/plans", "Plans and prices", None), ("/team", "Team", None))


def test_the_page_that_the_person_is_on_is_read_first_and_is_enough_where_it_answers() -> None:
    question, page = "¿cuánto cuesta el plan Pro?", "https://x.test/es/precios?from=mail"
    assert asked(question, page=page) == UseTools((("fetch_page", {"path": "/es/precios"}),))
    answer = after(question, read("/es/precios", PRICES_ES), page=page)
    assert isinstance(answer, SayText)
    assert "El plan Pro cuesta 29 USD al mes" in answer.text
    assert "https://x.test/es/precios)" in answer.text


def test_what_the_first_page_leads_to_is_read_best_first_and_what_answers_is_quoted() -> None:
    question = "what does the Pro plan cost?"
    assert asked(question) == UseTools((("fetch_page", {"path": "/"}),))
    then = after(question, HOME)
    assert isinstance(then, UseTools)
    assert then.calls[0] == ("fetch_page", {"path": "/plans"})
    answer = after(question, HOME, read("/plans", PRICING), read("/team", "# Team\nWe are six."))
    assert isinstance(answer, SayText)
    assert "The Pro plan costs 29 USD per month" in answer.text
    assert "/plans)" in answer.text
    assert "/team" not in answer.text


def test_a_question_in_another_language_goes_by_the_page_that_the_site_has_in_it() -> None:
    question = "¿cuánto cuesta el plan Pro?"
    assert after(question, HOME) == UseTools((("fetch_page", {"path": "/es"}),))
    spanish = read("/es", "# Bienvenido", ("/es/planes", "Planes y precios", None), ("/plans", "Plans", None))
    then = after(question, HOME, spanish)
    assert isinstance(then, UseTools)
    assert then.calls[0] == ("fetch_page", {"path": "/es/planes"})
    answer = after(question, HOME, spanish, read("/es/planes", PRICES_ES), read("/plans", PRICING))
    assert isinstance(answer, SayText)
    assert "El plan Pro cuesta 29 USD" in answer.text


def test_a_site_that_cannot_be_read_is_told_once_and_cites_nothing() -> None:
    question, page = "what does the Pro plan cost?", "https://x.test/gone"
    first = ("fetch_page", {"path": "/gone"}, MISSING)
    assert after(question, first, page=page) == UseTools((("fetch_page", {"path": "/"}),))
    answer = after(question, first, ("fetch_page", {"path": "/"}, MISSING), page=page)
    assert isinstance(answer, SayText)
    assert answer.text.count("404") == 1


def test_what_the_site_does_not_tell_is_not_made_up_and_the_second_time_a_person_is_offered() -> None:
    question = "do you support options trading?"
    calls = (HOME, read("/plans", PRICING), read("/team", "# Team\nWe are six."))
    first = after(question, *calls)
    assert isinstance(first, SayText)
    assert "I do not know" in first.text
    steps = tuple(
        TurnStep(1, "", (TurnCall(f"t-{at}-0", tool, json.dumps(arguments), "", json.dumps(result)),))
        for at, (tool, arguments, result) in enumerate(calls)
    )
    spoken = [(False, question), (True, first.text), (False, "and do you sell elephants?")]
    second = respond(conversation("s", spoken, steps, language="en", last=False), TOOLS, "en")
    assert isinstance(second, SayText)
    assert "Would you like somebody from the team" in second.text
    offered = respond(
        conversation("s", [*spoken, (True, second.text), (False, "yes please")], (), language="en", last=False),
        TOOLS,
        "en",
    )
    assert isinstance(offered, SayText)
    assert "Talk to a person" in offered.text


def test_without_tools_it_does_not_call_any() -> None:
    messages = conversation("s", [(False, "what does the Pro plan cost?")], (), language="en", last=True)
    assert isinstance(respond(messages, (), "en"), SayText)
    assert isinstance(respond(messages, TOOLS, "en", last=True), SayText)


@pytest.mark.parametrize(
    ("text", "value"),
    [("10,000", 10_000), ("10.000", 10_000), ("10,000.50", 10_000.5), ("10.000,50", 10_000.5), ("10k", 10_000),
     ("1,5", 1.5), ("0.02", 0.02), ("145", 145), ("1,234,567", 1_234_567)],
)  # fmt: skip
def test_numbers_are_read_as_people_write_them(text: str, value: float) -> None:
    assert number_of(text) == value


def test_common_words_are_no_symbols() -> None:
    assert symbols_in("HOW IS IT") == []
    assert symbols_in("¿Cómo está el MACD?") == []
    assert symbols_in("BRK.B and $NVDA and eth") == ["ETH/USD", "BRK.B", "NVDA"]
    assert symbols_in("¿A cuánto está ibm? ¿Y Google?") == ["IBM", "GOOG"]
    assert symbols_in("¿Cómo va la bolsa de EE.UU.? And U.S. stocks?") == []


def test_the_language_shows_in_the_words() -> None:
    assert language_of("cuanto cuesta", "en") == "es"
    assert language_of("how much is it", "es") == "en"
    assert [language_of(text, "es") for text in ("a human please", "could somebody help", "would you")] == ["en"] * 3
    assert language_of("AAPL", "es") == "es"
