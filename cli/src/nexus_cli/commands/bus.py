"""Connects commands to the bus of their stack."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from nexus_cli.commands.failures import fail
from nexus_cli.texts import TEXTS

if TYPE_CHECKING:
    from nats.aio.client import Client

    from runtime.calls.rpc import RpcClient

T = TypeVar("T")


def on_bus(data: Path, work: Callable[[Client], Awaitable[T]]) -> T:
    """Connects to the bus and runs the work. An error ends the command with one line."""
    from contracts.errors import ErrorCode
    from nexus_cli.target import bus, find_addresses
    from runtime.errors import RpcError

    async def connected() -> T:
        async with bus(find_addresses(data).nats) as client:
            return await work(client)

    try:
        return asyncio.run(connected())
    except RpcError as error:
        may_recover = error.code in (ErrorCode.TIMEOUT, ErrorCode.UNAVAILABLE)
        fail(f"{error}; if that lasts, `nexus doctor --live` says what is wrong" if may_recover else error)
    except TimeoutError as error:
        fail(str(error) or "the bus did not answer in time")


async def check_exists(rpc: RpcClient, company: str, locale: str) -> None:
    """Ends the command if there is no such company, since an empty result would look like a company without data."""
    from contracts.company_rpc import COMPANY_GET, CompanyRequest

    if (await rpc.call(COMPANY_GET, CompanyRequest(company_id=company), deadline=10)).settings is None:
        fail(TEXTS["company.unknown"].in_language(locale).format(company=company))


def with_rpc(data: Path, work: Callable[[RpcClient], Awaitable[None]]) -> None:
    """Like `on_bus`, for work that calls services."""
    from runtime.calls.rpc import RpcClient

    on_bus(data, lambda client: work(RpcClient(client)))
