"""Whose tokens the gateway believes: RS256 by a public key, and by a key set whose keys come and go."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import aiohttp
import jwt
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from jwt.algorithms import RSAAlgorithm
from pydantic import SecretStr

from gateway.adapters.identity import IdentityKeys, build_identity
from gateway.errors import TokenInvalidError
from gateway.ports import TokenCaller, Visit
from gateway.testing.harness import ChatClient, run_gateway
from gateway.testing.http import Http, assert_problem
from runtime.auth.principals import PrincipalVerifier
from runtime.clock import SystemClock
from runtime.settings import TokenSettings
from runtime.testing.clock import FakeClock
from runtime.testing.servers import NatsServer

pytestmark = pytest.mark.usefixtures("records", "memory")
SIGNING = SecretStr("a secret of these tests alone, 0123456789")


@pytest.fixture(scope="module")
def keys() -> dict[str, RSAPrivateKey]:
    return {name: generate_private_key(public_exponent=65537, key_size=2048) for name in ("k1", "k2")}


def token(key: RSAPrivateKey, kid: str | None, **claims: Any) -> str:
    whole = {"sub": "ana", "role": "user", "company": "acme", "plan": "pro", "exp": 4_000_000_000, **claims}
    return jwt.encode(whole, key, algorithm="RS256", headers={"kid": kid} if kid else None)


@asynccontextmanager
async def gateway(
    nats_server: NatsServer, settings: TokenSettings, clock: FakeClock
) -> AsyncGenerator[tuple[Http, str]]:
    async with (
        run_gateway(nats_server.url, build_identity(settings, 3600, clock)) as running,
        aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=40)) as session,
    ):
        yield Http(running.url, session), running.url


@asynccontextmanager
async def key_set(published: dict[str, RSAPrivateKey]) -> AsyncGenerator[str]:
    """A JWKS address; what is in `published` when it is asked is what it tells."""

    async def answer(_: web.Request) -> web.Response:
        public = [
            {**json.loads(RSAAlgorithm.to_jwk(key.public_key())), "kid": kid, "use": "sig"}
            for kid, key in published.items()
        ]
        return web.json_response({"keys": public})

    application = web.Application()
    application.router.add_get("/keys", answer)
    async with TestServer(application) as server:
        yield str(server.make_url("/keys"))


async def test_rs256_with_the_companys_public_key_and_nothing_else(
    nats_server: NatsServer, keys: dict[str, RSAPrivateKey]
) -> None:
    pem = keys["k1"].public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()
    settings = TokenSettings(jwt_public_key=pem, principal_key=SIGNING)
    async with gateway(nats_server, settings, FakeClock(datetime.now(UTC))) as (http, _):
        assert (await http("GET", "/v2/memory", token=token(keys["k1"], None)))[0] == 200
        # A public key is known to everybody: it must be no secret to sign with.
        parts = {"sub": "ana", "role": "admin", "company": "acme", "exp": 4_000_000_000}
        by_secret = jwt.encode(parts, SIGNING.get_secret_value(), algorithm="HS256")
        unsigned = jwt.encode(parts, "", algorithm="none")
        for bad in (
            token(keys["k2"], None),
            by_secret,
            unsigned,
            token(keys["k1"], None, exp=1),
            token(keys["k1"], None, role="root"),
            token(keys["k1"], None, company="A.*"),
            token(keys["k1"], None, sub="a.b"),
        ):
            assert_problem(await http("GET", "/v2/memory", token=bad), 401, "UNAUTHORIZED")


async def test_a_key_set_may_change_its_keys_while_the_gateway_runs(
    nats_server: NatsServer, keys: dict[str, RSAPrivateKey]
) -> None:
    published = {"k1": keys["k1"]}
    clock = FakeClock(datetime.now(UTC))
    old, new = token(keys["k1"], "k1"), token(keys["k2"], "k2")

    async with (
        key_set(published) as url,
        gateway(nats_server, TokenSettings(jwt_jwks_url=url, principal_key=SIGNING), clock) as (http, address),
    ):

        async def status(which: str) -> int:
            return (await http("GET", "/v2/memory", token=which))[0]

        assert (await status(old), await status(new)) == (200, 401)
        published["k2"] = keys["k2"]
        await clock.advance(11)
        assert (await status(old), await status(new)) == (200, 200)
        async with ChatClient(address) as client:
            await client.hello(new)
        # The old key is withdrawn: tokens that it signed count for five minutes more at most.
        del published["k1"]
        await clock.advance(301)
        assert (await status(old), await status(new)) == (401, 200)


async def test_a_principal_is_renewed_for_the_same_person_alone() -> None:
    clock = FakeClock()
    settings = TokenSettings(jwt_secret=SecretStr("a" * 40), principal_key=SecretStr("b" * 40))
    principals = build_identity(settings, 3600, clock).principals
    caller = TokenCaller(subject="ana", role="user", company="acme", plan="pro", expires=0)
    old = principals.sign(caller, "c1", "es")
    await clock.advance(settings.principal_ttl * 2)
    new = principals.renewed(old, "acme")
    assert new is not None
    verified = PrincipalVerifier(settings, clock).verify(new)
    assert (verified.sub, verified.role, verified.plan, verified.conversation) == ("ana", "user", "pro", "c1")
    assert principals.renewed(old, "other") is None
    assert principals.renewed("nonsense", "acme") is None


def test_tokens_of_visitors_and_of_the_console_outlive_the_replacement_of_a_key() -> None:
    def made(secret: str | None, principal: str) -> IdentityKeys:
        keys = TokenSettings(jwt_secret=SecretStr(secret) if secret else None, principal_key=SecretStr(principal))
        return build_identity(keys.model_copy(update={"jwt_jwks_url": "http://127.0.0.1:1/keys"}), 3600, SystemClock())

    for old, both in (
        (("o" * 32, "k"), ("n" * 32 + "," + "o" * 32, "k")),
        ((None, "o" * 32), (None, "n" * 32 + "," + "o" * 32)),
    ):
        visitor = made(*old).tokens.visitors.make("acme", "v1", Visit())
        member = made(*old).console.make("acme", "ana", "admin", None)
        assert asyncio.run(made(*both).tokens.verify(visitor.token)).subject == "v1"
        assert asyncio.run(made(*both).tokens.verify(member.token)).subject == "ana"
        with pytest.raises(TokenInvalidError):
            asyncio.run(made(*old).tokens.verify(made(*both).tokens.visitors.make("acme", "v1", Visit()).token))
