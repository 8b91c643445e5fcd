"""The companies' settings."""

from agent.errors import UnreachableError
from contracts.company import CompanySettings
from runtime.companies import CompanyCache
from runtime.errors import RpcError


class AgentCompanies:
    """The shared cache of settings (runtime.companies), with this service's error."""

    def __init__(self, cache: CompanyCache) -> None:
        self._cache = cache

    async def get(self, company: str) -> CompanySettings | None:
        """Returns the current settings; None if there is no such company. Raises UnreachableError."""
        try:
            return await self._cache.get(company)
        except RpcError as error:
            raise UnreachableError(f"the settings of {company} cannot be read: {error}") from error
