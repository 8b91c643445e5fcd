"""Warns of settings that are accepted but have no effect. The texts are in the section `warnings` of site/words."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as made_by

from contracts.agent_rpc import ProvidersReply
from contracts.channel_rpc import ChannelProblem
from contracts.company import TRADING_CATEGORIES, Budget, Category, CompanyConfig, ToolConfig
from contracts.tools_rpc import CatalogueTool
from gateway.domain.model_choice import OPEN, is_known

OWN_SWITCH = "fetch_page"
"""The tool with a switch of its own."""
_CHOICES = ("preferred_provider", "preferred_model")


@dataclass(frozen=True, slots=True)
class Warned:
    """A field by its wire name; `text`: the key of the text, whose placeholders `values` fill."""

    field: str
    text: str
    values: dict[str, str] = made_by(default_factory=dict[str, str])


def without_effect(
    config: CompanyConfig,
    providers: ProvidersReply | None,
    tools: Sequence[CatalogueTool] | None,
    troubled: Sequence[ChannelProblem] = (),
) -> list[Warned]:
    """The settings that do nothing, or not what they say.

    Args:
        providers: from the agents; tools: all that exist; None: unknown now, so no warnings about them.
        troubled: channels that refuse us.
    """
    found = [*_answering(config), *_paging(config.tool_config), *_spending(config.budget), *_telling(config)]
    found += _speaking(config, troubled)
    if providers is not None:
        found += _modelling(config, providers)
    if not config.trades:
        found += _untraded(config.tool_config)
    if tools is not None:
        found += _offering(config, tools)
    return found


def _answering(config: CompanyConfig) -> Iterator[Warned]:
    if config.custom_system_prompt is not None and not config.custom_system_prompt.strip():
        yield Warned("customSystemPrompt", "emptyPrompt")
    if config.ai_respond_with_commercial and not config.ai_auto_response_enabled:
        yield Warned("aiRespondWithCommercial", "assistantOff")


def _paging(tools: ToolConfig) -> Iterator[Warned]:
    if tools.fetch_page_enabled and not tools.allowed_domains:
        yield Warned("toolConfig.fetchPageEnabled", "noDomains")
    if tools.allowed_paths and not (tools.fetch_page_enabled and tools.allowed_domains):
        yield Warned("toolConfig.allowedPaths", "pathsUnread")
    for path in tools.allowed_paths:
        if "://" in path or "#" in path or path.startswith("//") or {".", ".."} & set(path.split("/")):
            yield Warned("toolConfig.allowedPaths", "pathMatchesNothing", {"path": path})
    if tools.cache_ttl_seconds != ToolConfig.model_fields["cache_ttl_seconds"].default and not tools.cache_enabled:
        yield Warned("toolConfig.cacheTtlSeconds", "cacheOff")


def _spending(budget: Budget) -> Iterator[Warned]:
    if budget.when_spent == "cheaper_model" and not (budget.cheaper_model or "").strip():
        yield Warned("budget.whenSpent", "noCheaperModel")
    if budget.fallback_text and budget.when_spent == "handoff":
        yield Warned("budget.fallbackText", "textUnused")
    if budget.when_spent != "handoff" and budget.daily_tokens is None and budget.visitor_hourly_tokens is None:
        yield Warned("budget.whenSpent", "neverSpent")


def _telling(config: CompanyConfig) -> Iterator[Warned]:
    for hook in config.webhooks:
        if hook.gone_at is not None:
            yield Warned("webhooks", "hookGone", {"url": hook.url})
    if config.identity.highest_plan != "free" and not config.identity.keys:
        yield Warned("identity.highestPlan", "noKeys")


def _speaking(config: CompanyConfig, troubled: Sequence[ChannelProblem]) -> Iterator[Warned]:
    addresses = {channel.id: channel.address for channel in config.channels}
    for one in troubled:
        values = {"address": addresses.get(one.channel_id, one.channel_id)}
        if one.problem == "token":
            yield Warned("channels", "channelToken", values)
        else:
            yield Warned("channels", "channelUnreachable", values)


def _modelling(config: CompanyConfig, listed: ProvidersReply) -> Iterator[Warned]:
    """Warnings about models: the installation's own server answers for every company, or others stand in for an
    unconfigured provider. The default is not warned of: nobody chose it."""
    provider, model = config.preferred_provider, config.preferred_model
    configured = {view.id: view.label or view.id for view in listed.providers if view.configured}
    called = next((view.label or view.id for view in listed.providers if view.id == provider), provider)
    chosen = any(getattr(config, name) != CompanyConfig.model_fields[name].default for name in _CHOICES)
    if OPEN in configured:
        if config.own_model is not None:
            yield Warned("ownModel", "installationsServer", {"provider": config.own_model.model})
        elif provider != OPEN and chosen:
            yield Warned("preferredProvider", "installationsServer", {"provider": called})
        return
    if config.own_model is not None:
        return
    if provider not in configured and chosen:
        if others := ", ".join(label for name, label in configured.items() if name != "offline"):
            yield Warned("preferredProvider", "notConfigured", {"provider": called, "others": others})
        else:
            yield Warned("preferredProvider", "onlyOffline", {"provider": called})
    if provider != "offline" and chosen and not is_known(provider, model, listed):
        yield Warned("preferredModel", "otherModel", {"provider": called, "model": model})
    cheaper = config.budget.cheaper_model
    if cheaper and provider != "offline" and not is_known(provider, cheaper, listed):
        yield Warned("budget.cheaperModel", "otherModel", {"provider": called, "model": cheaper})


def _untraded(tools: ToolConfig) -> Iterator[Warned]:
    for category in _switched_on(tools.categories.visitors):
        yield Warned("toolConfig.categories.visitors", "categoryNotInProfile", {"category": category})
    for category in _switched_on(tools.categories.customers):
        yield Warned("toolConfig.categories.customers", "categoryNotInProfile", {"category": category})


def _switched_on(switches: Mapping[Category, bool]) -> list[str]:
    return sorted(TRADING_CATEGORIES & {name for name, on in switches.items() if on})


def _offering(config: CompanyConfig, known: Sequence[CatalogueTool]) -> Iterator[Warned]:
    """Warnings about tools. `known`: without trading, only those that such a company can have."""
    # What was declared just now an executor may not have heard of.
    plans = dict.fromkeys(config.own_tools.names, "free") | {tool.name: tool.required_plan for tool in known}
    taken = {tool.name for tool in known if tool.category != "own"}
    for name in config.own_tools.names:
        if name in taken:
            yield Warned("ownTools", "nameTaken", {"tool": name})
    for name in sorted(config.own_tools.waiting & set(config.tool_config.enabled_tools)):
        yield Warned("toolConfig.enabledTools", "needsYes", {"tool": name})
    for name in config.tool_config.enabled_tools:
        if name == OWN_SWITCH:
            yield Warned("toolConfig.enabledTools", "ownSwitch", {"tool": name})
        elif name not in plans:
            if config.trades:
                yield Warned("toolConfig.enabledTools", "unknownTool", {"tool": name})
            else:
                yield Warned("toolConfig.enabledTools", "notInProfile", {"tool": name})
        elif plans[name] != "free":
            yield Warned("toolConfig.enabledTools", "paidTool", {"tool": name, "plan": plans[name]})
