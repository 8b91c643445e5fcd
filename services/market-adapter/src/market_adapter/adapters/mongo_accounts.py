"""Paper accounts in MongoDB: one document for each account, and one for each final order that was moved out of it.

    market_accounts  {_id: "company/user", company, user, version, untold, seen_until?, confirm_by?, account: {…}}
    market_orders    {_id: "company/user/order", company, user, symbol, ended_at, filled, order: {…}}

Decimals and times are strings: exact, and the same in every server that speaks MongoDB's protocol.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime

import structlog
from pydantic import TypeAdapter, ValidationError
from pymongo.errors import DuplicateKeyError

from market_adapter.adapters.mongo import owner_fields
from market_adapter.domain.paper.account import Account, Owner
from market_adapter.domain.paper.orders import Order, OrderState
from runtime.stores.mongo import Database, Document
from runtime.stores.unknown_fields import UnknownFields

log = structlog.get_logger(__name__)

ACCOUNTS, ORDERS = "market_accounts", "market_orders"
_ACCOUNT = TypeAdapter(Account)
_ORDER = TypeAdapter(Order)


class MongoAccounts:
    """Implements AccountStore. Every method raises PyMongoError if the server is unavailable."""

    def __init__(self, database: Database) -> None:
        self._unknown = UnknownFields(("seen_until", "confirm_by"))
        self._accounts = database[ACCOUNTS]
        self._orders = database[ORDERS]

    async def prepare(self) -> None:
        """Creates missing indexes, of one field each, which every server handles well."""
        fields = ("untold", "seen_until", "confirm_by")
        await self._accounts.create_indexes(fields)
        await self._orders.create_indexes(("user",))

    async def load(self, owner: Owner) -> Account:
        """The stored account, or a new one."""
        document = await self._accounts.find_one({"_id": str(owner)})
        if document is None:
            return Account(owner)
        account = _ACCOUNT.validate_python(_readable(document["account"]))
        self._unknown.record(str(owner), account.version, document, _document(account, account.version))
        return account

    async def save(self, account: Account) -> bool:
        """Inserts version 1, or replaces the version that was loaded."""
        document = _document(account, account.version + 1)
        document = self._unknown.with_them(str(account.owner), account.version, document)
        if account.version == 0:
            try:
                await self._accounts.insert_one(document)
            except DuplicateKeyError:
                return False
            return True
        key = {"_id": document["_id"], "version": account.version}
        return (await self._accounts.replace_one(key, document)).matched_count == 1

    async def due_owners(self, wall_time: datetime, market_time: datetime) -> Sequence[Owner]:
        """The owners of accounts in which something is due."""
        conditions: list[Document] = [
            {"untold": True},
            {"seen_until": {"$lt": market_time.isoformat()}},
            {"confirm_by": {"$lte": wall_time.isoformat()}},
        ]
        documents = await self._accounts.find_any(conditions, {"company": 1, "user": 1})
        return [Owner(document["company"], document["user"]) for document in documents]

    async def archive(self, owner: Owner, orders: Sequence[Order]) -> None:
        """Stores each ended order as a document under its id."""
        for order in orders:
            key = f"{owner}/{order.id}"
            document: Document = {
                "_id": key,
                **owner_fields(owner),
                "symbol": order.symbol,
                "ended_at": order.ended_at.isoformat() if order.ended_at else "",
                "filled": bool(order.fills),
                "order": _ORDER.dump_python(order, mode="json"),
            }
            await self._orders.replace_one({"_id": key}, document, upsert=True)

    async def archived(self, owner: Owner, limit: int, symbol: str | None) -> Sequence[Order]:
        """Archived orders with fills, newest first."""
        query: Document = {**owner_fields(owner), "filled": True}
        if symbol is not None:
            query["symbol"] = symbol
        cursor = self._orders.find(query).sort("ended_at", -1).limit(limit)
        return [_ORDER.validate_python(document["order"]) for document in await cursor.to_list()]

    async def archived_orders(self, owner: Owner, order_ids: Sequence[str]) -> Mapping[str, Order]:
        """Archived orders by their ids, read in one query."""
        if not order_ids:
            return {}
        cursor = self._orders.find({"_id": {"$in": [f"{owner}/{order_id}" for order_id in order_ids]}})
        orders = [_ORDER.validate_python(document["order"]) for document in await cursor.to_list()]
        return {order.id: order for order in orders}

    async def forget(self, owner: Owner) -> int:
        """Deletes the account and its archived orders; returns how many documents."""
        return await self._forget(owner_fields(owner))

    async def forget_company(self, company: str) -> int:
        return await self._forget({"company": company})

    async def _forget(self, query: Document) -> int:
        accounts = await self._accounts.delete_many(query)
        orders = await self._orders.delete_many(query)
        return accounts.deleted_count + orders.deleted_count


def _document(account: Account, version: int) -> Document:
    body = _ACCOUNT.dump_python(account, mode="json")
    body["version"] = version
    document: Document = {
        "_id": str(account.owner),
        **owner_fields(account.owner),
        "version": version,
        "untold": bool(account.outbox),
        "account": body,
    }
    # ISO 8601 in UTC: their order as strings is their order in time.
    if seen_times := [order.seen_until for order in account.orders if order.live and order.seen_until is not None]:
        document["seen_until"] = min(seen_times).isoformat()
    if deadlines := [order.confirm_by for order in account.orders if order.state is OrderState.PENDING]:
        document["confirm_by"] = min(deadlines).isoformat()
    return document


def _readable(account: Document) -> Document:
    """Leaves out the orders that only a newer release understands; they stay unchanged in the document."""
    return {**account, "orders": [order for order in account["orders"] if _is_order(order)]}


def _is_order(order: object) -> bool:
    try:
        _ORDER.validate_python(order)
    except ValidationError as error:
        log.warning("paper.order_not_understood", problems=error.error_count())
        return False
    return True
