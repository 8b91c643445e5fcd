"""Signs people in to the console: at the company's OpenID provider, by an invitation, or by both."""

import asyncio
from collections.abc import Awaitable
from datetime import UTC, datetime
from typing import TypeVar

from contracts.company import CompanyConfig, CompanySettings
from contracts.sign_in_rpc import Invitation, SignedIn, SignInBegin, SignInFinish
from memory.adapters.openid_provider import OpenIdProviders
from memory.application.companies import CompanyRegistry
from memory.domain.openid import SignInRefusedError, account_of, authorization_address, invited_member, member_for
from memory.errors import MovedError
from runtime.auth.tokens import one_line

ResultT = TypeVar("ResultT")

PROVIDER_TIMEOUT_SECONDS = 12.0
"""Deadline for all requests to a provider in one step of a sign-in."""
PATCH_ATTEMPTS = 5
"""How often storing the team is tried if somebody else changes it."""


class SignIns:
    """Both steps of a sign-in. Nothing is stored in between: the browser keeps what they share."""

    def __init__(self, companies: CompanyRegistry, providers: OpenIdProviders) -> None:
        self._companies = companies
        self._providers = providers

    async def begin(self, request: SignInBegin) -> str:
        """Returns the provider's address to which the browser goes; raises SignInRefusedError."""
        settings = await self._companies.get(request.company_id)
        provider = settings.config.team.provider if settings else None
        if provider is None:
            raise SignInRefusedError("noProvider")
        discovered = await _with_timeout(self._providers.discover(provider))
        return authorization_address(
            discovered,
            provider.client_id,
            redirect_uri=request.redirect_uri,
            state=request.state,
            nonce=request.nonce,
            challenge=request.challenge,
        )

    async def finish(self, request: SignInFinish) -> SignedIn:
        """Completes a sign-in: binds the account to the team's member, and returns them; raises SignInRefusedError."""
        settings = await self._companies.get(request.company_id)
        if settings is None:
            raise SignInRefusedError("noProvider")
        team = settings.config.team
        if request.code is None:
            return await self._by_invitation(settings, request.invitation)
        if team.provider is None:
            raise SignInRefusedError("noProvider")
        claims = await _with_timeout(self._providers.claims(request.company_id, team.provider, request.code))
        for _ in range(PATCH_ATTEMPTS):
            team = settings.config.team
            user = member_for(team, claims, request.invitation)
            member, full_name = team.members[user], one_line(claims.get("name"))
            changes: dict[str, object] = {}
            if member.account != account_of(claims):
                changes["account"] = account_of(claims)
            if member.name is None and full_name:
                changes["name"] = full_name
            if request.invitation is not None:
                changes["joinedAt"] = _used_at(request.invitation)
            stored = await self._store(settings, user, changes)
            if stored is not None:
                return _signed_in(stored, user)
            settings = await self._reload(request.company_id)
        raise MovedError("the settings keep changing: try again")

    async def _by_invitation(self, settings: CompanySettings, invitation: Invitation | None) -> SignedIn:
        for _ in range(PATCH_ATTEMPTS):
            if invitation is None or settings.config.team.provider is not None:
                raise SignInRefusedError("notBound")
            invited_member(settings.config.team, invitation)
            stored = await self._store(settings, invitation.member, {"joinedAt": _used_at(invitation)})
            if stored is not None:
                return _signed_in(stored, invitation.member)
            settings = await self._reload(settings.config.company_id)
        raise MovedError("the settings keep changing: try again")

    async def _store(self, settings: CompanySettings, user: str, changes: dict[str, object]) -> CompanyConfig | None:
        """Stores changes to a member, and returns the settings; None if somebody else has changed them meanwhile."""
        if not changes:
            return settings.config
        patch = {"team": {"members": {user: changes}}}
        try:
            return (await self._companies.patch(settings.config.company_id, settings.version, patch)).config
        except MovedError:
            return None

    async def _reload(self, company: str) -> CompanySettings:
        settings = await self._companies.get(company)
        if settings is None:
            raise SignInRefusedError("unknown")
        return settings


def _signed_in(config: CompanyConfig, user: str) -> SignedIn:
    member = config.team.members[user]
    return SignedIn(member=user, role=member.role, name=member.name)


def _used_at(invitation: Invitation) -> str:
    """The time to store as the invitation's use: not before it was issued, even if the gateway's clock is ahead, since
    otherwise the invitation would be valid again."""
    return max(datetime.now(UTC), invitation.issued_at).isoformat()


async def _with_timeout(call: Awaitable[ResultT]) -> ResultT:
    try:
        async with asyncio.timeout(PROVIDER_TIMEOUT_SECONDS):
            return await call
    except TimeoutError as error:
        raise SignInRefusedError(
            "away", f"the provider did not answer within {PROVIDER_TIMEOUT_SECONDS:g} s"
        ) from error
