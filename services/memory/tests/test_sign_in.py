"""Signing in to the console at a company's OpenID provider, over real sockets."""

import hashlib
import secrets
from base64 import urlsafe_b64encode
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from contracts.company_rpc import (
    COMPANY_CREATE,
    COMPANY_GET,
    COMPANY_PATCH,
    CompanyCreateRequest,
    CompanyPatchRequest,
    CompanyRequest,
)
from contracts.sealed import is_sealed
from contracts.sign_in_rpc import (
    SIGN_IN_BEGIN,
    SIGN_IN_FINISH,
    Invitation,
    SignInBegin,
    SignInCode,
    SignInFinish,
    SignInFinished,
)
from contracts.team import Team
from memory.testing.harness import Replica, Servers, replica
from memory.testing.openid import SECRET, Account, OpenIdProviderStandIn, openid_provider
from runtime.settings import DevSettings
from runtime.testing.clock import FakeClock

CONSOLE = "https://chat.example/console"
ANA = {"role": "admin", "email": "Ana@Acme.example"}
BEA = {"role": "commercial"}


@dataclass
class Tab:
    """A browser's tab: what it makes for a sign-in, and brings back."""

    on: Replica
    provider: OpenIdProviderStandIn
    nonce: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    verifier: str = field(default_factory=lambda: secrets.token_urlsafe(48))

    async def begin(self) -> Any:
        proof = hashlib.sha256(self.verifier.encode()).digest()
        challenge = urlsafe_b64encode(proof).rstrip(b"=").decode()
        asked = SignInBegin(
            company_id="acme", redirect_uri=CONSOLE, state="s" * 20, nonce=self.nonce, challenge=challenge
        )
        return await self.on.rpc.call(SIGN_IN_BEGIN, asked)

    async def sent_back(self) -> SignInCode:
        begun = await self.begin()
        assert begun.address is not None, begun.problem
        back = {
            name: values[0] for name, values in parse_qs(urlsplit(self.provider.visit(begun.address)).query).items()
        }
        assert back["state"] == "s" * 20
        return SignInCode(
            code=back["code"], verifier=self.verifier, nonce=self.nonce, redirect_uri=CONSOLE, issuer=back["iss"]
        )

    async def finish(self, code: SignInCode | None = None, invitation: Invitation | None = None) -> SignInFinished:
        asked = SignInFinish(company_id="acme", code=code or await self.sent_back(), invitation=invitation)
        return await self.on.rpc.call(SIGN_IN_FINISH, asked)


async def refused(tab: Tab, **change: Any) -> str:
    """Why the sign-in was refused, with what the browser sends changed."""
    done = await tab.finish((await tab.sent_back()).model_copy(update=change))
    assert done.problem is not None, done
    return done.problem.reason


async def team(on: Replica) -> Team:
    settings = (await on.rpc.call(COMPANY_GET, CompanyRequest(company_id="acme"))).settings
    assert settings is not None
    return settings.config.team


@asynccontextmanager
async def company(
    servers: Servers, monkeypatch: pytest.MonkeyPatch, clock: FakeClock | None = None
) -> AsyncGenerator[tuple[Replica, OpenIdProviderStandIn]]:
    """One replica of memory with a company whose team is Ana and Bea, and its provider."""
    monkeypatch.setenv("NEXUS_SECRETS_KEY", "k" * 40)
    async with (
        openid_provider(CONSOLE) as provider,
        replica(servers, dev=DevSettings(dev=True), clock=clock) as on,
    ):
        known = {"issuer": provider.issuer, "clientId": provider.client_id, "clientSecret": SECRET}
        config = {"companyId": "acme", "team": {"provider": known, "members": {"ana": ANA, "bea": BEA}}}
        await on.rpc.call(COMPANY_CREATE, CompanyCreateRequest(config=config))
        yield on, provider


async def test_who_signs_in_is_who_the_provider_has_proved_them_to_be(
    servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with company(servers, monkeypatch) as (on, provider):
        kept = (await team(on)).provider
        assert kept is not None
        assert is_sealed(kept.client_secret), "the secret is kept and told sealed"

        # By the e-mail that the provider has checked; from then on by the account, whatever its e-mail is.
        provider.account = Account("sub-ana", "ana@acme.example", name="Ana García")
        done = (await Tab(on, provider).finish()).signed_in
        assert done is not None
        assert (done.member, done.role, done.name) == ("ana", "admin", "Ana García")
        provider.account = Account("sub-ana", "ana@married.example")
        assert (await Tab(on, provider).finish()).signed_in == done
        # Somebody else who has her e-mail now is not her.
        provider.account = Account("sub-thief", "ana@acme.example")
        assert await refused(Tab(on, provider)) == "unknown"
        provider.account = Account("sub-stranger", "stranger@acme.example")
        assert await refused(Tab(on, provider)) == "unknown"

        # With an invitation no e-mail is needed; it counts once.
        provider.account, sent = Account("sub-bea"), datetime.now(UTC) - timedelta(minutes=1)
        assert await refused(Tab(on, provider)) == "unknown"
        invitation = Invitation(member="bea", issued_at=sent)
        found = (await Tab(on, provider).finish(invitation=invitation)).signed_in
        assert found is not None
        assert found.member == "bea"
        provider.account = Account("sub-thief")
        again = (await Tab(on, provider).finish(invitation=invitation)).problem
        assert again is not None
        assert again.reason == "used"
        alone = await on.rpc.call(SIGN_IN_FINISH, SignInFinish(company_id="acme", invitation=invitation))
        assert alone.problem is not None
        assert alone.problem.reason == "notBound", "where there is a provider an invitation alone is no proof"
        # The account that uses it is the invited member's, whoever else's it was before.
        provider.account = Account("sub-ana", "ana@acme.example")
        for given in (Invitation(member="bea", issued_at=datetime.now(UTC)), None):
            moved = (await Tab(on, provider).finish(invitation=given)).signed_in
            assert moved is not None
            assert moved.member == "bea"

        # What is not the e-mail's owner's word, or stands apart.
        members = {"dan": {"role": "commercial", "email": "dan@acme.example"}}
        settings = (await on.rpc.call(COMPANY_GET, CompanyRequest(company_id="acme"))).settings
        assert settings is not None
        patch = {"team": {"members": members}}
        await on.rpc.call(COMPANY_PATCH, CompanyPatchRequest(company_id="acme", version=settings.version, patch=patch))
        provider.account = Account("sub-dan", "dan@acme.example", verified=False)
        assert await refused(Tab(on, provider)) == "unverified"
        provider.account, provider.email_apart = Account("sub-dan", "dan@acme.example"), True
        last = (await Tab(on, provider).finish()).signed_in
        assert last is not None
        assert last.member == "dan", "the e-mail may be told by userinfo alone"


async def test_what_does_not_belong_to_this_sign_in_proves_nothing(
    servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with company(servers, monkeypatch) as (on, provider):
        provider.account = Account("sub-ana", "ana@acme.example")
        tab = Tab(on, provider)
        assert await refused(tab, nonce="another sign-in's nonce") == "refused"
        assert await refused(tab, verifier="v" * 43) == "refused"
        assert await refused(tab, code="nobody's") == "refused"
        assert await refused(tab, redirect_uri="https://evil.example/console") == "refused"
        assert await refused(tab, issuer="https://other.example") == "refused"
        assert await refused(tab, issuer=None) == "refused", "a provider that says iss always says it"
        once = await tab.sent_back()
        assert (await tab.finish(once)).signed_in is not None
        assert (await tab.finish(once)).signed_in is None, "a code counts once"
        for claims in (
            {"aud": "another-client"},
            {"aud": ["nexus-console", "another-client"]},
            {"aud": ["nexus-console", "another-client"], "azp": "another-client"},
            {"iss": "https://other.example"},
            {"nonce": None},
            {"exp": 1},
            {"exp": "never"},
            {"iat": float("nan")},
            {"nbf": 2**40},
            {"sub": ""},
            {"sub": 7},
        ):
            provider.claims = claims
            assert await refused(tab) == "refused", claims
        for claims in ({"sub": "half \ud83d"}, {"nonce": "\ud83d"}, {"name": "\ud83d"}, {"exp": 10**30}):
            provider.claims = claims
            assert await refused(tab) == "broken", claims
        provider.claims = {}
        provider.forge()
        assert await refused(tab) == "refused", "signed by somebody else under the name of the provider's key"


async def test_keys_change_clocks_differ_and_a_provider_that_does_not_answer_is_named(
    servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = FakeClock(datetime.now(UTC))
    async with company(servers, monkeypatch, clock) as (on, provider):
        provider.account = Account("sub-ana", "ana@acme.example")
        tab = Tab(on, provider)
        assert (await tab.finish()).signed_in is not None
        provider.rotate()
        assert (await tab.finish()).signed_in is not None, "an unknown key is asked for at once"
        assert provider.served.count("/.well-known/openid-configuration") == 1
        assert provider.served.count("/keys") == 2

        provider.skew = 50
        assert (await tab.finish()).signed_in is not None
        provider.skew = 100
        ahead = (await tab.finish()).problem
        assert ahead is not None
        assert (ahead.reason, "clock" in ahead.detail) == ("refused", True)
        provider.skew = 0

        # Slow: it is given up in time, and said; nothing else waits for it.
        provider.slow.clear()
        monkeypatch.setattr("memory.application.sign_in.PROVIDER_TIMEOUT_SECONDS", 0.3)
        await clock.advance(700)
        begun = await tab.begin()
        assert begun.problem.reason == "away"
        assert await team(on)
        provider.slow.set()
        monkeypatch.setattr("memory.application.sign_in.PROVIDER_TIMEOUT_SECONDS", 12.0)
        # Its discovery document names another issuer: whoever reads the configured address may not speak for it.
        issuer, provider.issuer = provider.issuer, "https://other.example"
        await clock.advance(700)
        assert (await tab.begin()).problem.reason == "broken"
        provider.issuer = issuer
    async with replica(servers, dev=DevSettings(dev=True)) as on:
        begun = await Tab(on, provider).begin()
        assert begun.problem.reason == "away", "a dead provider"


async def test_without_a_provider_an_invitation_signs_in_once(
    servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with company(servers, monkeypatch) as (on, _):
        await on.rpc.call(
            COMPANY_PATCH, CompanyPatchRequest(company_id="acme", version=1, patch={"team": {"provider": None}})
        )

        async def use(member: str) -> SignInFinished:
            sent = datetime.now(UTC) - timedelta(minutes=1)
            asked = SignInFinish(company_id="acme", invitation=Invitation(member=member, issued_at=sent))
            return await on.rpc.call(SIGN_IN_FINISH, asked)

        done = (await use("bea")).signed_in
        assert done is not None
        assert (done.member, done.role) == ("bea", "commercial")
        for member, reason in (("bea", "used"), ("nobody", "unknown")):
            problem = (await use(member)).problem
            assert problem is not None
            assert problem.reason == reason
        ahead = Invitation(member="bea", issued_at=datetime.now(UTC) + timedelta(minutes=1))
        asked = SignInFinish(company_id="acme", invitation=ahead)
        newer = [await on.rpc.call(SIGN_IN_FINISH, asked) for _ in range(2)]
        assert newer[0].signed_in is not None, "a newer one counts again"
        assert newer[1].problem is not None, "and once, though the clock of who gave it is ahead"
