"""What is told of MongoDB's errors."""

import pytest
from pymongo.errors import BulkWriteError, OperationFailure, PyMongoError, ServerSelectionTimeoutError

from runtime.stores.mongo import driver_says

NOBODY = "h:1: timed out, Timeout: 5.0s, Topology Description: <TopologyDescription id: 6b08, servers: [<Server h:1>]>"


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ServerSelectionTimeoutError(NOBODY), "h:1: timed out"),
        (BulkWriteError({"writeErrors": [{"errmsg": "disk full", "op": {"text": "my salary"}}]}), "disk full"),
        (BulkWriteError({"writeErrors": [], "writeConcernErrors": [{}]}), "a write was refused"),
        (PyMongoError("operation cancelled"), "it has stopped answering"),
        (OperationFailure("disk is full", 0, {"ok": 0, "errmsg": "disk is full"}), "disk is full"),
    ],
)
def test_neither_documents_nor_the_state_of_all_servers_are_told(error: PyMongoError, told: str) -> None:
    assert driver_says(error) == told
