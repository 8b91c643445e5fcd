"""/v2/llm/config: settings made once, changed on their newest version, by the company's own admins."""

import asyncio
from typing import Any

import pytest

from contracts.company import CompanySettings, read_config
from gateway.testing.harness import MemoryStandIn
from gateway.testing.http import Http, assert_problem
from gateway.testing.services import SettingsStandIn, WritersStandIn
from gateway.testing.tokens import TokenMaker

ACME = "/v2/llm/config/acme"
pytestmark = pytest.mark.usefixtures("settings", "no_tools")


@pytest.fixture
def admin(tokens: TokenMaker) -> str:
    return tokens.user("root", "admin")


@pytest.mark.usefixtures("writers")
async def test_settings_are_created_once_with_every_default(http: Http, tokens: TokenMaker) -> None:
    admin = tokens.user("root", "admin", company="newco")
    answer = await http("POST", "/v2/llm/config", token=admin, json={"companyId": "newco", "responseDelayMs": 0})
    status, body, headers = answer
    assert status == 201
    assert (headers["etag"], headers["location"]) == ('"1"', "/v2/llm/config/newco")
    assert (body["responseDelayMs"], body["maxResponseTokens"], body["toolConfig"]["maxIterations"]) == (0, 500, 3)
    assert body["customSystemPrompt"] is None
    again = await http("POST", "/v2/llm/config", token=admin, json={"companyId": "newco"})
    assert_problem(again, 409, "CONFLICT")
    assert (await http("GET", "/v2/llm/config/newco", token=admin))[1] == body


@pytest.mark.usefixtures("writers")
async def test_a_patch_changes_what_it_names_and_gives_the_next_etag(http: Http, admin: str) -> None:
    _, before, headers = await http("GET", ACME, token=admin)
    assert headers["etag"] == '"1"'
    patch = {"temperature": 0.2, "toolConfig": {"maxIterations": 5}, "customSystemPrompt": "Be kind."}
    sent = {"If-Match": '"1"', "Content-Type": "application/merge-patch+json"}
    status, body, headers = await http("PATCH", ACME, token=admin, headers=sent, json=patch)
    assert (status, headers["etag"]) == (200, '"2"')
    changed = {**patch, "toolConfig": {**before["toolConfig"], "maxIterations": 5}}
    assert body == {**before, **changed}
    status, body, headers = await http(
        "PATCH", ACME, token=admin, headers={"If-Match": "*"}, json={"customSystemPrompt": None}
    )
    assert (status, headers["etag"], body["customSystemPrompt"]) == (200, '"3"', None)


async def test_a_patch_needs_the_version_that_it_is_meant_for(http: Http, admin: str) -> None:
    patch = {"temperature": 0.1}
    assert_problem(await http("PATCH", ACME, token=admin, json=patch), 428, "PRECONDITION_REQUIRED")
    for stale in ('"0"', '"2"', "1", 'W/"1"'):
        refused = await http("PATCH", ACME, token=admin, headers={"If-Match": stale}, json=patch)
        assert_problem(refused, 412, "PRECONDITION_FAILED")
    assert (await http("GET", ACME, token=admin))[2]["etag"] == '"1"'


async def test_of_two_patches_at_once_on_one_version_one_is_stale(http: Http, admin: str) -> None:
    patches = (
        http("PATCH", ACME, token=admin, headers={"If-Match": '"1"'}, json={"maxResponseTokens": n}) for n in (10, 20)
    )
    assert sorted([answer[0] for answer in await asyncio.gather(*patches)]) == [200, 412]


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"aiAutoResponseEnabled": "perhaps"}, "aiAutoResponseEnabled"),
    ({"aiAutoResponseEnabled": "yes"}, "aiAutoResponseEnabled"),
    ({"includeVisitorInfo": 1}, "includeVisitorInfo"),
    ({"maxResponseTokens": "500"}, "maxResponseTokens"),
    ({"maxResponseTokens": True}, "maxResponseTokens"),
    ({"temperature": "1"}, "temperature"),
    ({"toolConfig": {"maxIterations": "3"}}, "toolConfig.maxIterations"),
    ({"preferredProvider": "nobody"}, "preferredProvider"),
    ({"preferredModel": ""}, "preferredModel"),
    ({"customSystemPrompt": "x" * 8001}, "customSystemPrompt"),
    ({"maxResponseTokens": 0}, "maxResponseTokens"),
    ({"maxResponseTokens": 8193}, "maxResponseTokens"),
    ({"temperature": -0.1}, "temperature"),
    ({"temperature": 2.1}, "temperature"),
    ({"responseDelayMs": -1}, "responseDelayMs"),
    ({"responseDelayMs": 60_001}, "responseDelayMs"),
    ({"toolConfig": {"maxIterations": 0}}, "toolConfig.maxIterations"),
    ({"toolConfig": {"maxIterations": 11}}, "toolConfig.maxIterations"),
    ({"toolConfig": {"cacheTtlSeconds": 86_401}}, "toolConfig.cacheTtlSeconds"),
    ({"toolConfig": {"allowedDomains": ["http://shop.example"]}}, "toolConfig.allowedDomains.0"),
    ({"toolConfig": {"unheardOf": 1}}, "toolConfig.unheardOf"),
    ({"allowedOrigins": ["https://shop.example/path"]}, "allowedOrigins.0"),
    ({"budget": {"dailyTokens": -1}}, "budget.dailyTokens"),
    ({"budget": {"whenSpent": "shout"}}, "budget.whenSpent"),
    ({"handoffTimeoutSeconds": 9}, "handoffTimeoutSeconds"),
    ({"handoffTimeoutSeconds": 3601}, "handoffTimeoutSeconds"),
    ({"brandColor": "red"}, "brandColor"),
    ({"webhooks": [{"url": "ftp://x", "secret": "12345678"}]}, "webhooks.0.url"),
    ({"misspelt": 1}, "misspelt"),
]


@pytest.mark.parametrize(("fields", "name"), WRONG, ids=lambda value: value if isinstance(value, str) else "")
async def test_every_bound_is_told_by_its_field(
    http: Http, tokens: TokenMaker, admin: str, fields: dict[str, Any], name: str
) -> None:
    fresh = tokens.user("root", "admin", company="fresh")
    refusals = [
        await http("POST", "/v2/llm/config", token=fresh, json={"companyId": "fresh", **fields}),
        await http("PATCH", ACME, token=admin, headers={"If-Match": '"1"'}, json=fields),
    ]
    for refused in refusals:
        assert_problem(refused, 422, "BAD_FIELD")
        assert name in [error["field"] for error in refused[1]["errors"]]
        assert all(error["message"] for error in refused[1]["errors"])


async def test_another_companys_settings_look_as_if_there_were_none(
    http: Http, tokens: TokenMaker, memory: MemoryStandIn
) -> None:
    memory.add_company("other")
    foreign, unknown = (tokens.user("root", "admin", company=company) for company in ("evil", "acme"))
    for path, token in ((ACME, foreign), ("/v2/llm/config/nobody", unknown)):
        assert_problem(await http("GET", path, token=token), 404, "NOT_FOUND")
        sent = {"If-Match": "*"}
        assert_problem(await http("PATCH", path, token=token, headers=sent, json={"temperature": 1}), 404, "NOT_FOUND")
    assert_problem(await http("POST", "/v2/llm/config", token=foreign, json={"companyId": "fresh"}), 404, "NOT_FOUND")


@pytest.mark.usefixtures("writers")
async def test_a_body_that_the_bus_could_not_carry_is_too_large(http: Http, admin: str) -> None:
    sent = {"If-Match": "*"}
    refused = await http("PATCH", ACME, token=admin, headers=sent, json={"customSystemPrompt": "x" * 300_000})
    assert_problem(refused, 413, "TOO_LARGE")
    sent["Content-Type"] = "application/json"
    await http("PATCH", ACME, token=admin, headers=sent, data=b'{"temperature": 1.5}')
    for lost in (b'{"customSystemPrompt": "\\ud800"}', b'{"temperature": NaN}', b'{"temperature": 1e999}'):
        assert_problem(await http("PATCH", ACME, token=admin, headers=sent, data=lost), 422, "BAD_FIELD")
    assert (await http("GET", ACME, token=admin))[1]["temperature"] == 1.5
    refused = await http("PATCH", ACME, token=admin, headers=sent, data=b"{no")
    assert_problem(refused, 422, "BAD_FIELD")
    assert [error["field"] for error in refused[1]["errors"]] == ["body"]


async def test_a_change_of_the_allowed_origins_holds_at_once(http: Http, admin: str, settings: SettingsStandIn) -> None:
    async def visit() -> int:
        headers = {"Origin": "https://new.example"}
        return (await http("POST", "/v2/visitors", headers=headers, json={"companyId": "acme"}))[0]

    assert await visit() == 403
    patch = {"allowedOrigins": ["https://new.example"]}
    await http("PATCH", ACME, token=admin, headers={"If-Match": '"1"'}, json=patch)
    assert await visit() == 201
    assert settings.companies["acme"].version == 2


async def test_providers_are_the_agents_own_list(http: Http, admin: str, writers: WritersStandIn) -> None:
    status, body, _ = await http("GET", "/v2/llm/config/providers", token=admin)
    assert (status, writers.error) == (200, None)
    groq = body["providers"][0]
    assert (groq["id"], groq["configured"]) == ("groq", False)
    assert groq["models"][0] == {
        "id": "llama-3.3-70b-versatile",
        "aliases": [],
        "default": True,
        "params": "70B",
        "recommendedUse": None,
        "contextWindow": 131_072,
    }


SCOUT = "meta-llama/llama-4-scout-17b-16e-instruct"


@pytest.mark.usefixtures("writers")
@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"preferredModel": SCOUT}, 200),
        ({"preferredModel": "scout"}, 200),
        ({"preferredModel": "gpt-4o-mini"}, 422),
        ({"preferredProvider": None, "preferredModel": "gpt-4o-mini"}, 422),
        ({"preferredProvider": "compatible", "preferredModel": "own-tune"}, 200),
    ],
)
async def test_a_model_must_be_one_of_its_providers(
    http: Http, tokens: TokenMaker, admin: str, fields: dict[str, Any], status: int
) -> None:
    changed = await http("PATCH", ACME, token=admin, headers={"If-Match": "*"}, json=fields)
    fresh = tokens.user("root", "admin", company="fresh")
    body = {"companyId": "fresh", **{name: value for name, value in fields.items() if value is not None}}
    created = await http("POST", "/v2/llm/config", token=fresh, json=body)
    assert (changed[0], created[0]) == (status, 201 if status == 200 else status)
    for refused in (changed, created) if status == 422 else ():
        assert_problem(refused, 422, "BAD_FIELD")
        assert [error["field"] for error in refused[1]["errors"]] == ["preferredModel"]


async def test_settings_that_choose_no_model_need_no_agent(http: Http, admin: str, settings: SettingsStandIn) -> None:
    same = {"preferredModel": settings.companies["acme"].config.preferred_model}
    for fields in ({"aiAutoResponseEnabled": False}, {"preferredProvider": "openai"}, same, {"preferredModel": None}):
        assert (await http("PATCH", ACME, token=admin, headers={"If-Match": "*"}, json=fields))[0] == 200


async def test_without_memory_or_agents_it_is_unavailable(
    http: Http, admin: str, memory: MemoryStandIn, tokens: TokenMaker
) -> None:
    await memory.stop()
    for path in ("/v2/llm/config/providers", ACME):
        refused = await http("GET", path, token=admin)
        assert_problem(refused, 503, "UNAVAILABLE")
        assert refused[2]["retry-after"] == "2"


@pytest.mark.usefixtures("writers")
async def test_what_has_no_effect_comes_back_as_warnings_in_the_readers_language(
    http: Http, admin: str, tokens: TokenMaker
) -> None:
    patch: dict[str, object] = {"toolConfig": {"fetchPageEnabled": True}, "budget": {"whenSpent": "cheaper_model"}}
    patch |= {"preferredModel": "scout"}
    sent = {"If-Match": "*", "Accept-Language": "en-GB,en;q=0.8"}
    status, changed, _ = await http("PATCH", ACME, token=admin, headers=sent, json=patch)
    assert status == 200
    told = {one["field"]: one["message"] for one in changed["warnings"]}
    assert told["toolConfig.fetchPageEnabled"] == "No page can be read while allowedDomains is empty."
    assert told["preferredProvider"] == "groq has no key in this installation: the built-in assistant answers."
    assert "budget.whenSpent" in told
    spanish = (await http("GET", ACME, token=admin))[1]["warnings"]
    assert "No se puede leer ninguna página mientras allowedDomains esté vacío." in [one["message"] for one in spanish]
    # What was shown may be sent back as it is; it is not stored.
    status, again, _ = await http("PATCH", ACME, token=admin, headers=sent, json={"warnings": changed["warnings"]})
    assert (status, again["warnings"]) == (200, changed["warnings"])
    newco = tokens.user("root", "admin", company="newco")
    made = await http(
        "POST", "/v2/llm/config", token=newco, json={"companyId": "newco", "customSystemPrompt": " ", "warnings": []}
    )
    assert made[0] == 201
    assert "customSystemPrompt" in [one["field"] for one in made[1]["warnings"]]


@pytest.mark.usefixtures("writers")
async def test_null_means_no_hourly_limit_and_elsewhere_the_default(http: Http, admin: str) -> None:
    sent = {"If-Match": "*"}
    patch = {"budget": {"visitorHourlyTokens": None, "dailyTokens": 9}, "temperature": None}
    _, body, _ = await http("PATCH", ACME, token=admin, headers=sent, json=patch)
    assert (body["budget"]["visitorHourlyTokens"], body["budget"]["dailyTokens"], body["temperature"]) == (None, 9, 0.7)
    _, body, _ = await http("PATCH", ACME, token=admin, headers=sent, json={"budget": None})
    assert body["budget"]["visitorHourlyTokens"] == 50_000


@pytest.mark.usefixtures("writers")
async def test_settings_of_a_newer_release_are_shown_changed_and_kept(
    http: Http, admin: str, tokens: TokenMaker, settings: SettingsStandIn
) -> None:
    newer = {"companyId": "acme", "preferredProvider": "mistral", "newField": {"a": 1}, "budget": {"monthlyTokens": 9}}
    settings.companies["acme"] = CompanySettings(config=read_config(newer), version=1)
    status, body, _ = await http("GET", ACME, token=admin)
    assert (status, body["preferredProvider"], body["newField"]) == (200, "mistral", {"a": 1})
    sent = {"If-Match": "*"}
    status, body, _ = await http("PATCH", ACME, token=admin, headers=sent, json={"temperature": 0.2})
    assert (status, body["temperature"], body["newField"], body["budget"]["monthlyTokens"]) == (200, 0.2, {"a": 1}, 9)
    for wrong in ({"newField": 2}, {"nonsense": 1}, {"preferredProvider": "nobody"}):
        assert_problem(await http("PATCH", ACME, token=admin, headers=sent, json=wrong), 422, "BAD_FIELD")
    made = {"companyId": "newco", "preferredProvider": "mistral"}
    answer = await http("POST", "/v2/llm/config", token=tokens.user("root", "admin", company="newco"), json=made)
    assert_problem(answer, 422, "BAD_FIELD")
