"""What a question asks about: its language, tickers and period, and whether it may be answered."""

from datetime import date

import pytest

from agent.domain.analysis.asked import Refusal, find_refusal, is_about_all_tickers, is_analysis, language_in, period_in
from agent.domain.analysis.relative_days import since_then, with_past_days
from agent.domain.tickers import tickers_in


@pytest.mark.parametrize(
    ("query", "tickers"),
    [
        ("Compare IBM and MSFT over the last year", ["IBM", "MSFT"]),
        ("compare ibm with msft", ["IBM", "MSFT"]),
        ("¿Cómo le ha ido a Apple y a Google este año?", ["AAPL", "GOOG"]),
        ("MSFT, $F and BRK.B against ^GSPC", ["MSFT", "F", "BRK.B", "^GSPC"]),
        ("Compare Microsoft with the index in 2009", ["MSFT", "^GSPC"]),
        ("¿Cómo le fue a Microsoft comparado con el índice?", ["MSFT", "^GSPC"]),
        ("the relative strength index of IBM", ["IBM"]),
        ("How has BTC/USD moved against gold?", ["BTC/USD"]),
        ("COMPARE IBM AND MSFT OVER THE LAST YEAR", ["IBM", "MSFT"]),
        ("What is the P/E of IBM? And its EPS, RSI and SMA?", ["IBM"]),
        ("IBM or IBM?", ["IBM"]),
        ("How is the market doing?", []),
        ("El PER y el BPA de las empresas", []),
        ("How did U.S. stocks do last month? And the U.K.?", []),
        ("¿Cómo va la bolsa de EE.UU. este mes? ¿Y en EE. UU.?", []),
        ("Compara Telefónica S.A. e IBM", ["IBM"]),
        ("Compara I.B.M. y Facebook", ["IBM", "FB"]),
        ("Compare aapl, intc, brk.b and jpm", ["AAPL", "INTC", "BRK.B", "JPM"]),
        ("What is IBM's trend against MSFT’s?", ["IBM", "MSFT"]),
        ("IBM/MSFT: P/E and EV/EBIT", ["IBM", "MSFT"]),
        ("Compare AT&T with Coca-Cola", ["T", "KO"]),
    ],
)
def test_tickers_are_read_in_the_order_of_the_question(query: str, tickers: list[str]) -> None:
    assert tickers_in(query) == tickers


@pytest.mark.parametrize(
    ("query", "period", "beyond"),
    [
        ("Compare IBM and MSFT over the last year", "1y", False),
        ("IBM in the past 12 months", "1y", False),
        ("IBM en lo que va de año", "ytd", False),
        ("IBM this year", "ytd", False),
        ("¿Qué ha hecho AAPL en el último mes?", "1m", False),
        ("AAPL last quarter", "3m", False),
        ("AAPL en los últimos tres meses", "3m", False),
        ("AAPL this week", "1w", False),
        ("¿Cómo le fue hoy a FB?", "1d", False),
        ("Analyse IBM", "1y", False),
        ("IBM over the last five years", "1y", True),
        ("IBM desde 2008", "1y", True),
    ],
)
def test_the_period_that_leads_is_the_questions(query: str, period: str, beyond: bool) -> None:
    asked = period_in(query)
    assert (asked.period, asked.is_unavailable) == (period, beyond)


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("Should I buy IBM?", Refusal.ADVICE),
        ("¿Debería vender mis acciones de Apple?", Refusal.ADVICE),
        ("Which of IBM and MSFT do you recommend for my retirement?", Refusal.ADVICE),
        ("¿En qué debo invertir mis ahorros?", Refusal.ADVICE),
        ("Is it a good time to buy MSFT?", Refusal.ADVICE),
        ("Give me a guaranteed return with IBM", Refusal.GUARANTEE),
        ("¿Me garantizas que AAPL sube?", Refusal.GUARANTEE),
        ("Will IBM definitely go up?", Refusal.GUARANTEE),
        ("Write a poem about cats", Refusal.OTHER),
        ("¿Qué tiempo hace en Madrid?", Refusal.OTHER),
        ("Translate this for me", Refusal.OTHER),
        ("Tell me what to buy: IBM or MSFT?", Refusal.ADVICE),
        ("Tell me the high and the low of MSFT in Q3 2012", None),
        ("Compare IBM and MSFT over the last year", None),
        ("How volatile is the stock market?", None),
        ("Analiza el riesgo de GOOG", None),
        ("What is the risk-free rate's effect on IBM's valuation?", None),
        ("How have investors in IBM done?", None),
        ("How have the old tech giants done this year?", None),
        ("¿Cómo les ha ido a los bancos en el último año?", None),
    ],
)
def test_markets_alone_and_neither_advice_nor_guarantees(query: str, why: Refusal | None) -> None:
    assert find_refusal(query, tickers_given=False) is why


def test_given_tickers_make_a_vague_question_one_about_markets_and_a_poem_none() -> None:
    assert find_refusal("What has happened to them?", tickers_given=True) is None
    assert find_refusal("Write me a poem about them", tickers_given=True) is Refusal.OTHER


@pytest.mark.parametrize(
    ("query", "language"),
    [
        ("Compare IBM and MSFT over the last year", "en"),
        ("Compara IBM y MSFT en el último año", "es"),
        ("Analiza TSLA", "es"),
        ("Analyse TSLA", "en"),
        ("¿IBM?", "es"),
        ("Invertir cien mil dólares en IBM desde 2008 hasta 2012", "es"),
    ],
)
def test_the_answer_is_in_the_questions_language(query: str, language: str) -> None:
    assert language_in(query, "en") == language


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("Compare IBM and MSFT over the last year", True),
        ("analiza AAPL este año", True),
        ("How has IBM done this year?", True),
        ("What is IBM trading at?", False),
        ("How does the Pro plan work?", False),
        ("Compare the Pro and the Premium plan", False),
        ("Buy 10 IBM at market", False),
        ("Show me the worst day of MSFT in 2008", True),
        ("What's the cheapest of AAPL, MSFT and IBM right now?", True),
        ("¿Cuál de AAPL, MSFT o IBM ha bajado más este año?", True),
        ("What are IBM and MSFT trading at?", False),
        ("When did IBM last cross its 200-day average?", True),
        ("PER de IBM y cuándo presenta resultados", True),
        ("What did IBM close at on 21 September 2012?", False),
        ("I bought 10 IBM in 2012 and sold them in 2013", False),
        ("How much did IBM change this year?", True),
        ("how much has IBM moved in 2012", True),
        ("¿Cuánto cambió IBM en 2012?", True),
        ("Change my IBM order to 5", False),
    ],
)
def test_a_chat_message_asks_for_an_analysis_or_does_not(text: str, asks: bool) -> None:
    assert is_analysis(text) is asks


@pytest.mark.parametrize(
    "text",
    ["What was IBM's P/E as of 1 March 2009?", "¿Cuál era el BPA de IBM en 2009?", "Google's market cap on 3 May 2010"],
)
def test_a_figure_of_a_company_as_of_a_past_day_is_for_the_analysis_which_says_that_it_is_not_known(text: str) -> None:
    assert is_analysis(text)


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("Which of the six fell most in 2008?", True),
        ("¿Qué valores suben este año?", True),
        ("How many of the stocks are above their 50-day average?", True),
        ("Ordena todas las acciones por PER", True),
        ("Who were the biggest losers of 2011?", True),
        ("Which stocks beat IBM in 2012?", True),
        ("Did any of the stocks double in 2009?", True),
        ("How has each stock done since 2012?", True),
        ("¿Cuál es la acción más barata por PER?", True),
        ("Rank the stocks by return in 2011", True),
        ("ranking por rentabilidad de este mes", True),
        ("ranking of my positions by gain", False),
        ("What is the share price of IBM?", False),
        ("Compare the plans", False),
        ("What is the company's refund policy?", False),
        ("Which stock exchange is open?", False),
        ("Which shares do I own?", False),
        ("Which plan costs the most?", False),
        ("Mejor 30 acciones este mes", False),
        ("Which of IBM and MSFT fell most in 2008?", False),
        ("Which of the eight fell most this year?", True),
        ("¿cuál de las doce acciones subió más este año?", True),
        ("Order everything by volatility", True),
        ("top 5 gainers this month", True),
        ("the two best performing shares of last year", True),
        ("los seis que más han caído este mes", True),
        ("which is the calmest of them all by volatility?", True),
        ("What is the best plan of all this year?", False),
        ("How much is it for all of us?", False),
        ("What was its highest price of all time?", False),
        ("which stock went up the most this week", True),
        ("who's down the most today?", True),
        ("what stock dropped the most last month", True),
        ("qué valor se ha disparado esta semana", True),
        ("las que más han subido", True),
        ("winners and losers of the week", True),
        ("which one is losing the most", False),
        ("what went wrong most", False),
        ("who is up for a chat", False),
    ],
)
def test_a_question_is_of_all_tickers_or_is_not(text: str, asks: bool) -> None:
    assert is_about_all_tickers(text) is asks


@pytest.mark.parametrize(
    ("text", "dated"),
    [
        ("any news on IBM last March?", "any news on IBM March 2012?"),
        ("noticias de IBM del marzo pasado", "noticias de IBM del marzo 2012"),
        ("how did IBM do last November", "how did IBM do November 2011"),
        ("since last March", "since March 2012"),
        ("the last maybe", "the last maybe"),
        ("IBM on Monday 6 August 2012", "IBM on Monday 6 August 2012"),
        ("on 6 August 2012 and on the Friday after", "on 6 August 2012 and on 2012-08-10"),
        ("el 6 de agosto de 2012 y el viernes anterior", "el 6 de agosto de 2012 y 2012-08-03"),
        ("since Thanksgiving", "since 2011-11-24"),
        ("desde Nochebuena", "desde 2011-12-24"),
    ],
)
def test_last_march_is_the_one_before_this_month(text: str, dated: str) -> None:
    assert with_past_days(text, date(2012, 11, 20)) == dated


def test_what_fell_most_is_about_all() -> None:
    for text in (
        "ordena las cinco por rentabilidad",
        "what fell most yesterday",
        "¿qué cayó más ayer?",
        "volatilidad de las cinco en 2008",
    ):
        assert is_about_all_tickers(text)
    assert not is_about_all_tickers("what fell most, IBM or MSFT?")


@pytest.mark.parametrize(
    ("text", "dated"),
    [
        ("what did the news say about it then?", "what did the news say about it on 2012-03-15?"),
        ("what about it then?", "what about it then?"),
    ],
)
def test_then_is_the_day_that_was_named(text: str, dated: str) -> None:
    assert since_then(text, ["As of 15 March 2012, what was IBM's 200-day average?"]) == dated


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("market cap of AAPL in euros", True),
        ("how many euros is one IBM share?", True),
        ("What will IBM be worth next year?", True),
        ("¿Qué noticias hay sobre Facebook y cómo ha ido la acción desde que salió a bolsa?", True),
        ("when did Apple last report?", True),
        ("when does Apple report next?", False),
    ],
)
def test_other_currencies_forecasts_and_past_results_take_an_analysis(text: str, is_one: bool) -> None:
    assert is_analysis(text) is is_one
