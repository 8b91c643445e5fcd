"""Reads what companies' settings say about tools from the cache that all services share."""

import asyncio

from runtime.calls.deadlines import part_deadline
from runtime.companies import CompanyCache
from runtime.errors import RpcError
from tool_executor.domain.declaration import ToolUnavailableError
from tool_executor.domain.plans import CompanyTools

_DEADLINE = 2.0
"""Seconds to wait for settings that are not cached; within a request only a part of its caller's deadline."""


class ExecutorCompanies:
    def __init__(self, cache: CompanyCache) -> None:
        self._cache = cache

    async def tools_of(self, company: str) -> CompanyTools:
        """Returns what the company's settings say about tools; the defaults without settings. Raises
        ToolUnavailableError."""
        try:
            async with asyncio.timeout(part_deadline(_DEADLINE)):
                settings = await self._cache.get(company)
        except TimeoutError as error:
            raise ToolUnavailableError(f"the settings of {company} are not there yet") from error
        except RpcError as error:
            raise ToolUnavailableError(f"the settings of {company} cannot be read: {error}") from error
        return CompanyTools() if settings is None else CompanyTools(settings.config.tool_config, settings.config.trades)
