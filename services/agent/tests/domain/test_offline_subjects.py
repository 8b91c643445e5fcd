"""Which share "it" is after an answer that chose one of several."""

import pytest

from agent.domain.offline.subjects import with_subject

RANKED = "Year to date, by return, highest first: AAPL 6.9%, MSFT -8.1%. Figures from source demo, as of 7 July 2026."
SORTED = "En un periodo de 1 año, por volatilidad, de mayor a menor: NVDA 44,3 %, AAPL 27,2 %, MSFT 21,4 %."
SINCE = "Since 1 January 2012, AAPL: return 67.0%; maximum drawdown -16.7%; high USD 680.87 on 27 August 2012."
HELD = "MSFT: -12.50 USD (-0.4%) on the 5 that you hold.\nYour portfolio: cash 96,690.95 USD.\n- 5 MSFT · 30.1 → 29.9"


@pytest.mark.parametrize(
    ("asked", "answer", "text", "meant"),
    [
        ("which of AAPL and MSFT did better this year", RANKED, "what's its rsi", "what's AAPL's rsi"),
        ("which of AAPL and MSFT did better", RANKED, "alert me if it drops 10%", "alert me if AAPL drops 10%"),
        ("which of AAPL and MSFT did better this year", RANKED, "buy 3", "buy 3 AAPL"),
        ("which of AAPL and MSFT rose least", RANKED, "and its p/e", "and MSFT's p/e"),
        ("which of AAPL and MSFT fell less", RANKED, "and its p/e", "and AAPL's p/e"),
        ("ordena AAPL, MSFT y NVDA por volatilidad", SORTED, "y la última?", "y MSFT?"),
        ("ordena AAPL, MSFT y NVDA por volatilidad", SORTED, "cuánto subió la primera este año",
         "cuánto subió NVDA este año"),
        ("cuál es la más volátil", SORTED, "cuál es su rsi", "cuál es el rsi de NVDA"),
        ("cuál es la más volátil", SORTED, "avísame si baja un 3%", "avísame si baja un 3% de NVDA"),
        ("if I'd put 5k in the better one in January", SINCE, "what's its rsi", "what's AAPL's rsi"),
        ("which one is losing the most", HELD, "sell half of it", "sell half of MSFT"),
    ],
)  # fmt: skip
def test_a_follow_up_is_about_the_share_that_the_answer_chose(asked: str, answer: str, text: str, meant: str) -> None:
    assert with_subject(text, asked, answer) == meant


@pytest.mark.parametrize(
    ("asked", "answer", "text"),
    [
        ("rank AAPL and MSFT by return", RANKED, "what's its rsi"),
        ("which did better", RANKED, "rsi of both"),
        ("which did better", RANKED, "and IBM's rsi"),
        ("which did better", RANKED, "and the other?"),
        ("which did better", RANKED, "delete the first alert"),
        ("how's AAPL", "AAPL: 670.23 USD (-4.74, -0.7 %), as of 5 September 2012", "what's its rsi"),
    ],
)
def test_it_stays_if_the_answer_chose_none_or_another_is_named(asked: str, answer: str, text: str) -> None:
    assert with_subject(text, asked, answer) == text
