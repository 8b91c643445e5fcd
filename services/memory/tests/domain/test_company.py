"""Merge patches on settings."""

import pytest

from contracts.company import CompanyConfig, CompanySettings, Webhook
from memory.domain.company import HIDDEN, BadSettingsError, checked, patched, shown

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
    ],
)
def test_every_bound_is_kept_and_the_field_named(patch: dict[str, object], field: str) -> None:
    with pytest.raises(BadSettingsError) as refused:
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
