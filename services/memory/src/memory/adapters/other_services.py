"""Deletions in other services: the market-adapter (orders, alerts, watchlists), the executor (records, results)."""

import asyncio
from typing import TypeVar

from pydantic import BaseModel

from contracts import market_rpc, tools_rpc
from contracts.company_rpc import CompanyRequest
from contracts.market_rpc import ForgottenReply
from contracts.memory_rpc import UserRef
from contracts.rpc import Rpc
from memory.errors import ServiceUnavailableError
from runtime.calls.rpc import RpcClient
from runtime.errors import RpcError

RequestT = TypeVar("RequestT", bound=BaseModel)
DEADLINE = 8.0
"""Seconds for another service to delete a user's or company's data."""


class OtherServices:
    def __init__(self, rpc: RpcClient) -> None:
        self._rpc = rpc

    async def erase(self, company: str, user: str) -> tuple[dict[str, int], ServiceUnavailableError | None]:
        """Deletes the user's data there; how much, by service, and why some failed."""
        who = UserRef(company_id=company, user_id=user)
        return await self._told("a user", (market_rpc.USER_FORGET, tools_rpc.USER_FORGET), who)

    async def erase_company(self, company: str) -> dict[str, int]:
        """Raises ServiceUnavailableError."""
        who = CompanyRequest(company_id=company)
        deleted, failed = await self._told("a company", (market_rpc.COMPANY_FORGET, tools_rpc.COMPANY_FORGET), who)
        if failed is not None:
            raise failed
        return deleted

    async def _told(
        self, what: str, methods: tuple[Rpc[RequestT, ForgottenReply], ...], who: RequestT
    ) -> tuple[dict[str, int], ServiceUnavailableError | None]:
        # All are asked even if one fails: what can be deleted now is deleted.
        asked = (self._rpc.call(method, who, deadline=DEADLINE) for method in methods)
        outcomes = await asyncio.gather(*asked, return_exceptions=True)
        deleted: dict[str, int] = {}
        failed: ServiceUnavailableError | None = None
        for service, outcome in zip(("market-adapter", "tool-executor"), outcomes, strict=True):
            if isinstance(outcome, RpcError):
                failed = ServiceUnavailableError(f"{what} could not be deleted everywhere: {outcome}")
            elif isinstance(outcome, BaseException):
                raise outcome
            else:
                deleted[service] = outcome.deleted
        return deleted, failed
