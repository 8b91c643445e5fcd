"""Which settings have no effect."""

from typing import Any

import pytest

from contracts.agent_rpc import ModelView, ProvidersReply, ProviderView
from contracts.company import CompanyConfig
from contracts.tools_rpc import CatalogueTool
from gateway.domain.settings_warnings import setting_warnings

MODEL = "llama-3.3-70b-versatile"


def providers(*configured: str) -> ProvidersReply:
    return ProvidersReply(
        providers=[
            ProviderView(id="groq", configured="groq" in configured, models=[ModelView(id=MODEL)]),
            ProviderView(id="openai", configured="openai" in configured, models=[ModelView(id="gpt")]),
            ProviderView(id="compatible", configured="compatible" in configured, models=[]),
            ProviderView(id="offline", configured=True, models=[]),
        ]
    )


def tool(name: str, plan: str) -> CatalogueTool:
    return CatalogueTool(id=name, name=name, description="", category="market", required_plan=plan, parameters={})


TOOLS = [tool("get_price", "free"), tool("create_alert", "pro")]
SITE = ["https://shop.example"]


def fields(listed: ProvidersReply | None = None, **settings: Any) -> list[tuple[str, str]]:
    config = CompanyConfig.model_validate({"companyId": "acme", **settings})
    return [(warning.field, warning.text) for warning in setting_warnings(config, listed or providers("groq"), TOOLS)]


def test_settings_that_do_what_they_say_bring_no_warning() -> None:
    assert fields() == []
    reading = {"fetchPageEnabled": True, "allowedDomains": SITE, "allowedPaths": ["/help", "help/*"]}
    assert fields(toolConfig=reading | {"enabledTools": ["get_price"]}) == []
    assert fields(budget={"whenSpent": "cheaper_model", "cheaperModel": MODEL, "fallbackText": "later"}) == []
    assert fields(providers("openai"), preferredProvider="openai", preferredModel="gpt") == []
    assert fields(providers("compatible"), preferredProvider="compatible", preferredModel="anything") == []
    assert fields(providers(), preferredProvider="offline") == []


@pytest.mark.parametrize(
    ("settings", "field", "text"),
    [
        ({"customSystemPrompt": " \n"}, "customSystemPrompt", "emptyPrompt"),
        ({"customSystemPrompt": ""}, "customSystemPrompt", "emptyPrompt"),
        ({"aiRespondWithCommercial": True}, "aiRespondWithCommercial", "assistantOff"),
        ({"toolConfig": {"fetchPageEnabled": True}}, "toolConfig.fetchPageEnabled", "noDomains"),
        ({"toolConfig": {"allowedPaths": ["/a"]}}, "toolConfig.allowedPaths", "pathsUnread"),
        (
            {
                "toolConfig": {
                    "fetchPageEnabled": True,
                    "allowedDomains": SITE,
                    "allowedPaths": ["https://shop.example/a"],
                }
            },
            "toolConfig.allowedPaths",
            "pathMatchesNothing",
        ),
        (
            {"toolConfig": {"fetchPageEnabled": True, "allowedDomains": SITE, "allowedPaths": ["/help/../a"]}},
            "toolConfig.allowedPaths",
            "pathMatchesNothing",
        ),
        ({"toolConfig": {"cacheEnabled": False, "cacheTtlSeconds": 60}}, "toolConfig.cacheTtlSeconds", "cacheOff"),
        ({"toolConfig": {"enabledTools": ["no_such"]}}, "toolConfig.enabledTools", "unknownTool"),
        ({"toolConfig": {"enabledTools": ["create_alert"]}}, "toolConfig.enabledTools", "paidTool"),
        ({"toolConfig": {"enabledTools": ["fetch_page"]}}, "toolConfig.enabledTools", "ownSwitch"),
        ({"budget": {"whenSpent": "cheaper_model"}}, "budget.whenSpent", "noCheaperModel"),
        ({"budget": {"fallbackText": "later"}}, "budget.fallbackText", "textUnused"),
        ({"budget": {"whenSpent": "text", "visitorHourlyTokens": None}}, "budget.whenSpent", "neverSpent"),
        ({"budget": {"whenSpent": "cheaper_model", "cheaperModel": "x"}}, "budget.cheaperModel", "otherModel"),
        ({"identity": {"highestPlan": "pro"}}, "identity.highestPlan", "noKeys"),
        ({"preferredModel": "gpt"}, "preferredModel", "otherModel"),
        ({"preferredProvider": "openai", "preferredModel": "gpt"}, "preferredProvider", "notConfigured"),
        (
            {"webhooks": [{"url": "https://a.example/", "secret": "12345678", "goneAt": "2026-01-01T00:00:00Z"}]},
            "webhooks",
            "hookGone",
        ),
    ],
)
def test_what_has_no_effect_is_named_with_its_field(settings: dict[str, Any], field: str, text: str) -> None:
    assert fields(**settings) == [(field, text)]


def test_the_installations_own_server_answers_whatever_is_preferred() -> None:
    assert fields(providers("compatible"), preferredProvider="openai") == [("preferredProvider", "installationsServer")]


def test_without_any_key_the_built_in_assistant_is_said_to_answer() -> None:
    listed = providers()
    assert fields(listed, preferredProvider="openai", preferredModel="gpt") == [("preferredProvider", "onlyOffline")]


@pytest.mark.parametrize("configured", ["offline", "openai", "compatible"])
def test_the_default_model_that_nobody_chose_is_not_warned_of(configured: str) -> None:
    assert fields(providers(configured)) == []


def test_what_nobody_can_say_now_is_not_warned_of() -> None:
    config = CompanyConfig.model_validate(
        {"companyId": "acme", "preferredModel": "x", "toolConfig": {"enabledTools": ["no_such"]}}
    )
    assert setting_warnings(config, None, None) == []


def test_a_tool_of_a_category_that_is_switched_off_is_not_said_to_be_unknown() -> None:
    """The list that the executor gives lacks it, like a name that nobody has."""
    off = {"categories": {"customers": {"education": False}}, "enabledTools": ["explain_term"]}
    assert fields(toolConfig=off) == []
