"""A sentence is its claims: directions, comparisons, units, periods, tickers and sources count as numbers do."""

from typing import Any

import pytest

from agent.domain.claims.checked_text import check_text, unsupported_claims
from agent.domain.claims.checker import ClaimChecker
from agent.domain.claims.facts import Facts, facts_of_findings, facts_of_results
from agent.domain.claims.sentences import sentences
from agent.testing.figures import output

SOURCES = [{"ticker": "IBM", "source": "sample"}]


def facts() -> Facts:
    found: dict[str, dict[str, Any]] = {}
    for tool in ("market_snapshot", "fundamentals_events"):
        for ticker, entry in output(tool, ["IBM", "MSFT"])["tickers"].items():
            found.setdefault(ticker, {"ticker": ticker}).update(entry)
    return facts_of_findings(list(found.values()), SOURCES)


TRUE = [
    "IBM rose over the last year.",
    "IBM is less volatile than MSFT.",
    "Over the last year, IBM gained 2.7% (source: sample).",
    "IBM and MSFT rose 5.9% and 4.6% year to date.",
    "Both rose over the last three months.",
    "IBM's volatility (16.5%) is lower than MSFT's (19.9%).",
    "MSFT had the largest drawdown, 19.7%.",
    "The best performer was IBM.",
    "IBM closed at USD 202.91 on 1 March 2013.",
    "IBM has a net margin of 15.9%, against 23.0% for MSFT.",
    "The next earnings of IBM are expected on 18 April 2013.",
    "There is no figure for the beta of IBM.",
    "MSFT closes between its 50- and 200-day averages.",
    "IBM lost 1.1% over the last month, but gained 6.8% over three months.",
    "Ambos subieron en los últimos tres meses.",
    "MSFT tuvo la mayor caída máxima: 19,7 %.",
    "La volatilidad de IBM es del 16,5 %, frente al 19,9 % de MSFT.",
    "IBM cerró en 202,91 dólares el 1 de marzo de 2013.",
    "No hay dato de la beta de IBM.",
    "IBM cotiza por encima de su media de 200 sesiones.",
    "MSFT did not rise over the last year.",
    "MSFT is not above its 200-day average.",
    "Neither of them is below its 50-day average.",
    "Ninguna de las dos está por debajo de su media de 50 sesiones.",
    "Ni IBM ni MSFT perdieron en los últimos tres meses.",
    "La volatilidad de IBM no es mayor que la de MSFT.",
    "IBM is 3.8% below its high.",
    "IBM is 3.8% below the peak.",
    "IBM has gained 5.9% since January.",
    "Since the start of the year IBM has gained 5.9%.",
]
FALSE = [
    "The next results of IBM were published on 18 April 2013.",
    "Los próximos resultados de IBM se publicaron el 18 de abril de 2013.",
    "IBM is expected to report on 18 April, five days after MSFT.",
    "IBM closed at $202.91, a hair under its 50-day average of $197.94.",
    "IBM fell over the last year.",
    "Both rose.",
    "MSFT and IBM rose.",
    "IBM is more volatile than MSFT.",
    "IBM gained 2.7% over the last year (source: Bloomberg).",
    "According to Bloomberg, IBM gained 2.7% over the last year.",
    "IBM's CEO resigned.",
    "AAPL rose 2.7% over the last year.",
    "IBM rose 2.7% over the last month.",
    "IBM's volatility is 12.6%.",
    "IBM closed at EUR 202.91.",
    "The best performer was MSFT.",
    "MSFT is above its 200-day average.",
    "IBM closed at USD 202.91 on 2 March 2013.",
    "IBM did not rise.",
    "The next earnings of IBM are confirmed for 18 April 2013.",
    "The market expects IBM to grow.",
    "El CEO de IBM dimitió.",
    "Ambos subieron en el último año.",
    "Según Reuters, IBM subió un 2,7 % en el último año.",
    "La volatilidad de IBM es mayor que la de MSFT.",
    "IBM tiene una volatilidad superior a la de MSFT.",
    "MSFT lost a third of its value over the last year.",
    "IBM outperformed MSFT by 2.7% over the last year.",
    "Only IBM rose year to date.",
    "MSFT comes first by return over the last year.",
    "IBM is at an all-time high.",
    "IBM has risen in every period.",
    "IBM reported earnings on 18 April 2013.",
    "IBM reports earnings next week.",
    "Hace un año IBM cotizaba a 202,91 dólares.",
    "IBM bate a MSFT en todos los plazos.",
    "The price of IBM was USD 104.5 billion.",
    "Last close of IBM: USD 104.5 billion.",
]

TRIAL: dict[str, object] = {
    "symbol": "IBM",
    "figures": [
        {"ticker": "IBM", "figure": figure, "value": value, "from": "2008-01-02", "to": "2012-12-31"} | beside
        for figure, value, beside in (
            ("return", 0.4123, {}), ("max_drawdown", -0.1834, {}),
            ("return", 0.7721, {"other": "buy and hold"}), ("max_drawdown", -0.4487, {"other": "buy and hold"}),
        )
    ],
}  # fmt: skip
HOLDINGS: dict[str, object] = {
    "cash": 50000.0,
    "equity": 70291.0,
    "positions": [{"symbol": "IBM", "quantity": 100, "cost": 19050.0, "value": 20291.0, "unrealized": 1241.0}],
}


@pytest.mark.parametrize("sentence", TRUE)
def test_what_the_figures_say_holds(sentence: str) -> None:
    assert unsupported_claims(sentence, facts(), "1y") == []


@pytest.mark.parametrize("sentence", FALSE)
def test_what_they_do_not_say_is_found_out(sentence: str) -> None:
    assert unsupported_claims(sentence, facts(), "1y")


IN_A_CHAT = [
    # A right number of another period, figure, ticker or unit.
    "IBM gained 6.76% over the last month.",
    "MSFT lost 13.41% year to date.",
    "IBM's five-year return is 2.72%.",
    "IBM's 50-day average is 196.59.",
    "La media de 200 de MSFT está en 27,65.",
    "IBM's net margin is 48.1%.",
    "IBM's P/E is 13.98.",
    "IBM's ATR is 2.41%.",
    "IBM and MSFT gained 0.54% and 1.04% on the last day, respectively.",
    "IBM capitaliza 237.700 millones de dólares.",
    "IBM's P/E was 14.12 a year ago.",
    # Denials of what is so.
    "IBM did not rise over the last year.",
    "Ni IBM ni MSFT han subido en lo que va de año.",
    "It would be wrong to say that IBM rose over the last year.",
    "MSFT has no P/E.",
    "IBM no reparte dividendo.",
    # Causes.
    "MSFT fell 13.41% over the last year because its margins shrank.",
    "MSFT fell 13.41% over the last year amid weak demand for computers.",
    "IBM subió un 2,72 % en el último año por la fuerte demanda de servicios.",
    # Figures and yardsticks that no tool has, beside right numbers.
    "IBM's forward P/E is 14.12.",
    "IBM's operating margin is 15.9%.",
    "El BPA ajustado de IBM es de 14,37 dólares.",
    "IBM trades at 14.12 times earnings, below its historical norm.",
    "MSFT's 3.1% yield is the best in the sector.",
    "IBM's net margin of 15.9% is a record.",
    # A move by a verb of which nobody knows the direction; whose number it is.
    "IBM forfeited 2.72% over the last year.",
    "Maximum drawdown: IBM, -19.7%; MSFT, -12.6%.",
    "Volatility: 19.9% in the case of IBM.",
    "IBM's P/E is more than 15.",
]


@pytest.mark.parametrize("sentence", IN_A_CHAT)
def test_a_chat_says_a_figure_of_what_it_is_the_figure_of(sentence: str) -> None:
    assert ClaimChecker(facts(), strict=False).reasons(sentence)


@pytest.mark.parametrize("sentence", TRUE)
def test_a_chat_may_say_whatever_a_report_may(sentence: str) -> None:
    assert ClaimChecker(facts(), strict=False).reasons(sentence) == ()


@pytest.mark.parametrize(
    "sentence",
    [
        "If IBM falls 5% I can tell you.",
        "Your stop is 5% below IBM's price.",
        "IBM rose 2.7% last year.",
        "Your alert on IBM is set at a price of 210.",
    ],
)
def test_what_a_chat_supposes_or_has_done_is_no_figure_of_the_market(sentence: str) -> None:
    known = facts()
    known.loose_numbers += [5.0, 210.0]
    assert ClaimChecker(known, strict=False).reasons(sentence) == ()


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("Microsoft's dividend yield (3.1%) beats IBM's (1.7%).",
         "Microsoft's dividend yield (1.7%) beats IBM's (3.1%)."),
        ("IBM earned 14.37 dollars per share.", "MSFT earned 14.37 dollars per share."),
        ("MSFT is worth about 238 billion dollars, slightly more than IBM's 234 billion.",
         "MSFT is worth about 238 million dollars, slightly more than IBM's 234 million."),
        ("Microsoft keeps 23% of its revenue as profit.", "IBM keeps 23% of its revenue as profit."),
        ("La mayor caída de IBM en el año fue del 12,6 %.", "La mayor caída de MSFT en el año fue del 12,6 %."),
        ("IBM's high of the period was 211.79 and its low 181.85.",
         "IBM's high of the period was 181.85 and its low 211.79."),
        ("En lo que va de año IBM sube un 5,9 %, algo más que Microsoft, que gana un 4,6 %.",
         "En lo que va de año IBM sube un 5,9 %, algo menos que Microsoft, que gana un 4,6 %."),
        ("IBM closed at $202.91, a touch higher than the day before (1.0%).",
         "IBM closed at $202.91, a touch lower than the day before (1.0%)."),
        ("IBM trades above its 20-, 50- and 200-day averages.", "MSFT trades above its 20-, 50- and 200-day averages."),
        ("IBM has a market cap of about USD 234 billion.", "IBM has a market cap of about EUR 234 billion."),
        ("| Measure | IBM | MSFT |\n|---|---|---|\n| Volatility | 16.5% | 19.9% |",
         "| Measure | IBM | MSFT |\n|---|---|---|\n| Volatility | 19.9% | 16.5% |"),
        ("| Ticker | Volatility | P/E |\n|:--|--:|--:|\n| IBM | 16.5% | 14.1 |",
         "| Ticker | Volatility | P/E |\n|:--|--:|--:|\n| MSFT | 16.5% | 14.1 |"),
        ("At $202.91, the stock is above its 20-, 50- and 200-day averages (200.33, 197.94 and 196.59).",
         "At $202.91, the stock is above its 20-, 50- and 200-day averages (200.33, 197.94 and 169.59)."),
        ("IBM facturó unos 104.500 millones de dólares.", "IBM facturó unos 140.500 millones de dólares."),
        ("Microsoft's dividend yield (3.1%) is almost double IBM's (1.7%).",
         "Microsoft's dividend yield (3.1%) is half of IBM's (1.7%)."),
        ("MSFT is riskier: its volatility is higher (19.9% against 16.5%) and its worst fall deeper (19.7% vs 12.6%).",
         "MSFT is riskier: its volatility is higher (19.9% against 16.5%) and its worst fall milder (19.7% vs 12.6%)."),
        ("IBM brought in $104.5 billion in fiscal 2012.", "IBM brought in $140.5 billion in fiscal 2012."),
        ("IBM vale en bolsa unos 234.500 millones y Microsoft cerca de 238.000 millones.",
         "IBM vale en bolsa unos 234.500 millones y Microsoft cerca de 328.000 millones."),
        ("| | 1 month | 1 year |\n|---|---|---|\n| IBM | -1.1% | 2.7% |",
         "| | 1 month | 1 year |\n|---|---|---|\n| IBM | 2.7% | -1.1% |"),
        ("IBM has lost less from its high than MSFT.", "IBM has lost 13% over the year."),
        ("En lo que llevamos de año IBM acumula una subida cercana al 6 %.",
         "En lo que llevamos de año IBM acumula una subida cercana al 9 %."),
        ("Microsoft's gross margin is 76% and its net margin is higher too (23% vs 16%).",
         "Microsoft's gross margin is 76% and its net margin is lower too (23% vs 16%)."),
    ],
)  # fmt: skip
def test_a_chat_says_what_is_true_in_its_own_words(right: str, wrong: str) -> None:
    assert _held(right, facts()) == []
    assert _held(wrong, facts())


@pytest.mark.parametrize(
    ("tool", "data", "right", "wrong"),
    [
        ("backtest_strategy", TRIAL,
         "The strategy made 41.2%, well short of the 77.2% from holding, with a smaller fall (18.3% vs 44.9%).",
         "The strategy made 77.2%, well ahead of the 41.2% from holding, with a smaller fall (18.3% vs 44.9%)."),
        ("backtest_strategy", TRIAL, "Comprar y mantener habría rendido más, un 77,2 %.",
         "Comprar y mantener habría rendido menos, un 77,2 %."),
        ("get_portfolio", HOLDINGS, "Your IBM shares are worth $20,291, which is $1,241 (6.5%) more than you paid.",
         "Your IBM shares are worth $20,291, which is $1,241 (6.5%) less than you paid."),
        ("get_portfolio", HOLDINGS, "Con IBM ganas 1.241 dólares, un 6,5 %.",
         "Con IBM pierdes 1.241 dólares, un 6,5 %."),
        ("get_portfolio", HOLDINGS, "Algo más del 70 % está en efectivo.", "Algo más del 80 % está en efectivo."),
        ("get_ml_signals", {"symbol": "IBM", "prediction": "no_edge", "accuracy": 0.531},
         "The model sees no bullish signal for IBM.", "The model gives a bullish signal for IBM."),
        ("get_news", {"symbol": "IBM", "items": [{"title": "IBM opens research lab in Nairobi"}]},
         "One headline: \"IBM opens research lab in Nairobi\".",
         "One headline: \"IBM closes research lab in Nairobi\"."),
    ],
)  # fmt: skip
def test_what_other_tools_gave_is_said_as_they_gave_it(
    tool: str, data: dict[str, object], right: str, wrong: str
) -> None:
    assert _held(right, facts_of_results([(tool, data)])) == []
    assert _held(wrong, facts_of_results([(tool, data)]))


def _held(text: str, known: Facts) -> list[str]:
    """The sentences of a chat's answer that are not passed on."""
    checker = ClaimChecker(known, strict=False)
    return [sentence for sentence, _ in sentences(text) if checker.reasons(sentence)]


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("IBM's return shrank from 25.3% in 2011 to 4.2% in 2012.",
         "IBM's return shrank from 4.2% in 2011 to 25.3% in 2012."),
        ("AAPL outpaced IBM by 27.2 points in 2012.", "AAPL outpaced IBM by 22.7 points in 2012."),
        ("AAPL rose in both years.", "IBM fell in both years."),
        ("AAPL was the best in both years.", "La mejor de los dos años fue IBM."),
        ("In 2011 AAPL and IBM each gained a little over 25%.", "In 2012 AAPL and IBM each gained a little over 25%."),
    ],
)  # fmt: skip
def test_what_is_said_of_two_years_is_held_against_both(right: str, wrong: str) -> None:
    moves = {("IBM", 2011): 0.25293, ("IBM", 2012): 0.0417, ("AAPL", 2011): 0.25558, ("AAPL", 2012): 0.314}
    figures = [
        {"ticker": ticker, "figure": "return", "value": value, "asked": f"{year}-01-01/{year}-12-31"}
        for (ticker, year), value in moves.items()
    ]
    known = facts_of_results([("get_performance", {"figures": figures, "source": "sample", "as_of": "2013-03-01"})])
    assert ClaimChecker(known, strict=False).reasons(right) == ()
    assert ClaimChecker(known, strict=False).reasons(wrong)


def test_only_the_sentence_that_is_wrong_goes() -> None:
    said = check_text("IBM rose 2.7% over the year. IBM's CEO resigned. MSFT fell 13.4%.", facts(), "1y")
    assert said.text == "IBM rose 2.7% over the year. MSFT fell 13.4%."
    assert [one.sentence for one in said.dropped] == ["IBM's CEO resigned."]
    assert said.kept_count == 2


def test_what_leans_on_a_dropped_sentence_goes_with_it() -> None:
    said = check_text("IBM rose 2.7% over the year. MSFT's CEO resigned. Its volatility is 19.9%.", facts(), "1y")
    assert said.text == "IBM rose 2.7% over the year."


def test_results_of_any_tool_are_facts() -> None:
    price = {"symbol": "IBM", "price": 202.91, "change_percent": 1.04, "currency": "USD", "source": "sample"}
    rsi = {"symbol": "IBM", "indicators": {"RSI": {"value": 61.2, "period": 14}, "SMA": {"value": 198.0, "period": 50}}}
    known = facts_of_results([("get_price", price), ("get_indicators", rsi)])
    assert unsupported_claims("IBM rose 1.0% on the day to USD 202.91; its RSI is 61.2.", known) == []
    assert unsupported_claims("IBM is above its 50-day average.", known) == []
    assert unsupported_claims("IBM's RSI is 71.2.", known)
    assert unsupported_claims("IBM fell 1.0% on the day.", known)


@pytest.mark.parametrize(
    ("sentence", "right"),
    [
        ("On 20 June 2012 the 50-day average fell below the 200-day one.", True),
        ("El 20 de junio la media de 50 cayó por debajo de la de 200 y el 12 de septiembre volvió por encima.", True),
        ("On 20 June 2012 the 50-day average rose above the 200-day one.", False),
        ("El 12 de septiembre la media de 50 cayó por debajo de la de 200.", False),
    ],
)
def test_averages_crossed_on_that_day_and_that_way(sentence: str, right: bool) -> None:
    days = [{"on": "2012-06-20", "above": False, "close": 198.44}, {"on": "2012-09-12", "above": True, "close": 205.0}]
    known = facts_of_results([("get_crossings", {"symbol": "IBM", "fast": 50, "slow": 200, "crossings": days})])
    assert (ClaimChecker(known, strict=False).reasons(sentence) == ()) is right


YEAR_2008: dict[str, object] = {
    "figures": [
        {"ticker": "IBM", "figure": figure, "value": value, "from": first, "to": last,
         "asked": asked or f"{first}/{last}"}
        for figure, value, first, last, asked in (
            ("return", -0.2215, "2008-01-02", "2008-12-31", "2008-01-01/2008-12-31"),
            ("growth", 7785.38, "2008-01-02", "2008-12-31", "2008-01-01/2008-12-31"),
            ("best_month", 0.0797, "2008-07-01", "2008-07-31", "2008-01-01/2008-12-31"),
            ("worst_month", -0.2051, "2008-10-01", "2008-10-31", "2008-01-01/2008-12-31"),
            ("month_return", 0.0797, "2008-07-01", "2008-07-31", None),
            ("month_return", -0.2051, "2008-10-01", "2008-10-31", None),
        )
    ]
}  # fmt: skip


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("IBM's volatility is more than 16%, and MSFT's nearly 20%.",
         "IBM's volatility is more than 17%, and MSFT's nearly 20%."),
        ("MSFT's volatility is just under 20%.", "MSFT's volatility is just over 20%."),
        ("La volatilidad de MSFT supera el 19 %.", "La volatilidad de MSFT supera el 20 %."),
        ("IBM trades 3.8% below its 52-week high.", "IBM trades 12.6% below its 52-week high."),
        ("IBM cotiza un 3,8 % por debajo de su máximo.", "IBM cotiza un 3,8 % por encima de su máximo."),
        ("IBM outperformed MSFT by about 16 percentage points over the last year.",
         "IBM underperformed MSFT by about 16 percentage points over the last year."),
        ("Only IBM trades above its 200-day average; MSFT remains below theirs.",
         "Only IBM trades above its 50-day average."),
        ("IBM es la única de las dos que cotiza por encima de su media de 200 sesiones.",
         "IBM es la única de las dos que cotiza por encima de su media de 50 sesiones."),
        ("IBM trades at 14.1x earnings, MSFT at about 14x.", "IBM trades at 14.1x sales."),
        ("IBM was the clear winner of the two, up 2.7% over the last year.",
         "IBM was the clear loser of the two, up 2.7% over the last year."),
        ("MSFT leads with a net margin of 23.0%.", "IBM leads with a net margin of 15.9%."),
        ("IBM had the lower risk, with a volatility of 16.5%.", "IBM had the higher risk, with a volatility of 16.5%."),
        ("Year to date, IBM and MSFT rose, with IBM slightly ahead.",
         "Year to date, IBM and MSFT rose, with MSFT slightly ahead."),
        ("1. **IBM** was the best of the two over the last year.", "1. **MSFT** was the best of the two "
         "over the last year."),
        ("Both stocks rose in 2013: IBM 5.9% and MSFT 4.6%.", "Both stocks fell in 2013: IBM 5.9% and MSFT 4.6%."),
        ("IBM rose 2.7% over the last year, while MSFT fell 13.4% over the same period.",
         "IBM reportedly rose 2.7% over the last year."),
        ("MSFT yields 3.1%.", "MSFT yields 3.1%, whereas IBM pays nothing."),
        ("The total return of IBM is not known.", "IBM paid a dividend last month."),
        ("IBM's P/E is 14.1, and MSFT's a similar 14.0.", "IBM's volatility is 16.5%, and MSFT's a similar 19.9%."),
        ("Both IBM and MSFT noticeably rose over the last three months.", "IBM hardly rose over the last "
         "three months."),
        ("En el último mes IBM cede un 1,1 %, mientras que Microsoft se mantiene plana.",
         "En el último mes Microsoft cede un 1,1 %, mientras que IBM se mantiene plana."),
    ],
)  # fmt: skip
def test_a_report_may_word_its_figures_as_models_do(right: str, wrong: str) -> None:
    assert unsupported_claims(right, facts(), "1y") == []
    assert unsupported_claims(wrong, facts(), "1y")


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("IBM's worst month was October, when it dropped 20.5%, and its best was July.",
         "IBM's worst month was July, when it dropped 20.5%, and its best was October."),
        ("El mejor mes de IBM fue julio, con una subida cercana al 8 %.", "El mejor mes de IBM fue octubre."),
        ("IBM fell in October.", "IBM fell in July."),
        ("A $10,000 investment in IBM would have shrunk to about $7,785 by year-end.",
         "A $10,000 investment in IBM would have grown to about $7,785 by year-end."),
        ("Una inversión de 10.000 dólares en IBM se habría quedado en unos 7.785 dólares.",
         "Una inversión de 5.000 dólares en IBM se habría quedado en unos 7.785 dólares."),
    ],
)  # fmt: skip
@pytest.mark.parametrize("strict", [True, False])
def test_months_and_amounts_are_those_of_the_year_that_was_asked_for(right: str, wrong: str, *, strict: bool) -> None:
    known = facts_of_results([("get_performance", YEAR_2008)])
    known.add_amount(["IBM"], {"amount": 10_000.0})
    assert ClaimChecker(known, strict=strict).reasons(right) == ()
    assert ClaimChecker(known, strict=strict).reasons(wrong)
