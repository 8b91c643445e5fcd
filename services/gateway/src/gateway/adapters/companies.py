"""Companies' settings, from memory and the bus."""

import asyncio
from contextlib import suppress

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
from contracts.languages import DEFAULT_LANGUAGE, MAX_CHARS_READ, Language, detected_language, named_language
from gateway.adapters.service_calls import ask, gateway_error
from gateway.errors import UnavailableError
from runtime.calls.rpc import RpcClient
from runtime.companies import CompanyCache
from runtime.errors import RpcError

SAVE_SECONDS = 10.0
"""Deadline of a change; memory stores and publishes it before it answers."""
DELETE_SECONDS = 25.0
"""Deadline of deleting a company with all its data."""
LANGUAGE_SECONDS = 0.5
"""Seconds to wait for a company's settings when nothing else says which language to use."""


class BusCompanies:
    """Reads settings through a cache (runtime's CompanyCache), and changes them through memory."""

    def __init__(self, client: RpcClient, cache: CompanyCache) -> None:
        self._client = client
        self._cache = cache

    async def get(self, company: str) -> CompanySettings | None:
        """The settings; None if there is no such company. Raises UnavailableError."""
        try:
            return await self._cache.get(company)
        except RpcError as error:
            raise gateway_error(COMPANY_GET, error) from error

    async def missing_company(self, company: str) -> bool:
        """Whether there is no such company. If memory does not answer, the company is assumed to exist: a signed token
        names it, and clients that were connected should be able to reconnect."""
        try:
            return await self._cache.get(company) is None
        except RpcError:
            return False

    async def trades(self, company: str) -> bool:
        """Whether the company has the market: orders and analyses. Raises UnavailableError."""
        settings = await self.get(company)
        return settings is None or settings.config.trades

    def cached(self, company: str) -> CompanySettings | None:
        """The cached settings, without a call; None if there are none in the cache."""
        return self._cache.cached(company)

    async def language_for(self, company: str, tags: str | None, text: str = "") -> Language:
        """The language in which to answer somebody: the one that `tags` name (Accept-Language, a locale), else the one
        of their `text`, else the company's (docs/decisions/0137)."""
        language = named_language(tags) or detected_language(text[:MAX_CHARS_READ])
        settings = self.cached(company)
        if settings is None and language is None:
            with suppress(UnavailableError, TimeoutError):
                async with asyncio.timeout(LANGUAGE_SECONDS):
                    settings = await self.get(company)
        return settings.config.answer_language(language) if settings is not None else language or DEFAULT_LANGUAGE

    async def console_language(self, company: str, tags: str | None) -> Language:
        """The language in which to answer the company's team: the one that `tags` name, else the company's."""
        return named_language(tags) or await self.language_for(company, None)

    async def latest_settings(self, company: str) -> CompanySettings | None:
        """The settings, read from memory instead of the cache; None if there is no such company."""
        try:
            return await self._cache.latest_settings(company)
        except RpcError as error:
            raise gateway_error(COMPANY_GET, error) from error

    async def create(self, config: JsonObject) -> CompanySettings:
        """Creates a company with these settings (camelCase); raises RefusedError (BAD_FIELD with fields, CONFLICT)."""
        saved = await ask(self._client, COMPANY_CREATE, CompanyCreateRequest(config=config), deadline=SAVE_SECONDS)
        self._cache.learn(saved.settings)
        return saved.settings

    async def patch(self, company: str, version: int, patch: JsonObject) -> CompanySettings:
        """Applies a merge patch to `version`; raises RefusedError (BAD_FIELD with fields, NOT_FOUND,
        PRECONDITION_FAILED)."""
        request = CompanyPatchRequest(company_id=company, version=version, patch=patch)
        saved = await ask(self._client, COMPANY_PATCH, request, deadline=SAVE_SECONDS)
        self._cache.learn(saved.settings)
        return saved.settings

    async def page(self, after: str, limit: int) -> CompaniesReply:
        """A page of the companies whose ids follow `after`, in order of their ids."""
        return await ask(self._client, COMPANY_LIST, CompaniesRequest(after=after, limit=limit))

    async def delete(self, company: str) -> CompanyDeleted:
        """Deletes a company with all its data, and returns what was deleted."""
        return await ask(self._client, COMPANY_DELETE, CompanyRequest(company_id=company), deadline=DELETE_SECONDS)
