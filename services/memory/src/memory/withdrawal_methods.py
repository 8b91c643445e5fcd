"""The methods by which a door deletes a response, and asks whether one was deleted."""

from contracts.withdrawal_rpc import WITHDRAW, WITHDRAWN, ResponseRef, WithdrawnReply, WithdrawReply, WithdrawRequest
from memory.adapters.mongo_withdrawals import MongoWithdrawals
from runtime.service import Service


def serve(service: Service, withdrawals: MongoWithdrawals) -> None:

    async def withdraw(request: WithdrawRequest) -> WithdrawReply:
        company, conversation = request.company_id, request.conversation_id
        return WithdrawReply(
            withdrawn=await withdrawals.add(company, conversation, request.response, request.request_id)
        )

    async def withdrawn(request: ResponseRef) -> WithdrawnReply:
        return WithdrawnReply(
            withdrawn=await withdrawals.holds(request.company_id, request.conversation_id, request.response)
        )

    service.serve(WITHDRAW, withdraw)
    service.serve(WITHDRAWN, withdrawn)
