"""Checks the services from outside: does each one serve its methods, and what do /readyz and the model say?"""

from __future__ import annotations

import asyncio
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
from nexus_cli.doctor.diagnosis import Diagnosis, fine, wrong
from nexus_cli.doctor.stores import Tell
from runtime.bus.replies import ReplyInbox
from runtime.calls.rpc import RpcClient
from runtime.errors import RpcError

ANSWER = 2.0
NOBODY, NO_ANSWER = "nobody serves its methods", "does not answer"
MODEL = 6.0
"""Seconds for a short answer of the model."""
KNOWN_BY: Mapping[str, Method] = {
    "agent": PROVIDERS,
    "tool-executor": CATALOGUE,
    "memory": COMPANY_GET,
    "market-adapter": MARKET_QUOTES,
    "gateway": CLIENT_ANSWER,
}
"""A method that each one serves. It is asked with an empty request, which it refuses: any answer will do."""


async def present(client: Client) -> list[Diagnosis]:
    """Whether each service is on the bus: gone, or there and silent."""
    return list(await asyncio.gather(*(_present(client, name, method) for name, method in KNOWN_BY.items())))


async def _present(client: Client, name: str, method: Method) -> Diagnosis:
    try:
        await ReplyInbox.of(client).request(method.subject, b"{}", deadline=ANSWER)
    except NoRespondersError:
        return wrong(name, f"{NOBODY}: it is not running, or not on this bus", f"start {name}; {_LOG}")
    except (TimeoutError, NatsError):
        # A gateway answers only for the request that it has open.
        if name == "gateway":
            return fine(name, "is on the bus")
        return wrong(name, f"is on the bus and answers nothing within {ANSWER:g} s: it stands still", f"restart {name}")
    return fine(name, "answers")


_LOG = "its log says why it ended"


async def pending(client: Client) -> list[Diagnosis]:
    """The migrations that an upgrade has left to do; none if memory does not answer, which is reported elsewhere."""
    try:
        found = await RpcClient(client).call(MIGRATIONS, MigrationsRequest(), deadline=ANSWER)
    except RpcError:
        return []
    return [
        Diagnosis("store", "note", f"{one.left} documents wait for {one.name}: {one.what}", "run nexus migrate")
        for one in found.migrations
        if one.left
    ]


async def ready(services: Mapping[str, Sequence[str]], tell: Tell) -> list[Diagnosis]:
    """Returns each service's answers at /healthz and /readyz, and its clock."""
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=ANSWER + 2)) as http:
        looks = [_ready(http, name, url, tell) for name, urls in services.items() for url in urls]
        return list(await asyncio.gather(*looks))


async def _ready(http: aiohttp.ClientSession, name: str, url: str, tell: Tell) -> Diagnosis:
    try:
        async with http.get(f"{url}/healthz") as answer:
            health = await answer.json()
            if "time" in health:
                tell(f"{name} ({url})", health["time"] - time.time())
        async with http.get(f"{url}/readyz") as answer:
            report, status = await answer.json(), answer.status
    except TimeoutError:
        return wrong(name, f"{url} gives no answer within {ANSWER + 2:g} s: it stands still", f"restart {name}")
    except (aiohttp.ClientError, OSError, ValueError) as error:
        return wrong(name, f"{url} {NO_ANSWER}: {error}", f"start {name}; {_LOG}")
    if health.get("stuck"):
        return wrong(name, f"{url} is stuck: {health['stuck']}", f"restart {name}: it cannot go on by itself")
    if health.get("status") == "frozen":
        return wrong(name, f"{url} stands still", f"restart {name}")
    failed = {check: said.get("error") for check, said in report.get("checks", {}).items() if not said.get("ok")}
    if failed:
        text = "; ".join(f"{check}: {why}" for check, why in failed.items())
        return wrong(name, f"{url} is not ready: {text}", "mend what it names; it goes on by itself")
    if status != 200:
        return wrong(name, f"{url} is {report.get('status')}", "wait a moment: it starts or ends")
    return fine(name, f"ready on {url}")


async def model(client: Client, company: str) -> list[Diagnosis]:
    """Lets the agent ask the company's model for a word, as for a human agent: it costs some fifty tokens."""
    request = ImproveRequest(company_id=company, text="ok", locale="en")
    try:
        reply = await RpcClient(client).call(IMPROVE, request, deadline=MODEL)
    except RpcError as error:
        return [_no_model(error, company)]
    return [fine("model", f"{reply.model} answers")]


def _no_model(error: RpcError, company: str) -> Diagnosis:
    text = str(error)
    if error.code == ErrorCode.NOT_FOUND:
        return Diagnosis("model", "note", f"there is no company {company} to ask for", "name one: --company")
    if error.code == ErrorCode.RATE_LIMITED:
        return wrong("model", f"the budget of {company} is spent: {text}", "raise its budget, or wait for the next day")
    if error.code == ErrorCode.TIMEOUT:
        advice = "is its server reachable from the agent? Look at its status page; a second one: NEXUS_LLM_CHAIN"
        return wrong("model", f"it is silent: no answer within {MODEL:g} s", advice)
    if any(word in text for word in ("401", "403", "API key", "api key", "Unauthorized", "unauthorized")):
        return wrong("model", f"its key is refused: {text}", "set the right key (NEXUS_LLM_API_KEY, GROQ_API_KEY …)")
    advice = "is its address right, its server up? A second one to turn to: NEXUS_LLM_CHAIN"
    return wrong("model", text, advice)
