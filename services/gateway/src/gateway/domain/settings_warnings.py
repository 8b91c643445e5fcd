"""Warnings about settings that are accepted but have no effect. Their texts: the section `warnings` of site/words."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as dataclass_field

from contracts.agent_rpc import ProvidersReply
from contracts.channel_rpc import ChannelProblem
from contracts.company import TRADING_CATEGORIES, Budget, Category, CompanyConfig, ToolConfig
from contracts.tools_rpc import CatalogueTool
from gateway.domain.model_choice import COMPATIBLE, has_model

SEPARATELY_SWITCHED_TOOL = "fetch_page"
"""The tool that has a switch of its own (`fetchPageEnabled`)."""
_MODEL_FIELDS = ("preferred_provider", "preferred_model")


@dataclass(frozen=True, slots=True)
class SettingWarning:
    """A warning about a field (its name on the wire). `text`: the key of the text, whose placeholders `values` fill."""

    field: str
    text: str
    values: dict[str, str] = dataclass_field(default_factory=dict[str, str])


def setting_warnings(
    config: CompanyConfig,
    providers: ProvidersReply | None,
    tools: Sequence[CatalogueTool] | None,
    channel_problems: Sequence[ChannelProblem] = (),
) -> list[SettingWarning]:
    """Warnings about settings that do nothing, or not what their names say.

    Args:
        providers: the agents' list; None if unknown now: then there are no warnings about models.
        tools: all tools that exist; None if unknown now: then there are no warnings about tools.
        channel_problems: the channels that refuse our calls.
    """
    warnings = [
        *_assistant_warnings(config),
        *_page_warnings(config.tool_config),
        *_budget_warnings(config.budget),
        *_webhook_and_identity_warnings(config),
    ]
    warnings += _channel_warnings(config, channel_problems)
    if providers is not None:
        warnings += _model_warnings(config, providers)
    if not config.trades:
        warnings += _category_warnings(config.tool_config)
    if tools is not None:
        warnings += _tool_warnings(config, tools)
    return warnings


def _assistant_warnings(config: CompanyConfig) -> Iterator[SettingWarning]:
    if config.custom_system_prompt is not None and not config.custom_system_prompt.strip():
        yield SettingWarning("customSystemPrompt", "emptyPrompt")
    if config.ai_respond_with_commercial and not config.ai_auto_response_enabled:
        yield SettingWarning("aiRespondWithCommercial", "assistantOff")


def _page_warnings(tools: ToolConfig) -> Iterator[SettingWarning]:
    if tools.fetch_page_enabled and not tools.allowed_domains:
        yield SettingWarning("toolConfig.fetchPageEnabled", "noDomains")
    if tools.allowed_paths and not (tools.fetch_page_enabled and tools.allowed_domains):
        yield SettingWarning("toolConfig.allowedPaths", "pathsUnread")
    for path in tools.allowed_paths:
        if "://" in path or "#" in path or path.startswith("//") or {".", ".."} & set(path.split("/")):
            yield SettingWarning("toolConfig.allowedPaths", "pathMatchesNothing", {"path": path})
    if tools.cache_ttl_seconds != ToolConfig.model_fields["cache_ttl_seconds"].default and not tools.cache_enabled:
        yield SettingWarning("toolConfig.cacheTtlSeconds", "cacheOff")


def _budget_warnings(budget: Budget) -> Iterator[SettingWarning]:
    if budget.when_spent == "cheaper_model" and not (budget.cheaper_model or "").strip():
        yield SettingWarning("budget.whenSpent", "noCheaperModel")
    if budget.fallback_text and budget.when_spent == "handoff":
        yield SettingWarning("budget.fallbackText", "textUnused")
    if budget.when_spent != "handoff" and budget.daily_tokens is None and budget.visitor_hourly_tokens is None:
        yield SettingWarning("budget.whenSpent", "neverSpent")


def _webhook_and_identity_warnings(config: CompanyConfig) -> Iterator[SettingWarning]:
    for hook in config.webhooks:
        if hook.gone_at is not None:
            yield SettingWarning("webhooks", "hookGone", {"url": hook.url})
    if config.identity.highest_plan != "free" and not config.identity.keys:
        yield SettingWarning("identity.highestPlan", "noKeys")


def _channel_warnings(config: CompanyConfig, problems: Sequence[ChannelProblem]) -> Iterator[SettingWarning]:
    addresses = {channel.id: channel.address for channel in config.channels}
    for problem in problems:
        values = {"address": addresses.get(problem.channel_id, problem.channel_id)}
        if problem.problem == "token":
            yield SettingWarning("channels", "channelToken", values)
        else:
            yield SettingWarning("channels", "channelUnreachable", values)


def _model_warnings(config: CompanyConfig, providers: ProvidersReply) -> Iterator[SettingWarning]:
    """Warnings about models: the installation's own server answers for every company, or others stand in for an
    unconfigured provider. There are none about the defaults, which nobody chose."""
    provider, model = config.preferred_provider, config.preferred_model
    configured = {view.id: view.label or view.id for view in providers.providers if view.configured}
    provider_label = next((view.label or view.id for view in providers.providers if view.id == provider), provider)
    is_chosen = any(getattr(config, name) != CompanyConfig.model_fields[name].default for name in _MODEL_FIELDS)
    if COMPATIBLE in configured:
        if config.own_model is not None:
            yield SettingWarning("ownModel", "installationsServer", {"provider": config.own_model.model})
        elif provider != COMPATIBLE and is_chosen:
            yield SettingWarning("preferredProvider", "installationsServer", {"provider": provider_label})
        return
    if config.own_model is not None:
        return
    if provider not in configured and is_chosen:
        if others := ", ".join(label for name, label in configured.items() if name != "offline"):
            yield SettingWarning("preferredProvider", "notConfigured", {"provider": provider_label, "others": others})
        else:
            yield SettingWarning("preferredProvider", "onlyOffline", {"provider": provider_label})
    if provider != "offline" and is_chosen and not has_model(provider, model, providers):
        yield SettingWarning("preferredModel", "otherModel", {"provider": provider_label, "model": model})
    cheaper = config.budget.cheaper_model
    if cheaper and provider != "offline" and not has_model(provider, cheaper, providers):
        yield SettingWarning("budget.cheaperModel", "otherModel", {"provider": provider_label, "model": cheaper})


def _category_warnings(tools: ToolConfig) -> Iterator[SettingWarning]:
    for category in _switched_on_trading(tools.categories.visitors):
        yield SettingWarning("toolConfig.categories.visitors", "categoryNotInProfile", {"category": category})
    for category in _switched_on_trading(tools.categories.customers):
        yield SettingWarning("toolConfig.categories.customers", "categoryNotInProfile", {"category": category})


def _switched_on_trading(switches: Mapping[Category, bool]) -> list[str]:
    return sorted(TRADING_CATEGORIES & {name for name, on in switches.items() if on})


def _tool_warnings(config: CompanyConfig, tools: Sequence[CatalogueTool]) -> Iterator[SettingWarning]:
    """Warnings about tools. `tools`: for a company without trading, only those that it can have."""
    # An executor may not know yet what was declared just now.
    plans = dict.fromkeys(config.own_tools.names, "free") | {tool.name: tool.required_plan for tool in tools}
    reserved_names = {tool.name for tool in tools if tool.category != "own"}
    for name in config.own_tools.names:
        if name in reserved_names:
            yield SettingWarning("ownTools", "nameTaken", {"tool": name})
    for name in sorted(config.own_tools.waiting & set(config.tool_config.enabled_tools)):
        yield SettingWarning("toolConfig.enabledTools", "needsYes", {"tool": name})
    for name in config.tool_config.enabled_tools:
        if name == SEPARATELY_SWITCHED_TOOL:
            yield SettingWarning("toolConfig.enabledTools", "ownSwitch", {"tool": name})
        elif name not in plans:
            if config.trades:
                # The list of tools lacks those of a category that is switched off.
                if False not in config.tool_config.categories.customers.values():
                    yield SettingWarning("toolConfig.enabledTools", "unknownTool", {"tool": name})
            else:
                yield SettingWarning("toolConfig.enabledTools", "notInProfile", {"tool": name})
        elif plans[name] != "free":
            yield SettingWarning("toolConfig.enabledTools", "paidTool", {"tool": name, "plan": plans[name]})
