"""Users' tokens: what is accepted, and everything that must not be."""

from __future__ import annotations

import asyncio
import base64
import http.server
import json
import threading
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from jwt.algorithms import RSAAlgorithm
from pydantic import SecretStr

from runtime.auth.principals import AUDIENCE, PrincipalSigner, PrincipalVerifier
from runtime.auth.tokens import KeySet, KeysUnavailableError, TokenMinter, TokenVerifier
from runtime.errors import ExpiredTokenError, InvalidTokenError, NotReadyError
from runtime.settings import TokenSettings
from runtime.testing.clock import FakeClock
from runtime.testing.servers import eventually

SECRET = "s" * 32
SHARED = TokenSettings(jwt_secret=SecretStr(SECRET), principal_key=SecretStr(SECRET))
NOW = datetime(2026, 6, 1, tzinfo=UTC)
LATER = int(NOW.timestamp()) + 600


def clock() -> FakeClock:
    return FakeClock(NOW)


@pytest.fixture(scope="module")
def rsa_key() -> RSAPrivateKey:
    return generate_private_key(65537, 2048)


def pem(key: RSAPrivateKey | Ed25519PrivateKey, *, private: bool = False) -> str:
    if private:
        return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    return key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()


def public(key: RSAPrivateKey, kid: str = "k1") -> dict[str, Any]:
    return {**json.loads(RSAAlgorithm.to_jwk(key.public_key())), "kid": kid, "use": "sig"}


def signed(key: RSAPrivateKey, kid: str = "k1") -> str:
    return jwt.encode(CLAIMS, key, algorithm="RS256", headers={"kid": kid})


CLAIMS: dict[str, Any] = {"sub": "u1", "role": "user", "company": "acme", "plan": "pro", "exp": LATER}


async def test_a_minted_token_says_who_its_bearer_is() -> None:
    token = TokenMinter(SHARED, clock()).mint(sub="u1", role="user", company="acme", plan="pro", ttl=600)
    claims = await TokenVerifier(SHARED, clock()).verify(token)
    assert (claims.sub, claims.role, claims.company, claims.plan, claims.exp) == ("u1", "user", "acme", "pro", LATER)


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("Ana Ruiz", "Ana Ruiz"),
        (" Ana\n\tRuiz ", "Ana Ruiz"),
        ("x" * 200, "x" * 80),
        (" ", None),
        (7, None),
        ("A\ud83d", "A"),
    ],
)
async def test_a_name_is_one_short_line_or_none_and_no_reason_to_refuse_a_token(said: object, name: str | None) -> None:
    token = jwt.encode(CLAIMS | {"name": said}, SECRET, algorithm="HS256")
    assert (await TokenVerifier(SHARED, clock()).verify(token)).name == name


async def test_an_expired_token_counts_only_within_its_grace() -> None:
    now = clock()
    token = TokenMinter(SHARED, now).mint(sub="v1", role="visitor", company="acme", ttl=60)
    await now.advance(120)
    verifier = TokenVerifier(SHARED, now)
    with pytest.raises(ExpiredTokenError):
        await verifier.verify(token)
    assert (await verifier.verify(token, grace=100)).sub == "v1"
    with pytest.raises(ExpiredTokenError):
        await verifier.verify(token, grace=10)


@pytest.mark.parametrize(
    "change",
    [
        {"sub": "a.b"},
        {"sub": "*"},
        {"sub": ">"},
        {"sub": ""},
        {"sub": None},
        {"company": "Acme"},
        {"company": "a b"},
        {"company": None},
        {"role": "root"},
        {"role": None},
        {"exp": None},
        {"exp": "soon"},
    ],
)
async def test_an_identity_that_cannot_be_one_is_refused(change: dict[str, Any]) -> None:
    claims = {key: value for key, value in {**CLAIMS, **change}.items() if value is not None}
    with pytest.raises(InvalidTokenError):
        await TokenVerifier(SHARED, clock()).verify(jwt.encode(claims, SECRET, algorithm="HS256"))


@pytest.mark.parametrize("plan", ["gold", "PRO", "", 3, ["premium"], None])
async def test_an_unknown_or_missing_plan_counts_as_free(plan: object) -> None:
    claims = {key: value for key, value in {**CLAIMS, "plan": plan}.items() if value is not None}
    assert (await TokenVerifier(SHARED, clock()).verify(jwt.encode(claims, SECRET, algorithm="HS256"))).plan == "free"
    assert SHARED.principal_key is not None
    proof = jwt.encode({**claims, "aud": AUDIENCE}, SHARED.principal_key.get_secret_value(), algorithm="HS256")
    assert PrincipalVerifier(SHARED, clock()).verify(proof).plan == "free"


async def test_another_secret_no_signature_and_nonsense_are_refused() -> None:
    verifier = TokenVerifier(SHARED, clock())
    unsigned = ".".join(
        base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode()
        for part in ({"alg": "none", "typ": "JWT"}, CLAIMS)
    )
    good = jwt.encode(CLAIMS, SECRET, algorithm="HS256")
    body = good.split(".")[1]
    forged = base64.urlsafe_b64encode(json.dumps({**CLAIMS, "role": "admin"}).encode()).rstrip(b"=").decode()
    for token in (
        jwt.encode(CLAIMS, "x" * 32, algorithm="HS256"),
        jwt.encode(CLAIMS, SECRET * 2, algorithm="HS512"),
        f"{unsigned}.",
        good.replace(body, forged),
        "nonsense",
        "",
        "a" * 9000,
    ):
        with pytest.raises(InvalidTokenError):
            await verifier.verify(token)


async def test_a_public_key_is_no_secret(rsa_key: RSAPrivateKey) -> None:
    settings = TokenSettings(jwt_public_key=pem(rsa_key).replace("\n", "\\n"))
    verifier = TokenVerifier(settings, clock())
    assert (await verifier.verify(jwt.encode(CLAIMS, rsa_key, algorithm="RS256"))).sub == "u1"
    header = base64.urlsafe_b64encode(b'{"alg":"HS256","typ":"JWT"}').rstrip(b"=").decode()
    with pytest.raises(InvalidTokenError):
        await verifier.verify(f"{header}.e30.c2ln")


@contextmanager
def jwks(keys: list[dict[str, Any]], gate: threading.Event | None = None) -> Generator[tuple[str, list[str]]]:
    """A key set over HTTP, and what was asked of it; with a `gate` it answers when that is opened."""
    asked: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            if gate is not None:
                gate.wait(60)
            body = json.dumps({"keys": keys}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/keys", asked
    finally:
        server.shutdown()
        thread.join(5)
        server.server_close()


async def test_a_key_set_is_fetched_once_and_for_unknown_keys_once_more(
    rsa_key: RSAPrivateKey,
) -> None:
    with jwks([public(rsa_key)]) as (url, asked):
        verifier = TokenVerifier(TokenSettings(jwt_jwks_url=url), clock())
        known = signed(rsa_key)
        unknown = signed(rsa_key, "other")
        for _ in range(3):
            assert (await verifier.verify(known)).company == "acme"
            with pytest.raises(InvalidTokenError):
                await verifier.verify(unknown)
    assert len(asked) == 2
    assert (await verifier.verify(known)).company == "acme"


async def test_whoever_hangs_up_while_keys_are_fetched_does_not_cost_the_others_theirs(rsa_key: RSAPrivateKey) -> None:
    token = signed(rsa_key)
    gate = threading.Event()
    with jwks([public(rsa_key)], gate) as (url, asked):
        verifier = TokenVerifier(TokenSettings(jwt_jwks_url=url), clock())
        first, second = (asyncio.create_task(verifier.verify(token)) for _ in range(2))
        await eventually(lambda: asked)
        first.cancel()
        await asyncio.wait((first,), timeout=20)
        gate.set()
        assert (await asyncio.wait_for(second, 20)).company == "acme"
        assert (await verifier.verify(token)).company == "acme"
    assert len(asked) == 1


async def test_keys_that_could_not_be_fetched_a_moment_ago_are_not_said_to_be_wrong(rsa_key: RSAPrivateKey) -> None:
    verifier = TokenVerifier(TokenSettings(jwt_jwks_url="http://127.0.0.1:1/keys"), clock())
    token = signed(rsa_key)
    for _ in range(2):
        with pytest.raises(KeysUnavailableError) as raised:
            await verifier.verify(token)
        assert raised.value.retryable


async def test_a_key_that_takes_anothers_place_is_known_at_once(rsa_key: RSAPrivateKey) -> None:
    keys = [public(rsa_key)]
    newer = generate_private_key(public_exponent=65537, key_size=2048)
    with jwks(keys) as (url, asked):
        verifier = TokenVerifier(TokenSettings(jwt_jwks_url=url), clock())
        assert await verifier.verify(signed(rsa_key))
        keys[:] = [public(newer, "k2")]
        assert await verifier.verify(signed(newer, "k2"))
    assert len(asked) == 2


async def test_a_token_that_was_checked_counts_no_longer_than_its_key(rsa_key: RSAPrivateKey) -> None:
    keys = [public(rsa_key)]
    token = signed(rsa_key)
    newer = generate_private_key(public_exponent=65537, key_size=2048)
    now = clock()
    with jwks(keys) as (url, _):
        verifier = TokenVerifier(TokenSettings(jwt_jwks_url=url), now)
        assert await verifier.verify(token) == await verifier.verify(token)
        # Another key under the same id, and then none.
        keys[0] = public(newer)
        await now.advance(301)
        with pytest.raises(InvalidTokenError):
            await verifier.verify(token)
        keys[0]["kid"] = "k2"
        await now.advance(301)
        with pytest.raises(InvalidTokenError):
            await verifier.verify(token)


async def test_a_token_that_was_checked_proves_nothing_for_another_one_and_expires() -> None:
    now = clock()
    verifier = TokenVerifier(SHARED, now)
    token = jwt.encode(CLAIMS, SECRET, algorithm="HS256")
    await verifier.verify(token)
    head, said, signature = token.split(".")
    forged = jwt.encode({**CLAIMS, "sub": "u2"}, SECRET, algorithm="HS256").split(".")[1]
    for wrong in (f"{head}.{forged}.{signature}", f"{head}.{said}.{signature[::-1]}", f"{head}.{said}."):
        with pytest.raises(InvalidTokenError):
            await verifier.verify(wrong)
    await now.advance(606)
    with pytest.raises(ExpiredTokenError):
        await verifier.verify(token)
    assert (await verifier.verify(token, grace=10)).sub == "u1"


@pytest.mark.parametrize(
    "said", [b"[]", b"null", b"5", b'"keys"', b"[" * 100_000, b"{", b"", b'{"keys": 5}', b'{"keys": [5]}']
)
async def test_a_key_set_of_any_other_shape_is_none(said: bytes) -> None:
    async def fetch() -> bytes:
        return said

    with pytest.raises(KeysUnavailableError):
        await KeySet(fetch, clock()).get("k1")


@pytest.mark.parametrize(
    "odd", [{"kid": ["k1"]}, {"kid": {}}, {"alg": ["RS256"]}, {"kty": 5}, {"n": None}, {"use": []}]
)
async def test_a_key_that_cannot_be_read_costs_none_of_the_others(rsa_key: RSAPrivateKey, odd: dict[str, Any]) -> None:
    async def fetch() -> bytes:
        return json.dumps({"keys": [public(rsa_key, "k0") | odd, None, public(rsa_key)]}).encode()

    assert (await KeySet(fetch, clock()).get("k1")).key_id == "k1"


async def test_no_signature_is_checked_with_a_private_or_a_short_key(rsa_key: RSAPrivateKey) -> None:
    private = json.loads(RSAAlgorithm.to_jwk(rsa_key)) | {"kid": "private"}
    with jwks([public(rsa_key), private, public(generate_private_key(65537, 1024), "short")]) as (url, _):
        verifier = TokenVerifier(TokenSettings(jwt_jwks_url=url), clock())
        for kid in ("private", "short"):
            with pytest.raises(InvalidTokenError, match="not in the key set"):
                await verifier.verify(signed(rsa_key, kid))


def test_without_any_key_it_says_what_to_set() -> None:
    with pytest.raises(NotReadyError, match="NEXUS_JWT_SECRET"):
        TokenVerifier(TokenSettings())
    with pytest.raises(NotReadyError, match="NEXUS_PRINCIPAL_KEY"):
        PrincipalVerifier(TokenSettings())


async def test_a_users_token_is_no_principal_and_a_principal_no_users_token() -> None:
    token = TokenMinter(SHARED, clock()).mint(sub="u1", role="user", company="acme")
    with pytest.raises(InvalidTokenError):
        PrincipalVerifier(SHARED, clock()).verify(token)
    principal = PrincipalSigner(SHARED, clock()).issue(sub="u1", role="user", company="acme")
    with pytest.raises(InvalidTokenError):
        await TokenVerifier(SHARED, clock()).verify(principal)


@pytest.mark.parametrize("pairs", [False, True], ids=["secrets", "pairs"])
async def test_two_keys_count_while_one_is_replaced_and_the_first_one_signs(
    pairs: bool, rsa_key: RSAPrivateKey
) -> None:
    new, old = (
        pem(Ed25519PrivateKey.generate(), private=True).replace("\n", "\\n") if pairs else letter * 32
        for letter in "no"
    )
    both = TokenSettings(
        jwt_secret=SecretStr(f"{'n' * 32}, {'o' * 32}"),
        jwt_public_key=pem(rsa_key) + pem(generate_private_key(65537, 2048)),
        principal_key=SecretStr(f"{new}{old}" if pairs else f"{new},{old}"),
    )
    alone = {
        name: TokenSettings(jwt_secret=SecretStr(name * 32), principal_key=SecretStr(key))
        for name, key in (("n", new), ("o", old))
    }
    for settings in (both, *alone.values()):
        principal = PrincipalSigner(settings, clock()).issue(sub="u1", role="user", company="acme")
        assert PrincipalVerifier(both, clock()).verify(principal).sub == "u1"
        token = TokenMinter(settings, clock()).mint(sub="u1", role="user", company="acme")
        assert (await TokenVerifier(both, clock()).verify(token)).sub == "u1"
    token = TokenMinter(both, clock()).mint(sub="u1", role="user", company="acme")
    principal = PrincipalSigner(both, clock()).issue(sub="u1", role="user", company="acme")
    assert (await TokenVerifier(alone["n"], clock()).verify(token)).sub == "u1"
    assert PrincipalVerifier(alone["n"], clock()).verify(principal).sub == "u1"
    with pytest.raises(InvalidTokenError):
        await TokenVerifier(alone["o"], clock()).verify(token)
    with pytest.raises(InvalidTokenError):
        PrincipalVerifier(alone["o"], clock()).verify(principal)
    by_pair = jwt.encode(CLAIMS, rsa_key, algorithm="RS256")
    assert (await TokenVerifier(both, clock()).verify(by_pair)).sub == "u1"


@pytest.mark.parametrize("written", [",", " , ", f",{SECRET},"])
def test_an_empty_secret_is_none(written: str) -> None:
    settings = TokenSettings(jwt_secret=SecretStr(written), principal_key=SecretStr(written))
    assert settings.jwt_secrets == [SECRET] * (SECRET in written)
    assert "" not in settings.principal_keys
