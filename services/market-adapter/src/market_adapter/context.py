"""Answers other services' questions about the market: status, events, quotes (calls rpc.market.…)."""

from datetime import timedelta

from contracts.market_rpc import (
    MarketEvent,
    MarketEventsReply,
    MarketEventsRequest,
    MarketStatusReply,
    MarketStatusRequest,
    QuotesReply,
    QuotesRequest,
    QuoteView,
    TickerError,
)
from contracts.symbols import Symbol
from market_adapter.adapters.exchange_calendar import new_york
from market_adapter.domain.facts import Event
from market_adapter.domain.quotes import Quote
from market_adapter.ports import MarketProvider
from market_adapter.tools.shapes import FailureData, number, per_ticker

MOST_LISTED = 40
"""Symbols that are listed; a provider that has more lists none of them."""


class MarketContext:
    """The calls about a customer's context, a method for each."""

    def __init__(self, provider: MarketProvider) -> None:
        self._provider = provider

    async def status(self, _asked: MarketStatusRequest) -> MarketStatusReply:
        """Returns the state of the New York exchange at the market's present."""
        now = self._provider.now()
        state = await new_york(now)
        note, symbols = self._provider.note(), self._provider.symbols()
        return MarketStatusReply(
            status=state.status.value,
            current_time=now,
            next_open=state.next_open,
            next_close=state.next_close,
            early_close=state.early_close,
            source=self._provider.source,
            as_of=now,
            notes=None if note is None else dict(note.by_language),
            symbols=list(symbols) if len(symbols) <= MOST_LISTED else [],
        )

    async def events(self, asked: MarketEventsRequest) -> MarketEventsReply:
        """Returns the events ahead, the soonest first."""
        now = self._provider.now()
        until = now.date() + timedelta(days=asked.days)

        async def of(symbol: Symbol) -> list[Event]:
            return list(await self._provider.events(symbol, until))

        by_symbol, failed = await per_ticker(asked.symbols, of)
        found = [event for events in by_symbol.values() for event in events]
        found += await self._provider.economic_events(until)
        found.sort(key=lambda one: (one.on, one.name))
        return MarketEventsReply(
            events=[_event(one) for one in found[: asked.limit]],
            errors=[_failure(one) for one in failed],
            source=self._provider.source,
            as_of=now,
        )

    async def quotes(self, asked: QuotesRequest) -> QuotesReply:
        found, failed = await per_ticker(asked.symbols, self._provider.quote)
        return QuotesReply(quotes=[_quote(one) for one in found.values()], errors=[_failure(one) for one in failed])


def _event(event: Event) -> MarketEvent:
    return MarketEvent.model_validate(
        {
            "date": event.on,
            "name": event.name,
            "impact": event.impact,
            "kind": event.kind.value,
            "symbol": event.ticker,
            "status": "confirmed" if event.confirmed else "expected",
            "source": event.source,
        }
    )


def _quote(quote: Quote) -> QuoteView:
    return QuoteView(
        symbol=quote.symbol.name,
        price=float(quote.price),
        change=number(quote.change),
        change_percent=number(quote.change_percent),
        change_basis=quote.change_basis.value,
        currency=quote.currency,
        source=quote.source,
        as_of=quote.as_of,
    )


def _failure(failure: FailureData) -> TickerError:
    return TickerError(error=failure.error, ticker=failure.ticker, reason=failure.reason)
