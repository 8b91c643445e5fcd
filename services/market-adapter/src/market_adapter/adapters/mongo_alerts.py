"""Alerts in MongoDB: one document each, by an id that comes from the call that made it.

    market_alerts  {_id, company, user, symbol, state, seen_until, announced, told, created_at, alert: {…}}

An alert fires by one update that asks for its state and what it had seen: of several replicas one wins.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from pydantic import TypeAdapter
from pymongo.errors import DuplicateKeyError

from market_adapter.domain.alerts import Alert, AlertState
from market_adapter.domain.paper.account import Owner
from runtime.stores.mongo import Database, Document
from runtime.stores.unknown_fields import UnknownFields

COLLECTION = "market_alerts"
_ALERT = TypeAdapter(Alert)


class MongoAlerts:
    """The alerts in MongoDB. Every method raises PyMongoError when the server is away."""

    def __init__(self, database: Database) -> None:
        self._unknown = UnknownFields()
        self._alerts = database[COLLECTION]

    async def prepare(self) -> None:
        await self._alerts.create_indexes(("user", "state", "seen_until"))

    async def add(self, alert: Alert) -> Alert:
        """Inserts it, or gives back what is there under its id."""
        try:
            await self._alerts.insert_one(_document(alert))
        except DuplicateKeyError:
            found = await self._alerts.find_one({"_id": alert.id})
            return alert if found is None else self._read(found)
        return alert

    async def find(self, owner: Owner, alert_id: str) -> Alert | None:
        found = await self._alerts.find_one({"_id": alert_id, **_of(owner)})
        return None if found is None else _alert(found)

    async def active(self, owner: Owner, symbol: str | None = None) -> Sequence[Alert]:
        """Oldest first."""
        wanted: Document = {"state": AlertState.ACTIVE.value, **_of(owner)}
        if symbol is not None:
            wanted["symbol"] = symbol
        return await self._found(wanted)

    async def behind(self, market: datetime) -> Sequence[Alert]:
        """Oldest first. Times are ISO 8601 in UTC: as strings they are in order."""
        return await self._found({"state": AlertState.ACTIVE.value, "seen_until": {"$lt": market.isoformat()}})

    async def seen(self, before: Alert, after: Alert) -> bool:
        """Compare-and-set on the state and on what the alert had seen."""
        key = {"_id": before.id, "state": AlertState.ACTIVE.value, "seen_until": before.seen_until.isoformat()}
        document = self._unknown.with_them(before.id, before.seen_until, _document(after))
        return (await self._alerts.replace_one(key, document)).matched_count == 1

    async def delete(self, owner: Owner, alert_id: str) -> bool:
        """Active → deleted."""
        key = {"_id": alert_id, **_of(owner)}
        await self._alerts.update_one(
            {**key, "state": AlertState.ACTIVE.value}, {"$set": {"state": AlertState.DELETED.value}}
        )
        return await self._alerts.find_one({**key, "state": AlertState.DELETED.value}, {"_id": 1}) is not None

    async def unannounced(self) -> Sequence[Alert]:
        """Oldest first."""
        return await self._found({"state": AlertState.TRIGGERED.value, "announced": False})

    async def announced(self, alert_id: str) -> None:
        await self._alerts.update_one({"_id": alert_id}, {"$set": {"announced": True}})

    async def untold(self, owner: Owner) -> Sequence[Alert]:
        """Oldest first."""
        return await self._found({**_of(owner), "state": AlertState.TRIGGERED.value, "told": False})

    async def mark_told(self, owner: Owner, alert_ids: Sequence[str]) -> int:
        wanted: Document = {**_of(owner), "_id": {"$in": list(alert_ids)}, "told": False}
        wanted["state"] = AlertState.TRIGGERED.value
        return (await self._alerts.update_many(wanted, {"$set": {"told": True}})).modified_count

    async def forget(self, owner: Owner) -> int:
        return (await self._alerts.delete_many(_of(owner))).deleted_count

    async def forget_company(self, company: str) -> int:
        return (await self._alerts.delete_many({"company": company})).deleted_count

    async def _found(self, wanted: Document) -> list[Alert]:
        found = self._alerts.find(wanted).sort("created_at", 1)
        return [self._read(document) for document in await found.to_list()]

    def _read(self, document: Document) -> Alert:
        alert = _alert(document)
        self._unknown.found(alert.id, alert.seen_until, document, _document(alert))
        return alert


def _of(owner: Owner) -> Document:
    return {"company": owner.company, "user": owner.user}


def _document(alert: Alert) -> Document:
    return {
        "_id": alert.id,
        **_of(alert.owner),
        "symbol": alert.symbol,
        "state": alert.state.value,
        "seen_until": alert.seen_until.isoformat(),
        "announced": alert.announced,
        "told": alert.told,
        "created_at": alert.created_at.isoformat(),
        "alert": _ALERT.dump_python(alert, mode="json"),
    }


def _alert(document: Document) -> Alert:
    """The fields outside the stored alert are the valid ones: single updates change them there."""
    return replace(
        _ALERT.validate_python(document["alert"]),
        state=AlertState(document["state"]),
        announced=bool(document["announced"]),
        told=bool(document["told"]),
    )
