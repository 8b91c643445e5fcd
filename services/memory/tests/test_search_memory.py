"""search_memory over the bus: whose words it finds, how new they are, and what it says of them."""

from typing import Any

import pytest

from contracts.memory_rpc import USER_FORGET, UserRef
from contracts.tools_rpc import Caller, ToolServiceRequest
from memory.handlers.search_memory import SEARCH_MEMORY
from memory.testing.harness import Replica, Servers, Writer, replica, serve_deletions
from runtime.errors import RpcError


async def search(on: Replica, query: str, *, user: str | None = "ana", company: str = "acme", **more: Any) -> Any:
    """The tool's data."""
    conversation = more.pop("conversation", None)
    request = ToolServiceRequest(
        call_id="c1",
        tool="search_memory",
        arguments={"query": query, **more},
        caller=Caller(company_id=company, user_id=user, role="user", plan="free", conversation_id=conversation),
    )
    return (await on.rpc.call(SEARCH_MEMORY, request)).result


def texts(data: Any) -> list[str]:
    return [passage["text"] for passage in data["passages"]]


async def talk(on: Replica, *lines: str, user: str = "ana", company: str = "acme") -> str:
    """A conversation: the user's line and the assistant's, in turn. Returns its id."""
    writer = Writer(on.client, company)
    seq = 0
    for place, line in enumerate(lines):
        if place % 2:
            await writer.assistant(line, seq)
        else:
            seq = await writer.visitor(line, user=user, role="user")
    return writer.conversation


async def test_a_user_finds_what_was_said_in_any_earlier_conversation_in_either_language(servers: Servers) -> None:
    async with replica(servers) as one:
        first = await talk(one, "My broker is Kappa Securities", "Noted.", "The fees are fine")
        second = await talk(one, "Vendí mis acciones de Telmex en marzo", "¿A qué precio?", "A 14 pesos")
        await talk(one, "Nice weather today", "Indeed")
        found = await search(one, "Which brokerage do I use, is it a broker?")
        best = found["passages"][0]
        assert (best["text"], best["conversation_id"], best["speaker"]) == (
            "My broker is Kappa Securities",
            first,
            "user",
        )
        assert best["after"] == {"speaker": "assistant", "text": "Noted."}
        assert best["before"] is None
        assert best["score"] > found["passages"][-1]["score"] or len(found["passages"]) == 1
        assert (found["searched"], found["complete"], found["source"]) == (8, True, "conversations")
        for question in ("¿cuándo vendí telmex?", "when did I sell my Telmex shares"):
            assert (await search(one, question))["passages"][0]["conversation_id"] == second
        assert len(texts(await search(one, "telmex vendi acciones broker", limit=2))) == 2


async def test_nobody_elses_words_are_found(servers: Servers) -> None:
    async with replica(servers) as one:
        await talk(one, "My secret word is xylophone", user="bob")
        await talk(one, "My secret word is xylophone", company="other")
        await talk(one, "My secret word is trombone")
        assert texts(await search(one, "secret word xylophone")) == ["My secret word is trombone"]
        assert texts(await search(one, "secret word", user="carl")) == []
        with pytest.raises(RpcError) as refused:
            await search(one, "secret word", user=None)
        assert refused.value.reason == "no_user"
        for wrong in ({"query": ""}, {"query": "x", "limit": 0}, {"query": "x", "limit": 51}):
            with pytest.raises(RpcError) as bad:
                await search(one, wrong.pop("query"), **wrong)  # pyright: ignore[reportArgumentType]
            assert (bad.value.code, len(bad.value.fields)) == ("VALIDATION_ERROR", 1)


async def test_what_is_said_between_two_searches_is_found_by_the_second(servers: Servers) -> None:
    async with replica(servers) as one:
        writer = Writer(one.client)
        await writer.visitor("I bought gold", user="ana", role="user")
        assert texts(await search(one, "gold silver")) == ["I bought gold"]
        for number in range(30):
            await writer.visitor(f"line {number}", user="ana", role="user")
        await writer.visitor("I bought silver too", user="ana", role="user")
        new = await talk(one, "I sold the gold")
        found = await search(one, "gold silver", limit=3)
        assert sorted(texts(found)) == ["I bought gold", "I bought silver too", "I sold the gold"]
        assert found["searched"] == 33
        assert new in {passage["conversation_id"] for passage in found["passages"]}
        here = await search(one, "silver", conversation=writer.conversation)
        assert "I bought silver too" not in texts(here)


async def test_what_something_newer_replaced_says_since_when_and_by_what(servers: Servers) -> None:
    async with replica(servers) as one:
        await talk(one, "I live in Lima with my family", "Good to know")
        await talk(one, "I moved to Bogotá last week", "Congratulations")
        found = {
            passage["text"]: passage["superseded"] for passage in (await search(one, "where do I live"))["passages"]
        }
        assert found["I live in Lima with my family"]["by"] == "I moved to Bogotá last week"
        assert found["I moved to Bogotá last week"] is None


async def test_a_long_message_is_shown_by_its_part_that_answers(servers: Servers) -> None:
    async with replica(servers) as one:
        await talk(one, f"{'blah ' * 800}my favourite bond is ZETA {'blah ' * 700}")
        (text,) = texts(await search(one, "favourite bond"))
        assert "my favourite bond is ZETA" in text
        assert len(text) <= 1000
        assert text[0] == text[-1] == "…"


async def test_a_deleted_user_is_found_by_no_replica_any_more(servers: Servers) -> None:
    async with replica(servers) as one, replica(servers) as two:
        await serve_deletions(one.client)
        await talk(one, "my plan is pineapple")
        for each in (one, two):
            assert texts(await search(each, "pineapple")) == ["my plan is pineapple"]
        await one.rpc.call(USER_FORGET, UserRef(company_id="acme", user_id="ana"))
        for each in (one, two):
            assert texts(await search(each, "pineapple")) == []
        await talk(one, "my plan is mango")
        assert texts(await search(two, "plan pineapple mango")) == ["my plan is mango"]
