"""A store of accounts."""

from typing import Any

import pytest

from market_adapter.adapters.mongo import bounded
from market_adapter.adapters.mongo_accounts import MongoAccounts


@pytest.fixture
def store(database: Any) -> MongoAccounts:
    return MongoAccounts(bounded(database))
