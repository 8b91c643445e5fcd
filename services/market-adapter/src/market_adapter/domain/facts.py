"""Facts about a company besides its prices: reported figures, dated events, headlines. Each names its source."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from enum import StrEnum

from market_adapter.domain.bars import BarHistory
from market_adapter.domain.splits import adjustment, scale_price

YEAR = timedelta(days=365)


@dataclass(frozen=True, slots=True)
class AnnualReport:
    """A fiscal year's figures as they were published on `published`; None: not reported. Money is in units of the
    currency; `shares` is the diluted weighted average of the year."""

    period: str
    published: date
    source: str
    revenue: Decimal | None
    gross_profit: Decimal | None
    net_income: Decimal | None
    eps: Decimal | None
    shares: Decimal | None


@dataclass(frozen=True, slots=True)
class Fundamentals:
    """Figures and ratios at `as_of`; None if unknown. Margins and yield are fractions."""

    period: str
    pe: Decimal | None
    eps: Decimal | None
    revenue: Decimal | None
    market_cap: Decimal | None
    gross_margin: Decimal | None
    net_margin: Decimal | None
    dividend_yield: Decimal | None
    beta: Decimal | None
    currency: str
    source: str
    report_source: str
    as_of: datetime


class EventKind(StrEnum):
    """The kinds of event."""

    EARNINGS = "earnings"
    DIVIDEND = "dividend"
    ECONOMY = "economy"


@dataclass(frozen=True, slots=True)
class Event:
    """A dated upcoming event, as it was known on `published`. `confirmed`: by its organiser; otherwise it is expected
    by calendars."""

    on: date
    name: str
    kind: EventKind
    impact: str
    published: date
    confirmed: bool
    source: str
    ticker: str | None = None


@dataclass(frozen=True, slots=True)
class Headline:
    """A headline of a publisher."""

    title: str
    published: datetime
    publisher: str
    url: str | None = None


def fundamentals_at(report: AnnualReport, history: BarHistory) -> Fundamentals:
    """The last report combined with the last close: P/E on diluted earnings per share, market value of the diluted
    shares, dividends of the year before the last session. It uses nothing that was published later."""
    last = history.last
    dividends_of_year = sum(
        (
            scale_price(dividend.amount, adjustment(history.splits, dividend.on, last.session))
            for dividend in history.dividends
            if last.session - YEAR < dividend.on <= last.session
        ),
        Decimal(0),
    )
    factor = adjustment(history.splits, report.published, last.session)
    eps = None if report.eps is None else scale_price(report.eps, factor)
    shares = None if report.shares is None else report.shares * factor.numerator / factor.denominator
    return Fundamentals(
        period=report.period,
        pe=last.close / eps if eps is not None and eps > 0 else None,
        eps=eps,
        revenue=report.revenue,
        market_cap=None if shares is None else last.close * shares,
        gross_margin=_ratio(report.gross_profit, report.revenue),
        net_margin=_ratio(report.net_income, report.revenue),
        dividend_yield=dividends_of_year / last.close,
        beta=None,
        currency=history.currency,
        source=history.source,
        report_source=report.source,
        as_of=last.end,
    )


def latest_report(reports: Sequence[AnnualReport], day: date) -> AnnualReport | None:
    """The newest report published before `day`, since results come out after the close as often as before the
    opening."""
    return max(
        (report for report in reports if report.published < day), key=lambda report: report.published, default=None
    )


def upcoming(events: Sequence[Event], day: date, until: date) -> list[Event]:
    """Events after `day` and up to `until` that were known before `day`, soonest first."""
    known_events = (event for event in events if event.published < day < event.on <= until)
    return sorted(known_events, key=lambda event: (event.on, event.name))


def _ratio(part: Decimal | None, whole: Decimal | None) -> Decimal | None:
    return None if part is None or whole is None or whole == 0 else part / whole
