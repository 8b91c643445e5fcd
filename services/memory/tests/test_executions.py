"""The log of tool calls."""

from typing import Any

from pymongo import AsyncMongoClient

from contracts.channels import fact
from contracts.envelope import CloudEvent
from contracts.events.tool import ToolCallCompleted, ToolMetadata, ToolResult
from contracts.streams import FACTS
from memory.testing.harness import Servers, replica
from runtime.bus.publisher import Publisher
from runtime.testing.servers import eventually
from runtime.workers.dead_letters import DeadLetters

TYPE = "tools.call.completed.v1"


def completed(call_id: str) -> CloudEvent[ToolCallCompleted]:
    result = ToolResult(success=True, data={"price": "1.5"}, metadata=ToolMetadata(execution_time=2.5, cached=True))
    data = ToolCallCompleted(
        call_id=call_id, tool="get_price", arguments={"symbol": "AAPL"}, result=result, user_id="somebody-else"
    )
    return CloudEvent(source="/test", type=TYPE, data=data)


async def test_an_outcome_is_kept_once_for_each_company_user_and_call(servers: Servers) -> None:
    async with replica(servers) as one, AsyncMongoClient[dict[str, Any]](servers.mongo) as client:
        publisher = Publisher(one.client)
        for copy in range(3):
            for user in ("u1", None):
                await publisher.append(
                    fact(TYPE, "acme", user), completed("call-1"), stream=FACTS.name, msg_id=f"{user}-{copy}"
                )
        rows = client[servers.database]["executions"]

        async def both() -> bool:
            return await rows.count_documents({}) == 2

        await eventually(both)
        row = await rows.find_one({"_id": "acme/u1/call-1"})
        assert row is not None
        assert (row["tool"], row["userId"], row["success"], row["cached"]) == ("get_price", "u1", True, True)
        assert await rows.find_one({"_id": "acme/-/call-1"}) is not None


async def test_what_is_no_outcome_becomes_a_dead_letter(servers: Servers) -> None:
    async with replica(servers) as one:
        await Publisher(one.client).append(fact(TYPE, "acme", None), b'{"x":1}', stream=FACTS.name, msg_id="bad")
        letters = DeadLetters(one.client)

        async def buried() -> bool:
            return [letter.stream for letter in await letters.list(service="memory")] == [FACTS.name]

        assert await eventually(buried)
