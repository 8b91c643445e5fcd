"""POST /dev/tokens: the demo's people, for this machine's own pages and in development alone."""

from collections.abc import AsyncIterator

import aiohttp
import jwt
import pytest

from gateway.adapters.identity import IdentityKeys
from gateway.adapters.personas import DemoPersonas
from gateway.testing import run_gateway
from gateway.testing_http import Http, assert_problem
from runtime.clock import SystemClock
from runtime.settings import TokenSettings
from runtime.testing import NatsServer

pytestmark = pytest.mark.usefixtures("memory")


@pytest.fixture
async def development(nats_server: NatsServer, identity: IdentityKeys, keys: TokenSettings) -> AsyncIterator[Http]:
    """A gateway as `nexus up` starts it."""
    personas = DemoPersonas(keys, SystemClock())
    async with run_gateway(nats_server.url, identity, personas=personas) as gateway, aiohttp.ClientSession() as session:
        yield Http(gateway.url, session)


@pytest.mark.parametrize(
    ("persona", "role", "plan"),
    [("free", "user", "free"), ("premium", "user", "premium"), ("admin", "admin", "free")],
)
async def test_a_page_of_this_machine_signs_in_as_one_of_the_demos_people(
    development: Http, persona: str, role: str, plan: str
) -> None:
    status, body, _ = await development("POST", "/dev/tokens", json={"persona": persona})
    claims = jwt.decode(body["token"], options={"verify_signature": False})
    assert (status, body["userId"]) == (201, f"demo-{persona}")
    assert (claims["sub"], claims["role"], claims["plan"], claims["company"]) == (body["userId"], role, plan, "demo")


async def test_a_page_from_elsewhere_signs_in_as_nobody(development: Http) -> None:
    for headers in ({"Origin": "https://evil.example"}, {"Origin": "null"}, {"Host": "rebound.example"}):
        answer = await development("POST", "/dev/tokens", json={"persona": "admin"}, headers=headers)
        assert_problem(answer, 403, "FORBIDDEN")
        assert "access-control-allow-origin" not in answer[2]


async def test_there_are_no_other_people(development: Http) -> None:
    assert_problem(await development("POST", "/dev/tokens", json={"persona": "root"}), 404, "NOT_FOUND")


async def test_outside_of_development_there_are_none(http: Http) -> None:
    assert_problem(await http("POST", "/dev/tokens", json={"persona": "admin"}), 404, "NOT_FOUND")
