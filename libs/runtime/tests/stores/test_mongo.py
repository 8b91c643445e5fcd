"""How collections are read, and what is told of MongoDB's errors."""

import pytest
from prometheus_client import CollectorRegistry, Counter, Gauge
from pymongo import AsyncMongoClient
from pymongo.errors import BulkWriteError, OperationFailure, PyMongoError, ServerSelectionTimeoutError
from pymongo.monitoring import CommandFailedEvent, CommandListener, CommandStartedEvent, CommandSucceededEvent

from runtime.stores.command_limit import CommandLimit
from runtime.stores.mongo import Collection, Document, driver_message
from runtime.testing.servers import MongoDatabase

NOBODY = "h:1: timed out, Timeout: 5.0s, Topology Description: <TopologyDescription id: 6b08, servers: [<Server h:1>]>"


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ServerSelectionTimeoutError(NOBODY), "h:1: timed out"),
        (BulkWriteError({"writeErrors": [{"errmsg": "disk full", "op": {"text": "my salary"}}]}), "disk full"),
        (BulkWriteError({"writeErrors": [], "writeConcernErrors": [{}]}), "a write was refused"),
        (PyMongoError("operation cancelled"), "it has stopped answering"),
        (PyMongoError("The resolution lifetime expired after 3 s"), "the DNS gave no answer after 3 s"),
        (OperationFailure("disk is full", 0, {"ok": 0, "errmsg": "disk is full"}), "disk is full"),
    ],
)
def test_neither_documents_nor_the_state_of_all_servers_are_told(error: PyMongoError, told: str) -> None:
    assert driver_message(error) == told


def _limit() -> CommandLimit:
    registry = CollectorRegistry()
    gauge, counter = Gauge("running", "-", registry=registry), Counter("refused", "-", registry=registry)
    return CommandLimit(gauge, counter, max_running=4, max_waiting=4, queue_seconds=5, refusal=RuntimeError)


class _Commands(CommandListener):
    """The names of the commands that the driver has sent."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def started(self, event: CommandStartedEvent) -> None:
        self.names.append(event.command_name)

    def succeeded(self, event: CommandSucceededEvent) -> None: ...

    def failed(self, event: CommandFailedEvent) -> None: ...


async def test_a_range_of_ids_is_read_without_the_rest_of_the_collection(mongo_server: MongoDatabase) -> None:
    """The embedded server reads every document for a find by a range of `_id`; for an aggregation it does not."""
    sent = _Commands()
    async with AsyncMongoClient[Document](mongo_server.url, event_listeners=[sent]) as client:
        rows = Collection(client["test"]["rows"], _limit())
        for number in range(9):
            await rows.insert_one({"_id": f"k{number}", "size": number, "more": "x"})
        within = {"_id": {"$gt": "k2", "$lt": "k8"}}
        sent.names.clear()
        found = await rows.find(within, {"size": 1}).sort("_id", -1).limit(2).to_list()
        assert found == [{"_id": "k7", "size": 7}, {"_id": "k6", "size": 6}]
        assert [row["_id"] for row in await rows.find(within).to_list()] == ["k3", "k4", "k5", "k6", "k7"]
        assert (await rows.count_documents(within), await rows.count_documents({"size": 99})) == (5, 0)
        assert set(sent.names) == {"aggregate"}

        sent.names.clear()
        found = await rows.find({"size": {"$gt": 3}}, {"size": 1}).sort("size", -1).limit(2).to_list()
        assert found == [{"_id": "k8", "size": 8}, {"_id": "k7", "size": 7}]
        assert len(await rows.find({"_id": {"$in": ["k1", "k2"]}}).to_list()) == 2
        assert sent.names == ["find", "find"]


async def test_one_of_several_conditions_is_one_command_and_each_document_comes_once(
    mongo_server: MongoDatabase,
) -> None:
    """The embedded server reads every document for a find by `$or`."""
    sent = _Commands()
    async with AsyncMongoClient[Document](mongo_server.url, event_listeners=[sent]) as client:
        rows = Collection(client["test"]["either"], _limit())
        for number in range(6):
            await rows.insert_one({"_id": f"k{number}", "untold": number == 1, "size": number, "more": "x"})
        sent.names.clear()
        found = await rows.find_any([{"untold": True}, {"size": {"$lt": 2}}, {"size": {"$gte": 5}}], {"size": 1})
        assert sorted(found, key=lambda row: row["_id"]) == [{"_id": f"k{size}", "size": size} for size in (0, 1, 5)]
        assert sent.names == ["aggregate"]
