"""Checks the services from outside: does each one serve its methods, and what do /readyz and the model say?"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Mapping, Sequence

import aiohttp
from nats.aio.client import Client
from nats.errors import Error as NatsError
from nats.errors import NoRespondersError

from contracts.agent_rpc import IMPROVE, PROVIDERS, ImproveRequest
from contracts.company_rpc import COMPANY_GET
from contracts.errors import ErrorCode
from contracts.market_rpc import MARKET_QUOTES
from contracts.mcp_rpc import CLIENT_ANSWER
from contracts.migration_rpc import MIGRATIONS, MigrationsRequest
from contracts.rpc import Method
from contracts.tools_rpc import CATALOGUE
from nexus_cli.doctor.diagnosis import Diagnosis, fine, note, wrong
from nexus_cli.doctor.stores import ReportClock
from runtime.bus.replies import ReplyInbox
from runtime.calls.rpc import RpcClient
from runtime.errors import RpcError

ANSWER_SECONDS = 2.0
NOT_ON_BUS, NO_ANSWER = "nobody serves its methods", "does not answer"
MODEL_SECONDS = 6.0
"""Seconds in which the model must give a short answer."""
OTHER_KEY_ADVICE = "give it and the gateways the same NEXUS_PRINCIPAL_KEY; if they have, somebody else signs principals"
_CUT_SHORT = re.compile(r'^nexus_stream_cut_short\{stream="(\w+)"\} 1\.0$', re.MULTILINE)
_CUT_SHORT_ADVICE = "restart memory, which sets the age; if it stays: raise NEXUS_STREAMS_SIZES={stream}=…"
PROBE_METHODS: Mapping[str, Method] = {
    "agent": PROVIDERS,
    "tool-executor": CATALOGUE,
    "memory": COMPANY_GET,
    "market-adapter": MARKET_QUOTES,
    "gateway": CLIENT_ANSWER,
}
"""A method of each service. It is called with an empty request, which the service refuses: any answer proves that it
runs."""


async def present(client: Client) -> list[Diagnosis]:
    """Checks whether each service is on the bus and answers."""
    return list(await asyncio.gather(*(_present(client, name, method) for name, method in PROBE_METHODS.items())))


async def _present(client: Client, name: str, method: Method) -> Diagnosis:
    try:
        await ReplyInbox.of(client).request(method.subject, b"{}", deadline=ANSWER_SECONDS)
    except NoRespondersError:
        return wrong(name, f"{NOT_ON_BUS}: it is not running, or not on this bus", f"start {name}; {_LOG}")
    except (TimeoutError, NatsError):
        # A gateway answers only the call whose request it has open.
        if name == "gateway":
            return fine(name, "is on the bus")
        return wrong(
            name, f"is on the bus and answers nothing within {ANSWER_SECONDS:g} s: it stands still", f"restart {name}"
        )
    return fine(name, "answers")


_LOG = "its log says why it ended"


async def pending(client: Client) -> list[Diagnosis]:
    """Notes about unfinished migrations. Empty if memory does not answer, which is reported elsewhere."""
    try:
        status = await RpcClient(client).call(MIGRATIONS, MigrationsRequest(), deadline=ANSWER_SECONDS)
    except RpcError:
        return []
    return [
        note("store", f"{migration.left} documents wait for {migration.name}: {migration.what}", "run nexus migrate")
        for migration in status.migrations
        if migration.left
    ]


async def ready(services: Mapping[str, Sequence[str]], tell: ReportClock) -> list[Diagnosis]:
    """Checks each service at /healthz and /readyz, and passes its clock to `tell`."""
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=ANSWER_SECONDS + 2)) as http:
        checks = [_ready(http, name, url, tell) for name, urls in services.items() for url in urls]
        found, kept = await asyncio.gather(
            asyncio.gather(*checks), asyncio.gather(*(_kept(http, url) for url in services.get("memory", ())))
        )
        return [*found, *{finding.subject: finding for findings in kept for finding in findings}.values()]


async def _kept(http: aiohttp.ClientSession, url: str) -> list[Diagnosis]:
    """Notes about streams that keep messages for less time than promised. Memory alone knows its settings, and tells
    the outcome as a metric. Empty if it does not answer, which is reported elsewhere."""
    try:
        async with http.get(f"{url}/metrics") as response:
            streams = _CUT_SHORT.findall(await response.text())
    except (TimeoutError, aiohttp.ClientError, OSError, ValueError):
        return []
    text = "keeps messages for less time than promised: somebody has lowered its age, or it is too small"
    return [note(f"stream {stream}", text, _CUT_SHORT_ADVICE.format(stream=stream)) for stream in streams]


async def _ready(http: aiohttp.ClientSession, name: str, url: str, tell: ReportClock) -> Diagnosis:
    try:
        async with http.get(f"{url}/healthz") as response:
            health = await response.json()
            if "time" in health:
                tell(f"{name} ({url})", health["time"] - time.time())
        async with http.get(f"{url}/readyz") as response:
            report, status = await response.json(), response.status
    except TimeoutError:
        return wrong(name, f"{url} gives no answer within {ANSWER_SECONDS + 2:g} s: it stands still", f"restart {name}")
    except (aiohttp.ClientError, OSError, ValueError) as error:
        return wrong(name, f"{url} {NO_ANSWER}: {error}", f"start {name}; {_LOG}")
    if health.get("stuck"):
        return wrong(name, f"{url} is stuck: {health['stuck']}", f"restart {name}: it cannot go on by itself")
    if health.get("status") == "frozen":
        return wrong(name, f"{url} stands still", f"restart {name}")
    failed = {check: result.get("error") for check, result in report.get("checks", {}).items() if not result.get("ok")}
    if failed:
        text = "; ".join(f"{check}: {message}" for check, message in failed.items())
        return wrong(name, f"{url} is not ready: {text}", "mend what it names; it goes on by itself")
    if remark := report.get("checks", {}).get("principals", {}).get("remark"):
        return wrong(name, f"{url} refuses calls: {remark}", OTHER_KEY_ADVICE)
    if remark := report.get("checks", {}).get("files", {}).get("remark"):
        return wrong(
            "files", f"{url}: {remark}", "has the place that NEXUS_FILES_URL names room, and may it be written?"
        )
    if status != 200:
        return wrong(name, f"{url} is {report.get('status')}", "wait a moment: it starts or ends")
    return fine(name, f"ready on {url}")


async def model(client: Client, company: str) -> list[Diagnosis]:
    """Checks the company's model by a call that improves a draft of one word; it costs about fifty tokens."""
    request = ImproveRequest(company_id=company, text="ok", locale="en")
    try:
        reply = await RpcClient(client).call(IMPROVE, request, deadline=MODEL_SECONDS)
    except RpcError as error:
        return [_no_model(error, company)]
    return [fine("model", f"{reply.model} answers")]


def _no_model(error: RpcError, company: str) -> Diagnosis:
    text = str(error)
    if error.code == ErrorCode.NOT_FOUND:
        return note("model", f"there is no company {company} to ask for", "name one: --company")
    if error.code == ErrorCode.RATE_LIMITED:
        return wrong("model", f"the budget of {company} is spent: {text}", "raise its budget, or wait for the next day")
    if error.code == ErrorCode.TIMEOUT:
        advice = "is its server reachable from the agent? Look at its status page; a second one: NEXUS_LLM_CHAIN"
        return wrong("model", f"it is silent: no answer within {MODEL_SECONDS:g} s", advice)
    if any(word in text for word in ("401", "403", "API key", "api key", "Unauthorized", "unauthorized")):
        return wrong("model", f"its key is refused: {text}", "set the right key (NEXUS_LLM_API_KEY, GROQ_API_KEY …)")
    advice = "is its address right, its server up? A second one to turn to: NEXUS_LLM_CHAIN"
    return wrong("model", text, advice)
