"""For tests: an OpenID provider on a real socket, as strict as a real one with its clients, which can be slow, dead,
wrong about the time, and change its keys."""

import asyncio
import hashlib
import json
import secrets
import time
from base64 import b64decode, urlsafe_b64encode
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, unquote, urlencode, urlsplit

import jwt
from aiohttp import web
from aiohttp.test_utils import TestServer
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from jwt.algorithms import RSAAlgorithm

SECRET = "the client's secret: 100 % its own"


@dataclass(slots=True)
class Account:
    """Somebody at the provider."""

    subject: str
    email: str | None = None
    verified: bool = True
    name: str | None = None


@dataclass
class OpenIdProviderStandIn:
    """Whoever opens its authorization address is `account`, at once and without a page."""

    client_id: str = "nexus-console"
    secret: str | None = SECRET
    redirect_uri: str = ""
    account: Account = field(default_factory=lambda: Account("u-1"))
    skew: float = 0.0
    """Seconds that its clock is ahead."""
    email_apart: bool = False
    """The e-mail is told by userinfo alone, as section 5.4 of the standard has it."""
    slow: asyncio.Event = field(default_factory=asyncio.Event)
    """Nothing is answered until it is set; it is at the beginning."""
    issuer: str = ""
    claims: dict[str, Any] = field(default_factory=dict[str, Any])
    """What the ID token says beside or instead of the truth."""
    served: list[str] = field(default_factory=list[str])
    _keys: dict[str, RSAPrivateKey] = field(default_factory=dict[str, RSAPrivateKey])
    _codes: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])
    _access: dict[str, Account] = field(default_factory=dict[str, Account])

    def rotate(self) -> None:
        """One more key signs from now on; those before are withdrawn."""
        self._keys = {f"k{secrets.token_hex(4)}": generate_private_key(public_exponent=65537, key_size=2048)}

    def forge(self) -> None:
        """Signs from now on with a key that is called like the published one, and is another."""
        self._forged = generate_private_key(public_exponent=65537, key_size=2048)

    _forged: RSAPrivateKey | None = None

    def visit(self, address: str) -> str:
        """What a browser is redirected to by the authorization address; raises ValueError where a page would say so."""
        parts = urlsplit(address)
        asked = {name: values[0] for name, values in parse_qs(parts.query).items()}
        if f"{parts.scheme}://{parts.netloc}{parts.path}" != f"{self.issuer}/authorize":
            raise ValueError("another address")
        if asked.get("client_id") != self.client_id or asked.get("redirect_uri") != self.redirect_uri:
            raise ValueError("unknown client or redirect address")
        if asked.get("response_type") != "code" or "openid" not in asked.get("scope", "").split():
            raise ValueError("not the code flow of OpenID Connect")
        if asked.get("code_challenge_method") != "S256" or len(asked.get("code_challenge", "")) != 43:
            raise ValueError("PKCE with S256 is required")
        code = secrets.token_urlsafe(24)
        self._codes[code] = {"challenge": asked["code_challenge"], "nonce": asked.get("nonce", "")}
        back = {"code": code, "state": asked["state"], "iss": self.issuer}
        return f"{self.redirect_uri}?{urlencode(back)}"

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Every request but those to its keys waits while it is slow."""
        self.served.append(request.path)
        await self.slow.wait()
        match request.path:
            case "/.well-known/openid-configuration":
                return web.json_response(self._document())
            case "/authorize":
                raise web.HTTPFound(self.visit(str(request.url)))
            case "/token":
                return self._token({name: str(value) for name, value in (await request.post()).items()}, request)
            case "/keys":
                return web.json_response({"keys": [self._public(name, key) for name, key in self._keys.items()]})
            case "/userinfo":
                return self._userinfo(request)
            case _:
                raise web.HTTPNotFound

    def _document(self) -> dict[str, Any]:
        return {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/keys",
            "userinfo_endpoint": f"{self.issuer}/userinfo",
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["client_secret_basic"],
            "authorization_response_iss_parameter_supported": True,
        }

    def _token(self, form: dict[str, str], request: web.Request) -> web.Response:
        if not self._is_client(form, request.headers.get("Authorization", "")):
            return web.json_response({"error": "invalid_client"}, status=401)
        known = self._codes.pop(form.get("code", ""), None)
        proof = urlsafe_b64encode(hashlib.sha256(form.get("code_verifier", "").encode()).digest()).rstrip(b"=").decode()
        if (
            form.get("grant_type") != "authorization_code"
            or known is None
            or form.get("redirect_uri") != self.redirect_uri
            or proof != known["challenge"]
        ):
            return web.json_response({"error": "invalid_grant", "error_description": "no such code"}, status=400)
        now = time.time() + self.skew
        said = {"iss": self.issuer, "sub": self.account.subject, "aud": self.client_id, "nonce": known["nonce"]}
        whole: dict[str, Any] = {**said, "iat": int(now), "exp": int(now) + 300}
        if not self.email_apart:
            whole |= self._about(self.account)
        name, key = next(iter(self._keys.items()))
        token = jwt.encode(whole | self.claims, self._forged or key, algorithm="RS256", headers={"kid": name})
        access = secrets.token_urlsafe(24)
        self._access[access] = self.account
        return web.json_response({"access_token": access, "token_type": "Bearer", "id_token": token})

    def _is_client(self, form: dict[str, str], authorization: str) -> bool:
        if self.secret is None:
            return form.get("client_id") == self.client_id and not authorization
        kind, _, sent = authorization.partition(" ")
        if kind != "Basic":
            return False
        user, _, password = b64decode(sent).decode().partition(":")
        return (unquote(user), unquote(password)) == (self.client_id, self.secret)

    def _userinfo(self, request: web.Request) -> web.Response:
        account = self._access.get(request.headers.get("Authorization", "").removeprefix("Bearer "))
        if account is None:
            raise web.HTTPUnauthorized
        return web.json_response({"sub": account.subject, **self._about(account)})

    def _about(self, account: Account) -> dict[str, Any]:
        email = {"email": account.email, "email_verified": account.verified} if account.email else {}
        return email | ({"name": account.name} if account.name else {})

    def _public(self, name: str, key: RSAPrivateKey) -> dict[str, Any]:
        return {**json.loads(RSAAlgorithm.to_jwk(key.public_key())), "kid": name, "use": "sig", "alg": "RS256"}


@asynccontextmanager
async def openid_provider(redirect_uri: str) -> AsyncGenerator[OpenIdProviderStandIn]:
    """One on a free port, which knows one client."""
    provider = OpenIdProviderStandIn(redirect_uri=redirect_uri)
    provider.rotate()
    provider.slow.set()
    application = web.Application()
    application.router.add_route("*", "/{path:.*}", provider.answer)
    async with TestServer(application) as server:
        provider.issuer = str(server.make_url("")).rstrip("/")
        try:
            yield provider
        finally:
            provider.slow.set()
