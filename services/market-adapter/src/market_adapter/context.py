"""Answers other services' calls about the market: status, events, quotes (rpc.market.…)."""

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
)
from contracts.symbols import Symbol
from market_adapter.adapters.exchange_calendar import new_york_state
from market_adapter.domain.facts import Event
from market_adapter.domain.quotes import Quote
from market_adapter.ports import MarketProvider
from market_adapter.tools.shapes import number, per_ticker

MAX_LISTED_SYMBOLS = 40
"""With more symbols than this, none are listed."""


class MarketContext:
    """The calls for a customer's context, one method each."""

    def __init__(self, provider: MarketProvider) -> None:
        self._provider = provider

    async def status(self, _request: MarketStatusRequest) -> MarketStatusReply:
        """Returns the state of the New York exchange at the market's current time."""
        now = self._provider.now()
        state = await new_york_state(now)
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
            symbols=list(symbols) if len(symbols) <= MAX_LISTED_SYMBOLS else [],
        )

    async def events(self, request: MarketEventsRequest) -> MarketEventsReply:
        """Returns the upcoming events, soonest first."""
        now = self._provider.now()
        until = now.date() + timedelta(days=request.days)

        async def events_of(symbol: Symbol) -> list[Event]:
            return list(await self._provider.events(symbol, until))

        by_symbol, failures = await per_ticker(request.symbols, events_of)
        upcoming = [event for events in by_symbol.values() for event in events]
        upcoming += await self._provider.economic_events(until)
        upcoming.sort(key=lambda event: (event.on, event.name))
        return MarketEventsReply(
            events=[_event(event) for event in upcoming[: request.limit]],
            errors=failures,
            source=self._provider.source,
            as_of=now,
        )

    async def quotes(self, request: QuotesRequest) -> QuotesReply:
        quotes, failures = await per_ticker(request.symbols, self._provider.quote)
        return QuotesReply(quotes=[_quote(quote) for quote in quotes.values()], errors=failures)


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
