"""Numbers that people write in words: one reader for orders, alerts, calculations and invested amounts."""

import pytest

from agent.domain.number_words import in_figures, large_in_figures, value_of
from agent.domain.offline.intents import wish_in
from agent.testing.offered import SCHEMAS


@pytest.mark.parametrize(
    ("words", "value"),
    [
        ("dos mil", 2_000),
        ("two hundred thousand", 200_000),
        ("one hundred and twenty", 120),
        ("treinta y cinco", 35),
        ("veinticinco mil", 25_000),
        ("dos millones quinientos mil", 2_500_000),
        ("20 mil millones", 20e9),
        ("1.5 million", 1.5e6),
        ("10.000", 10_000),
        ("0.125", 0.125),
        ("0,500", 0.5),
        ("1234.567", 1_234.567),
        ("100.000,50", 100_000.5),
        ("5k", 5_000),
        ("half a million", 500_000),
        ("mil doscientos", 1_200),
        ("nothing", 0),
    ],
)
def test_a_number_in_words_has_its_value(words: str, value: float) -> None:
    assert value_of(words) == value


def test_a_text_says_its_large_numbers_and_percentages_in_figures() -> None:
    said = "tengo diez mil, arriesgo un dos por ciento, o half a percent of a million"
    assert large_in_figures(said) == "tengo 10000, arriesgo un 2 %, o 0.5 % of a 1000000"
    assert in_figures("three shares, two dozen, una y treinta y dos") == "3 shares, 24, 1 y 32"
    assert large_in_figures("one above thirty-five, for twenty five days") == "one above 35, for twenty five days"
    assert in_figures("half a dozen, media docena, una docena, a dozen y tres docenas") == "6, 6, 12, 12 y 36"
    assert in_figures("in two months, for one hour") == "in two months, for one hour"


@pytest.mark.parametrize(
    ("text", "argument", "value"),
    [
        ("Compra dos mil acciones de IBM", "quantity", 2000.0),
        ("Buy two hundred IBM", "quantity", 200.0),
        ("buy one hundred and twenty MSFT", "quantity", 120.0),
        ("Compra veinticinco IBM a 180 o menos", "quantity", 25.0),
        ("Avísame si IBM pasa de doscientos dólares", "price", 200.0),
        ("Alert me if MSFT goes above thirty five dollars", "price", 35.0),
        ("position size with a capital of 1.5 million, entry 50, stop 48, risk 1%", "capital", 1.5e6),
        ("Tengo diez mil euros, entro a 50 con stop en 48 y arriesgo un dos por ciento", "capital", 10_000.0),
        ("Tengo diez mil euros, entro a 50 con stop en 48 y arriesgo un dos por ciento", "risk_percent", 0.02),
    ],
)
def test_a_number_in_words_is_read_whole(text: str, argument: str, value: float) -> None:
    wish = wish_in(text, SCHEMAS)
    assert (wish.calls[0][1][argument], wish.missing) == (value, ())
