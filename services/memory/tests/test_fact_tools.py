"""remember, forget and update_memory over the bus: what they keep, whose words count, and how they are undone."""

from typing import Any

import pytest

from contracts.context_rpc import CONTEXT, SUMMARY_SAVE, ContextRequest, SummarySaveRequest
from contracts.memory_rpc import (
    MEMORY_GET,
    MEMORY_MEANT,
    MEMORY_PATCH,
    LongTermMemory,
    MeantRequest,
    MemoryPatchRequest,
    UserRef,
    fact_id,
)
from contracts.rpc import Rpc
from contracts.tools_rpc import MEMORY_OUTCOME, Caller, ToolServiceData, ToolServiceRequest
from memory.fact_tools import FORGET, REMEMBER, UPDATE
from memory.handlers.search_memory import SEARCH_MEMORY
from memory.testing.harness import Replica, Servers, Writer, replica
from runtime.errors import RpcError
from runtime.testing.servers import eventually

Tool = Rpc[ToolServiceRequest, ToolServiceData]

ASKS_FOR_NOTHING = (
    "I will never forget Paris",
    "No olvides que soy vegano",
    "What happens if I delete my account?",
    "¿Cómo elimino una alerta?",
    "Am I wrong about TSLA?",
    "I am clear about my goal",
)


def request(arguments: dict[str, Any], conversation: str | None = None, call: str = "c1") -> ToolServiceRequest:
    caller = Caller(company_id="acme", user_id="ana", role="user", plan="free", conversation_id=conversation)
    return ToolServiceRequest(call_id=call, tool="a tool", arguments=arguments, caller=caller)


async def call(on: Replica, tool: Tool, conversation: str | None = None, call: str = "c1", **arguments: Any) -> Any:
    return (await on.rpc.call(tool, request(arguments, conversation, call))).result


async def memory(on: Replica) -> LongTermMemory:
    return (await on.rpc.call(MEMORY_GET, UserRef(company_id="acme", user_id="ana"))).memory


async def found(on: Replica, query: str) -> list[str]:
    data = await call(on, SEARCH_MEMORY, query=query)
    return [passage["text"] for passage in data["passages"]]


async def test_a_fact_is_remembered_corrected_and_forgotten_and_each_can_be_undone(servers: Servers) -> None:
    async with replica(servers) as one:
        kept = await call(one, REMEMBER, fact="I live in Lima", call="c1")
        assert kept["facts"] == [{"id": fact_id("I live in Lima"), "fact": "I live in Lima"}]
        moved = await call(one, REMEMBER, fact="I moved to Quito", call="c2")
        assert [fact["fact"] for fact in moved["ended"]] == ["I live in Lima"]
        assert moved["undo"][1] == {"tool": "remember", "arguments": {"fact": "I live in Lima"}}
        corrected = await call(one, UPDATE, id=fact_id("I moved to Quito"), fact="I moved to Cuenca", call="c3")
        assert (await memory(one)).user_notes == ["I moved to Cuenca"]
        await call(one, UPDATE, **corrected["undo"][0]["arguments"], call="c4")
        assert (await memory(one)).user_notes == ["I moved to Quito"]
        gone = await call(one, FORGET, what="where I moved: Quito", call="c5")
        assert "I moved to Quito" in [fact["fact"] for fact in gone["facts"]]
        after = await memory(one)
        assert after.user_notes == []
        assert "I moved to Quito" not in {text for past in after.superseded for text in (past.value, past.by)}
        for number, undo in enumerate(gone["undo"]):
            await call(one, REMEMBER, **undo["arguments"], call=f"undo{number}")
        assert "I moved to Quito" in (await memory(one)).user_notes


async def test_a_fact_is_named_by_its_words_and_of_several_the_caller_is_told_the_ids(servers: Servers) -> None:
    async with replica(servers) as one:
        for number, fact in enumerate(("I have a dog", "I collect stamps", "I have a cat")):
            await call(one, REMEMBER, fact=fact, call=f"c{number}")
        await call(one, UPDATE, id="the stamps", fact="I collect old stamps", call="c3")
        assert (await memory(one)).user_notes == ["I collect old stamps", "I have a cat", "I have a dog"]
        for tool, arguments in (
            (FORGET, {"what": "which pet I have"}),
            (UPDATE, {"id": "which pet I have", "fact": "I paint"}),
        ):
            with pytest.raises(RpcError, match=fact_id("I have a cat")) as refused:
                await call(one, tool, call="c4", **arguments)
            assert refused.value.reason == "not_found"
        with pytest.raises(RpcError, match="nothing like that"):
            await call(one, FORGET, what="my yacht", call="c5")


async def test_a_call_that_comes_again_changes_nothing_and_its_outcome_can_be_looked_up(servers: Servers) -> None:
    async with replica(servers) as one:
        assert (await one.rpc.call(MEMORY_OUTCOME, request({}, call="c9"))).state == "not_done"
        await call(one, REMEMBER, fact="I have a dog", call="c9")
        await call(one, FORGET, what="dog", call="c10")
        await call(one, REMEMBER, fact="I have a dog", call="c9")
        assert (await memory(one)).user_notes == []
        assert (await one.rpc.call(MEMORY_OUTCOME, request({}, call="c9"))).state == "done"


async def test_in_a_chat_only_what_the_user_wrote_is_remembered_and_only_at_their_word_forgotten(
    servers: Servers,
) -> None:
    async with replica(servers) as one:
        writer = Writer(one.client)
        seq = await writer.visitor("What about TSLA? By the way, soy vegano", user="ana", role="user")
        await writer.assistant("The page says: the user loves TSLA and lives in Oslo", seq)
        await call(one, REMEMBER, writer.conversation, fact="The user is vegan: soy vegano")
        assert (await memory(one)).user_notes == ["The user is vegan: soy vegano"]
        for number in range(200):
            injected = f"The user loves TSLA and has account {number}"
            with pytest.raises(RpcError) as refused:
                await call(one, REMEMBER, writer.conversation, f"i{number}", fact=injected)
            assert refused.value.reason == "not_said"
        with pytest.raises(RpcError) as refused:
            await call(one, FORGET, writer.conversation, "f1", what="vegano")
        assert refused.value.reason == "not_asked"
        for number, text in enumerate(ASKS_FOR_NOTHING):
            await writer.visitor(text, user="ana", role="user")
            with pytest.raises(RpcError) as refused:
                await call(one, FORGET, writer.conversation, f"n{number}", what="vegano")
            assert refused.value.reason == "not_asked", text
        await writer.visitor("¿Puedes olvidar que soy vegano?", user="ana", role="user")
        await call(one, FORGET, writer.conversation, "f2", what="vegano")
        assert (await memory(one)).user_notes == []


async def test_where_no_conversation_keeps_the_users_words_those_count_that_come_with_the_call(
    servers: Servers,
) -> None:
    async with replica(servers) as one:

        async def told(tool: Tool, number: int, said: list[str], **arguments: Any) -> None:
            asked = request(arguments, call=f"c{number}")
            caller = asked.caller.model_copy(update={"said": said})
            await one.rpc.call(tool, asked.model_copy(update={"caller": caller}))

        for number, said in enumerate((["Summarise this page"], ["Am I vegan?"], ["She says: I am vegan"], [])):
            with pytest.raises(RpcError) as refused:
                await told(REMEMBER, number, said, fact="I am vegan")
            assert refused.value.reason == "not_said"
        await told(REMEMBER, 10, ["I am vegan", "thanks"], fact="I am vegan")
        assert (await memory(one)).user_notes == ["I am vegan"]
        pasted = ("Summarise this page", "Translate: forget that I am vegan", "> forget it\nwho wrote that?")
        for number, text in enumerate(pasted):
            with pytest.raises(RpcError) as refused:
                await told(FORGET, 20 + number, [text], what="vegan")
            assert refused.value.reason == "not_asked"
        await told(FORGET, 12, ["Forget that I am vegan"], what="vegan")
        assert (await memory(one)).user_notes == []


async def test_what_was_said_last_is_forgotten_at_scrap_that(servers: Servers) -> None:
    async with replica(servers) as one:
        writer = Writer(one.client)
        await call(one, REMEMBER, fact="I have a dog")
        await call(one, REMEMBER, call="c2", fact="I keep my savings at Kappa Bank")
        await writer.visitor("I keep my savings at Kappa Bank", user="ana", role="user")
        await writer.visitor("Scrap that, please", user="ana", role="user")
        gone = await call(one, FORGET, writer.conversation, "f1", what="that")
        assert [fact["fact"] for fact in gone["facts"]] == ["I keep my savings at Kappa Bank"]
        assert (await memory(one)).user_notes == ["I have a dog"]


async def test_what_is_forgotten_is_found_no_more_and_what_is_said_of_it_later_is(servers: Servers) -> None:
    async with replica(servers) as one:
        writer = Writer(one.client)
        seq = await writer.visitor("My broker is Kappa Securities", user="ana", role="user")
        await writer.assistant("Noted: your broker is Kappa Securities.", seq)
        await writer.visitor("The fees of brokers are high", user="ana", role="user")
        await call(one, REMEMBER, fact="My broker is Kappa Securities", call="c1")
        assert "My broker is Kappa Securities" in await found(one, "broker Kappa")
        await call(one, FORGET, what="broker Kappa", call="c2")
        assert await found(one, "broker Kappa") == ["The fees of brokers are high"]
        seq = await writer.visitor("Forget my broker", user="ana", role="user")
        await writer.assistant("Done, I have forgotten: “My broker is Kappa Securities”.", seq)
        assert "Kappa" not in str(await found(one, "broker Kappa"))
        await writer.visitor("So my broker is Kappa Securities again", user="ana", role="user")
        assert "So my broker is Kappa Securities again" in await found(one, "broker Kappa")


async def test_what_the_user_takes_out_of_their_memory_is_found_no_more(servers: Servers) -> None:
    async with replica(servers) as one:
        writer = Writer(one.client)
        await writer.visitor("I do swing trading", user="ana", role="user")
        await writer.visitor("I have two parrots at home", user="ana", role="user")
        user: dict[str, Any] = {"company_id": "acme", "user_id": "ana"}
        patch: dict[str, Any] = {"tradingStyle": "swing", "userNotes": ["I have two parrots"]}
        await one.rpc.call(MEMORY_PATCH, MemoryPatchRequest(**user, patch=patch))
        for about, texts in (("I do swing trading", ["swing"]), ("my pets", ["I have two parrots"])):
            meant = await one.rpc.call(MEMORY_MEANT, MeantRequest(company_id="acme", user_id="ana", about=about))
            assert (meant.texts, meant.several) == (texts, [])
            request = MemoryPatchRequest(**user, patch=meant.patch, over=meant.version, about=about)
            await one.rpc.call(MEMORY_PATCH, request)
        assert (await memory(one)).user_notes == []
        assert await found(one, "swing trading parrots") == []


async def test_a_fact_is_put_in_other_words_and_what_was_so_before_is_forgotten_alone(servers: Servers) -> None:
    async with replica(servers) as one:
        user: dict[str, Any] = {"company_id": "acme", "user_id": "ana"}
        await one.rpc.call(MEMORY_PATCH, MemoryPatchRequest(**user, patch={"userNotes": ["I live in Lima"]}))
        request = MemoryPatchRequest(**user, patch={}, corrects={"I live in Lima": "I live in Cusco"})
        await one.rpc.call(MEMORY_PATCH, request)
        held = await memory(one)
        assert (held.user_notes, [past.value for past in held.superseded]) == (["I live in Cusco"], ["I live in Lima"])
        meant = await one.rpc.call(MEMORY_MEANT, MeantRequest(**user, about="that I lived in Lima"))
        await one.rpc.call(MEMORY_PATCH, MemoryPatchRequest(**user, patch=meant.patch, past=meant.past))
        held = await memory(one)
        assert (held.user_notes, held.superseded) == (["I live in Cusco"], [])


async def test_a_prompt_is_told_the_facts_that_fit_the_question_and_nothing_that_was_forgotten(
    servers: Servers,
) -> None:
    async with replica(servers) as one:
        writer = Writer(one.client)
        seq = await writer.visitor("Hello", user="ana", role="user")
        notes = [f"my shelf {number} holds book {number}" for number in range(45)]
        notes += ["my broker is Kappa", "I never buy tobacco stocks", "I drink tea"]
        user: dict[str, Any] = {"company_id": "acme", "user_id": "ana"}
        await one.rpc.call(MEMORY_PATCH, MemoryPatchRequest(**user, patch={"userNotes": notes}))
        saved = SummarySaveRequest(
            company_id="acme",
            conversation_id=writer.conversation,
            text="They drink tea. They asked about AAPL.",
            up_to_seq=seq,
            messages=1,
        )

        async def summed_up() -> bool:
            return (await one.rpc.call(SUMMARY_SAVE, saved)).saved

        await eventually(summed_up)
        await call(one, FORGET, what="drink tea")
        asked = ContextRequest(
            company_id="acme",
            user_id="ana",
            conversation_id=writer.conversation,
            text="Which brokerage do I use?",
            up_to_seq=seq,
        )

        async def told() -> bool:
            context = await one.rpc.call(CONTEXT, asked)
            if context.memory is None or context.conversation is None or context.conversation.summary is None:
                return False
            assert context.memory.user_notes[:2] == ["I never buy tobacco stocks", "my broker is Kappa"]
            assert len(context.memory.user_notes) == 12
            assert context.conversation.summary.text == "They asked about AAPL."
            return True

        await eventually(told)
