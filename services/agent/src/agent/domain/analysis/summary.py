"""Writes the summary by rules if the question names no figure: returns, risk, trend, value and dates.

It draws no conclusions.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from agent.domain.analysis.asked import Period
from agent.domain.analysis.comparison import PERIODS, value_of
from agent.domain.analysis.figures import has_prices
from agent.domain.analysis.formats import as_date, day, figure_name, joined, money, percent, period_name
from agent.domain.analysis.formats import number as plain_number
from agent.domain.analysis.texts import analysis_text
from contracts.expressions import expression
from contracts.languages import Language

Finding = Mapping[str, Any]
UNUSUAL_VOLUME = 2.0
"""Standard deviations from which a session's volume is mentioned."""


def rule_summary(findings: Sequence[Finding], period: Period, language: Language) -> str:
    """A few short paragraphs about at least one finding: the period's returns first, then risk, trend, value, dates."""
    priced = [finding for finding in findings if has_prices(finding)]
    paragraphs: list[list[str]] = []
    if priced:
        paragraphs += [_moves(priced, period, language), _risk(priced, language)]
        paragraphs += [_other_periods(priced, period, language)]
        paragraphs += [[sentence for finding in priced for sentence in _trend(finding, language)]]
    paragraphs += [_value(findings, language)]
    paragraphs += [[sentence for finding in findings for sentence in _dates(finding, language)]]
    return "\n".join(" ".join(sentences) for sentences in paragraphs if sentences)


_PRICE_RETURN = expression(r"return|cagr|growth|backtest|(?:best|worst)_\w+|(?:week|month|quarter|year)_return")


def sources_sentence(
    findings: Sequence[Finding],
    sources: Sequence[Mapping[str, Any]],
    language: Language,
    figures: Sequence[str] = (),
) -> str:
    """A sentence that says where the figures come from and how old they are, and that returns are without dividends if
    some of these figures, or of those of an overview, are such."""
    names = joined(list(dict.fromkeys(str(source["source"]) for source in sources)), language)
    dates = {as_date(source["as_of"]) for source in sources}
    key = "rule.price_basis" if not figures or any(map(_PRICE_RETURN.fullmatch, figures)) else "rule.basis"
    return analysis_text(key, language, names=names, date=day(max(dates), language)) if dates and findings else ""


def _moves(priced: Sequence[Finding], period: Period, language: Language) -> list[str]:
    name = f"returns.{period}"
    returns = [(finding, value) for finding in priced if (value := value_of(finding, name)) is not None]
    if not returns:
        label = period_name(period, language)
        tickers = joined([str(finding["ticker"]) for finding in priced], language)
        return [analysis_text("rule.too_short", language, period=label, tickers=tickers)]
    heading = analysis_text(f"over.{period}", language, date=day(returns[0][0]["as_of"], language))
    returns.sort(key=lambda pair: -pair[1])
    move_texts = [f"{finding['ticker']} {_move_text(value, language)}" for finding, value in returns]
    sentences = [f"{heading} {analysis_text('rule.price_alone', language)}, {joined(move_texts, language)}."]
    if len(returns) > 1:
        best, worst = returns[0], returns[-1]
        if percent(best[1], language) == percent(worst[1], language):
            sentences.append(analysis_text("rule.no_difference", language))
        else:
            rank = "better" if len(returns) == 2 else "best"
            sentences.append(analysis_text(f"rule.{rank}", language, best=best[0]["ticker"], worst=worst[0]["ticker"]))
    return sentences


def _move_text(value: float, language: Language) -> str:
    text = percent(abs(value), language)
    if text == percent(0.0, language):
        return analysis_text("rule.unmoved", language)
    return analysis_text("rule.rose" if value > 0 else "rule.fell", language, change=text)


def _risk(priced: Sequence[Finding], language: Language) -> list[str]:
    """The risk of each ticker, and which of two was calmer by both measures, if one was."""
    risks = [
        (volatility, worst, finding)
        for finding in priced
        if (volatility := value_of(finding, "volatility")) is not None
        and (worst := value_of(finding, "max_drawdown")) is not None
    ]
    texts: list[str] = []
    for volatility, worst, finding in risks:
        vol, fall = percent(volatility, language), percent(abs(worst), language)
        texts.append(analysis_text("rule.one_risk", language, ticker=finding["ticker"], volatility=vol, fall=fall))
    sentences = [analysis_text("rule.risk", language, each="; ".join(texts))] if texts else []
    if len(risks) == 2:
        (low_volatility, mild_fall, calm), (volatility, worst, rough) = sorted(risks, key=lambda risk: risk[0])
        if low_volatility < volatility and mild_fall > worst:
            sentences.append(analysis_text("rule.calmer", language, calm=calm["ticker"], rough=rough["ticker"]))
    return sentences


def _other_periods(priced: Sequence[Finding], period: Period, language: Language) -> list[str]:
    ticker_texts: list[str] = []
    for finding in priced:
        period_texts = [
            f"{period_name(other, language)} {_signed(value, language)}"
            for other in PERIODS
            if other not in (period, "1d", "1w") and (value := value_of(finding, f"returns.{other}")) is not None
        ]
        if period_texts:
            ticker_texts.append(f"{finding['ticker']}: {', '.join(period_texts)}")
    return [analysis_text("rule.other_periods", language, each="; ".join(ticker_texts))] if ticker_texts else []


def _signed(value: float, language: Language) -> str:
    text = percent(value, language)
    return f"+{text}" if value > 0 and text != percent(0.0, language) else text


def _trend(finding: Finding, language: Language) -> list[str]:
    price, ticker = value_of(finding, "price"), finding["ticker"]
    if price is None:
        return []
    close = money(price, finding.get("currency"), language)
    averages = [(n, value_of(finding, f"sma_{n}")) for n in (50, 200)]
    sentences: list[str] = []
    known = [(n, value) for n, value in averages if value is not None]
    if known:
        shown = _averages(known, finding.get("currency"), language)
        above = {price > value for _, value in known}
        place = "between" if len(above) > 1 else "above" if above.pop() else "below"
        if any(price == value for _, value in known):
            place = "beside"
        sentences.append(analysis_text(f"rule.closes_{place}", language, ticker=ticker, close=close, averages=shown))
    unusual = value_of(finding, "volume_zscore")
    if unusual is not None and abs(unusual) >= UNUSUAL_VOLUME:
        size = plain_number(abs(unusual), language, 1)
        sentences.append(analysis_text("rule.more_volume" if unusual > 0 else "rule.less_volume", language, size=size))
    return sentences


def _averages(averages: Sequence[tuple[int, float]], currency: str | None, language: Language) -> str:
    texts = [
        analysis_text("rule.average_of", language, count=n, value=money(value, currency, language))
        for n, value in averages
    ]
    return analysis_text(
        "rule.average" if len(texts) == 1 else "rule.averages", language, which=joined(texts, language)
    )


def _value(findings: Sequence[Finding], language: Language) -> list[str]:
    ticker_texts: list[str] = []
    for finding in findings:
        figure_texts = [
            f"{figure_name(name, language)} {_value_text(finding, name, value, language)}"
            for name in _VALUES
            if (value := value_of(finding, name)) is not None
        ]
        if figure_texts:
            # "FY2012 (to 2012-06-30)": the part in brackets is English, and the findings have it.
            period = str(finding.get("period") or "").partition(" (")[0]
            head = f"{finding['ticker']}, {period}" if period else str(finding["ticker"])
            ticker_texts.append(f"{head}: {', '.join(figure_texts)}")
    return [analysis_text("rule.fundamentals", language, each="; ".join(ticker_texts))] if ticker_texts else []


_VALUES = ("pe", "market_cap", "net_margin", "dividend_yield")


def _value_text(finding: Finding, name: str, value: float, language: Language) -> str:
    if name == "pe":
        return plain_number(value, language, 1 if abs(value) < 100 else 0)
    return money(value, finding.get("currency"), language) if name == "market_cap" else percent(value, language)


def _dates(finding: Finding, language: Language) -> list[str]:
    sentences: list[str] = []
    earnings, dividend = finding.get("next_earnings_date"), finding.get("next_dividend_date")
    if earnings:
        sure = "confirmed" if finding.get("next_earnings_status") == "confirmed" else "expected"
        earnings_day = day(earnings, language)
        sentences.append(analysis_text(f"rule.earnings_{sure}", language, ticker=finding["ticker"], date=earnings_day))
    if dividend:
        sentences.append(
            analysis_text("rule.dividend", language, ticker=finding["ticker"], date=day(dividend, language))
        )
    return sentences
