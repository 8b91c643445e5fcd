"""Models that companies configure for themselves; only the company's own turns use them.

Like the addresses of its tools, an address that a company names is reached only through the guarded client, so never
inside our own network. The address of a known provider, and any proxy for it, belong to the installation.
"""

from urllib.parse import urlsplit

import aiohttp

from agent.adapters.circuit_breaker import CircuitBreaker
from agent.adapters.model_router import ModelRouter, SingleModel, client_of
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

MAX_MODELS = 1_000
"""Companies' models that are kept, with the state of their circuit breakers."""
MAX_REQUEST_SECONDS = 600.0
"""Upper limit of one request in seconds; the caller's own limit is shorter."""
HEADERS = {"Accept-Encoding": "identity"}


class OwnModels:
    """Creates the companies' models, each once. `session`: for the providers' own addresses. `loopback`: whether a
    model may be on this machine, for development."""

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
        self._own_sessions = GuardedSessions(loopback=loopback, seconds=MAX_REQUEST_SECONDS, headers=HEADERS)
        self.close = self._own_sessions.close
        self._made = Bounded[tuple[str, bytes], CircuitBreaker](MAX_MODELS)

    def for_company(self, config: CompanyConfig) -> Models:
        """Returns the models of the company: its own model if it has one, then the installation's."""
        own_model = config.own_model
        if own_model is None:
            return self._models
        return CompanyModels(self._of(config.company_id, own_model), own_model.model, self._models)

    def _of(self, company: str, own_model: OwnModel) -> CircuitBreaker:
        key = company, own_model.to_json()
        model = self._made.get(key)
        if model is None:
            model = self._made[key] = CircuitBreaker(self._client(company, own_model))
        return model

    def _client(self, company: str, own_model: OwnModel) -> Model:
        provider = KEYED.get(own_model.provider, COMPATIBLE)
        try:
            api_key = None if own_model.key is None else self._seal.open(own_model.key, company)
        except NotSealableError:
            return _UnusableModel(
                own_model.provider, "the company's key cannot be read any more: give it again in the settings"
            )
        address = own_model.address or self._settings.provider_addresses.get(provider.name, provider.address)
        if not address:
            return _UnusableModel(own_model.provider, "the company's model has no address")
        session = (
            self._session
            if own_model.address is None
            else self._own_sessions.to(local=is_local(urlsplit(own_model.address)))
        )
        endpoint = ProviderEndpoint(provider.name, address, api_key, self._settings.silence(provider.name))
        return _GuardedModel(client_of(provider)(endpoint, session))


class CompanyModels(SingleModel):
    """ports.Models of one company that has a model of its own."""

    def __init__(self, own: CircuitBreaker, name: str, fallback: ModelRouter) -> None:
        super().__init__(own, name)
        self._own = own
        self._others = fallback

    def chosen(self, provider: str, model: str) -> ModelChoice:
        """Returns the company's own model, then the others except the offline provider, which cannot replace a
        model."""
        others = [
            candidate
            for candidate in self._others.chosen(provider, model).candidates
            if candidate[0].provider != "offline"
        ]
        # A model whose circuit is open comes last, as in ModelRouter.
        own, is_first = self._candidate, self._own.available()
        return ModelChoice((own, *others) if is_first else (*others, own))

    def cheaper(self, provider: str, model: str) -> ModelChoice:
        """Returns the named model of the same server."""
        return ModelChoice(((self._own, model),))


class _GuardedModel:
    """A client whose address may turn out not to be public."""

    def __init__(self, client: Model) -> None:
        self._client = client
        self.provider = client.provider

    async def reply(self, prompt: ModelRequest, sink: TextSink) -> ModelAnswer:
        try:
            return await self._client.reply(prompt, sink)
        except AddressNotAllowedError as error:
            raise ModelRefusedError("the company's model is at an address that is not public") from error


class _UnusableModel:
    """A model that refuses every call, because it cannot be used as it is configured."""

    def __init__(self, provider: str, reason: str) -> None:
        self.provider = provider
        self._why = reason

    async def reply(self, prompt: ModelRequest, sink: TextSink) -> ModelAnswer:
        raise ModelRefusedError(self._why)
