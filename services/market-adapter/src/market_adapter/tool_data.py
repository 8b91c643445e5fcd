"""What the tools of this service take and give: snake_case, as models see it; figures are JSON numbers."""

from datetime import datetime

from pydantic import Field

from contracts.envelope import Snake
from market_adapter.domain.quotes import Quote


class PriceArguments(Snake):
    """Input of get_price."""

    symbol: str = Field(min_length=1, max_length=40)


class PriceData(Snake):
    """Output of get_price. `volume` is of the session so far; `change` and `change_percent` (2.5 = 2.5 %) are null
    when there is nothing to compare with; `as_of` is when the price was true, `source` who gave it.
    """

    symbol: str
    price: float
    change: float | None
    change_percent: float | None
    change_basis: str
    volume: int
    currency: str
    as_of: datetime
    source: str

    @classmethod
    def of(cls, quote: Quote) -> "PriceData":
        """The quote as it goes out."""
        return cls(
            symbol=quote.symbol.name,
            price=float(quote.price),
            change=None if quote.change is None else float(quote.change),
            change_percent=None if quote.change_percent is None else float(quote.change_percent),
            change_basis=quote.change_basis.value,
            volume=quote.volume,
            currency=quote.currency,
            as_of=quote.as_of,
            source=quote.source,
        )
