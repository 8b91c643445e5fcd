"""For tests: an OpenID provider on a real socket, as strict with its clients as a real one. It can be slow, dead or
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
    """An account at the provider."""

    subject: str
    email: str | None = None
    verified: bool = True
    name: str | None = None


@dataclass
class OpenIdProviderStandIn:
    """Whoever opens its authorization address is signed in as `account`, at once and without a page."""

    client_id: str = "nexus-console"
    secret: str | None = SECRET
    redirect_uri: str = ""
    account: Account = field(default_factory=lambda: Account("u-1"))
    skew: float = 0.0
    """Seconds that its clock is ahead."""
    email_apart: bool = False
    """Whether only userinfo contains the e-mail, as section 5.4 of the standard allows."""
    slow: asyncio.Event = field(default_factory=asyncio.Event)
    """Nothing is answered until it is set; it is set at the beginning."""
    issuer: str = ""
    claims: dict[str, Any] = field(default_factory=dict[str, Any])
    """Claims of the ID token beside or instead of the true ones."""
    served: list[str] = field(default_factory=list[str])
    _keys: dict[str, RSAPrivateKey] = field(default_factory=dict[str, RSAPrivateKey])
    _codes: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])
    _access: dict[str, Account] = field(default_factory=dict[str, Account])

    def rotate(self) -> None:
        """Signs with a new key from now on; the previous keys are withdrawn."""
        self._keys = {f"k{secrets.token_hex(4)}": generate_private_key(public_exponent=65537, key_size=2048)}

    def forge(self) -> None:
        """Signs from now on with a key that has the published key's id but is another one."""
        self._forged = generate_private_key(public_exponent=65537, key_size=2048)

    _forged: RSAPrivateKey | None = None

    def visit(self, address: str) -> str:
        """Returns the address to which the authorization address redirects a browser; raises ValueError where a page
        would show an error."""
        parts = urlsplit(address)
        parameters = {name: values[0] for name, values in parse_qs(parts.query).items()}
        if f"{parts.scheme}://{parts.netloc}{parts.path}" != f"{self.issuer}/authorize":
            raise ValueError("another address")
        if parameters.get("client_id") != self.client_id or parameters.get("redirect_uri") != self.redirect_uri:
            raise ValueError("unknown client or redirect address")
        if parameters.get("response_type") != "code" or "openid" not in parameters.get("scope", "").split():
            raise ValueError("not the code flow of OpenID Connect")
        if parameters.get("code_challenge_method") != "S256" or len(parameters.get("code_challenge", "")) != 43:
            raise ValueError("PKCE with S256 is required")
        code = secrets.token_urlsafe(24)
        self._codes[code] = {"challenge": parameters["code_challenge"], "nonce": parameters.get("nonce", "")}
        reply = {"code": code, "state": parameters["state"], "iss": self.issuer}
        return f"{self.redirect_uri}?{urlencode(reply)}"

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Answers a request; every request waits while the provider is slow."""
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
        authorization = self._codes.pop(form.get("code", ""), None)
        proof = urlsafe_b64encode(hashlib.sha256(form.get("code_verifier", "").encode()).digest()).rstrip(b"=").decode()
        if (
            form.get("grant_type") != "authorization_code"
            or authorization is None
            or form.get("redirect_uri") != self.redirect_uri
            or proof != authorization["challenge"]
        ):
            return web.json_response({"error": "invalid_grant", "error_description": "no such code"}, status=400)
        now = time.time() + self.skew
        required_claims = {
            "iss": self.issuer,
            "sub": self.account.subject,
            "aud": self.client_id,
            "nonce": authorization["nonce"],
        }
        claims: dict[str, Any] = {**required_claims, "iat": int(now), "exp": int(now) + 300}
        if not self.email_apart:
            claims |= self._about(self.account)
        name, key = next(iter(self._keys.items()))
        token = jwt.encode(claims | self.claims, self._forged or key, algorithm="RS256", headers={"kid": name})
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
    """Runs a provider on a free port that knows one client."""
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
