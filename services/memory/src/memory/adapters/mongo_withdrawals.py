"""The collection `withdrawals`: {_id: company/conversation/response, by: the request that withdrew it}."""

from pymongo.errors import DuplicateKeyError

from memory.adapters.mongo import store_errors
from memory.domain.keys import conversation_key
from runtime.stores.mongo import Database


class MongoWithdrawals:
    """Withdrawn responses."""

    def __init__(self, database: Database) -> None:
        self._rows = database["withdrawals"]

    async def add(self, company: str, conversation: str, response: str, request: str) -> bool:
        """Withdraws a response; returns False if another request has done so before."""
        row_id = f"{conversation_key(company, conversation)}/{response}"
        async with store_errors("withdraw a response"):
            try:
                await self._rows.insert_one({"_id": row_id, "by": request})
            except DuplicateKeyError:
                row = await self._rows.find_one({"_id": row_id})
                return row is not None and row["by"] == request
        return True

    async def is_withdrawn(self, company: str, conversation: str, response: str) -> bool:
        async with store_errors("read a withdrawal"):
            return (
                await self._rows.find_one({"_id": f"{conversation_key(company, conversation)}/{response}"}) is not None
            )
