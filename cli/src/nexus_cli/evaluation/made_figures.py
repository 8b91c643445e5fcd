"""Random figures of a few tickers, about which sentences are written."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

from contracts.languages import Language
from nexus_cli.evaluation.phrases import PERIODS, percent_in_words

TICKERS = ("IBM", "MSFT", "AAPL", "KO", "XOM", "SPY", "JNJ", "GE")
DATES = ("2013-03-01", "2024-11-15", "2026-11-20")


@dataclass(frozen=True)
class MadeFigures:
    """The figures of two or three tickers, as a report has them."""

    findings: tuple[dict[str, Any], ...]
    source: str

    @property
    def tickers(self) -> list[str]:
        return [str(finding["ticker"]) for finding in self.findings]

    def value(self, ticker: str, name: str, period: str | None = None) -> Any:
        finding = next(candidate for candidate in self.findings if candidate["ticker"] == ticker)
        return finding["returns"][period] if period else finding[name]


def random_figures(rng: random.Random) -> MadeFigures:
    """Random figures in the form in which tools return them."""
    source = rng.choice(("sample", "yahoo", "files"))
    date = rng.choice(DATES)
    findings: list[dict[str, Any]] = []
    year = int(date[:4]) + (date[5:7] == "11")
    for ticker in rng.sample(TICKERS, rng.choice((2, 2, 3))):
        price = round(rng.uniform(8, 600), 2)
        findings.append(
            {
                "ticker": ticker, "price": price, "currency": "USD", "as_of": f"{date}T21:00:00Z",
                "returns": {period: _return(rng) for period in PERIODS["en"]},
                "max_drawdown": -round(rng.uniform(0.03, 0.6), 6), "volatility": round(rng.uniform(0.08, 0.9), 6),
                "sma_50": round(price * rng.uniform(0.8, 1.25), 4), "sma_200": round(price * rng.uniform(0.7, 1.3), 4),
                "pe": round(rng.uniform(6, 60), 4), "market_cap": round(rng.uniform(2e9, 9e11), 0),
                "net_margin": round(rng.uniform(0.02, 0.4), 6), "dividend_yield": round(rng.uniform(0.005, 0.06), 6),
                "revenue": round(rng.uniform(2e9, 3e11), 0), "beta": None,
                "next_earnings_date": f"{year}-0{rng.randint(1, 4)}-{rng.randint(10, 28)}",
                "next_earnings_status": rng.choice(("expected", "confirmed")),
                "source": source,
            }
        )  # fmt: skip
    return MadeFigures(tuple(findings), source)


def _return(rng: random.Random) -> float:
    value = rng.uniform(0.002, 0.6)
    return round(value if rng.random() < 0.55 else -value * 0.8, 6)


def wrong_percent(rng: random.Random, value: float, language: Language) -> str:
    """A wrong percentage, which differs from the right one by more than rounding."""
    while True:
        wrong_value = abs(value) * rng.choice((0.5, 0.8, 1.1, 1.25, 2.0)) + rng.choice((0.0, 0.013, 0.05))
        text = percent_in_words(wrong_value, language)
        if text != percent_in_words(abs(value), language) and abs(wrong_value - abs(value)) > 0.002:
            return text


def units(text: str, language: Language) -> list[str]:
    """The number of a percentage with wrong units."""
    number = text.removesuffix("%").removesuffix(" ")
    if language == "es":
        return [f"{number} puntos porcentuales", f"{number} dólares", f"{number} millones"]
    return [f"{number} percentage points", f"{number} dollars", f"{number} million"]
