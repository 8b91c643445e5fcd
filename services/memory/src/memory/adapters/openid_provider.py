"""Talks to companies' OpenID providers over HTTP: discovery, keys, codes. All requests go through the guarded
client."""

from base64 import b64encode
from codecs import BOM_UTF8
from urllib.parse import quote, urlencode

import orjson

from contracts.json_values import object_of
from contracts.sign_in_rpc import SignInCode
from contracts.team import OpenIdProvider
from memory.adapters.webhook_client import WebhookPosting
from memory.domain.openid import (
    KEY_TYPES,
    ProviderMetadata,
    SignInRefusedError,
    parse_discovery,
    signature_header,
    verified_claims,
)
from runtime.auth.seal import NotSealableError, Seal
from runtime.auth.tokens import KeySet, KeysUnavailableError
from runtime.calls.single_flight import SingleFlight
from runtime.clock import Clock
from runtime.errors import InvalidTokenError
from runtime.recent import Bounded

REQUEST_TIMEOUT_SECONDS = 5.0
"""Deadline of one request to a provider."""
CACHE_SECONDS = 600.0
"""How long a discovery document is cached."""
MAX_CACHED = 200
"""Providers whose documents are cached."""
_MAX_BYTES = 256 * 1024
_HEADERS = {"Accept": "application/json", "Accept-Encoding": "identity", "User-Agent": "Nexus-SignIn/1.0"}


class OpenIdProviders:
    """Talks to providers during a sign-in; their discovery documents are cached. `posting` sets the deadline of
    requests."""

    def __init__(self, posting: WebhookPosting, seal: Seal, clock: Clock) -> None:
        self._posting = posting
        self._seal = seal
        self._clock = clock
        self._cache = Bounded[str, tuple[ProviderMetadata, KeySet, float]](MAX_CACHED)
        self._lookups = SingleFlight[tuple[ProviderMetadata, KeySet, float]]()

    async def discover(self, provider: OpenIdProvider) -> ProviderMetadata:
        """The provider's discovery document; raises SignInRefusedError."""
        return (await self._lookup(provider.issuer))[0]

    async def claims(self, company: str, provider: OpenIdProvider, code: SignInCode) -> dict[str, object]:
        """The verified claims of the account behind a code; raises SignInRefusedError."""
        discovered_provider, keys, _ = await self._lookup(provider.issuer)
        if (code.issuer is not None or discovered_provider.names_issuer) and code.issuer != discovered_provider.issuer:
            raise SignInRefusedError("refused", "the code comes from another provider (iss)")
        tokens = await self._exchange(company, provider, discovered_provider, code)
        token = tokens.get("id_token")
        if not isinstance(token, str):
            raise SignInRefusedError("broken", "the provider gave no ID token: does the client have the scope openid?")
        algorithm, key_id = signature_header(token)
        try:
            key = await keys.get(key_id)
        except KeysUnavailableError as error:
            raise SignInRefusedError("away", "the provider's keys are unavailable") from error
        except InvalidTokenError as error:
            raise SignInRefusedError(
                "refused", "the ID token is signed with a key that the provider does not have"
            ) from error
        client, now = provider.client_id, self._clock.now()
        claims = verified_claims(
            token, algorithm, key, issuer=discovered_provider.issuer, client_id=client, nonce=code.nonce, now=now
        )
        access = tokens.get("access_token")
        if (
            "email" not in claims
            and discovered_provider.userinfo is not None
            and isinstance(access, str)
            and access.isascii()
        ):
            # With an access token, a provider may leave out of the ID token what the scopes ask for (5.4).
            userinfo = await self._json("GET", discovered_provider.userinfo, {"Authorization": f"Bearer {access}"})
            if userinfo.get("sub") == claims["sub"]:
                claims = {**userinfo, **claims}
        return claims

    async def _exchange(
        self, company: str, provider: OpenIdProvider, discovered_provider: ProviderMetadata, code: SignInCode
    ) -> dict[str, object]:
        form = {
            "grant_type": "authorization_code",
            "code": code.code,
            "redirect_uri": code.redirect_uri,
            "code_verifier": code.verifier,
        }
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        try:
            secret = self._seal.open(provider.client_secret, company) if provider.client_secret else None
        except NotSealableError as error:
            raise SignInRefusedError("broken", str(error)) from error
        if secret is not None and not discovered_provider.posts_secret:
            # Each half is form-encoded first (RFC 6749, 2.3.1).
            credentials = f"{quote(provider.client_id, safe='')}:{quote(secret, safe='')}"
            headers["Authorization"] = f"Basic {b64encode(credentials.encode()).decode()}"
        else:
            form |= {"client_id": provider.client_id} | ({"client_secret": secret} if secret else {})
        return await self._json("POST", discovered_provider.token, headers, urlencode(form).encode())

    async def _lookup(self, issuer: str) -> tuple[ProviderMetadata, KeySet, float]:
        cached, now = self._cache.get(issuer), self._clock.monotonic()
        if cached is not None and now - cached[2] < CACHE_SECONDS:
            return cached
        return await self._lookups.result(issuer, lambda: self._fetch(issuer))

    async def _fetch(self, issuer: str) -> tuple[ProviderMetadata, KeySet, float]:
        document = await self._json("GET", f"{issuer.rstrip('/')}/.well-known/openid-configuration", {})
        discovered_provider = parse_discovery(document, issuer)
        old = self._cache.get(issuer)
        keys = KeySet(lambda: self._keys(discovered_provider.keys), self._clock, frozenset(KEY_TYPES.values()))
        if old is not None and old[0].keys == discovered_provider.keys:
            keys = old[1]
        entry = self._cache[issuer] = (discovered_provider, keys, self._clock.monotonic())
        return entry

    async def _keys(self, address: str) -> bytes:
        answer, body = await self._posting.ask("GET", address, _HEADERS, None, _MAX_BYTES)
        if answer.status != 200:
            raise OSError(answer.problem or f"HTTP {answer.status}")
        return body

    async def _json(
        self, method: str, address: str, headers: dict[str, str], body: bytes | None = None
    ) -> dict[str, object]:
        answer, reply = await self._posting.ask(method, address, _HEADERS | headers, body, _MAX_BYTES)
        if answer.status == 0 or answer.status >= 500 or answer.status == 429:
            raise SignInRefusedError("away", f"{address} {answer.problem or f'answered {answer.status}'}"[:500])
        try:
            parsed: object = orjson.loads(reply.removeprefix(BOM_UTF8))
        except ValueError:
            parsed = None
        fields = object_of(parsed)
        if answer.status != 200 or not fields:
            error_text = f"{fields.get('error', '')} {fields.get('error_description', '')}".strip()
            # A used, old or foreign code, or a wrong secret: the message says what can be corrected.
            reason = "refused" if body is not None and fields else "broken"
            raise SignInRefusedError(reason, f"{address} answered {answer.status} {error_text}".strip()[:500])
        return fields
