"""Companies' OpenID providers over HTTP: discovery, keys, codes. All requests go through the guarded client."""

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

SECONDS = 5.0
"""Deadline of one request to a provider."""
FRESH = 600.0
"""Seconds for which a discovery document is cached."""
KEPT = 200
"""Providers that are cached."""
_MOST_BYTES = 256 * 1024
_PLAIN = {"Accept": "application/json", "Accept-Encoding": "identity", "User-Agent": "Nexus-SignIn/1.0"}


class OpenIdProviders:
    """Talks to providers during a sign-in; their discovery documents are cached. `posting` has the deadline."""

    def __init__(self, posting: WebhookPosting, seal: Seal, clock: Clock) -> None:
        self._posting = posting
        self._seal = seal
        self._clock = clock
        self._known = Bounded[str, tuple[ProviderMetadata, KeySet, float]](KEPT)
        self._finding = SingleFlight[tuple[ProviderMetadata, KeySet, float]]()

    async def discover(self, provider: OpenIdProvider) -> ProviderMetadata:
        """The provider's discovery document; raises SignInRefusedError."""
        return (await self._found(provider.issuer))[0]

    async def claims(self, company: str, provider: OpenIdProvider, sent: SignInCode) -> dict[str, object]:
        """The verified claims of the account behind a code; raises SignInRefusedError."""
        about, keys, _ = await self._found(provider.issuer)
        if (sent.issuer is not None or about.names_issuer) and sent.issuer != about.issuer:
            raise SignInRefusedError("refused", "the code comes from another provider (iss)")
        tokens = await self._exchanged(company, provider, about, sent)
        token = tokens.get("id_token")
        if not isinstance(token, str):
            raise SignInRefusedError("broken", "the provider gave no ID token: does the client have the scope openid?")
        algorithm, name = signature_header(token)
        try:
            key = await keys.get(name)
        except KeysUnavailableError as error:
            raise SignInRefusedError("away", "the provider's keys are unavailable") from error
        except InvalidTokenError as error:
            raise SignInRefusedError(
                "refused", "the ID token is signed with a key that the provider does not have"
            ) from error
        client, now = provider.client_id, self._clock.now()
        claims = verified_claims(
            token, algorithm, key, issuer=about.issuer, client_id=client, nonce=sent.nonce, now=now
        )
        access = tokens.get("access_token")
        if "email" not in claims and about.userinfo is not None and isinstance(access, str) and access.isascii():
            # A provider may keep what the scopes ask for out of the ID token where there is an access token (5.4).
            more = await self._json("GET", about.userinfo, {"Authorization": f"Bearer {access}"})
            if more.get("sub") == claims["sub"]:
                claims = {**more, **claims}
        return claims

    async def _exchanged(
        self, company: str, provider: OpenIdProvider, about: ProviderMetadata, sent: SignInCode
    ) -> dict[str, object]:
        form = {
            "grant_type": "authorization_code",
            "code": sent.code,
            "redirect_uri": sent.redirect_uri,
            "code_verifier": sent.verifier,
        }
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        try:
            secret = self._seal.open(provider.client_secret, company) if provider.client_secret else None
        except NotSealableError as error:
            raise SignInRefusedError("broken", str(error)) from error
        if secret is not None and not about.posts_secret:
            # Each half is form-encoded first (RFC 6749, 2.3.1).
            pair = f"{quote(provider.client_id, safe='')}:{quote(secret, safe='')}"
            headers["Authorization"] = f"Basic {b64encode(pair.encode()).decode()}"
        else:
            form |= {"client_id": provider.client_id} | ({"client_secret": secret} if secret else {})
        return await self._json("POST", about.token, headers, urlencode(form).encode())

    async def _found(self, issuer: str) -> tuple[ProviderMetadata, KeySet, float]:
        known, now = self._known.get(issuer), self._clock.monotonic()
        if known is not None and now - known[2] < FRESH:
            return known
        return await self._finding.result(issuer, lambda: self._find(issuer))

    async def _find(self, issuer: str) -> tuple[ProviderMetadata, KeySet, float]:
        said = await self._json("GET", f"{issuer.rstrip('/')}/.well-known/openid-configuration", {})
        about = parse_discovery(said, issuer)
        old = self._known.get(issuer)
        keys = KeySet(lambda: self._keys(about.keys), self._clock, frozenset(KEY_TYPES.values()))
        if old is not None and old[0].keys == about.keys:
            keys = old[1]
        found = self._known[issuer] = (about, keys, self._clock.monotonic())
        return found

    async def _keys(self, address: str) -> bytes:
        answer, body = await self._posting.ask("GET", address, _PLAIN, None, _MOST_BYTES)
        if answer.status != 200:
            raise OSError(answer.problem or f"HTTP {answer.status}")
        return body

    async def _json(
        self, method: str, address: str, headers: dict[str, str], body: bytes | None = None
    ) -> dict[str, object]:
        answer, said = await self._posting.ask(method, address, _PLAIN | headers, body, _MOST_BYTES)
        if answer.status == 0 or answer.status >= 500 or answer.status == 429:
            raise SignInRefusedError("away", f"{address} {answer.problem or f'answered {answer.status}'}"[:500])
        try:
            read: object = orjson.loads(said.removeprefix(BOM_UTF8))
        except ValueError:
            read = None
        found = object_of(read)
        if answer.status != 200 or not found:
            why = f"{found.get('error', '')} {found.get('error_description', '')}".strip()
            # A used, old or foreign code, or a wrong secret: the message says what can be mended.
            reason = "refused" if body is not None and found else "broken"
            raise SignInRefusedError(reason, f"{address} answered {answer.status} {why}".strip()[:500])
        return found
