"""POST /dev/tokens: the demo's people, for this machine's own pages and in development alone."""

from collections.abc import AsyncIterator

import aiohttp
import jwt
import pytest

from gateway.adapters.identity import IdentityKeys
from gateway.adapters.personas import DemoPersonas
from gateway.testing.harness import run_gateway
from gateway.testing.http import Http, assert_problem
from runtime.clock import SystemClock
from runtime.settings import TokenSettings
from runtime.testing.servers import NatsServer

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


FOREIGN_HOSTS = (
    "127.0.0.1.evil.example",
    "localhost.evil.example",
    "evil.example:8080",
    "127.1",
    "2130706433",
    "0.0.0.0",
    "[::ffff:127.0.0.1]",
    "localhost.",
    "127.0.0.1@evil.example",
    "",
)
FOREIGN_ORIGINS = (
    "https://127.0.0.1",
    "http://127.0.0.1",
    "http://localhost.evil.example",
    "http://evil.example@127.0.0.1",
    "file://",
    "chrome-extension://abcdefgh",
    "http://[::1]",
)


async def test_no_spelling_of_a_host_or_an_origin_lets_a_foreign_page_sign_in(development: Http) -> None:
    for headers in (*({"Host": one} for one in FOREIGN_HOSTS), *({"Origin": one} for one in FOREIGN_ORIGINS)):
        status, _, told = await development("POST", "/dev/tokens", json={"persona": "admin"}, headers=headers)
        assert status in (400, 403), headers
        assert "access-control-allow-origin" not in {name.lower() for name in told}, headers


async def test_what_a_form_of_a_foreign_page_can_send_without_asking_signs_nobody_in(development: Http) -> None:
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"):
        status, _, _ = await development(
            "POST", "/dev/tokens", data=b'{"persona": "admin"}', headers={"Content-Type": kind}
        )
        assert status in (400, 415, 422), kind
    status, _, told = await development("OPTIONS", "/dev/tokens", headers={"Origin": "https://evil.example"})
    assert (status in (403, 404, 405), "access-control-allow-origin" in {name.lower() for name in told}) == (
        True,
        False,
    )


async def test_there_are_no_other_people(development: Http) -> None:
    assert_problem(await development("POST", "/dev/tokens", json={"persona": "root"}), 404, "NOT_FOUND")


async def test_outside_of_development_there_are_none(http: Http) -> None:
    assert_problem(await http("POST", "/dev/tokens", json={"persona": "admin"}), 404, "NOT_FOUND")
