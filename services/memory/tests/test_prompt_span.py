"""search_memory leaves out exactly what stands in the prompt that asks."""

from typing import Any

from contracts.tools_rpc import Caller, ToolServiceRequest
from memory.handlers.search_memory import SEARCH_MEMORY
from memory.testing.harness import Servers, Writer, replica


async def test_left_out_is_what_the_prompt_holds_and_no_message_more(servers: Servers) -> None:
    async with replica(servers) as one:
        writer = Writer(one.client)
        seqs = [await writer.visitor(f"gold note number {n}", user="ana", role="user") for n in range(12)]

        async def found(prompt: tuple[int, int] | None) -> set[str]:
            caller = Caller(
                company_id="acme",
                user_id="ana",
                role="user",
                plan="free",
                conversation_id=writer.conversation,
                prompt=prompt,
            )
            arguments: dict[str, Any] = {"query": "gold note", "limit": 50}
            request = ToolServiceRequest(call_id="c1", tool="search_memory", arguments=arguments, caller=caller)
            passages = (await one.rpc.call(SEARCH_MEMORY, request)).result["passages"]
            return {passage["text"] for passage in passages}

        every = {f"gold note number {n}" for n in range(12)}
        assert await found((seqs[3], seqs[9])) == every - {f"gold note number {n}" for n in range(3, 10)}
        assert await found((seqs[11], seqs[11])) == every - {"gold note number 11"}
        assert await found(None) == {f"gold note number {n}" for n in range(7)}
