"""A company's own tools over HTTP: kept with secrets that nobody is shown, and tried before they are saved."""

from typing import Any

import pytest
from nats.aio.client import Client

from contracts.company import CompanySettings, read_config
from contracts.sealed import HIDDEN
from gateway.testing.http import Http, assert_problem
from gateway.testing.services import SettingsStandIn, WritersStandIn
from gateway.testing.tokens import TokenMaker

TOOL: dict[str, Any] = {
    "name": "order_status",
    "description": "Where an order is",
    "inputSchema": {"type": "object", "properties": {"order": {"type": "string"}}, "required": ["order"]},
    "url": "https://shop.example/orders/{order}",
    "headers": [{"name": "X-Key", "value": HIDDEN}],
}
SEALED = "sealed:1:abc"
pytestmark = pytest.mark.usefixtures("memory", "no_tools", "knowledge")


@pytest.fixture
def admin(tokens: TokenMaker) -> str:
    return tokens.user("root", "admin")


@pytest.fixture
def kept(settings: SettingsStandIn) -> SettingsStandIn:
    """Settings with a sealed secret, as memory tells them."""
    tool = {**TOOL, "headers": [{"name": "X-Key", "value": SEALED}]}
    raw = {"companyId": "acme", "ownTools": {"http": [tool]}}
    settings.companies["acme"] = CompanySettings(config=read_config(raw), version=3)
    return settings


async def test_a_secret_is_never_shown_and_what_was_shown_can_be_tried(
    http: Http, admin: str, kept: SettingsStandIn, writers: WritersStandIn, nats_client: Client
) -> None:
    for path in ("/v2/llm/config/acme", "/v2/companies/acme"):
        _, body, _ = await http("GET", path, token=admin)
        shown = body.get("settings", body)
        assert shown["ownTools"]["http"][0]["headers"] == [{"name": "X-Key", "value": HIDDEN}]
        assert SEALED not in str(body)
    asked: dict[str, Any] = {"tool": "order_status", "arguments": {"order": "7"}}
    status, result, _ = await http("POST", "/v2/companies/acme/tool-check", token=admin, json=asked)
    assert (status, result["data"]) == (200, {"result": {"user": "root", "headers": [SEALED], "order": "7"}})
    # Sent back as it was shown it is the same secret; under another address it is none.
    for url, header in ((TOOL["url"], SEALED), ("https://evil.example/{order}", HIDDEN)):
        unsaved = {"ownTools": {"http": [{**TOOL, "url": url}]}}
        _, result, _ = await http(
            "POST", "/v2/companies/acme/tool-check", token=admin, json={**asked, "settings": unsaved}
        )
        assert result["data"]["result"]["headers"] == [header]


async def test_what_an_mcp_server_has_is_listed_or_it_is_said_why_not(
    http: Http, admin: str, kept: SettingsStandIn, writers: WritersStandIn
) -> None:
    status, body, _ = await http("POST", "/v2/companies/acme/mcp-tools", token=admin, json={"server": "crm"})
    assert (status, [tool["name"] for tool in body["tools"]]) == (200, ["find"])
    refused = await http("POST", "/v2/companies/acme/mcp-tools", token=admin, json={"server": "none"})
    assert_problem(refused, 422, "BAD_FIELD")
    wrong = {"server": "crm", "settings": {"ownTools": {"mcp": [{"name": "crm", "url": "http://shop.example"}]}}}
    assert_problem(await http("POST", "/v2/companies/acme/mcp-tools", token=admin, json=wrong), 422, "BAD_FIELD")


async def test_a_model_of_the_companys_own_is_tried_hidden_and_said_to_answer(
    http: Http, admin: str, settings: SettingsStandIn, writers: WritersStandIn, nats_client: Client
) -> None:
    own = {"address": "https://models.example/v1", "model": "house-1", "key": SEALED}
    raw = {"companyId": "acme", "ownModel": own}
    settings.companies["acme"] = CompanySettings(config=read_config(raw), version=3)
    _, shown, _ = await http("GET", "/v2/llm/config/acme", token=admin)
    assert shown["ownModel"]["key"] == HIDDEN
    assert shown["answering"] == {"provider": "compatible", "model": "house-1", "why": "own"}
    status, tried, _ = await http("POST", "/v2/companies/acme/model-check", token=admin, json={})
    assert (status, tried["model"], tried["text"]) == (200, "house-1", SEALED)
    moved = {"ownModel": {**own, "address": "https://evil.example/v1", "key": HIDDEN}}
    _, tried, _ = await http("POST", "/v2/companies/acme/model-check", token=admin, json={"settings": moved})
    assert tried["text"] == HIDDEN
    wrong = {"settings": {"ownModel": {"address": "http://models.example"}}}
    assert_problem(await http("POST", "/v2/companies/acme/model-check", token=admin, json=wrong), 422, "BAD_FIELD")
    # What GET shows can be sent back.
    shown.pop("version", None)
    sent = {"temperature": 0.2, "answering": shown["answering"], "warnings": shown["warnings"]}
    status, _, _ = await http("PATCH", "/v2/llm/config/acme", token=admin, json=sent, headers={"If-Match": "*"})
    assert status == 200


@pytest.mark.usefixtures("kept", "writers")
async def test_a_schema_that_is_none_is_refused_before_it_is_saved(http: Http, admin: str) -> None:
    bad = {
        **TOOL,
        "url": "https://shop.example/x",
        "inputSchema": {"type": "object", "properties": {"a": {"pattern": "(("}}},
    }
    chosen = {"name": "find", "description": "x", "inputSchema": {"type": "object", "required": "a"}}
    own = {"http": [TOOL, bad], "mcp": [{"name": "agenda", "url": "https://mcp.example", "tools": [chosen]}]}
    answer = await http("PATCH", "/v2/companies/acme", token=admin, json={"ownTools": own}, headers={"If-Match": "*"})
    assert_problem(answer, 422, "BAD_FIELD")
    fields = [one["field"] for one in answer[1]["errors"]]
    assert fields == ["ownTools.http.1.inputSchema", "ownTools.mcp.0.tools.0.inputSchema"]
