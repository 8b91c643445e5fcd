"""Responses that their client has deleted."""

from contracts.ids import uuid7
from contracts.withdrawal_rpc import WITHDRAW, WITHDRAWN, ResponseRef, WithdrawRequest
from memory.testing.harness import Servers, replica


async def test_a_response_is_withdrawn_once_and_a_repeat_hears_the_same(servers: Servers) -> None:
    first, second = uuid7(), uuid7()
    async with replica(servers) as one:

        async def withdraw(request: str, response: str = "7", conversation: str = "c1") -> bool:
            asked = WithdrawRequest(
                company_id="acme", conversation_id=conversation, response=response, request_id=request
            )
            return (await one.rpc.call(WITHDRAW, asked)).withdrawn

        async def withdrawn(company: str, conversation: str, response: str) -> bool:
            ref = ResponseRef(company_id=company, conversation_id=conversation, response=response)
            return (await one.rpc.call(WITHDRAWN, ref)).withdrawn

        assert not await withdrawn("acme", "c1", "7")
        assert [await withdraw(first), await withdraw(first), await withdraw(second)] == [True, True, False]
        assert await withdraw(second, "7.a1")
        assert await withdrawn("acme", "c1", "7")
        for other in (("globex", "c1", "7"), ("acme", "c2", "7"), ("acme", "c1", "70"), ("acme", "c1", "7.a2")):
            assert not await withdrawn(*other)
