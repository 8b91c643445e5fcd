"""Merge patches on settings."""

from typing import Any

import pytest

from contracts.company import CompanyConfig, CompanySettings, Webhook
from memory.domain.company import HIDDEN, checked, patched, shown
from memory.errors import BadFieldsError

CONFIG = checked({"companyId": "acme", "temperature": 1.5, "toolConfig": {"maxIterations": 7, "cacheTtlSeconds": 5}})


def test_a_patch_changes_what_it_names_and_nothing_else() -> None:
    result = patched(CONFIG, {"toolConfig": {"maxIterations": 2}})
    assert (result.tool_config.max_iterations, result.tool_config.cache_ttl_seconds, result.temperature) == (2, 5, 1.5)


def test_null_sets_a_field_or_a_whole_part_back_to_its_default() -> None:
    assert patched(CONFIG, {"temperature": None}).temperature == 0.7
    assert patched(CONFIG, {"toolConfig": None}).tool_config == CompanyConfig(company_id="acme").tool_config


def test_null_is_no_hourly_limit_and_stays_so_through_what_is_stored() -> None:
    unlimited = patched(CONFIG, {"budget": {"visitorHourlyTokens": None}})
    assert unlimited.budget.visitor_hourly_tokens is None
    stored = CompanySettings.model_validate_json(CompanySettings(config=unlimited, version=2).to_json())
    assert patched(stored.config, {"budget": {"dailyTokens": 5}}).budget.visitor_hourly_tokens is None
    assert patched(unlimited, {"budget": None}).budget.visitor_hourly_tokens == 50_000


def test_lists_are_replaced_whole() -> None:
    first = patched(CONFIG, {"allowedOrigins": ["https://a.example", "https://b.example"]})
    assert patched(first, {"allowedOrigins": ["https://c.example"]}).allowed_origins == ["https://c.example"]


TAKES = {"inputSchema": {"type": "object"}}


@pytest.mark.parametrize(
    ("patch", "field"),
    [
        ({"responseDelayMs": 60_001}, "responseDelayMs"),
        ({"responseDelayMs": "soon"}, "responseDelayMs"),
        ({"responseDelayMs": "5"}, "responseDelayMs"),
        ({"maxResponseTokens": True}, "maxResponseTokens"),
        ({"aiAutoResponseEnabled": "yes"}, "aiAutoResponseEnabled"),
        ({"temperature": "1"}, "temperature"),
        ({"budget": {"dailyTokens": "5"}}, "budget.dailyTokens"),
        ({"maxResponseTokens": 0}, "maxResponseTokens"),
        ({"handoffTimeoutSeconds": 9}, "handoffTimeoutSeconds"),
        ({"toolConfig": {"cacheTtlSeconds": 86_401}}, "toolConfig.cacheTtlSeconds"),
        ({"toolConfig": 7}, "toolConfig"),
        ({"toolConfig": {"nope": 1}}, "toolConfig.nope"),
        ({"customSystemPrompt": "x" * 8001}, "customSystemPrompt"),
        ({"companyId": "rival"}, "companyId"),
        ({"companyId": None}, "companyId"),
        (
            {"ownTools": {"http": [{"name": "hand_off", "description": "x", "url": "https://a.example", **TAKES}]}},
            "ownTools",
        ),
    ],
)
def test_every_bound_is_kept_and_the_field_named(patch: dict[str, object], field: str) -> None:
    with pytest.raises(BadFieldsError) as refused:
        patched(CONFIG, patch)
    assert [bad.field for bad in refused.value.fields] == [field]


def test_secrets_are_never_shown_and_survive_being_sent_back_hidden() -> None:
    hook = Webhook(url="https://acme.example/hook", secret="very secret")
    settings = CompanySettings(config=CONFIG.model_copy(update={"webhooks": [hook]}), version=1)
    seen = shown(settings)
    assert b"very secret" not in seen.to_json()
    assert seen.config.webhooks[0].secret == HIDDEN
    sent_back = [seen.config.webhooks[0].model_dump(mode="json", by_alias=True)]
    with_hook = patched(CONFIG, {"webhooks": [{"url": hook.url, "secret": hook.secret}]})
    assert patched(with_hook, {"webhooks": sent_back}).webhooks[0].secret == "very secret"


ORDERS: dict[str, Any] = {
    "name": "order_status",
    "description": "Where an order is",
    "inputSchema": {"type": "object", "properties": {}},
    "url": "https://shop.example/orders",
    "headers": [{"name": "X-Key", "value": "s3cret"}],
}


def owning(**more: Any) -> dict[str, Any]:
    return {"companyId": "acme", "ownTools": {"http": [{**ORDERS, **more}]}}


def closed(secret: str, company: str) -> str:
    return f"sealed:1:{company}:{secret}"


def header(config: CompanyConfig) -> str:
    return config.own_tools.http[0].headers[0].value


def test_a_tools_secret_is_sealed_once_and_kept_when_it_is_sent_back_as_it_was_shown():
    first = checked(owning(), close=closed)
    assert header(first) == "sealed:1:acme:s3cret"
    assert header(shown(CompanySettings(config=first, version=1)).config) == "sealed:1:acme:s3cret"
    hidden = [{"name": "X-Key", "value": HIDDEN}]
    same = patched(first, {"ownTools": owning(headers=hidden, description="New")["ownTools"]}, closed)
    assert (header(same), same.own_tools.http[0].description) == ("sealed:1:acme:s3cret", "New")
    other = patched(same, {"ownTools": owning(headers=[{"name": "X-Key", "value": "n3w"}])["ownTools"]}, closed)
    assert header(other) == "sealed:1:acme:n3w"
    # What only looks sealed is a secret like any other.
    forged = [{"name": "X-Key", "value": "sealed:1:other:x"}]
    assert header(checked(owning(headers=forged), close=closed)) == "sealed:1:acme:sealed:1:other:x"


def test_a_secret_does_not_follow_a_tool_to_another_address_and_needs_a_key():
    first = checked(owning(), close=closed)
    moved = owning(url="https://evil.example/", headers=[{"name": "X-Key", "value": HIDDEN}])["ownTools"]
    with pytest.raises(BadFieldsError, match="give the secret again"):
        patched(first, {"ownTools": moved}, closed)
    with pytest.raises(BadFieldsError, match="NEXUS_SECRETS_KEY"):
        checked(owning())
