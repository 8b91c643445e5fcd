"""The configured providers, and the order in which a company's turn tries them."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib import import_module

import aiohttp
from pydantic import SecretStr

from agent.adapters.circuit_breaker import CircuitBreaker
from agent.adapters.offline import Offline
from agent.adapters.provider_client import ProviderEndpoint
from agent.domain.providers import default_model, model_at
from agent.ports import Model, ModelChoice, Models
from agent.settings import ModelSettings
from contracts.company import CompanyConfig
from contracts.providers import COMPATIBLE, KEYED, OFFLINE, OFFLINE_MODEL, PROVIDERS, ModelInfo, ProviderInfo


class ModelRouter:
    """`forced`: a server named in the environment, which serves every company. The offline provider answers if nothing
    else is configured."""

    def __init__(
        self, providers: dict[str, CircuitBreaker], order: Sequence[str], forced: tuple[Model, str] | None
    ) -> None:
        self.own: Callable[[CompanyConfig], Models] | None = None
        """Returns the models of a company that has a model of its own; None if companies may not have one."""
        self._providers = providers
        self._order = [name for name in order if name in providers]
        self._forced = forced
        self._offline = Offline()

    @property
    def names(self) -> list[str]:
        """The names of the usable providers, for the log."""
        if self._forced is not None:
            return [self._forced[0].provider]
        return [*self._order] or ["offline"]

    def for_company(self, config: CompanyConfig) -> Models:
        """Returns these models preceded by the company's own one; the forced server takes precedence over it."""
        if self._forced is not None or self.own is None or config.own_model is None:
            return self
        return self.own(config)

    def listed(self) -> list[tuple[ProviderInfo, bool]]:
        configured = {*self._providers, OFFLINE.name}
        own_server = COMPATIBLE
        if self._forced is not None:
            own_server = replace(COMPATIBLE, models=(ModelInfo(self._forced[1], "the installation's own server"),))
            configured.add(own_server.name)
        return [
            (own_server if provider is COMPATIBLE else provider, provider.name in configured) for provider in PROVIDERS
        ]

    def chosen(self, provider: str, model: str) -> ModelChoice:
        """Returns the models to try for a company: the forced server; or its preferred provider and then the chain; or
        the offline provider."""
        if self._forced is not None:
            return ModelChoice((self._forced,))
        if self._serving(provider) == "offline":
            return ModelChoice(((self._offline, OFFLINE_MODEL),))
        candidates = [(self._providers[name], default_model(name)) for name in self._order if name != provider]
        if provider in self._providers:
            candidates.insert(0, (self._providers[provider], model_at(provider, model)))
        if len(candidates) > 1:
            # Providers whose circuit is open come last: they are tried only if no other one answers.
            candidates.sort(key=lambda candidate: not candidate[0].available())
        return ModelChoice(tuple(candidates))

    def named(self, provider: str, model: str) -> tuple[tuple[str, str], ...]:
        """Returns the models that a company's callers may ask for: those of the provider that really serves it."""
        if self._forced is not None:
            return ((self._forced[0].provider, self._forced[1]),)
        name = self._serving(provider)
        if name == "offline":
            return (("offline", OFFLINE_MODEL),)
        known = [model.name for model in KEYED[name].models]
        return tuple((name, model_name) for model_name in dict.fromkeys([model_at(name, model), *known]))

    def only(self, provider: str, model: str) -> ModelChoice:
        """Returns only this model, one of `named`."""
        if self._forced is not None:
            return ModelChoice((self._forced,))
        if provider == "offline":
            return ModelChoice(((self._offline, OFFLINE_MODEL),))
        return ModelChoice(((self._providers[provider], model),))

    def cheaper(self, provider: str, model: str) -> ModelChoice:
        """Returns the cheaper model at the forced server, the preferred provider, or the first one of the chain."""
        if self._forced is not None:
            return ModelChoice(((self._forced[0], model),))
        name = self._serving(provider)
        return self.only(name, model_at(name, model))

    def _serving(self, provider: str) -> str:
        """Returns the preferred provider or, if it is not configured, the first of the chain; the offline one if there
        is none."""
        if provider == "offline" or provider in self._providers:
            return provider
        return next(iter(self._order), "offline")


class SingleModel:
    """A ports.Models with a single model and no fallback."""

    def __init__(self, model: Model, name: str) -> None:
        self._candidate = (model, name)

    def for_company(self, config: CompanyConfig) -> Models:
        return self

    def named(self, provider: str, model: str) -> tuple[tuple[str, str], ...]:
        return ((self._candidate[0].provider, self._candidate[1]),)

    def only(self, provider: str, model: str) -> ModelChoice:
        return ModelChoice((self._candidate,))

    def chosen(self, provider: str, model: str) -> ModelChoice:
        return self.only(provider, model)

    def cheaper(self, provider: str, model: str) -> ModelChoice:
        return self.only(provider, model)


def configured_router(settings: ModelSettings, session: aiohttp.ClientSession) -> ModelRouter:
    """Returns the router of the providers for which the environment has keys or a base URL."""

    def with_circuit_breaker(provider: ProviderInfo, address: str, key: SecretStr | None) -> CircuitBreaker:
        api_key = None if key is None else key.get_secret_value()
        endpoint = ProviderEndpoint(provider.name, address, api_key, settings.silence(provider.name))
        return CircuitBreaker(client_of(provider)(endpoint, session))

    providers = {
        name: with_circuit_breaker(
            provider, settings.provider_addresses.get(name, provider.address), settings.provider_keys[name]
        )
        for name, provider in KEYED.items()
        if name in settings.provider_keys
    }
    forced: tuple[Model, str] | None = None
    if settings.base_url:
        forced = (with_circuit_breaker(COMPATIBLE, settings.base_url, settings.api_key), settings.model or "default")
    return ModelRouter(providers, settings.order, forced)


def client_of(provider: ProviderInfo) -> Callable[[ProviderEndpoint, aiohttp.ClientSession], Model]:
    """Returns the client class for the provider's API: CLIENT in the module that its row names."""
    return import_module(f".{provider.client}", __package__).CLIENT
