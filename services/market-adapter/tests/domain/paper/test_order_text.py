"""An order in a line, in the language of who asked for it."""

from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal

import pytest

from contracts.tools.account import OrderType, Side
from market_adapter.domain.paper.order_text import summary
from market_adapter.domain.paper.orders import Order

NOW = datetime(2012, 9, 5, 20, tzinfo=UTC)
ORDER = Order(
    id="o1",
    call_id="c1",
    symbol="IBM",
    side=Side.BUY,
    type=OrderType.MARKET,
    quantity=Decimal("3.50"),
    limit_price=None,
    stop_price=None,
    currency="USD",
    reserve_price=Decimal(190),
    content_hash="h",
    created_at=NOW,
    confirm_by=NOW,
    session=date(2012, 9, 5),
)
SOLD = replace(ORDER, side=Side.SELL, limit_price=Decimal("210.5"), stop_price=Decimal(190))


@pytest.mark.parametrize(
    ("order", "language", "text"),
    [
        (ORDER, "en", "Buy 3.5 IBM at market (paper)"),
        (ORDER, "es-MX", "Comprar 3,5 IBM a mercado (simulado)"),
        (replace(SOLD, type=OrderType.LIMIT), "es", "Vender 3,5 IBM límite 210,5 (simulado)"),
        (replace(SOLD, type=OrderType.STOP), "fr", "Vender 3,5 IBM stop 190 (simulado)"),
        (replace(SOLD, type=OrderType.STOP_LIMIT), "en", "Sell 3.5 IBM stop 190 limit 210.5 (paper)"),
    ],
)
def test_a_summary_says_side_quantity_terms_and_that_it_is_on_paper(order: Order, language: str, text: str) -> None:
    assert summary(replace(order, language=language)) == text
