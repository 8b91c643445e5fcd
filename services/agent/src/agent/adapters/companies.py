"""The companies' settings."""

from agent.errors import UnreachableError
from contracts.company import CompanySettings
from runtime.companies import CompanyCache
from runtime.errors import RpcError


class AgentCompanies:
    """The cache that all services share, with this one's error."""

    def __init__(self, cache: CompanyCache) -> None:
        self._cache = cache

    async def get(self, company: str) -> CompanySettings | None:
        """The settings now; None: no such company. Raises UnreachableError."""
        try:
            return await self._cache.get(company)
        except RpcError as error:
            raise UnreachableError(f"the settings of {company} cannot be had: {error}") from error
