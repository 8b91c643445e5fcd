"""What a newer release has stored stays when this one reads and changes it; a misfit is one letter of memory's."""

import json
from typing import Any

import pytest
from pymongo import AsyncMongoClient

from contracts.channels import ChatKind, chat
from contracts.company_rpc import COMPANY_GET, COMPANY_PATCH, CompanyPatchRequest, CompanyRequest
from contracts.conversation_rpc import CONVERSATION, ConversationRef
from contracts.envelope import CloudEvent
from contracts.events.desk import NoteAdded
from contracts.events.fact import CompanyConfigChanged
from contracts.memory_rpc import MEMORY_GET, MEMORY_PATCH, MemoryPatchRequest, UserRef
from contracts.streams import CHAT, FACTS
from memory.fact_intake import decode_stored
from memory.handlers.desk import NOTE_FACTS
from memory.testing.harness import Replica, Servers, Writer, replica
from runtime.bus.connection import jetstream
from runtime.bus.direct import DirectReader, StoredFact
from runtime.bus.publisher import Publisher
from runtime.errors import RpcError
from runtime.testing.servers import eventually
from runtime.workers.dead_letters import DeadLetters

CONFIG: dict[str, Any] = {
    "companyId": "acme",
    "aiAutoResponseEnabled": False,
    "preferredProvider": "mistral",
    "newField": {"a": [1]},
    "budget": {"dailyTokens": 5, "whenSpent": "sleep", "monthlyTokens": 9},
    "webhooks": [
        {
            "url": "https://acme.example/x",
            "secret": "very secret indeed",
            "events": ["new.thing"],
            "secondSecret": "hush",
        }
    ],
    "identity": {"keys": [{"id": "k", "algorithm": "ES256", "key": "a key of tomorrow"}], "newKeySecret": "hush"},
}


async def patch(on: Replica, version: int, **changes: Any) -> None:
    await on.rpc.call(COMPANY_PATCH, CompanyPatchRequest(company_id="acme", version=version, patch=changes))


async def test_settings_with_a_field_and_a_word_more_are_served_obeyed_and_kept(servers: Servers) -> None:
    async with AsyncMongoClient[dict[str, Any]](servers.mongo) as client, replica(servers) as one:
        rows = client[servers.database]["companies"]
        await rows.insert_one({"_id": "acme", "version": 4, "config": json.dumps(CONFIG), "hooks": True, "later": 1})
        found = (await one.rpc.call(COMPANY_GET, CompanyRequest(company_id="acme"))).settings
        assert found is not None
        assert (found.version, found.config.ai_auto_response_enabled, found.config.budget.daily_tokens) == (4, False, 5)
        assert found.to_wire()["config"].items() >= {"preferredProvider": "mistral", "newField": {"a": [1]}}.items()

        shown = json.loads(found.config.model_dump_json(by_alias=True))
        await patch(one, 4, temperature=1.0, webhooks=shown["webhooks"])
        for changes, field in (({"newField": 2}, "newField"), ({"nonsense": 1}, "nonsense")):
            with pytest.raises(RpcError, match=field) as refused:
                await patch(one, 5, **changes)
            assert refused.value.code == "BAD_FIELD"
        row = await rows.find_one({"_id": "acme"})
        assert row is not None
        stored = json.loads(row["config"])
        hook = stored.pop("webhooks")[0]
        assert hook.items() >= CONFIG["webhooks"][0].items()
        assert stored == {name: value for name, value in CONFIG.items() if name != "webhooks"} | {"temperature": 1.0}

        told = await DirectReader(one.client, FACTS.name).last("company.config.changed.v1.acme.-")
        assert told is not None
        event = CloudEvent[CompanyConfigChanged].model_validate_json(told.event).data
        assert event.to_wire()["config"].items() >= {"newField": {"a": [1]}, "preferredProvider": "mistral"}.items()
        for secret in (b"very secret", b"hush", b"a key of tomorrow"):
            assert secret not in told.event


async def test_a_conversations_row_keeps_what_a_newer_release_wrote_into_it(servers: Servers) -> None:
    async with AsyncMongoClient[dict[str, Any]](servers.mongo) as client:
        rows = client[servers.database]["conversations"]
        async with replica(servers) as one:
            writer = Writer(one.client)
            first = await writer.visitor("hola")
            ref = ConversationRef(company_id=writer.company, conversation_id=writer.conversation)
            await one.rpc.call(CONVERSATION, ref)
        name = {"_id": f"{writer.company}/{writer.conversation}"}
        row = await rows.find_one(name)
        assert row is not None
        owner = json.dumps(json.loads(row["owner"]) | {"team": "north"})
        await rows.update_one(name, {"$set": {"mood": {"is": "good"}, "owner": owner}})
        async with replica(servers) as one:
            writer = Writer(one.client, conversation=writer.conversation)
            for number in range(3):
                await writer.assistant(f"buenas {number}", first)
                found = (await one.rpc.call(CONVERSATION, ref)).conversation
                assert found is not None
        row = await rows.find_one(name)
        assert row is not None
        assert (row["messageCount"], row["mood"], row["owner"]) == (2, {"is": "good"}, owner)


async def test_a_memory_keeps_what_a_newer_release_remembers(servers: Servers) -> None:
    async with AsyncMongoClient[dict[str, Any]](servers.mongo) as client, replica(servers) as one:
        rows = client[servers.database]["memories"]
        state = {"memory": {"name": "Ana", "tradingStyle": "macro", "pets": ["cat"]}, "asked": {}, "heard": {"x": 1}}
        await rows.insert_one({"_id": "acme/u1", "version": "v", "state": json.dumps(state)})
        found = await one.rpc.call(MEMORY_GET, UserRef(company_id="acme", user_id="u1"))
        assert (found.memory.name, found.memory.trading_style) == ("Ana", "macro")
        change = MemoryPatchRequest(company_id="acme", user_id="u1", patch={"name": None, "riskProfile": "moderate"})
        await one.rpc.call(MEMORY_PATCH, change)
        with pytest.raises(RpcError, match="riskProfile"):
            await one.rpc.call(MEMORY_PATCH, change.model_copy(update={"patch": {"riskProfile": "wild"}}))
        row = await rows.find_one({"_id": "acme/u1"})
        assert row is not None
        kept = json.loads(row["state"])
        assert kept["heard"] == {"x": 1}
        assert kept["memory"].items() >= {"tradingStyle": "macro", "pets": ["cat"], "riskProfile": "moderate"}.items()
        assert "name" not in kept["memory"]


@pytest.mark.parametrize(("kind", "taken"), [("note.added.v1", True), ("note.added.v2", False)])
def test_a_fact_whose_type_is_not_its_subjects_is_none(kind: str, taken: bool) -> None:
    note = NoteAdded(company_id="acme", conversation_id="c1", note_id="n1", text="ring back", by="ana")
    event = CloudEvent[NoteAdded](source="/test", type=kind, data=note)
    stored = StoredFact(1, "note.added.v1.acme.-", event.to_json(), "2026-01-01T00:00:00Z")
    assert (decode_stored(NOTE_FACTS, stored) is not None) is taken


async def test_a_misfit_is_one_letter_however_often_the_log_is_projected(servers: Servers) -> None:
    subject = chat("acme", "c1", ChatKind.VISITOR)
    bodies = [b"{}", b'{"id":"x","source":"s","type":"chat.message.visitor.v1","data":{"text":7}}']
    for number in range(3):
        # A database that is new gets the whole log again.
        store = Servers(servers.nats, servers.mongo, f"{servers.database}_{number}", servers.redis)
        async with replica(store) as one:
            if number == 0:
                js = jetstream(one.client)
                config = (await js.stream_info("DLQ")).config
                config.duplicate_window = 0.1
                await js.update_stream(config)  # pyright: ignore[reportUnknownMemberType]
                for place, body in enumerate(bodies):
                    await Publisher(one.client).append(subject, body, stream=CHAT.name, msg_id=f"misfit-{place}")
            await Writer(one.client, conversation="c1").visitor("good")
            ref = ConversationRef(company_id="acme", conversation_id="c1")
            assert await eventually(lambda one=one, ref=ref: one.rpc.call(CONVERSATION, ref))
            letters = DeadLetters(one.client)
            assert await eventually(letters.list)
            assert [(each.service, each.origin_seq) for each in await letters.list()] == [("memory", 1), ("memory", 2)]
