"""Models that companies configure for themselves; only the company's own turns use them.

Addresses that a company names are reached only through the guarded client, like those of its tools, so never inside our
own network. The address of a known provider belongs to the installation, with the proxy that is configured for it.
"""

from urllib.parse import urlsplit

import aiohttp

from agent.adapters.circuit_breaker import CircuitBreaker
from agent.adapters.model_router import ModelRouter, client_of
from agent.adapters.provider_client import ProviderEndpoint
from agent.domain.turn.journal import ModelAnswer
from agent.errors import ModelRefusedError
from agent.ports import Model, ModelChoice, ModelRequest, Models, TextSink
from agent.settings import ModelSettings
from contracts.company import CompanyConfig
from contracts.own_model import OwnModel
from contracts.own_tools import is_local
from contracts.providers import COMPATIBLE, KEYED
from runtime.auth.seal import NotSealableError, Seal
from runtime.http.guarded_http import AddressNotAllowedError, GuardedSessions
from runtime.recent import Bounded

KEPT = 1_000
"""Companies' models with what is known of their health."""
LONGEST = 600.0
"""Seconds of one request at most; the caller's own limit is shorter."""
HEADERS = {"Accept-Encoding": "identity"}


class OwnModels:
    """Makes companies' models, each once. `session`: for providers' own addresses; `loopback`: development, where a
    model may be on this machine."""

    def __init__(
        self,
        models: ModelRouter,
        settings: ModelSettings,
        session: aiohttp.ClientSession,
        seal: Seal,
        *,
        loopback: bool = False,
    ) -> None:
        self._models = models
        self._settings = settings
        self._session = session
        self._seal = seal
        self._own = GuardedSessions(loopback=loopback, seconds=LONGEST, headers=HEADERS)
        self.close = self._own.close
        self._made = Bounded[tuple[str, bytes], CircuitBreaker](KEPT)

    def for_company(self, config: CompanyConfig) -> Models:
        """The company's own model, and behind it the others."""
        own = config.own_model
        if own is None:
            return self._models
        return CompanyModels(self._of(config.company_id, own), own.model, self._models)

    def _of(self, company: str, own: OwnModel) -> CircuitBreaker:
        key = company, own.to_json()
        made = self._made.get(key)
        if made is None:
            made = self._made[key] = CircuitBreaker(self._client(company, own))
        return made

    def _client(self, company: str, own: OwnModel) -> Model:
        provider = KEYED.get(own.provider, COMPATIBLE)
        try:
            secret = None if own.key is None else self._seal.open(own.key, company)
        except NotSealableError:
            return _Refusing(own.provider, "the company's key cannot be read any more: give it again in the settings")
        address = own.address or self._settings.provider_addresses.get(provider.name, provider.address)
        if not address:
            return _Refusing(own.provider, "the company's model has no address")
        session = self._session if own.address is None else self._own.to(local=is_local(urlsplit(own.address)))
        endpoint = ProviderEndpoint(provider.name, address, secret, self._settings.silence(provider.name))
        return _Reached(client_of(provider)(endpoint, session))


class CompanyModels:
    """ports.Models of one company that has a model of its own."""

    def __init__(self, own: CircuitBreaker, name: str, others: ModelRouter) -> None:
        self._own = own
        self._name = name
        self._others = others

    def for_company(self, config: CompanyConfig) -> Models:
        del config
        return self

    def named(self, provider: str, model: str) -> tuple[tuple[str, str], ...]:
        del provider, model
        return ((self._own.provider, self._name),)

    def only(self, provider: str, model: str) -> ModelChoice:
        del provider, model
        return ModelChoice(((self._own, self._name),))

    def chosen(self, provider: str, model: str) -> ModelChoice:
        """The company's own model first, then the others, but not the offline provider: rules do not replace a
        model."""
        others = [one for one in self._others.chosen(provider, model).candidates if one[0].provider != "offline"]
        own = [(self._own, self._name)]
        # Whoever rests comes last, as with all others.
        return ModelChoice(tuple(own + others if self._own.available() else others + own))

    def cheaper(self, provider: str, model: str) -> ModelChoice:
        """Another model of the same server."""
        del provider
        return ModelChoice(((self._own, model),))


class _Reached:
    """A client whose address may turn out to be forbidden."""

    def __init__(self, client: Model) -> None:
        self._client = client
        self.provider = client.provider

    async def reply(self, prompt: ModelRequest, sink: TextSink) -> ModelAnswer:
        try:
            return await self._client.reply(prompt, sink)
        except AddressNotAllowedError as error:
            raise ModelRefusedError("the company's model is at an address that is not public") from error


class _Refusing:
    """A model that cannot be asked."""

    def __init__(self, provider: str, why: str) -> None:
        self.provider = provider
        self._why = why

    async def reply(self, prompt: ModelRequest, sink: TextSink) -> ModelAnswer:
        del prompt, sink
        raise ModelRefusedError(self._why)
