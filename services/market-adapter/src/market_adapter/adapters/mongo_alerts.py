"""Alerts in MongoDB: one document each, by an id that comes from the call that made it.

    market_alerts  {_id, company, user, symbol, state, seen_until, announced, told, created_at, alert: {…}}

An alert fires by one update that requires its state and what it has processed, so that only one replica succeeds.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from pydantic import TypeAdapter
from pymongo.errors import DuplicateKeyError

from market_adapter.adapters.mongo import owner_fields
from market_adapter.domain.alerts import Alert, AlertState
from market_adapter.domain.paper.account import Owner
from runtime.stores.mongo import Database, Document
from runtime.stores.unknown_fields import UnknownFields

COLLECTION = "market_alerts"
_ALERT = TypeAdapter(Alert)


class MongoAlerts:
    """The alerts in MongoDB. Every method raises PyMongoError if the server is unavailable."""

    def __init__(self, database: Database) -> None:
        self._unknown = UnknownFields()
        self._alerts = database[COLLECTION]

    async def prepare(self) -> None:
        await self._alerts.create_indexes(("user", "state", "seen_until"))

    async def add(self, alert: Alert) -> Alert:
        """Inserts an alert, or returns the one that is stored under its id."""
        try:
            await self._alerts.insert_one(_document(alert))
        except DuplicateKeyError:
            document = await self._alerts.find_one({"_id": alert.id})
            return alert if document is None else self._read(document)
        return alert

    async def find(self, owner: Owner, alert_id: str) -> Alert | None:
        document = await self._alerts.find_one({"_id": alert_id, **owner_fields(owner)})
        return None if document is None else _alert(document)

    async def active(self, owner: Owner, symbol: str | None = None) -> Sequence[Alert]:
        """A user's active alerts, oldest first."""
        query: Document = {"state": AlertState.ACTIVE.value, **owner_fields(owner)}
        if symbol is not None:
            query["symbol"] = symbol
        return await self._find(query)

    async def behind(self, market_time: datetime) -> Sequence[Alert]:
        """Active alerts that have not processed the market up to this time, oldest first. Times are ISO 8601 in UTC,
        whose order as strings is their order in time."""
        return await self._find({"state": AlertState.ACTIVE.value, "seen_until": {"$lt": market_time.isoformat()}})

    async def replace_watched(self, before: Alert, after: Alert) -> bool:
        """Compare-and-set on the state and on what the alert had replace_watched."""
        key = {"_id": before.id, "state": AlertState.ACTIVE.value, "seen_until": before.seen_until.isoformat()}
        document = self._unknown.with_them(before.id, before.seen_until, _document(after))
        return (await self._alerts.replace_one(key, document)).matched_count == 1

    async def delete(self, owner: Owner, alert_id: str) -> bool:
        """Deletes an active alert; returns whether it is deleted now, by this call or before."""
        key = {"_id": alert_id, **owner_fields(owner)}
        await self._alerts.update_one(
            {**key, "state": AlertState.ACTIVE.value}, {"$set": {"state": AlertState.DELETED.value}}
        )
        return await self._alerts.find_one({**key, "state": AlertState.DELETED.value}, {"_id": 1}) is not None

    async def unannounced(self) -> Sequence[Alert]:
        """Fired alerts that have not been published yet, oldest first."""
        return await self._find({"state": AlertState.TRIGGERED.value, "announced": False})

    async def mark_announced(self, alert_id: str) -> None:
        await self._alerts.update_one({"_id": alert_id}, {"$set": {"announced": True}})

    async def untold(self, owner: Owner) -> Sequence[Alert]:
        """A user's fired alerts that have not been told in the chat yet, oldest first."""
        return await self._find({**owner_fields(owner), "state": AlertState.TRIGGERED.value, "told": False})

    async def mark_told(self, owner: Owner, alert_ids: Sequence[str]) -> int:
        query: Document = {**owner_fields(owner), "_id": {"$in": list(alert_ids)}, "told": False}
        query["state"] = AlertState.TRIGGERED.value
        return (await self._alerts.update_many(query, {"$set": {"told": True}})).modified_count

    async def forget(self, owner: Owner) -> int:
        return (await self._alerts.delete_many(owner_fields(owner))).deleted_count

    async def forget_company(self, company: str) -> int:
        return (await self._alerts.delete_many({"company": company})).deleted_count

    async def _find(self, query: Document) -> list[Alert]:
        cursor = self._alerts.find(query).sort("created_at", 1)
        return [self._read(document) for document in await cursor.to_list()]

    def _read(self, document: Document) -> Alert:
        alert = _alert(document)
        self._unknown.record(alert.id, alert.seen_until, document, _document(alert))
        return alert


def _document(alert: Alert) -> Document:
    return {
        "_id": alert.id,
        **owner_fields(alert.owner),
        "symbol": alert.symbol,
        "state": alert.state.value,
        "seen_until": alert.seen_until.isoformat(),
        "announced": alert.announced,
        "told": alert.told,
        "created_at": alert.created_at.isoformat(),
        "alert": _ALERT.dump_python(alert, mode="json"),
    }


def _alert(document: Document) -> Alert:
    """The alert of a document. The fields outside the stored alert are the valid ones, since single updates change only
    these."""
    return replace(
        _ALERT.validate_python(document["alert"]),
        state=AlertState(document["state"]),
        announced=bool(document["announced"]),
        told=bool(document["told"]),
    )
