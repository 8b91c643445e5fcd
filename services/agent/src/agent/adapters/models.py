"""The configured providers, and which of them a company's turn tries, in which order."""

from collections.abc import Sequence

import aiohttp

from agent.adapters.anthropic import Anthropic
from agent.adapters.guarded import Guarded
from agent.adapters.offline import Offline
from agent.adapters.openai_compatible import Endpoint, OpenAICompatible
from agent.domain.providers import NAMED, OFFLINE, OFFLINE_MODEL, ModelInfo, ProviderInfo, default_model, model_at
from agent.ports import Model, ModelChoice
from agent.settings import ModelSettings

BASE_URLS = {
    "groq": "https://api.groq.com/openai/v1",
    "openai": "https://api.openai.com/v1",
    "anthropic": "https://api.anthropic.com/v1",
}


class ConfiguredModels:
    """`forced`: a server named in the environment, which serves every company. Offline answers when nothing else is."""

    def __init__(self, providers: dict[str, Guarded], order: Sequence[str], forced: tuple[Model, str] | None) -> None:
        self._providers = providers
        self._order = [name for name in order if name in providers]
        self._forced = forced
        self._offline = Offline()

    @property
    def names(self) -> list[str]:
        """The providers that can be used, for the log."""
        if self._forced is not None:
            return [self._forced[0].provider]
        return [*self._order] or ["offline"]

    def listed(self) -> list[tuple[ProviderInfo, bool]]:
        """Every provider and whether it is configured."""
        named = [(provider, provider.name in self._providers) for provider in NAMED]
        own: tuple[ModelInfo, ...] = ()
        if self._forced is not None:
            own = (ModelInfo(self._forced[1], None, "the installation's own server", None),)
        return [*named, (ProviderInfo("compatible", own), self._forced is not None), (OFFLINE, True)]

    def chosen(self, provider: str, model: str) -> ModelChoice:
        """What is tried for a company: the forced server, or its preferred provider and then the chain, or offline."""
        if self._forced is not None:
            return ModelChoice((self._forced,))
        offline = (self._offline, OFFLINE_MODEL)
        if provider == "offline":
            return ModelChoice((offline,))
        candidates: list[tuple[Guarded, str]] = []
        if provider in self._providers:
            candidates.append((self._providers[provider], model_at(provider, model)))
        candidates.extend((self._providers[name], default_model(name)) for name in self._order if name != provider)
        if not candidates:
            return ModelChoice((offline,))
        if len(candidates) > 1:
            # Whoever rests comes last: it is asked when nobody else answers.
            candidates.sort(key=lambda candidate: not candidate[0].available())
        return ModelChoice(tuple(candidates))

    def named(self, provider: str, model: str) -> tuple[tuple[str, str], ...]:
        """The names a company's callers may ask for: those of the provider that really serves it."""
        if self._forced is not None:
            return ((self._forced[0].provider, self._forced[1]),)
        name = provider if provider in self._providers else next(iter(self._order), "offline")
        if name == "offline" or provider == "offline":
            return (("offline", OFFLINE_MODEL),)
        known = [model.name for info in NAMED if info.name == name for model in info.models]
        return tuple((name, one) for one in dict.fromkeys([model_at(name, model), *known]))

    def only(self, provider: str, model: str) -> ModelChoice:
        """One of `named`."""
        if self._forced is not None:
            return ModelChoice((self._forced,))
        if provider == "offline":
            return ModelChoice(((self._offline, OFFLINE_MODEL),))
        return ModelChoice(((self._providers[provider], model),))

    def cheaper(self, provider: str, model: str) -> ModelChoice:
        """The cheaper model, at the forced server, or at the preferred provider, or at the first of the chain."""
        if self._forced is not None:
            return ModelChoice(((self._forced[0], model),))
        name = provider if provider in self._providers else next(iter(self._order), "offline")
        if name == "offline" or provider == "offline":
            return ModelChoice(((self._offline, OFFLINE_MODEL),))
        return ModelChoice(((self._providers[name], model_at(name, model)),))


def configured(settings: ModelSettings, session: aiohttp.ClientSession, silence: float) -> ConfiguredModels:
    """The providers that the environment has keys or a base URL for."""
    keys = {
        "groq": settings.groq_api_key,
        "openai": settings.openai_api_key,
        "anthropic": settings.anthropic_api_key,
    }
    bases = {
        "groq": settings.groq_base_url,
        "openai": settings.openai_base_url,
        "anthropic": settings.anthropic_base_url,
    }
    providers: dict[str, Guarded] = {}
    for name, key in keys.items():
        if key is not None:
            limit = settings.limits.get(name, silence)
            endpoint = Endpoint(name, bases[name] or BASE_URLS[name], key.get_secret_value(), limit)
            speaks = Anthropic if name == "anthropic" else OpenAICompatible
            providers[name] = Guarded(speaks(endpoint, session))
    forced: tuple[Model, str] | None = None
    if settings.base_url:
        key = settings.api_key.get_secret_value() if settings.api_key else None
        endpoint = Endpoint("compatible", settings.base_url, key, settings.limits.get("compatible", silence))
        forced = (Guarded(OpenAICompatible(endpoint, session)), settings.model or "default")
    return ConfiguredModels(providers, settings.order, forced)
