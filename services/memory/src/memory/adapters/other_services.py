"""Deletes data in other services: market-adapter (orders, alerts, watchlists) and tool-executor (records, results)."""

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
CALL_TIMEOUT_SECONDS = 8.0
"""Deadline for another service to delete a user's or company's data."""


class OtherServices:
    def __init__(self, rpc: RpcClient) -> None:
        self._rpc = rpc

    async def erase(self, company: str, user: str) -> tuple[dict[str, int], ServiceUnavailableError | None]:
        """Deletes the user's data there; returns how much, by service, and the error if a service failed."""
        user_ref = UserRef(company_id=company, user_id=user)
        return await self._call_all("a user", (market_rpc.USER_FORGET, tools_rpc.USER_FORGET), user_ref)

    async def erase_company(self, company: str) -> dict[str, int]:
        """Deletes the company's data there; returns how much, by service. Raises ServiceUnavailableError."""
        request = CompanyRequest(company_id=company)
        deleted, failed = await self._call_all(
            "a company", (market_rpc.COMPANY_FORGET, tools_rpc.COMPANY_FORGET), request
        )
        if failed is not None:
            raise failed
        return deleted

    async def _call_all(
        self, subject: str, methods: tuple[Rpc[RequestT, ForgottenReply], ...], request: RequestT
    ) -> tuple[dict[str, int], ServiceUnavailableError | None]:
        # All services are called even if one fails: what can be deleted now is deleted.
        calls = (self._rpc.call(method, request, deadline=CALL_TIMEOUT_SECONDS) for method in methods)
        outcomes = await asyncio.gather(*calls, return_exceptions=True)
        deleted: dict[str, int] = {}
        failed: ServiceUnavailableError | None = None
        for service, outcome in zip(("market-adapter", "tool-executor"), outcomes, strict=True):
            if isinstance(outcome, RpcError):
                failed = ServiceUnavailableError(f"{subject} could not be deleted everywhere: {outcome}")
            elif isinstance(outcome, BaseException):
                raise outcome
            else:
                deleted[service] = outcome.deleted
        return deleted, failed
