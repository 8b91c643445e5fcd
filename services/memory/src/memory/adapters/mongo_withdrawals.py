"""The collection `withdrawals`: {_id: company/conversation/response, by: the request that withdrew it}."""

from pymongo.errors import DuplicateKeyError

from contracts.withdrawal_rpc import ResponseRef, WithdrawnReply, WithdrawReply, WithdrawRequest
from memory.adapters.mongo import store_errors
from memory.domain.keys import conversation_key
from runtime.stores.mongo import Database


class MongoWithdrawals:
    """Withdrawn responses."""

    def __init__(self, database: Database) -> None:
        self._rows = database["withdrawals"]

    async def add(self, request: WithdrawRequest) -> WithdrawReply:
        """Withdraws a response, unless another request has done so before."""
        row_id = _id(request)
        async with store_errors("withdraw a response"):
            try:
                await self._rows.insert_one({"_id": row_id, "by": request.request_id})
            except DuplicateKeyError:
                row = await self._rows.find_one({"_id": row_id})
                return WithdrawReply(withdrawn=row is not None and row["by"] == request.request_id)
        return WithdrawReply(withdrawn=True)

    async def has(self, response: ResponseRef) -> WithdrawnReply:
        """Whether a response has been withdrawn."""
        async with store_errors("read a withdrawal"):
            return WithdrawnReply(withdrawn=await self._rows.find_one({"_id": _id(response)}) is not None)


def _id(response: ResponseRef) -> str:
    return f"{conversation_key(response.company_id, response.conversation_id)}/{response.response}"
