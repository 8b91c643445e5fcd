"""Checks whether a token is still valid: the company may have signed its human agent out, removed them from its team,
or revoked the key that said who a customer is."""

from collections.abc import Iterable
from contextlib import suppress
from typing import Protocol

from contracts.company import CompanySettings
from contracts.identity_rpc import KnownUser
from gateway.domain.close_codes import CloseCode
from gateway.errors import TokenInvalidError, UnavailableError
from gateway.ports import ClientSocket, TokenCaller, TokenReader, Visit, VisitorToken


class KnownCompanies(Protocol):
    """Companies' settings, by a call or from the cache."""

    async def get(self, company: str) -> CompanySettings | None:
        """Raises UnavailableError."""
        ...

    def held(self, company: str) -> CompanySettings | None:
        """Returns the settings from the cache, without a call."""
        ...


class Admission:
    """A TokenReader that also checks tokens against the company's settings. `sessions`: the open sockets, which are
    closed when their token is revoked."""

    def __init__(self, tokens: TokenReader, companies: KnownCompanies, sessions: Iterable[ClientSocket]) -> None:
        self._tokens = tokens
        self._companies = companies
        self._sessions = sessions

    async def verify(self, token: str) -> TokenCaller:
        caller = await self._tokens.verify(token)
        if _revocable(caller):
            try:
                await self._companies.get(caller.company)
            except UnavailableError:
                # Another signer's word stands by itself, and who is in should be able to come back; ours does not.
                if caller.member:
                    raise
            if not self.counts(caller):
                raise TokenInvalidError("this session has ended: sign in again")
        return caller

    def counts(self, caller: TokenCaller) -> bool:
        """Whether the caller's token is valid by the settings known at this moment."""
        return not _revocable(caller) or _counts(caller, self._companies.held(caller.company))

    def changed(self, company: str, settings: CompanySettings | None) -> None:
        """Closes the sockets whose tokens this change of a company's settings has revoked."""
        for session in list(self._sessions):
            caller = session.caller
            if caller is None or caller.company != company or not _revocable(caller):
                continue
            if not _counts(caller, settings):
                session.terminate(CloseCode.BAD_TOKEN)

    async def look_again(self) -> None:
        """Reads the settings that tokens of open sockets depend on again, after changes may have been missed."""
        callers = [session.caller for session in self._sessions]
        for company in {one.company for one in callers if one is not None and _revocable(one)}:
            with suppress(UnavailableError):  # they are asked for again with the next change, and after a minute
                await self._companies.get(company)

    async def verify_for_renewal(self, token: str) -> TokenCaller:
        return await self._tokens.verify_for_renewal(token)

    def visitor(self, company: str, subject: str, visit: Visit) -> VisitorToken:
        return self._tokens.visitor(company, subject, visit)

    def known_user(self, company: str, user: KnownUser, visit: Visit) -> VisitorToken:
        return self._tokens.known_user(company, user, visit)


def _revocable(caller: TokenCaller) -> bool:
    return caller.is_operator or caller.identity_key is not None


def _counts(caller: TokenCaller, settings: CompanySettings | None) -> bool:
    if settings is None:
        # Of a company without settings its own signer's word counts: its admin makes them.
        return not caller.member
    if caller.identity_key is not None:
        return any(key.mark == caller.identity_key for key in settings.config.identity.keys)
    team = settings.config.team
    return team.is_valid_for(caller.subject, caller.role, caller.issued, member=caller.member)
