"""Companies' settings, as memory and the bus tell them."""

from contracts.company import CompanySettings
from contracts.company_rpc import (
    COMPANY_CREATE,
    COMPANY_DELETE,
    COMPANY_GET,
    COMPANY_LIST,
    COMPANY_PATCH,
    CompaniesReply,
    CompaniesRequest,
    CompanyCreateRequest,
    CompanyDeleted,
    CompanyPatchRequest,
    CompanyRequest,
)
from contracts.json_values import JsonObject
from gateway.adapters.service_calls import ask, meaning
from runtime.companies import CompanyCache
from runtime.errors import RpcError
from runtime.rpc import RpcClient

SAVE_SECONDS = 10.0
"""For a change: memory stores it and tells it before it answers."""
DELETE_SECONDS = 25.0
"""For all that there is of a company."""


class BusCompanies:
    """The cache that all services share, and changes by way of memory."""

    def __init__(self, client: RpcClient, cache: CompanyCache) -> None:
        self._client = client
        self._cache = cache

    async def get(self, company: str) -> CompanySettings | None:
        """The settings; None when there is no such company. Raises Unavailable."""
        try:
            return await self._cache.get(company)
        except RpcError as error:
            raise meaning(COMPANY_GET, error) from error

    async def lack(self, company: str) -> bool:
        """Whether there is no such company; where nobody can tell, there is one: a token that was signed names it, and
        who is in already should be able to come back."""
        try:
            return await self._cache.get(company) is None
        except RpcError:
            return False

    def held(self, company: str) -> CompanySettings | None:
        """What is known of them at this moment, without asking anybody."""
        return self._cache.held(company)

    async def newest(self, company: str) -> CompanySettings | None:
        """The settings as they are now, not from a cache; None when there are none."""
        try:
            return await self._cache.newest(company)
        except RpcError as error:
            raise meaning(COMPANY_GET, error) from error

    async def create(self, config: JsonObject) -> CompanySettings:
        """A company's first settings (camelCase); raises Refused: BAD_FIELD with fields, CONFLICT."""
        saved = await ask(self._client, COMPANY_CREATE, CompanyCreateRequest(config=config), deadline=SAVE_SECONDS)
        self._cache.learn(saved.settings)
        return saved.settings

    async def patch(self, company: str, version: int, patch: JsonObject) -> CompanySettings:
        """After a merge patch on `version`; raises Refused: BAD_FIELD with fields, NOT_FOUND, PRECONDITION_FAILED."""
        request = CompanyPatchRequest(company_id=company, version=version, patch=patch)
        saved = await ask(self._client, COMPANY_PATCH, request, deadline=SAVE_SECONDS)
        self._cache.learn(saved.settings)
        return saved.settings

    async def page(self, after: str, limit: int) -> CompaniesReply:
        """The companies behind `after`, in the order of their ids."""
        return await ask(self._client, COMPANY_LIST, CompaniesRequest(after=after, limit=limit))

    async def delete(self, company: str) -> CompanyDeleted:
        """Deletes a company and all that there is of it, and says what that was."""
        return await ask(self._client, COMPANY_DELETE, CompanyRequest(company_id=company), deadline=DELETE_SECONDS)
