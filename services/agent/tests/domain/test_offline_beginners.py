"""What somebody who is new to the market asks, in their own words."""

import pytest

from agent.domain.offline.assistant import respond
from agent.domain.offline.step_results import SayText, UseTools
from agent.testing.offered import SCHEMAS
from contracts.knowledge import KnowledgeFound
from contracts.languages import Language

MARKET = {"symbols": ["AAPL", "KO", "SPY"]}


def answer(text: str) -> SayText | UseTools:
    language: Language = "es" if set("¿áéíóú") & set(text) else "en"
    messages = [{"role": "user", "content": text}]
    known = KnowledgeFound(documents=10)
    return respond(messages, SCHEMAS, language, introduced=True, knowledge=known, market=MARKET)


@pytest.mark.parametrize(
    ("text", "concept"),
    [
        ("explain beta to me like I'm five", "beta"),
        ("tell me about dividends, I'm new", "dividends"),
        ("can you explain the spread to me, I'm a beginner", "spread"),
        ("what is a stop loss, I'm new to this", "stop loss"),
        ("explícame el rsi como si tuviera cinco años", "rsi"),
        ("¿qué es un etf? que soy nuevo en esto", "etf"),
    ],
)
def test_a_concept_is_explained_to_whoever_says_how_little_they_know(text: str, concept: str) -> None:
    assert answer(text) == UseTools((("explain_concept", {"concept": concept}),))


@pytest.mark.parametrize(
    "text", ["which stocks do you recommend?", "recommend me an etf", "¿qué acciones me recomiendas?"]
)
def test_no_share_is_recommended(text: str) -> None:
    said = answer(text)
    assert isinstance(said, SayText)
    assert "investment advice" in said.text or "consejos de inversión" in said.text


@pytest.mark.parametrize("text", ["which etfs do you have", "what crypto can I trade?", "¿qué fondos hay?"])
def test_what_there_is_data_of_is_listed(text: str) -> None:
    said = answer(text)
    assert isinstance(said, SayText)
    assert "AAPL, KO, SPY" in said.text


@pytest.mark.parametrize(
    ("text", "risk"),
    [
        ("I have 8,000 and don't want to lose more than 2% on a trade. KO, in at 60, out at 57. How many?", 0.02),
        ("buying at 60 and getting out at 57 if it goes wrong, 8000 account, 2% risk: how many shares of KO?", 0.02),
        ("tengo 8000, no quiero perder más del 2%. entro a 60 y salgo a 57 si va mal. ¿cuántas?", 0.02),
        ("con 8000 euros ¿cuántas de KO compro a 60 si me salgo a 57 y no quiero perder más de 160?", 0.02),
    ],
)
def test_a_position_is_sized_without_the_words_risk_entry_and_stop(text: str, risk: float) -> None:
    size = {"capital": 8000.0, "entry_price": 60.0, "stop_loss_price": 57.0, "risk_percent": risk}
    assert answer(text) == UseTools((("calculate_position_size", size),))
