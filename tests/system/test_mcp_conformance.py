"""The public conformance suite, each revision on its own wire: the product's /mcp, and the layer that serves it.

The product offers tools and nothing else, so that most scenarios find nothing to call there. They are run against a
gateway whose MCP layer is the product's and whose offer is the suite's.
"""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from nats.aio.client import Client
from pydantic import SecretStr

from gateway.adapters.identity import build_identity
from gateway.testing.harness import GatewayUnderTest, MemoryStandIn, run_gateway
from gateway.testing.tokens import TokenMaker
from runtime.clock import SystemClock
from runtime.settings import TokenSettings
from runtime.testing.servers import NatsServer
from tests.support.mcp_suite.offer import build
from tests.support.mcp_suite.suite import Outcome, run_suite
from tests.support.running_stack import RunningStack

KEYS = TokenSettings(
    jwt_secret=SecretStr("a secret of these tests alone, 0123456789"),
    principal_key=SecretStr("another secret of these tests, 0123456789"),
)
HANDSHAKE, STATELESS = "2025-11-25", "2026-07-28"

PASSED_BY_THE_PRODUCT = {
    HANDSHAKE: {
        "server-initialize",
        "server-session-lifecycle",
        "server-sse-multiple-streams",
        "ping",
        "tools-list",
        "resources-list",
        "dns-rebinding-protection",
    },
    STATELESS: {
        "tools-list",
        "resources-list",
        "sep-2164-resource-not-found",
        "dns-rebinding-protection",
        "http-header-validation",
        "server-sse-multiple-streams",
        "input-required-result-unsupported-methods",
        "input-required-result-validate-input",
        "tasks-status-notifications",
    },
}
"""All others call a tool, a prompt or a resource of the suite's own, or tools of its own that are tasks."""
NEEDS_ITS_TOOLS = {
    "server-stateless": {
        "sep-2575-server-rejects-undeclared-capability",
        "sep-2575-missing-capability-http-400",
        "sep-2575-http-server-no-independent-requests-on-stream",
        "sep-2575-server-no-log-without-loglevel",
    },
    "caching": {"sep-2549-prompts-list-caching-hints"},
}
"""Of these the product passes every other check."""

EXPECTED_OF_THE_LAYER = {
    HANDSHAKE: {
        "server-sse-polling": "streams cannot be taken up again: a call is made again, with its idempotency key",
    },
    STATELESS: dict[str, str](),
}
"""What is known not to pass, and why. Whatever else fails, or begins to pass, fails the test."""


@pytest.fixture
async def diagnostic(nats_server: NatsServer, nats_client: Client) -> AsyncIterator[GatewayUnderTest]:
    """A gateway whose /mcp offers what the suite's scenarios call."""
    memory = MemoryStandIn(nats_client)
    memory.add_company("demo")
    await memory.start()
    identity = build_identity(KEYS, 3600, SystemClock())
    async with run_gateway(nats_server.url, identity, mcp_server=lambda: build) as gateway:
        yield gateway
    await memory.stop()


@pytest.mark.parametrize("revision", [HANDSHAKE, STATELESS])
async def test_the_product_passes_what_applies_to_it(stack: RunningStack, tmp_path: Path, revision: str) -> None:
    token = stack.mint("user", "mcp-conformance", plan="pro")
    outcomes = await run_suite(stack.url, token, tmp_path, "--requirements", revision)
    passed = {name for name, outcome in outcomes.items() if not outcome.wrong}
    assert passed == PASSED_BY_THE_PRODUCT[revision], _told(outcomes, PASSED_BY_THE_PRODUCT[revision] ^ passed)
    for name in NEEDS_ITS_TOOLS.keys() & outcomes.keys():
        assert set(outcomes[name].wrong) == NEEDS_ITS_TOOLS[name], _told(outcomes, {name})


@pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")
@pytest.mark.parametrize("revision", [HANDSHAKE, STATELESS])
async def test_the_layer_passes_all_but_what_is_listed(
    diagnostic: GatewayUnderTest, tmp_path: Path, revision: str
) -> None:
    token = TokenMaker(KEYS).user("mcp-conformance", company="demo")
    outcomes = await run_suite(diagnostic.url, token, tmp_path, "--requirements", revision)
    wrong = {name for name, outcome in outcomes.items() if outcome.wrong}
    expected = EXPECTED_OF_THE_LAYER[revision]
    assert wrong == expected.keys(), _told(outcomes, wrong ^ expected.keys())


def _told(outcomes: dict[str, Outcome], names: set[str]) -> str:
    """What the suite says of these scenarios."""
    return "\n".join(f"{name}: {outcomes[name].wrong or 'passes'}" for name in sorted(names & outcomes.keys()))
