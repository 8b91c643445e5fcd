"""Signing in to the console: at the company's OpenID provider, by an invitation, or by both."""

import asyncio
from collections.abc import Awaitable
from datetime import UTC, datetime
from typing import TypeVar

from contracts.company import CompanyConfig, CompanySettings
from contracts.sign_in_rpc import Invitation, SignedIn, SignInBegin, SignInFinish
from memory.adapters.openid_provider import OpenIdProviders
from memory.application.companies import CompanyRegistry
from memory.domain.openid import SignInRefusedError, account_of, authorization_address, invited_member, member_for
from memory.errors import SettingsMovedError
from runtime.auth.tokens import one_line

FoundT = TypeVar("FoundT")

LONGEST = 12.0
"""Seconds for all requests to a provider during one sign-in."""
RACES = 5
"""How often the team is written again if somebody else changes it."""


class SignIns:
    """Both halves of a sign-in. Nothing is stored in between: the browser keeps what they share."""

    def __init__(self, companies: CompanyRegistry, providers: OpenIdProviders) -> None:
        self._companies = companies
        self._providers = providers

    async def begin(self, asked: SignInBegin) -> str:
        """The address at the provider; raises SignInRefusedError."""
        settings = await self._companies.get(asked.company_id)
        provider = settings.config.team.provider if settings else None
        if provider is None:
            raise SignInRefusedError("noProvider")
        about = await _in_time(self._providers.discover(provider))
        return authorization_address(
            about,
            provider.client_id,
            redirect_uri=asked.redirect_uri,
            state=asked.state,
            nonce=asked.nonce,
            challenge=asked.challenge,
        )

    async def finish(self, asked: SignInFinish) -> SignedIn:
        """Completes a sign-in and returns the account, which belongs to this person from now on; raises
        SignInRefusedError."""
        settings = await self._companies.get(asked.company_id)
        if settings is None:
            raise SignInRefusedError("noProvider")
        team = settings.config.team
        if asked.code is None:
            return await self._by_invitation(settings, asked.invitation)
        if team.provider is None:
            raise SignInRefusedError("noProvider")
        claims = await _in_time(self._providers.claims(asked.company_id, team.provider, asked.code))
        for _ in range(RACES):
            team = settings.config.team
            user = member_for(team, claims, asked.invitation)
            member, said = team.members[user], one_line(claims.get("name"))
            known: dict[str, object] = {}
            if member.account != account_of(claims):
                known["account"] = account_of(claims)
            if member.name is None and said:
                known["name"] = said
            if asked.invitation is not None:
                known["joinedAt"] = _used(asked.invitation)
            stored = await self._written(settings, user, known)
            if stored is not None:
                return _signed_in(stored, user)
            settings = await self._again(asked.company_id)
        raise SettingsMovedError("the settings keep changing: try again", settings.version)

    async def _by_invitation(self, settings: CompanySettings, invitation: Invitation | None) -> SignedIn:
        for _ in range(RACES):
            if invitation is None or settings.config.team.provider is not None:
                raise SignInRefusedError("notBound")
            invited_member(settings.config.team, invitation)
            stored = await self._written(settings, invitation.member, {"joinedAt": _used(invitation)})
            if stored is not None:
                return _signed_in(stored, invitation.member)
            settings = await self._again(settings.config.company_id)
        raise SettingsMovedError("the settings keep changing: try again", settings.version)

    async def _written(self, settings: CompanySettings, user: str, known: dict[str, object]) -> CompanyConfig | None:
        """The settings with what is now known of the member; None: somebody else has changed them."""
        if not known:
            return settings.config
        patch = {"team": {"members": {user: known}}}
        try:
            return (await self._companies.patch(settings.config.company_id, settings.version, patch)).config
        except SettingsMovedError:
            return None

    async def _again(self, company: str) -> CompanySettings:
        settings = await self._companies.get(company)
        if settings is None:
            raise SignInRefusedError("unknown")
        return settings


def _signed_in(config: CompanyConfig, user: str) -> SignedIn:
    member = config.team.members[user]
    return SignedIn(member=user, role=member.role, name=member.name)


def _used(invitation: Invitation) -> str:
    """When the invitation was used: never before it was issued, even if the gateway's clock is ahead, since it would
    be valid again."""
    return max(datetime.now(UTC), invitation.issued_at).isoformat()


async def _in_time(asked: Awaitable[FoundT]) -> FoundT:
    try:
        async with asyncio.timeout(LONGEST):
            return await asked
    except TimeoutError as error:
        raise SignInRefusedError("away", f"the provider did not answer within {LONGEST:g} s") from error
