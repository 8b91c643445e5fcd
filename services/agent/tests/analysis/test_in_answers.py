"""A chat answer after market tools says what their results back, and no more."""

import json
from typing import Any

import pytest

from agent.analysis.in_answers import CheckedAnswer, checked_answer
from agent.domain.offered_tool import OfferedTool
from agent.domain.turn.journal import Journal, ModelAnswer, TurnCall, TurnStep
from agent.ports import ModelChoice, ModelRequest, TextSink
from agent.testing.heard import RecordingSink

PRICE = {
    "symbol": "IBM", "price": 202.91, "change": 2.08, "change_percent": 1.0357, "change_basis": "previous_close",
    "volume": 3_300_000, "currency": "USD", "source": "sample", "as_of": "2013-03-01T21:00:00Z",
}  # fmt: skip
NEWS = {
    "symbol": "IBM", "source": "sample", "as_of": "2013-03-01T21:00:00Z",
    "items": [{"title": "IBM to buy back shares", "source": "IBM newsroom", "time": "2013-02-27T12:00:00Z"}],
}  # fmt: skip
TOOLS = tuple(
    OfferedTool(name, name, category, {}, name) for name, category in (("get_price", "market"), ("get_news", "news"))
)


class Named:
    def __init__(self, provider: str) -> None:
        self.provider = provider

    async def reply(self, prompt: ModelRequest, sink: TextSink) -> ModelAnswer:
        return ModelAnswer("")


def answer(
    heard: RecordingSink,
    data: dict[str, Any] = PRICE,
    tool: str = "get_price",
    provider: str = "openai",
    also: str = "",
) -> CheckedAnswer:
    result = json.dumps({"success": True, "data": data})
    call = TurnCall("c1", tool, '{"symbol": "IBM"}', result=result)
    journal = Journal("t", 1, 0.0, 60.0, steps=(TurnStep(1, "", (call,)),))
    messages = [{"role": "user", "content": "How is IBM? Tell me when it gets to 210." + also}]
    prompt = ModelRequest(messages, TOOLS, "auto", "m", 0.0, 100, 10.0, language="en")
    return checked_answer(journal, TOOLS, prompt, ModelChoice(((Named(provider), "m"),)), heard)


def said(text: str, data: dict[str, Any] = PRICE, tool: str = "get_price") -> tuple[str, int]:
    heard = RecordingSink()
    checked = answer(heard, data, tool)
    for start in range(0, len(text), 7):
        checked.text(text[start : start + 7])
    reply = checked.finish(ModelAnswer(text))
    assert heard.said.strip() == reply.text.strip()
    return reply.text, checked.dropped


@pytest.mark.parametrize(
    "text",
    [
        "IBM trades at USD 202.91, up 1.04% on the day.",
        "IBM rose 1.0% in the last session. Would you like an alert for it?",
        "IBM closed at $202.91 on 1 March 2013 (source: sample).",
        "Sure! IBM is at 202.91 USD. Let me know if you want its news.",
        "IBM cotiza a 202,91 USD y subió un 1,0 % en la última sesión.",
    ],
)
def test_what_a_result_backs_goes_out_word_for_word(text: str) -> None:
    assert said(text) == (text, 0)


INDICATORS = {
    "symbol": "IBM", "price": 202.91, "currency": "USD", "source": "sample", "as_of": "2013-03-01T21:00:00Z",
    "indicators": {"RSI": {"value": 58.312, "period": 14}, "BB": {"upper": 204.71, "middle": 200.33, "lower": 195.96}},
}  # fmt: skip
ORDER = {
    "action_id": "a", "order": {"symbol": "IBM", "side": "buy", "quantity": 5.0}, "summary": "Buy 5 IBM at market",
    "estimate": {"price": 202.91, "amount": 1014.55, "cash_after": 98985.45, "currency": "USD"}, "source": "sample",
}  # fmt: skip
FALLEN = {
    "symbol": "AAPL", "source": "sample", "as_of": "2013-03-01T21:00:00Z",
    "items": [{"title": "Apple stock falls 10% after disappointing earnings report", "source": "Los Angeles Times",
               "time": "2013-01-24T21:00:00Z"}],
}  # fmt: skip
CROSSED = {
    "symbol": "IBM", "fast": 50, "slow": 200, "source": "sample", "as_of": "2013-03-01T21:00:00Z",
    "crossings": [{"on": "2012-11-30", "above": False}, {"on": "2013-02-20", "above": True}],
}  # fmt: skip
HELD = {
    "symbol": "IBM", "rule": "sma_cross", "source": "sample", "as_of": "2013-03-01T21:00:00Z",
    "figures": [{"ticker": "IBM", "figure": name, "value": value, "asked": "2003-01-01/", "other": other,
                 "currency": "USD"}
                for other, name, value in ((None, "return", -0.3442), (None, "final", 6558.04),
                                           ("buy and hold", "return", 0.0678), ("buy and hold", "final", 10677.66))],
}  # fmt: skip
YEAR = {
    "tickers": ["IBM"],
    "findings": [{"ticker": "IBM", "as_of": "2013-03-01T21:00:00Z", "source": "sample", "derived": [
        {"ticker": "IBM", "figure": figure, "value": value, "asked": "2008-01-01/2008-12-31"}
        for figure, value in (("return", -0.221), ("total_return", -0.21), ("max_drawdown", -0.448))]}],
}  # fmt: skip
TRIED = {
    "symbol": "IBM", "rule": "sma_cross", "source": "sample", "as_of": "2013-03-01T21:00:00Z",
    "figures": [{"ticker": "IBM", "figure": "return", "value": 0.4123, "asked": "2008-01-01/2012-12-31"},
                {"ticker": "IBM", "figure": "return", "value": 0.7721, "asked": "2008-01-01/2012-12-31", "other": "b"}],
}  # fmt: skip


@pytest.mark.parametrize(
    ("tool", "data", "true"),
    [
        (
            "get_price",
            INDICATORS,
            "Not by the usual yardstick: an RSI above 70 counts as overbought, and IBM's is 58.3.",
        ),
        ("get_price", INDICATORS, "The price sits between the middle (200.33) and the upper band (204.71)."),
        ("get_price", INDICATORS, "No: se suele hablar de sobrecompra a partir de 70, y el RSI de IBM está en 58,3."),
        ("get_price", ORDER, "At 202.91 USD that is about 1,014.55 USD, which would leave you 98,985.45 USD in cash."),
        (
            "get_price",
            TRIED,
            "From 2008 to 2012 the rule returned 41.2%. Simply holding IBM would have returned 77.2%.",
        ),
        ("get_price", TRIED, "Entre 2008 y 2012 la regla rindió un 41,2 %. Mantener habría dado un 77,2 %."),
        ("get_price", PRICE, "Done: I will let you know as soon as IBM reaches 210."),
        ("get_price", PRICE, "It is at 202.91 now, so it would have to rise about 3.5% to get there."),
        ("get_price", PRICE, "The tone is positive on a scale from -1 to 1. IBM rose a little over 1%."),
        ("get_price", PRICE, "IBM cerró en 202,91 USD, un 1,0 % más que el día anterior."),
        ("get_price", PRICE, "I have no data on GOOG."),
        ("get_price", PRICE, "You can sign in with Google."),
        ("get_price", INDICATORS, "With an RSI of 58, IBM is neither overbought nor oversold."),
        ("get_price", INDICATORS, "El RSI de 14 sesiones está en 58,3, en terreno neutral."),
        ("get_price", PRICE, "IBM rose 1.0% in the last session, based on sample data."),
        ("get_news", FALLEN, "Apple stock fell 10% after a disappointing earnings report."),
        ("get_price", CROSSED, "IBM's 50-day and 200-day averages crossed twice in the past year."),
        ("get_price", HELD, "The rule would have lost 34.4% since 2003, while simply holding IBM returned 6.8%."),
        (
            "get_price",
            HELD,
            "The rule would have ended with 6,558.04 USD, against 10,677.66 USD for buying and holding.",
        ),
        ("market_analysis", YEAR, "2008 was a rough year for IBM: it lost 22.1%."),
        ("market_analysis", YEAR, "In 2008 IBM fell as much as 44.8% from its highs."),
    ],
)
def test_what_a_model_says_to_explain_goes_out_word_for_word(tool: str, data: dict[str, Any], true: str) -> None:
    assert said(true, data, tool) == (true, 0)


@pytest.mark.parametrize(
    ("data", "false"),
    [
        (INDICATORS, "IBM's RSI is above 70, so it is overbought."),
        (INDICATORS, "An RSI above 70 counts as overbought, and IBM's is 78.3."),
        (INDICATORS, "The price is at the upper band (200.33)."),
        (PRICE, "IBM rose a little over 3%."),
        (PRICE, "IBM cerró en 202,91 USD, un 1,0 % menos que el día anterior."),
        (PRICE, "IBM rose 1.0% in the last session, based on Yahoo Finance data."),
        (PRICE, "Google rose 1.0% in the last session."),
        (INDICATORS, "With an RSI of 58, IBM sits in overbought territory."),
        (INDICATORS, "El RSI de IBM está en 58,3, en sobreventa."),
        (INDICATORS, "With an RSI of 76, IBM is neither overbought nor oversold."),
        (INDICATORS, "The price is below its middle band."),
        (FALLEN, "Apple stock fell 20% after a disappointing earnings report."),
        (FALLEN, "Apple stock rose 10% after a disappointing earnings report."),
        (CROSSED, "IBM's 50-day and 200-day averages crossed five times in a year."),
        (CROSSED, "The last golden cross came on 20 February 2013, when the 50-day average moved below the 200-day."),
        (HELD, "The rule would have ended with 10,677.66 USD, against 6,558.04 USD for buying and holding."),
        (YEAR, "2009 was a rough year for IBM: it lost 22.1%."),
        (YEAR, "In 2009 IBM lost 21.0% with its dividends."),
        (PRICE, "No: IBM fell in the last session."),
        (PRICE, "I will let you know that IBM trades at 210.55 USD."),
    ],
)
def test_what_is_said_around_it_makes_no_figure_true(data: dict[str, Any], false: str) -> None:
    assert said(false, data)[1] == 1


@pytest.mark.parametrize(
    "false",
    [
        "IBM fell 1.0% on the day.",
        "IBM's CEO resigned.",
        "The CEO resigned.",
        "IBM trades at EUR 202.91.",
        "IBM is at 202.91 USD according to Bloomberg.",
        "MSFT is at 27.95.",
        "IBM will reach 210.",
    ],
)
def test_a_sentence_that_none_backs_is_dropped_and_counted(false: str) -> None:
    text, dropped = said(f"IBM trades at USD 202.91. {false} IBM rose 1.0% in the last session.")
    assert dropped == 1
    assert text == (
        "IBM trades at USD 202.91. IBM rose 1.0% in the last session.\n\n"
        "(Sentences that the data does not back, left out or shortened: 1.)"
    )


def test_a_sentence_keeps_the_clause_that_is_backed() -> None:
    text, dropped = said("IBM trades at USD 202.91, because its CEO resigned. IBM rose 1.0% in the last session.")
    assert dropped == 1
    assert text.startswith("IBM trades at USD 202.91. IBM rose 1.0% in the last session.\n\n(")


def test_an_answer_of_which_nothing_is_left_says_so() -> None:
    text, dropped = said("IBM trades at USD 199.00.")
    assert dropped == 1
    assert text.startswith("The data that was looked up does not back")


def test_headlines_may_be_told_and_nothing_beside_them() -> None:
    text, dropped = said("IBM to buy back shares (IBM newsroom). IBM's CEO resigned.", NEWS, "get_news")
    assert dropped == 1
    assert "buy back" in text
    assert "CEO" not in text


def test_an_answer_begun_anew_forgets_what_was_judged() -> None:
    heard = RecordingSink()
    checked = answer(heard)
    checked.text("IBM fell 1.0% today. ")
    checked.restart()
    checked.text("IBM trades at USD 202.91.")
    assert checked.finish(ModelAnswer("")).text == ""
    assert heard.pieces == ["IBM trades at USD 202.91."]
    assert checked.dropped == 0


@pytest.mark.parametrize(("tool", "provider"), [("search_memory", "openai"), ("get_price", "offline")])
def test_without_market_tools_or_without_a_model_nothing_is_held(tool: str, provider: str) -> None:
    heard = RecordingSink()
    checked = answer(heard, {"passages": [], "x": 1}, tool, provider)
    checked.text("IBM fell 50% tod")
    assert heard.pieces == ["IBM fell 50% tod"]
    assert checked.finish(ModelAnswer("IBM fell 50% today.")).text == "IBM fell 50% today."


@pytest.mark.parametrize(
    "true",
    [
        "IBM closed at 202.91 USD, a gain of 2.08 dollars (+1.04%).",
        "IBM is currently at **$202.91** per share, which is $2.08 higher than yesterday's close.",
        "- Price: $202.91\n- Change: +2.08 (+1.04%)\n- Volume: 3,300,000",
        "IBM está cotizando a 202,91 USD, con una subida del 1,04 %.",
        "Would you like me to set an alert when it reaches 210?",
        "I can set a price alert for you at 210.",
        "¿Quieres que te avise cuando llegue a 210?",
        "Remember that past performance does not guarantee future results.",
        "Given your moderate risk profile, consider keeping position sizes small.",
        "Here is what I found. Do you want me to look up MSFT as well?",
        "KEY FINDINGS",
        "TICKET_17 DONE",
    ],
)
def test_what_a_chat_says_beside_its_figures_is_left_alone(true: str) -> None:
    assert said(true) == (true, 0)


def test_what_only_looks_like_a_day_breaks_no_turn() -> None:
    odd = {**PRICE, "note": "filing 0000051143-13-000007", "period": "2012-13-45", "as_of": "2013-99-01T00:00:00Z"}
    told = answer(RecordingSink(), odd)
    told.text("IBM is at 202.91.")
    assert told.finish(ModelAnswer("IBM is at 202.91.")).text == "IBM is at 202.91."


def test_an_event_that_the_person_or_a_page_told_may_be_told_again() -> None:
    sentence = "The CEO resigned."
    asked = answer(RecordingSink(), also=" Is it because the CEO resigned?")
    asked.text(sentence)
    assert asked.finish(ModelAnswer(sentence)).text == sentence
    price, page = (
        {"success": True, "data": one} for one in (PRICE, {"passages": [{"text": "In May our CEO resigned."}]})
    )
    calls = (
        TurnCall("c1", "get_price", '{"symbol": "IBM"}', result=json.dumps(price)),
        TurnCall("c2", "search_knowledge", "{}", result=json.dumps(page)),
    )
    journal = Journal("t", 1, 0.0, 60.0, steps=(TurnStep(1, "", calls),))
    prompt = ModelRequest([{"role": "user", "content": "And IBM?"}], TOOLS, "auto", "m", 0.0, 100, 10.0, language="en")
    told = checked_answer(journal, TOOLS, prompt, ModelChoice(((Named("openai"), "m"),)), RecordingSink())
    told.text(f"{sentence} The CFO resigned.")
    assert told.finish(ModelAnswer("")).text.startswith(sentence)
    assert told.dropped == 1
