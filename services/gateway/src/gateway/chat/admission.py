"""Checks whether a token is still valid: the company may have signed its human agent out, removed them from its team,
or revoked the key that identified a customer."""

from collections.abc import Iterable
from contextlib import suppress

from contracts.company import CompanySettings
from gateway.adapters.companies import BusCompanies
from gateway.adapters.identity import GatewayTokens
from gateway.domain.close_codes import CloseCode
from gateway.errors import TokenInvalidError, UnavailableError
from gateway.ports import ClientSocket, TokenCaller


class Admission:
    """Verifies tokens, and checks them against the company's settings. `sessions`: the open sockets, which are closed
    when their token is revoked."""

    def __init__(self, tokens: GatewayTokens, companies: BusCompanies, sessions: Iterable[ClientSocket]) -> None:
        self._tokens = tokens
        self._companies = companies
        self._sessions = sessions

    async def verify(self, token: str) -> TokenCaller:
        caller = await self._tokens.verify(token)
        if _is_revocable(caller):
            try:
                await self._companies.get(caller.company)
            except UnavailableError:
                # A token of the company's own signer is valid by itself, so that its bearer can reconnect; a member's,
                # which this installation signed, is not.
                if caller.member:
                    raise
            if not self.is_valid(caller):
                raise TokenInvalidError("this session has ended: sign in again")
        return caller

    def is_valid(self, caller: TokenCaller) -> bool:
        """Whether the caller's token is valid by the cached settings."""
        return not _is_revocable(caller) or _is_valid_for(caller, self._companies.cached(caller.company))

    def settings_changed(self, company: str, settings: CompanySettings | None) -> None:
        """Closes the sockets whose tokens a change of the company's settings has revoked."""
        for session in list(self._sessions):
            caller = session.caller
            if caller is None or caller.company != company or not _is_revocable(caller):
                continue
            if not _is_valid_for(caller, settings):
                session.terminate(CloseCode.BAD_TOKEN)

    async def refresh_settings(self) -> None:
        """Reads the settings on which the tokens of open sockets depend, after changes may have been missed."""
        callers = [session.caller for session in self._sessions]
        for company in {caller.company for caller in callers if caller is not None and _is_revocable(caller)}:
            with suppress(UnavailableError):  # they are read again with the next change, and after a minute
                await self._companies.get(company)


def _is_revocable(caller: TokenCaller) -> bool:
    return caller.is_operator or caller.identity_key is not None


def _is_valid_for(caller: TokenCaller, settings: CompanySettings | None) -> bool:
    if settings is None:
        # Without settings, tokens of the company's own signer are valid: its admin needs one to create the settings.
        return not caller.member
    if caller.identity_key is not None:
        return any(key.mark == caller.identity_key for key in settings.config.identity.keys)
    team = settings.config.team
    return team.is_valid_for(caller.subject, caller.role, caller.issued, member=caller.member)
