"""Company settings over the bus."""

import asyncio
from typing import Any

import pytest
from pydantic import SecretStr
from pymongo import AsyncMongoClient

from contracts.company import CompanyConfig, CompanySettings
from contracts.company_rpc import (
    COMPANY_CREATE,
    COMPANY_DELETE,
    COMPANY_GET,
    COMPANY_LIST,
    COMPANY_PATCH,
    CompaniesRequest,
    CompanyCreateRequest,
    CompanyPatchRequest,
    CompanyRequest,
)
from contracts.envelope import CloudEvent
from contracts.events.fact import CompanyConfigChanged
from contracts.knowledge import Run
from contracts.knowledge_rpc import DOCUMENT_PUT, OVERVIEW, SEARCH, DocumentPut, KnowledgeSearch
from contracts.languages import LANGUAGES
from contracts.migration_rpc import MIGRATE, MIGRATIONS, MigrateRequest, MigrationsRequest
from contracts.streams import FACTS
from memory.adapters.mongo import for_requests
from memory.adapters.mongo_companies import MongoCompanies
from memory.testing.harness import Replica, Servers, Writer, replica, serve_deletions
from runtime.auth.seal import Seal
from runtime.bus.connection import subscribe
from runtime.bus.direct import DirectReader
from runtime.companies import CHANGES, CompanyCache
from runtime.errors import RpcError
from runtime.settings import DevSettings, SealSettings
from runtime.testing.servers import eventually


async def create(on: Replica, **config: Any) -> CompanySettings:
    return (await on.rpc.call(COMPANY_CREATE, CompanyCreateRequest(config={"companyId": "acme"} | config))).settings


async def patch(on: Replica, version: int, **changes: Any) -> CompanySettings:
    request = CompanyPatchRequest(company_id="acme", version=version, patch=changes)
    return (await on.rpc.call(COMPANY_PATCH, request)).settings


async def get(on: Replica, company: str = "acme") -> CompanySettings | None:
    return (await on.rpc.call(COMPANY_GET, CompanyRequest(company_id=company))).settings


async def test_settings_come_back_with_every_default_and_grow_in_version(servers: Servers) -> None:
    async with replica(servers) as one:
        assert await get(one) is None
        made = await create(one)
        assert made == await get(one)
        assert (made.version, made.config.ai_auto_response_enabled, made.config.response_delay_ms) == (1, False, 1000)
        changed = await patch(one, 1, responseDelayMs=0, toolConfig={"maxIterations": 5})
        assert (changed.version, changed.config.response_delay_ms, changed.config.tool_config.max_iterations) == (
            2,
            0,
            5,
        )
        reset = await patch(one, 2, responseDelayMs=None)
        assert (reset.config.response_delay_ms, reset.config.tool_config.max_iterations) == (1000, 5)


async def test_what_breaks_a_bound_is_refused_with_the_fields_name(servers: Servers) -> None:
    async with replica(servers) as one:
        await create(one)
        for changes, name in (
            ({"temperature": 2.1}, "temperature"),
            ({"toolConfig": {"maxIterations": 0}}, "toolConfig.maxIterations"),
            ({"nonsense": 1}, "nonsense"),
            ({"companyId": "other"}, "companyId"),
            ({"toolConfig": {"allowedDomains": ["http://evil.example"]}}, "toolConfig.allowedDomains"),
            ({"toolConfig": {"allowedDomains": ["https://*.shop.example"]}}, "toolConfig.allowedDomains"),
            ({"allowedOrigins": ["https://shop.example:port"]}, "allowedOrigins"),
        ):
            with pytest.raises(RpcError, match=name) as refused:
                await patch(one, 1, **changes)
            assert refused.value.code == "BAD_FIELD"
            assert refused.value.fields[0].field.startswith(name)
        with pytest.raises(RpcError) as refused:
            await create(one, companyId="providers")
        assert refused.value.code == "BAD_FIELD"
        found = await get(one)
        assert found is not None
        assert found.version == 1


async def test_settings_are_made_once_and_patched_on_their_present_version_only(servers: Servers) -> None:
    async with replica(servers) as one:
        with pytest.raises(RpcError) as refused:
            await patch(one, 1, temperature=1)
        assert refused.value.code == "NOT_FOUND"
        await create(one)
        with pytest.raises(RpcError) as refused:
            await create(one)
        assert refused.value.code == "CONFLICT"
        await patch(one, 1, temperature=1)
        with pytest.raises(RpcError) as refused:
            await patch(one, 1, temperature=0)
        assert refused.value.code == "PRECONDITION_FAILED"


async def test_of_two_patches_at_once_on_one_version_one_wins(servers: Servers) -> None:
    async with replica(servers) as one, replica(servers) as two:
        await create(one)
        results = await asyncio.gather(
            *(patch((one, two)[number % 2], 1, responseDelayMs=number) for number in range(10)), return_exceptions=True
        )
        won = [result for result in results if isinstance(result, CompanySettings)]
        lost = [result.code for result in results if isinstance(result, RpcError)]
        assert (len(won), set(lost)) == (1, {"PRECONDITION_FAILED"})
        assert await get(two) == won[0]


async def test_every_change_is_told_on_the_bus_whole_and_without_secrets(servers: Servers) -> None:
    async with replica(servers) as one:
        hook = {"url": "https://acme.example/hook", "events": ["turn.failed"], "secret": "very secret indeed"}
        await create(one, webhooks=[hook])
        await patch(one, 1, aiAutoResponseEnabled=True)
        told = await DirectReader(one.client, FACTS.name).batch("company.config.changed.v1.acme.-", 1, 10)
        events = [CloudEvent[CompanyConfigChanged].model_validate_json(fact.event).data for fact in told.facts]
        assert [event.version for event in events] == [1, 2]
        assert events[-1].config.ai_auto_response_enabled
        assert events[-1].config.webhooks[0].url == hook["url"]
        assert b"very secret" not in b"".join(fact.event for fact in told.facts)
        found = await get(one)
        assert found is not None
        assert found.config.webhooks[0].secret == "********"


async def test_a_hidden_secret_sent_back_keeps_the_secret(servers: Servers) -> None:
    async with replica(servers) as one:
        hook: dict[str, Any] = {"url": "https://acme.example/hook", "events": [], "secret": "very secret indeed"}
        await create(one, webhooks=[hook])
        changed = await patch(one, 1, webhooks=[hook | {"secret": "********", "events": ["turn.failed"]}])
        assert changed.config.webhooks[0].events == ["turn.failed"]
    async with AsyncMongoClient[dict[str, Any]](servers.mongo) as client:
        stored = await MongoCompanies(for_requests(client[servers.database])["companies"]).get("acme")
    assert stored is not None
    assert stored.config.webhooks[0].secret == "very secret indeed"


async def test_what_a_replaced_key_has_sealed_is_sealed_anew_by_a_migration(
    servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = "o" * 32, "n" * 32
    tool = {"name": "order_state", "description": "The state of an order", "url": "https://acme.example/orders"}
    tool |= {"inputSchema": {"type": "object", "properties": {}}, "headers": [{"name": "X-Key", "value": "s3cret"}]}
    monkeypatch.setenv("NEXUS_SECRETS_KEY", old)
    async with replica(servers) as one:
        first = await create(one, ownTools={"http": [tool]})
    monkeypatch.setenv("NEXUS_SECRETS_KEY", f"{new},{old}")
    async with replica(servers) as one:
        await one.rpc.call(COMPANY_CREATE, CompanyCreateRequest(config={"companyId": "bakery"}))
        asked_for = await one.rpc.call(MIGRATIONS, MigrationsRequest())
        assert [step.left for step in asked_for.migrations if step.name == "company-secrets"] == [1]
        for _ in range(2):
            step = await one.rpc.call(MIGRATE, MigrateRequest(name="company-secrets"))
            assert step.left == 0
        changed = await get(one)
        assert changed is not None
        assert changed.version == first.version + 1, "services hear of it, and once is enough"
        sealed = changed.config.own_tools.http[0].headers[0].value
        assert Seal(SealSettings(secrets_key=SecretStr(new))).open(sealed, "acme") == "s3cret"
        told = await DirectReader(one.client, FACTS.name).batch("company.config.changed.v1.acme.-", 1, 10)
        assert sealed.encode() in told.facts[-1].event
        # What no key opens stays, and is not waited for.
        lost = Seal(SealSettings(secrets_key=SecretStr("x" * 32))).close("s3cret", "acme")
        assert Seal(SealSettings()).renewed(lost, "acme") == lost


async def test_a_change_that_was_stored_and_not_told_is_told_by_the_sweep(servers: Servers) -> None:
    async with replica(servers, settings_sweep=0.05) as one, AsyncMongoClient[dict[str, Any]](servers.mongo) as client:
        store = MongoCompanies(for_requests(client[servers.database])["companies"])
        await store.create(CompanySettings(config=CompanyConfig(company_id="acme"), version=1))
        reader = DirectReader(one.client, FACTS.name)

        async def told() -> bool:
            return await reader.last("company.config.changed.v1.acme.-") is not None

        async def done() -> bool:
            return await store.unannounced(10) == []

        assert await eventually(told)
        assert await eventually(done)


async def test_in_development_there_is_a_company_demo_and_its_site_may_move(servers: Servers) -> None:
    async with replica(servers, dev=DevSettings(dev=True, demo_origin="http://127.0.0.1:8080")) as one:
        found = await get(one, "demo")
        assert found is not None
        assert (found.version, found.config.ai_auto_response_enabled, found.config.response_delay_ms) == (1, True, 1000)
        assert found.config.tool_config.fetch_page_enabled
        assert found.config.tool_config.allowed_domains == ["http://127.0.0.1:8080"]
        assert "get_price" in found.config.tool_config.enabled_tools
        assert {len(found.config.assistant.suggestions[language]) for language in LANGUAGES} == {3}
    async with (
        replica(servers, dev=DevSettings(dev=True, demo_origin="http://127.0.0.1:9090")) as one,
        replica(servers, dev=DevSettings(dev=True, demo_origin="http://127.0.0.1:9090")),
    ):
        found = await get(one, "demo")
        assert found is not None
        assert (found.version, found.config.tool_config.allowed_domains) == (2, ["http://127.0.0.1:9090"])


async def test_settings_stay_on_the_bus_and_an_older_store_takes_them_back(
    servers: Servers,
) -> None:
    hook: dict[str, Any] = {"url": "https://acme.example/hook", "events": [], "secret": "very secret indeed"}
    async with replica(servers) as one, AsyncMongoClient[dict[str, Any]](servers.mongo) as client:
        reader, rows = DirectReader(one.client, FACTS.name), client[servers.database]["companies"]
        subject = "company.config.changed.v1.acme.-"
        await create(one, webhooks=[hook])
        older = await rows.find_one({"_id": "acme"})
        assert older is not None
        await patch(one, 1, aiAutoResponseEnabled=False)
        # Put back to what it was; of another company nothing is left.
        await one.rpc.call(COMPANY_CREATE, CompanyCreateRequest(config={"companyId": "lost"}))
        await rows.replace_one({"_id": "acme"}, older)
        await rows.delete_one({"_id": "lost"})
        assert await reader.last(subject) is not None
    async with replica(servers) as one:

        async def taken_back() -> bool:
            found = [(await one.rpc.call(COMPANY_GET, CompanyRequest(company_id=name))).settings for name in names]
            return [settings.version if settings else 0 for settings in found] == [2, 1]

        names = ("acme", "lost")
        await eventually(taken_back)
        async with AsyncMongoClient[dict[str, Any]](servers.mongo) as client:
            stored = await MongoCompanies(for_requests(client[servers.database])["companies"]).get("acme")
        assert stored is not None
        assert stored.config.webhooks[0].secret == "very secret indeed"
        purged = await one.client.request("$JS.API.STREAM.PURGE.FACTS", b"{}")
        assert b"error" not in purged.data
    async with replica(servers) as one:
        reader = DirectReader(one.client, FACTS.name)

        async def told() -> bool:
            return await reader.last(subject) is not None

        await eventually(told)


async def test_a_deleted_company_is_none_for_everybody_and_can_be_made_anew(servers: Servers) -> None:
    ref = CompanyRequest(company_id="acme")
    async with replica(servers) as one, replica(servers) as two:
        site = {"knowledge": {"siteUrl": "http://127.0.0.1:9/"}}
        await create(one, aiAutoResponseEnabled=True, **site)
        first = await first_run(one)
        await patch(one, 1, temperature=1)
        document = DocumentPut(company_id="acme", id="hours", title="Hours", text="We open at nine.")
        await one.rpc.call(DOCUMENT_PUT, document)
        known = CompanyCache(one.client, one.rpc)
        await subscribe(one.client, CHANGES, known.changed)
        assert await known.get("acme") is not None
        with pytest.raises(RpcError) as away:
            await one.rpc.call(COMPANY_DELETE, ref)
        assert away.value.code == "UNAVAILABLE", "the market and the tools have to be told too"
        told = await serve_deletions(one.client)
        await Writer(one.client).visitor("the last word, which is not in the store yet")
        done = await one.rpc.call(COMPANY_DELETE, ref)
        assert (done.deleted, told) == (True, ["company acme", "company acme"])
        places = {removed.place: removed.removed for removed in done.removed}
        assert (places["market-adapter"], places["tool-executor"], places["redis"]) == (2, 2, 0)
        assert (places["stream CHAT"], places["mongodb facts"]) == (1, 1)
        assert {"stream TRACES", "stream WEBHOOKS", "knowledge"} <= places.keys()
        assert not (await two.rpc.call(COMPANY_DELETE, ref)).deleted
        assert await get(two) is None
        await eventually(lambda: known.count == 1)
        assert await known.get("acme") is None
        found = await two.rpc.call(SEARCH, KnowledgeSearch(company_id="acme", text="When do you open?"))
        assert (found.passages, found.documents) == ([], 0)
        with pytest.raises(RpcError) as refused:
            await patch(one, 3, temperature=0)
        assert refused.value.code == "NOT_FOUND"
        # Behind the version with which it ended: nobody who still knows the old one holds it for the newer.
        made = await create(two, **site)
        assert (made.version, made.config.temperature) == (4, 0.7)
        await eventually_known(known, made)
        # Whoever read the site before knows that run as one that is over.
        assert await first_run(two) != first


async def first_run(on: Replica) -> str:
    """The run that memory asks for by itself."""

    async def asked() -> Run | None:
        return (await on.rpc.call(OVERVIEW, CompanyRequest(company_id="acme"))).last_run

    run = await eventually(asked)
    assert run is not None
    return run.id


async def eventually_known(known: CompanyCache, settings: CompanySettings) -> None:
    async def same() -> bool:
        return await known.get(settings.config.company_id) == settings

    await eventually(same)


async def test_a_deleted_company_does_not_come_back_from_the_bus_or_an_older_store(servers: Servers) -> None:
    async with replica(servers) as one:
        await create(one)
        await serve_deletions(one.client)
        await one.rpc.call(COMPANY_DELETE, CompanyRequest(company_id="acme"))
    async with AsyncMongoClient[dict[str, Any]](servers.mongo) as client:
        rows = client[servers.database]["companies"]
        before = {"_id": "acme", "version": 1, "config": '{"companyId":"acme","aiAutoResponseEnabled":true}'}
        for row in (None, before):
            await rows.delete_one({"_id": "acme"})
            if row is not None:
                await rows.insert_one(row)
            async with replica(servers) as again:
                await eventually(lambda: _deleted(rows))
                assert await get(again) is None


async def _deleted(rows: Any) -> bool:
    row = await rows.find_one({"_id": "acme"})
    return bool(row and row.get("deleted"))


async def test_companies_are_listed_in_pages_without_those_that_have_ended(servers: Servers) -> None:
    async with replica(servers) as one:
        for name in ("c", "a", "d", "b"):
            await create(one, companyId=name)
        await serve_deletions(one.client)
        await one.rpc.call(COMPANY_DELETE, CompanyRequest(company_id="b"))
        first = await one.rpc.call(COMPANY_LIST, CompaniesRequest(limit=2))
        rest = await one.rpc.call(COMPANY_LIST, CompaniesRequest(after="c", limit=2))
        assert ([each.config.company_id for each in first.items], first.more) == (["a", "c"], True)
        assert ([each.config.company_id for each in rest.items], rest.more) == (["d"], False)
