"""The documents that this service stores, by name. Their schemas are frozen like those of events (deploy.documents),
since each of two releases reads what the other has stored."""

from market_adapter.domain.alerts import Alert
from market_adapter.domain.paper.account import Account
from market_adapter.domain.paper.orders import Order

DOCUMENTS: dict[str, object] = {
    "stored.market.accounts/v1": Account,
    "stored.market.orders/v1": Order,
    "stored.market.alerts/v1": Alert,
}
